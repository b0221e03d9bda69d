package train

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/model"
)

// failing makes the rollouts fail whose keys hold one of the texts.
func failing(texts ...string) func(string) bool {
	return func(key string) bool {
		return slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(key, s) })
	}
}

// Without a race, too, what is shipped is scored once more, by answers that nothing was
// decided by: the first pass of what was chosen was lucky.
func TestWhatIsShippedIsScoredAfresh(t *testing.T) {
	t.Parallel()
	for _, mode := range []gate.Mode{"strict", "observe", "off"} {
		for _, fresh := range []bool{false, true} {
			w := newWorld(16, 20, 0)
			w.propose = map[int][]string{1: {"rule a"}, 2: {"rule b"}}
			w.forgets = func(key string) bool { return strings.HasPrefix(key, "final/fresh/s00/") }
			o := standard()
			o.Gate, o.Fresh = mode, fresh
			r := w.must(t, o)
			want := map[bool]int{true: 20}[fresh && mode != "off"]
			if n := w.rolled("final/fresh/"); n != want {
				t.Errorf("%s, %v: a fresh pass of %d, want %d", mode, fresh, n, want)
			}
			if want == 0 {
				continue
			}
			if got := r.Reported; got == nil || value(got.Fresh) != "0.45" || got.Naive != 0.5 || r.Selection.Hard != 0.45 {
				t.Errorf("%s: reported %+v, selection %+v", mode, got, r.Selection)
			}
			if at := w.rolled("final/fresh/s00/sample1"); at != 1 {
				t.Errorf("%s: the fresh answers are no new samples: %v", mode, w.rollouts)
			}
		}
	}
}

func TestIndecisiveStepIsTriedAgainOnce(t *testing.T) {
	t.Parallel()
	t.Run("and then decided", func(t *testing.T) {
		t.Parallel()
		w := newWorld(8, 8, 0)
		w.propose[1] = []string{"rule a"}
		w.fails = failing("e1/s1/gate/cand/s00/", "e1/s1/gate/cand/s01/")
		r := w.must(t, standard())
		s := r.History.Steps[1]
		if s.Action != "accept_new_best" || !s.Retried || r.Accepted != 1 || r.Skipped != 0 {
			t.Errorf("%s, retried %v; %d accepted, %d skipped", s.Action, s.Retried, r.Accepted, r.Skipped)
		}
		if got := w.rolled("e1/s1/again/mb0/rollout/"); got != 8 {
			t.Errorf("%d rollouts of the second try", got)
		}
		if got := w.rolled("e1/s1/gate/cand/s00/"); got != 3 {
			t.Errorf("a missing item was measured %d times, want 3", got)
		}
		// A resumed run must not decide the first try after all.
		want := map[string][]string{"e1/s1/gate/without": {"e1/s1/gate/cand/s00/sample0", "e1/s1/gate/cand/s01/sample0"}}
		if diff := cmp.Diff(want, w.decisions); diff != "" {
			t.Errorf("recorded decisions (-want +got):\n%s", diff)
		}
	})
	t.Run("and then left", func(t *testing.T) {
		t.Parallel()
		w := newWorld(16, 8, 0)
		w.propose = map[int][]string{1: {"rule a"}, 2: {"rule b"}}
		w.fails = failing("e1/s1/gate/cand/s00/", "e1/s1/gate/cand/s01/", "e1/s1/again/gate/cand/s02/", "e1/s1/again/gate/cand/s03/")
		r := w.must(t, standard())
		if diff := cmp.Diff([]string{"baseline", "indecisive", "accept_new_best"}, actions(r)); diff != "" {
			t.Errorf("actions (-want +got):\n%s", diff)
		}
		s := r.History.Steps[1]
		if r.Skipped != 1 || s.CandidateHash == "" || value(s.Current) != "0" || len(s.Unmeasured) != 2 {
			t.Errorf("%d skipped; step 1: %+v", r.Skipped, s)
		}
		if len(w.decisions) != 2 {
			t.Errorf("recorded decisions: %v", w.decisions)
		}
	})
	t.Run("with the guidance of a slow update", func(t *testing.T) {
		t.Parallel()
		w := newWorld(8, 8, 0)
		w.guidance[2] = "rule a"
		w.fails = failing("e2/end/gate/cand/s00/", "e2/end/gate/cand/s01/")
		r := w.must(t, epochs(2))
		if e := r.History.Epochs[0]; e.SlowUpdate != "indecisive" || len(e.Unmeasured) != 2 || strings.Contains(r.Final.Text(), "rule a") {
			t.Errorf("epoch: %+v", e)
		}
		if _, ok := w.decisions["e2/end/gate/without"]; !ok {
			t.Error("a resumed run could decide otherwise")
		}
	})
}

