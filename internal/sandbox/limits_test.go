package sandbox

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestLimitsDefaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		limits   Limits
		deadline time.Duration
		want     Limits
	}{
		{"nothing set", Limits{}, time.Minute, Limits{Memory: 4 << 30, Processes: 512, Written: 4 << 30, CPU: 4 * time.Minute}},
		{"no deadline", Limits{}, 0, Limits{Memory: 4 << 30, Processes: 512, Written: 4 << 30}},
		{"none", Limits{Memory: -1, Processes: -1, Written: -1, CPU: -1}, time.Minute, Limits{}},
		{"set", Limits{Memory: 1, Processes: 2, Written: 3, CPU: 4}, time.Minute, Limits{Memory: 1, Processes: 2, Written: 3, CPU: 4}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, tt.limits.withDefaults(tt.deadline)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestBeyond(t *testing.T) {
	t.Parallel()
	limits := Limits{Memory: 100 << 20, Processes: 10, Written: 2 << 30, CPU: time.Minute}
	tests := []struct {
		used used
		want *overrun
	}{
		{used{memory: 100 << 20, processes: 10, written: 2 << 30, cpu: time.Minute}, nil},
		{used{memory: 101 << 20}, &overrun{"memory", "101.0 MiB of memory in use, 100.0 MiB are allowed"}},
		{used{processes: 11, memory: 1 << 40}, &overrun{"processes", "11 processes at a time, 10 are allowed"}},
		{used{written: 3 << 30}, &overrun{"written", "3.0 GiB written to disk, 2.0 GiB are allowed"}},
		{used{cpu: 61 * time.Second}, &overrun{"cpu", "1m1s of processor time, 1m0s are allowed"}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, tt.used.findOverrun(limits)); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", tt.used, diff)
		}
		if over := tt.used.findOverrun(Limits{}); over != nil {
			t.Errorf("%+v passes no limit: %+v", tt.used, over)
		}
	}
}
