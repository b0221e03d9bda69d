package schedule_test

import (
	"testing"

	"github.com/seed-f4525e22/skillopt/schedule"
)

func TestBatchUnderACeiling(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		ceiling    schedule.Ceiling
		wide, want int
	}{
		{schedule.Ceiling{Calls: 10_000, Selection: 30}, 120, 120},
		{schedule.Ceiling{Calls: 350, Selection: 30}, 120, 105},
		{schedule.Ceiling{Calls: 350, Selection: 30, Test: 120}, 120, 45},
		{schedule.Ceiling{Calls: 250, Selection: 30, Test: 120}, 120, 29},
		{schedule.Ceiling{Calls: 100, Selection: 30}, 120, 20},
		{schedule.Ceiling{Calls: 100, Selection: 30}, 12, 12},
	} {
		if got := tc.ceiling.Batch(tc.wide); got != tc.want {
			t.Errorf("%+v: %d of %d tasks, want %d", tc.ceiling, got, tc.wide, tc.want)
		}
	}
}

// What a ceiling allows for never falls when it rises, but for the batch of a single step, from
// which two are made.
func TestMoreCallsAllowForMore(t *testing.T) {
	t.Parallel()
	var last schedule.Ceiling
	for calls := 50; calls < 20_000; calls += 50 {
		c := schedule.Ceiling{Calls: calls, Selection: 40, Test: 80}
		if calls > 300 && c.Batch(120) < last.Batch(120) || c.Twice(8) < last.Twice(8) {
			t.Fatalf("%+v allows for less than %+v", c, last)
		}
		last = c
	}
	for calls, want := range map[int]int{0: 0, 399: 0, 400: 8, 1000: 20} {
		if got := (schedule.Ceiling{Calls: calls}).Twice(8); got != want {
			t.Errorf("%d calls: %d tasks twice, want %d", calls, got, want)
		}
	}
}

func TestEpochs(t *testing.T) {
	t.Parallel()
	for steps, want := range map[int]int{1: 12, 2: 6, 3: 4, 4: 4, 5: 4, 40: 4} {
		if got := schedule.Epochs(steps); got != want {
			t.Errorf("%d steps an epoch: %d epochs, want %d", steps, got, want)
		}
	}
}