// One missing item does not keep a step from being decided, on what both have.
func TestGateGoesOnWithoutAnItem(t *testing.T) {
	t.Parallel()
	w := newWorld(8, 8, 0)
	w.propose[1] = []string{"rule a"}
	w.fails = failing("e1/s1/gate/cand/s00/") // of type a: only s04 is left to show it
	r := w.must(t, standard())
	s := r.History.Steps[1]
	if s.Action != "accept_new_best" || s.SelectionN != 7 || !cmp.Equal(s.Unmeasured, []string{"s00"}) || value(s.Candidate) != "0.143" {
		t.Errorf("%s on %d items, without %v, at %s", s.Action, s.SelectionN, s.Unmeasured, value(s.Candidate))
	}
	if diff := cmp.Diff([]string{"e1/s1/gate/cand/s00/sample0"}, w.decisions["e1/s1/gate/without"]); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
}

// What the baseline lacks is measured by the first comparison that needs it, and
// then known.
func TestMissingItemsOfTheIncumbentAreMeasuredOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(24, 8, 0)
	w.propose = map[int][]string{1: {"nothing"}, 2: {"nothing else"}, 3: {"rule a"}}
	w.fails = failing("seed/selection/s00/")
	r := w.must(t, standard())
	if n := r.History.Steps[0].SelectionN; n != 7 || !cmp.Equal(w.decisions["seed/selection/without"], []string{"seed/selection/s00/sample0"}) {
		t.Errorf("the baseline rests on %d items; recorded: %v", n, w.decisions)
	}
	if a, b := w.rolled("e1/s1/gate/inc/"), w.rolled("e1/s2/gate/inc/"); a != 1 || b != 0 {
		t.Errorf("the incumbent was measured %d and %d times, want 1 and 0", a, b)
	}
	if s := r.History.Steps[3]; s.Action != "accept_new_best" || s.SelectionN != 8 {
		t.Errorf("step 3: %s on %d items", s.Action, s.SelectionN)
	}
}

// A skill of which nearly nothing is known cannot become the best, nor stop the
// run.
func TestObserveMakesNoClaimOnTooFewItems(t *testing.T) {
	t.Parallel()
	w := newWorld(8, 8, 0)
	w.propose[1] = []string{"rule a"}
	w.fails = failing("e1/s1/gate/")
	o := standard()
	o.Gate = "observe"
	r := w.must(t, o)
	s := r.History.Steps[1]
	if s.Action != "accept" || s.Candidate != nil || s.SelectionHard != nil || s.BestStep != 0 {
		t.Errorf("step 1: %s with %s, best of step %d", s.Action, value(s.Candidate), s.BestStep)
	}
	// It is measured once more before the end, and promoted by what that shows.
	if f := r.History.Final; w.rolled("final/selection/") != 8 || !f.Promoted || value(f.FinalScore) != "0.25" {
		t.Errorf("final: %+v after %d rollouts", f, w.rolled("final/selection/"))
	}
}

