package gate

import (
	"testing"

	"pgregory.net/rapid"
)

func TestDecide(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name                     string
		candidate, current, best float64
		want                     Action
	}{
		{"above both", 0.6, 0.4, 0.5, AcceptNewBest},
		{"above current, as good as best", 0.5, 0.4, 0.5, Accept},
		{"above current, below best", 0.45, 0.4, 0.5, Accept},
		{"tie", 0.4, 0.4, 0.5, Reject},
		{"below", 0.3, 0.4, 0.5, Reject},
		{"zero is a score", 0, 0, 0, Reject},
		{"best below current", 0.4, 0.5, 0.3, Reject},
	}
	for _, tt := range tests {
		if got := Decide(tt.candidate, tt.current, tt.best); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestDecideIsMonotone(t *testing.T) {
	t.Parallel()
	rank := map[Action]int{Reject: 0, Accept: 1, AcceptNewBest: 2}
	unit := rapid.Float64Range(0, 1)
	rapid.Check(t, func(t *rapid.T) {
		current, best := unit.Draw(t, "current"), unit.Draw(t, "best")
		low := unit.Draw(t, "candidate")
		high := max(low, unit.Draw(t, "better candidate"))
		if rank[Decide(high, current, best)] < rank[Decide(low, current, best)] {
			t.Fatalf("%v does worse than %v against %v and %v", high, low, current, best)
		}
	})
}

func TestAccepted(t *testing.T) {
	t.Parallel()
	for action, want := range map[Action]bool{AcceptNewBest: true, Accept: true, Reject: false, Indecisive: false} {
		if got := action.Accepted(); got != want {
			t.Errorf("%s accepted: %v", action, got)
		}
	}
}

func TestEnough(t *testing.T) {
	t.Parallel()
	tests := []struct {
		n, missing int
		want       bool
	}{
		{0, 0, false},
		{1, 0, true},
		{1, 1, false},
		{2, 1, true},
		{10, 1, true},
		{10, 2, false},
		{40, 2, true},
		{40, 3, false},
		{59, 3, false},
		{60, 3, true},
		{200, 10, true},
		{200, 11, false},
	}
	for _, tt := range tests {
		if got := Enough(tt.n, tt.missing); got != tt.want {
			t.Errorf("Enough(%d, %d) = %v", tt.n, tt.missing, got)
		}
	}
}

func TestForMode(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]Policy{"strict": Strict{}, "observe": Observe{}, "off": Off{}} {
		if got, err := ForMode(Mode(mode)); got != want || err != nil {
			t.Errorf("ForMode(%q) = %T, %v", mode, got, err)
		}
	}
	if got, err := ForMode("race"); err == nil {
		t.Errorf("ForMode(race) = %T", got)
	}
}
