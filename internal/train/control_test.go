package train

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/result"
)

// controlled are options with a null control after every second of four steps.
func controlled() Options {
	o := fresh()
	o.Deterministic, o.NullEvery = false, 2
	o.Epochs, o.BatchSize = 2, 8
	return o
}

// The current skill is judged against itself by answers of its own, and nothing else of
// the run depends on it.
func TestNullControls(t *testing.T) {
	t.Parallel()
	{
		mode := gate.ModeStrict
		run := func(every int) (*world, *Result) {
			w := newWorld(16, 40, 0)
			w.seed = "# Skill\nrule a\nrule b\n"
			w.propose = map[int][]string{1: {"rule c"}, 3: {"rule d"}}
			w.forgets = func(key string) bool { return noisy(0.3)(strings.ReplaceAll(key, "/sample5/", "/")) }
			o := controlled()
			o.NullEvery = every
			return w, w.must(t, o)
		}
		w, r := run(2)
		var at []int
		for i, s := range r.History.Steps {
			if s.Control != nil {
				at = append(at, i)
			}
		}
		if diff := cmp.Diff([]int{2, 4}, at); diff != "" {
			t.Errorf("%s: controls after steps: %s", mode, diff)
		}
		if c := r.History.NullControls(); c == nil || c.Judged != 2 {
			t.Errorf("%s: %+v", mode, c)
		}
		if w.rolled("e1/s2/null/cand/") == 0 || w.rolled("e1/s1/null/") > 0 {
			t.Errorf("%s: rollouts of controls: %d and %d", mode, w.rolled("e1/s2/null/cand/"), w.rolled("e1/s1/null/"))
		}
		plain, without := run(0)
		if plain.rolled("e1/s2/null/") > 0 || without.History.NullControls() != nil {
			t.Errorf("%s: controls though none were asked for", mode)
		}
		if diff := cmp.Diff(actions(without), actions(r)); diff != "" {
			t.Errorf("%s: the run went otherwise: %s", mode, diff)
		}
	}
}

// A gate that takes luck for skill is found out, and one that does not is not accused.
func TestNullControlsFindErrors(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		unlucky string // part of the keys that fail
		want    result.NullControls
	}{
		"as good as itself": {"nothing", result.NullControls{Judged: 1}},
		"a lucky day":       {"seed/selection/", result.NullControls{Judged: 1, Accepted: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(8, 40, 0)
			w.seed = "# Skill\nrule a\nrule b\n"
			w.forgets = func(key string) bool { return strings.HasPrefix(key, tt.unlucky) }
			o := controlled()
			o.Epochs, o.NullEvery = 1, 1
			if diff := cmp.Diff(&tt.want, w.must(t, o).History.NullControls()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Where answers are the same every time a control would say nothing.
func TestNoControlsOfADeterministicTarget(t *testing.T) {
	t.Parallel()
	w := newWorld(16, 40, 0)
	w.propose = map[int][]string{1: {"rule c"}}
	o := controlled()
	o.Deterministic = true
	if c := w.must(t, o).History.NullControls(); c != nil {
		t.Errorf("%+v", c)
	}
}