func TestTrainingGoesOnWithoutTasks(t *testing.T) {
	t.Parallel()
	w := newWorld(8, 4, 0)
	w.propose[1], w.guidance[2] = []string{"rule a"}, "be careful"
	w.fails = failing("mb0/rollout/t00/", "compare/curr/t0", "compare/prev/t0")
	r := w.must(t, epochs(2))
	s := r.History.Steps[1]
	if s.RolloutN != 7 || !cmp.Equal(s.Unmeasured, []string{"t00"}) || s.Action != "accept_new_best" {
		t.Errorf("step 1: %s with %d rollouts, without %v", s.Action, s.RolloutN, s.Unmeasured)
	}
	if _, ok := w.decisions["e1/s1/mb0/rollout/without"]; !ok {
		t.Errorf("the decision is not recorded: %v", w.decisions)
	}
	e := r.History.Epochs[0]
	if len(e.Pairs) != 0 || len(e.Unmeasured) != 4 || e.SlowUpdate != "accept" {
		t.Errorf("epoch 2: %+v", e)
	}
}

func TestNothingMeasuredEndsTheRun(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, key, where string }{
		{"baseline", "seed/selection/s0", "score the seed skill: "},
		{"two of the baseline", "seed/selection/s00,seed/selection/s01", "score the seed skill: "},
		{"a batch", "e1/s1/mb0/", "epoch 1, step 1: "},
		{"a test arm", "final/test/best", "final evaluation: "},
		{"the final skill", "final/selection", "final evaluation: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(8, 4, 4)
			w.propose[1], w.guidance[2] = []string{"rule a"}, "rule b"
			w.fails = failing(strings.Split(tt.key, ",")...)
			o := epochs(2)
			o.Test, o.SlowGated = true, tt.name != "the final skill"
			r, err := w.run(t.Context(), o)
			var nothing *NothingMeasuredError
			if !errors.As(err, &nothing) || !strings.HasPrefix(err.Error(), tt.where) || !strings.Contains(err.Error(), "the line is dead") {
				t.Fatalf("got %v", err)
			}
			if r.History.Final != nil && r.History.Final.Test != nil && r.History.Final.Test["best"] != nil {
				t.Errorf("there is a score of nothing: %+v", r.History.Final.Test["best"])
			}
			for key := range w.decisions {
				if strings.HasPrefix(key, nothing.Place) {
					t.Errorf("the failure was recorded as a decision: %s", key)
				}
			}
		})
	}
}

func TestTestArms(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		propose map[int][]string
		change  func(*Options)
		rolled  map[string]int
		scores  map[string]string
	}{
		{"equal arms once", nil, nil, map[string]int{"seed": 4}, map[string]string{"seed": "0", "best": "0", "final": "0"}},
		{"best is final", map[int][]string{1: {"rule a"}}, nil, map[string]int{"seed": 4, "best": 4}, map[string]string{"seed": "0", "best": "0.25", "final": "0.25"}},
		{
			"all differ",
			map[int][]string{1: {"rule a"}, 2: {"harm a"}},
			func(o *Options) { o.Epochs, o.Gate = 2, "observe" },
			map[string]int{"seed": 4, "best": 4, "final": 4},
			map[string]string{"seed": "0", "best": "0.25", "final": "0"},
		},
		{
			"no skill", nil, func(o *Options) { o.NoSkill = true },
			map[string]int{"seed": 4, "no_skill": 4},
			map[string]string{"seed": "0", "best": "0", "final": "0", "no_skill": "0"},
		},
		{"off", nil, func(o *Options) { o.Test = false }, map[string]int{}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(8, 4, 4)
			w.propose = tt.propose
			o := standard()
			o.Test = true
			if tt.change != nil {
				tt.change(&o)
			}
			r := w.must(t, o)
			rolled, scores := map[string]int{}, map[string]string(nil)
			for _, arm := range []string{"seed", "best", "final", "no_skill"} {
				if n := w.rolled("final/test/" + arm + "/"); n > 0 {
					rolled[arm] = n
				}
			}
			for name, arm := range r.History.Final.Test {
				if scores == nil {
					scores = map[string]string{}
				}
				scores[name] = value(&arm.Hard)
				if arm.N != 4 || arm.Low > arm.Hard || arm.High < arm.Hard || len(arm.ByType) != 4 {
					t.Errorf("%s: %+v", name, arm)
				}
			}
			if diff := cmp.Diff(tt.rolled, rolled); diff != "" {
				t.Errorf("rollouts (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.scores, scores); diff != "" {
				t.Errorf("scores (-want +got):\n%s", diff)
			}
			for i, key := range w.rollouts {
				if strings.HasPrefix(key, "final/test/") && slices.ContainsFunc(w.rollouts[i:], func(k string) bool { return !strings.HasPrefix(k, "final/test/") }) {
					t.Fatal("the test split was opened before the last decision")
				}
			}
		})
	}
}

