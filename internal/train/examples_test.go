package train

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// teaching is a world in which the answer of an example states a rule.
func teaching(train, selection, test int) *world {
	w := newWorld(train, selection, test)
	for _, split := range [][]task.Task{w.data.Train, w.data.Selection, w.data.Test} {
		for i := range split {
			split[i].Prompt = "do " + split[i].Type + " for " + split[i].ID
		}
	}
	w.data.Example = func(t task.Task) (skill.Example, bool) {
		return skill.Example{Task: t.Prompt, Answer: "rule " + t.Gold[0]}, true
	}
	return w
}

// byExample are options with worked examples.
func byExample() Options {
	o := again()
	o.Examples = Examples{Sizes: []int{8, 16, 4}, Rollouts: 40}
	return o
}

// Examples that help are the first step, of which no analyst is asked. The tasks that they
// show are asked of no skill that shows them, and are of no other split.
func TestExamplesAreTheFirstStep(t *testing.T) {
	t.Parallel()
	w := teaching(40, 20, 12)
	o := byExample()
	o.Epochs, o.Test, o.Fresh, o.SlowUpdate = 3, true, true, true
	r := w.must(t, o)
	s := r.History.Steps[1]
	if s.Action != "accept_new_best" || s.RolloutN != 0 || len(s.Candidates) != 1 || s.Candidates[0].Examples == 0 || s.CurrentOrigin != "step 1, worked examples" {
		t.Fatalf("step 1: %s (%s), %+v", s.Action, s.Reason, s.Candidates)
	}
	if n := w.rolled("e1/s1/examples/round"); n == 0 || n > o.Examples.Rollouts {
		t.Errorf("%d rollouts compare draws, at most %d are allowed", n, o.Examples.Rollouts)
	}
	shows := skill.Shows(r.Best.Text())
	if n := len(w.data.ShownBy(r.Best, w.data.Train)); n != s.Candidates[0].Examples {
		t.Errorf("the best skill shows %d train tasks, %d are recorded", n, s.Candidates[0].Examples)
	}
	all := slices.Concat(w.data.Train, w.data.Selection, w.data.Test)
	for key, text := range w.skills {
		for _, tk := range all {
			if strings.Contains(key, "/"+tk.ID+"/") && skill.Shows(text)(tk.Prompt) {
				t.Errorf("%s is asked with a skill that shows it", key)
			}
		}
	}
	for _, tk := range slices.Concat(w.data.Selection, w.data.Test) {
		if shows(tk.Prompt) {
			t.Errorf("task %s of another split is shown", tk.ID)
		}
	}
}

// Examples that are rejected are a candidate of the first step next to that of the
// optimizer, and meet the gate again when the skill has changed and a step gains nothing.
func TestRejectedExamplesMeetTheGateOnceMore(t *testing.T) {
	t.Parallel()
	w := teaching(40, 20, 0)
	w.seed = "# Skill\nrule d\n"
	w.propose = map[int][]string{1: {"rule a"}, 2: {"nothing"}, 3: {"nothing more"}}
	// With the first skill examples are of no use but in the draws; with "rule a" they are.
	w.forgets = func(key string) bool { return strings.HasPrefix(key, "e1/s1/examples/gate/cand") }
	o := byExample()
	o.Epochs, o.BatchSize = 1, 8
	r := w.must(t, o)
	first := r.History.Steps[1]
	if first.Action != "accept_new_best" || len(first.Candidates) != 2 || !first.Candidates[0].Taken || first.Candidates[1].Examples == 0 || first.Candidates[1].Place != "examples/" {
		t.Fatalf("step 1: %s, %+v", first.Action, first.Candidates)
	}
	second := r.History.Steps[2]
	if second.Action != "accept_new_best" || second.CurrentOrigin != "step 2, worked examples" || second.RolloutN == 0 {
		t.Fatalf("step 2: %s of %s, %+v", second.Action, second.CurrentOrigin, second.Candidates)
	}
	if n := w.rolled("e1/s2/examples/again/gate/cand"); n != 20 {
		t.Errorf("the second look has %d rollouts", n)
	}
	if len(r.History.Steps) < 4 || len(r.History.Steps[3].Candidates) > 0 {
		t.Errorf("step 3 looks a third time: %+v", r.History.Steps[3].Candidates)
	}
}

// Without an optimizer worked examples are all there is: one step, and no question.
func TestExamplesAlone(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		train   int
		teaches string // kinds of tasks
		action  string
	}{
		"they help":           {40, "abcd", "accept_new_best"},
		"they help by chance": {40, "a", "accept_new_best"}, // less than two standard errors, and nothing else needs the calls
		"they do not":         {40, "", "skip_no_gain"},
		"too few to choose":   {7, "abcd", "skip_no_patches"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := teaching(tt.train, 20, 0)
			teach := w.data.Example
			w.data.Example = func(t task.Task) (skill.Example, bool) {
				if e, ok := teach(t); strings.Contains(tt.teaches, t.Type) {
					return e, ok
				}
				return skill.Example{Task: t.Prompt, Answer: "?"}, true
			}
			o := byExample()
			o.Alone, o.BatchSize, o.Examples.Rollouts = true, 40, 16
			r := w.must(t, o)
			if len(r.History.Steps) != 2 || r.History.Steps[1].Action != tt.action || len(w.questions) > 0 {
				t.Errorf("%d steps, %s (%s), %d questions", len(r.History.Steps), r.History.Steps[1].Action, r.History.Steps[1].Reason, len(w.questions))
			}
			if n := w.rolled("e1/s1/mb"); n > 0 {
				t.Errorf("%d train tasks are rolled out", n)
			}
		})
	}
}

