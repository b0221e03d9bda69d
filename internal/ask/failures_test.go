package ask

import (
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/record"
)

// Equal skills are measured once: a seed skill that stayed the best is the one on test.
func TestBestOnTest(t *testing.T) {
	t.Parallel()
	sheet := func(arm, split string) record.Sheet { return record.Sheet{Arm: arm, Split: split} }
	for _, c := range []struct {
		all  []record.Sheet
		want string
	}{
		{[]record.Sheet{sheet("seed", "selection"), sheet("seed", "test")}, "seed"},
		{[]record.Sheet{sheet("best", "test"), sheet("final", "test"), sheet("seed", "test")}, "best"},
		{[]record.Sheet{sheet("skill", "selection"), sheet("skill", "test")}, "skill"},
		{[]record.Sheet{sheet("seed", "selection"), sheet("a", "test"), sheet("b", "test")}, ""},
	} {
		got := ""
		for _, s := range OnTest(c.all) {
			got += s.Arm
			if s.Split != "test" {
				t.Errorf("%v: %v", c.all, s)
			}
		}
		if got != c.want {
			t.Errorf("%v: %q", c.all, got)
		}
	}
}