func TestTestGoesWithoutAnItem(t *testing.T) {
	t.Parallel()
	w := newWorld(8, 4, 4)
	w.fails = failing("final/test/seed/x01/")
	o := standard()
	o.Test = true
	r := w.must(t, o)
	arm := r.History.Final.Test["final"]
	if arm.N != 3 || !cmp.Equal(arm.Unmeasured, []string{"x01"}) || len(w.decisions) != 1 {
		t.Errorf("arm %+v, recorded %v", arm, w.decisions)
	}
	if !slices.ContainsFunc(w.events, func(e event.Event) bool {
		warning, ok := e.(event.Warning)
		return ok && strings.Contains(warning.Text, "x01")
	}) {
		t.Error("nobody was told")
	}
}

func TestErrorsEndTheRun(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	stage := func(want string) func(string) error {
		return func(got string) error {
			if got == want {
				return boom
			}
			return nil
		}
	}
	for name, change := range map[string]func(*world, *Options){
		"analyst":     func(w *world, _ *Options) { w.askErr = stage(model.StageAnalystError) },
		"merge":       func(w *world, o *Options) { w.askErr = stage(model.StageMerge); o.Minibatch = 4 },
		"ranking":     func(w *world, o *Options) { w.askErr = stage(model.StageRanking); o.Minibatch = 4 },
		"count":       func(w *world, o *Options) { w.askErr = stage(model.StageLRAutonomous); o.Schedule = "model" },
		"slow update": func(w *world, o *Options) { w.askErr = stage(model.StageSlowUpdate); *o = epochs(2) },
		"meta skill":  func(w *world, o *Options) { w.askErr = stage(model.StageMetaSkill); *o = epochs(2); o.MetaSkill = true },
		"step files":  func(w *world, _ *Options) { w.refuse = refusing("steps/", boom) },
		"epoch files": func(w *world, o *Options) { w.refuse = refusing("epochs/", boom); *o = epochs(2) },
		"skill files": func(w *world, _ *Options) { w.refuse = refusing("skills/", boom) },
		"history":     func(w *world, _ *Options) { w.refuse = refusing("history", boom) },
		"test files":  func(w *world, o *Options) { w.refuse = refusing("test_outcomes", boom); o.Test = true },
		"health":      func(w *world, _ *Options) { w.health = boom },
		"decision in a batch": func(w *world, _ *Options) {
			w.decideErr = boom
			w.fails = failing("rollout/t00/")
		},
		"decision of the gate": func(w *world, _ *Options) {
			w.decideErr = boom
			w.fails = failing("gate/cand/s00/")
		},
		"decision in the baseline": func(w *world, _ *Options) {
			w.decideErr = boom
			w.fails = failing("seed/selection/s00/")
		},
		"decision in a comparison": func(w *world, o *Options) {
			*o = epochs(2)
			w.decideErr = boom
			w.fails = failing("compare/curr/t00/", "compare/curr/t01/", "compare/curr/t02/", "compare/curr/t03/", "compare/curr/t04/")
		},
		"decision in the test": func(w *world, o *Options) {
			o.Test = true
			w.decideErr = boom
			w.fails = failing("final/test/seed/x00/")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(8, 8, 4)
			w.propose[1] = []string{"rule a", "rule b", "rule c", "rule d", "rule e"}
			w.guidance[2], w.memory[2] = "be careful", "short lines win"
			o := standard()
			change(w, &o)
			_, err := w.run(t.Context(), o)
			if !errors.Is(err, boom) || strings.Count(err.Error(), "boom") != 1 {
				t.Errorf("got %v, want boom once", err)
			}
		})
	}
}