// Tasks without an answer are shown with a reply that solved them, as soon as there are some.
func TestRepliesAreShownWithoutGold(t *testing.T) {
	t.Parallel()
	w := teaching(60, 20, 0)
	w.seed, w.says = "# Skill\nrule a\nrule b\n", true
	w.data.Example = func(t task.Task) (skill.Example, bool) { return skill.Example{Task: t.Prompt}, true }
	o := byExample()
	o.BatchSize = 30
	r := w.must(t, o)
	if first, second := r.History.Steps[1], r.History.Steps[2]; first.Examples != nil || second.Examples == nil || w.rolled("e1/s2/examples/round1/draw1/") == 0 {
		t.Errorf("step 1: %+v, step 2: %+v", first.Examples, second.Examples)
	}
}

// Where what can be shown is asked elsewhere, as in one pool, or is too long, or is no text,
// nothing is tried, and a step is what it is without examples.
func TestNothingToShow(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*world){
		"one pool": func(w *world) { w.data = w.data.CrossFit(1, 1) },
		"too long": func(w *world) {
			w.data.Example = func(t task.Task) (skill.Example, bool) {
				return skill.Example{Task: t.Prompt + strings.Repeat("x", longestExample), Answer: "rule a"}, true
			}
		},
		"pictures": func(w *world) {
			w.data.Example = func(task.Task) (skill.Example, bool) { return skill.Example{}, false }
		},
		"equal ones":   func(w *world) { w.data.Selection[0].Prompt = "same"; same(w.data.Train) },
		"equal to see": func(w *world) { w.data.Selection[0].Prompt = "sa\u200bme"; same(w.data.Train) },
		"no text told": func(w *world) { w.data.Example = nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := teaching(40, 20, 0)
			change(w)
			r := w.must(t, byExample())
			if n := w.rolled("e1/s1/examples"); n > 0 || r.History.Steps[1].Examples != nil {
				t.Errorf("%d rollouts, %+v", n, r.History.Steps[1].Examples)
			}
			if len(w.asked(model.StageAnalystError)) == 0 {
				t.Error("no analyst was asked")
			}
		})
	}
}

func same(tasks []task.Task) {
	for i := range tasks {
		tasks[i].Prompt = "same"
	}
}

// Draws differ, hold what they may, begin with each kind once, and are the same for a seed.
func TestDraws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var pool []shown
		for i := range rapid.IntRange(leastPool, 60).Draw(t, "pool") {
			text := strings.Repeat("x", rapid.IntRange(1, longestExample-100).Draw(t, "length"))
			pool = append(pool, shown{id: fmt.Sprint(i), kind: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "kind"), failed: rapid.Bool().Draw(t, "failed"), example: skill.Example{Task: text, Answer: "1"}})
		}
		n, seed := rapid.IntRange(1, 8).Draw(t, "draws"), rapid.Int64().Draw(t, "seed")
		draws := newDraws(pool, []int{8, 16, 4}, n, nil, seed)
		again := newDraws(pool, []int{8, 16, 4}, n, nil, seed)
		if len(draws) == 0 || len(draws) > n {
			t.Fatalf("%d draws of at most %d", len(draws), n)
		}
		known := map[string]bool{}
		for i, d := range draws {
			ids := strings.Join(d.ids(), ",")
			if known[ids] || ids != strings.Join(again[i].ids(), ",") {
				t.Fatalf("draw %d is not another one, or not the same again: %s", i, ids)
			}
			known[ids] = true
			kinds, bytes := map[string]bool{}, len(skill.New("").WithExamples(d.examples()).Text())
			for _, task := range d.tasks[:min(3, len(d.tasks))] {
				kinds[task.kind] = true
			}
			if all := len(kindsIn(pool)); len(d.tasks) >= 3 && len(kinds) < all {
				t.Fatalf("draw %d begins with %d of %d kinds", i, len(kinds), all)
			}
			if bytes > longestSection+200 {
				t.Fatalf("draw %d takes %d bytes", i, bytes)
			}
		}
	})
}

func kindsIn(pool []shown) map[string]bool {
	out := map[string]bool{}
	for _, s := range pool {
		out[s.kind] = true
	}
	return out
}

// Halvings stay within what there is.
func TestHalvingsStayWithin(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rollouts, tasks := rapid.IntRange(0, 500).Draw(t, "rollouts"), rapid.IntRange(0, 300).Draw(t, "tasks")
		asked, used := 0, 0
		for _, r := range halvings(rollouts, tasks) {
			asked, used = asked+r.field*r.tasks, used+r.tasks
			if r.tasks < 1 {
				t.Fatalf("a round asks nothing: %+v", r)
			}
		}
		if asked > rollouts || used > tasks {
			t.Fatalf("%d rollouts of %d on %d tasks of %d", asked, rollouts, used, tasks)
		}
	})
}