func refusing(prefix string, err error) func(string) error {
	return func(name string) error {
		if strings.HasPrefix(name, prefix) {
			return err
		}
		return nil
	}
}

func TestAnEndedContextEndsTheRun(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	w := newWorld(8, 4, 0)
	stop := errors.New("enough")
	w.asking = func(string, string) { cancel(stop) }
	w.propose[1] = []string{"rule a"}
	w.fails = func(string) bool { return ctx.Err() != nil }
	r, err := w.run(ctx, standard())
	if !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
	if len(r.History.Steps) != 1 {
		t.Errorf("%d steps were decided", len(r.History.Steps)-1)
	}
}

func TestWrongOptionsAreRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Options){
		"mode":       func(o *Options) { o.Mode = "guess" },
		"schedule":   func(o *Options) { o.Schedule = "sometimes" },
		"curriculum": func(o *Options) { o.Curriculum.Strategy = "hardest" },
		"gate":       func(o *Options) { o.Gate = "open" },
	} {
		w := newWorld(8, 4, 0)
		w.propose[1] = []string{"rule a"}
		o := standard()
		change(&o)
		if _, err := w.run(t.Context(), o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// A failure of an analyst stops the rollouts beside it and is told once.
func TestAnalystFailureStopsTheRollouts(t *testing.T) {
	t.Parallel()
	w := newWorld(12, 4, 0)
	failed := make(chan struct{})
	boom := errors.New("boom")
	w.askErr = func(string) error { defer close(failed); return boom }
	w.rolling = func(key string) {
		if strings.HasPrefix(key, "e1/s1/mb1/") {
			<-failed
		}
	}
	w.fails = func(key string) bool { return strings.HasPrefix(key, "e1/s1/mb1/") }
	o := standard()
	o.BatchSize, o.Accumulation, o.Minibatch = 4, 3, 4
	_, err := w.run(t.Context(), o)
	if !errors.Is(err, boom) || strings.Count(err.Error(), "boom") != 1 {
		t.Errorf("got %v, want boom once", err)
	}
	if errors.Is(err, optimize.ErrLost) {
		t.Errorf("a failure is no lost reply: %v", err)
	}
}

func TestEventsTellTheRun(t *testing.T) {
	t.Parallel()
	w := newWorld(8, 4, 4)
	w.propose[1], w.guidance[2] = []string{"rule a"}, "be careful"
	o := epochs(2)
	o.Test = true
	w.must(t, o)
	var got []string
	for _, e := range w.events {
		switch e := e.(type) {
		case event.StepDone:
			got = append(got, e.Action)
		case event.EpochDone:
			got = append(got, "epoch: "+e.SlowUpdate)
		case event.TestDone:
			got = append(got, "test: "+e.Arm)
		case event.Progress:
			if e.Done > e.Total {
				t.Errorf("%s: %d of %d done", e.Stage, e.Done, e.Total)
			}
		}
	}
	want := []string{"baseline", "accept_new_best", "skip_no_patches", "epoch: accept", "test: seed", "test: best", "test: final"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// A policy that looks for some kind of pairs takes several parts of train; each
// goes on without tasks of its own.
func TestComparisonGoesOnWithoutTasksOfSeveralParts(t *testing.T) {
	t.Parallel()
	w := newWorld(16, 4, 0)
	w.propose[2], w.guidance[2] = []string{"rule a"}, "be careful"
	w.fails = failing("compare/curr/")
	o := epochs(2)
	o.BatchSize, o.SlowPairs = 16, "changed"
	r := w.must(t, o)
	if e := r.History.Epochs[0]; len(e.Unmeasured) != 16 {
		t.Errorf("epoch 2 went on without %v", e.Unmeasured)
	}
	var recorded []string
	for key, keys := range w.decisions {
		if strings.HasPrefix(key, "e2/end/compare/") {
			recorded = append(recorded, keys...)
		}
	}
	if len(recorded) != 16 {
		t.Errorf("%d given-up rollouts are recorded, want 16: %v", len(recorded), w.decisions)
	}
}

// The scores that a rejection is remembered by are of the same items.
func TestARejectionIsRememberedOnWhatBothHave(t *testing.T) {
	t.Parallel()
	w := newWorld(16, 8, 0)
	w.seed += "rule a\nrule b\n"
	w.propose[1] = []string{"a marvel of a line"}
	w.fails = failing("e1/s1/gate/cand/s02/") // of type c, which both skills fail
	w.must(t, standard())
	var told string
	for _, q := range w.asked(model.StageAnalystError) {
		if strings.HasPrefix(q.key, "e1/s2/") {
			told = q.System + q.User
		}
	}
	if want := "(score 0.5714 before, 0.5714 after)"; !strings.Contains(told, want) {
		t.Errorf("the next step is not told %q:\n%s", want, told)
	}
}

// Whole skills are merged without any budget: the record must not claim one.
func TestWholeSkillsHaveNoBudget(t *testing.T) {
	t.Parallel()
	w := newWorld(8, 4, 0)
	w.reply[model.StageAnalystError] = encode(map[string]any{"patch": map[string]any{"reasoning": "", "skill_candidates": []any{map[string]any{"title": "new", "new_skill": "# New\nrule a\n"}}}})
	o := standard()
	o.Mode = "full_rewrite_minibatch"
	if s := w.must(t, o).History.Steps[1]; s.Action != "accept_new_best" || s.Budget != nil {
		t.Errorf("%s with a budget of %d", s.Action, *s.Budget)
	}
}

// What rests on too few items is no score of the skill that goes on.
func TestTooFewItemsGiveNoCurrentScore(t *testing.T) {
	t.Parallel()
	t.Run("of a forced text", func(t *testing.T) {
		t.Parallel()
		w := newWorld(8, 8, 0)
		w.propose, w.guidance[2] = map[int][]string{1: {"rule a"}, 3: {"rule b"}}, "be careful"
		w.fails = failing("gate/inc/s00/", "gate/inc/s04/")
		o := epochs(3)
		o.SlowGated = false
		s := w.must(t, o).History.Steps[3]
		if s.Action != "indecisive" || s.Current != nil || value(s.Best) != "0.25" {
			t.Errorf("%s, current %s, best %s", s.Action, value(s.Current), value(s.Best))
		}
		if first, second := w.rolled("e3/s3/gate/inc/"), w.rolled("e3/s3/again/gate/inc/"); first != 12 || second != 6 {
			t.Errorf("%d and %d rollouts of the incumbent, want 12 and, of what is missing alone, 6", first, second)
		}
	})
	t.Run("of an observed candidate", func(t *testing.T) {
		t.Parallel()
		w := newWorld(8, 8, 0)
		w.propose[1] = []string{"rule a"}
		w.fails = failing("e1/s1/gate/cand/s01/", "e1/s1/gate/cand/s02/")
		o := standard()
		o.Gate = "observe"
		r := w.must(t, o)
		if s := r.History.Steps[1]; s.Action != "accept" || s.SelectionN != 6 || s.Current != nil {
			t.Errorf("%s on %d items, current %s", s.Action, s.SelectionN, value(s.Current))
		}
		if f := r.History.Final; value(f.FinalScore) != "0.25" {
			t.Errorf("the final skill was measured at %s", value(f.FinalScore))
		}
	})
}
