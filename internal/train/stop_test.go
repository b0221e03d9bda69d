package train

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// anyStop draws rules.
func anyStop(t *rapid.T) Stop {
	return Stop{
		Perfect: rapid.Bool().Draw(t, "perfect"), Score: rapid.SampledFrom([]float64{0, 0, 0.5, 0.75}).Draw(t, "score"),
		Patience: rapid.IntRange(0, 3).Draw(t, "patience"), Evidence: rapid.IntRange(0, 3).Draw(t, "evidence") == 0,
	}
}

// climbing is a world of three epochs of four steps, the second and third of which each bring
// a rule; the first solves half of the tasks.
func climbing(mode gate.Mode) (*world, Options) {
	w := newWorld(16, 24, 4)
	w.seed = "# Skill\nrule a\n"
	w.propose = map[int][]string{1: {"rule b"}, 2: {"rule c"}, 3: {"rule d"}, 5: {"nothing"}, 6: {"harm a"}}
	w.guidance[2] = "be careful"
	o := standard()
	if mode == gate.ModeStrict {
		o = fresh()
	}
	o.Gate, o.BatchSize, o.Epochs, o.SlowUpdate, o.Test = mode, 4, 3, true, true
	return w, o
}

// Each rule ends the loop where its figures say, and the final evaluation follows.
func TestStopRules(t *testing.T) {
	t.Parallel()
	all := func(o *Options) { o.Stop.Perfect = true }
	for _, tt := range []struct {
		name   string
		mode   gate.Mode
		change func(*Options)
		world  func(*world)
		rule   string // "": none
		step   int
		asked  int // rollouts of confirmations
	}{
		{name: "less left than a confirmation takes", mode: gate.ModeStrict, change: func(o *Options) { o.Stop.Perfect, o.Epochs = true, 2 }},
		{name: "none", mode: gate.ModeStrict, change: func(*Options) {}},
		{name: "perfect, strict", mode: gate.ModeStrict, change: all, rule: result.StopPerfect, step: 3, asked: 24},
		{name: "perfect, observe", mode: gate.ModeObserve, change: all, rule: result.StopPerfect, step: 3, asked: 24},
		{name: "perfect, without a gate", mode: gate.ModeOff, change: all},
		{name: "perfect from the start", mode: gate.ModeStrict, change: all, world: func(w *world) { w.seed = "rule a rule b rule c rule d" }, rule: result.StopPerfect, step: 0, asked: 16}, // eight were asked twice already,
		{name: "three tasks", mode: gate.ModeStrict, change: all, world: func(w *world) { w.data.Selection = w.data.Selection[1:4] }, rule: result.StopPerfect, step: 3, asked: 3},
		{name: "one answer that changes", mode: gate.ModeStrict, change: all, world: func(w *world) {
			w.forgets = func(key string) bool { return strings.Contains(key, "/stop/s20/") }
		}, asked: 24},
		{name: "an answer of the first part that changes", mode: gate.ModeStrict, change: all, world: func(w *world) {
			w.forgets = func(key string) bool { return strings.Contains(key, "/stop/s01/") }
		}, asked: 6},
		{name: "a task that cannot be measured again", mode: gate.ModeStrict, change: all, world: func(w *world) {
			w.fails = func(key string) bool { return strings.Contains(key, "/stop/s20/") }
		}, asked: 24 + 2 + 3}, // all, then what is missing once more, each with two more tries
		{name: "a task that is never measured", mode: gate.ModeStrict, change: all, world: func(w *world) {
			w.fails = func(key string) bool { return strings.Contains(key, "/s20/") }
		}},
		{name: "a bonus for words", mode: gate.ModeStrict, change: func(o *Options) { o.Stop.Perfect, o.Projection.DensityWeight = true, 0.1 }},
		{name: "soft scores below the maximum", mode: gate.ModeStrict, change: func(o *Options) { o.Stop.Perfect, o.Projection.Metric = true, "soft" }, world: func(w *world) {
			w.propose[3] = []string{"half d"}
		}},
		{name: "score", mode: gate.ModeStrict, change: func(o *Options) { o.Stop.Score = 0.75 }, rule: result.StopScore, step: 2},
		{name: "score of the seed skill", mode: gate.ModeStrict, change: func(o *Options) { o.Stop.Score = 0.25 }, rule: result.StopScore, step: 0},
		{name: "patience", mode: gate.ModeStrict, change: func(o *Options) { o.Stop.Patience = 2 }, rule: result.StopPatience, step: 5},
		{name: "patience that the guidance renews", mode: gate.ModeStrict, change: func(o *Options) { o.Stop.Patience, o.Epochs = 3, 3 }, world: func(w *world) {
			w.propose, w.guidance[2] = map[int][]string{1: {"rule b"}, 6: {"rule c"}}, "rule d"
			w.propose[6] = []string{"rule c"}
		}, rule: result.StopPatience, step: 4},
		{name: "evidence", mode: gate.ModeStrict, change: func(o *Options) { o.Stop.Evidence = true }, world: func(w *world) {
			w.data.Selection = w.data.Selection[:18] // of which four are of the last kind
		}, rule: result.StopEvidence, step: 2},
		{name: "evidence of six tasks", mode: gate.ModeStrict, change: func(o *Options) { o.Stop.Evidence = true }, rule: result.StopEvidence, step: 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w, o := climbing(tt.mode)
			tt.change(&o)
			if tt.world != nil {
				tt.world(w)
			}
			r := w.must(t, o)
			s := r.History.Stop
			if s == nil {
				s = &result.Stop{}
			}
			if s.Rule != tt.rule || s.Step != tt.step || tt.rule != "" && (len(r.History.Steps) != tt.step+1 || s.StepsLeft != o.Steps(16)-tt.step) {
				t.Errorf("stopped by %q after step %d of %d steps, %d are left; want %q after %d", s.Rule, s.Step, len(r.History.Steps)-1, s.StepsLeft, tt.rule, tt.step)
			}
			if n := w.confirming(); n != tt.asked {
				t.Errorf("%d rollouts confirm, want %d", n, tt.asked)
			}
			if r.History.Final == nil || r.History.Final.EndedEarly || r.History.Final.Test["best"] == nil {
				t.Errorf("the final evaluation: %+v", r.History.Final)
			}
			told := slices.ContainsFunc(w.events, func(e event.Event) bool {
				stopped, is := e.(event.Stopped)
				return is && stopped.Words == s.Words() && stopped.Rule == tt.rule
			})
			if told != (tt.rule != "") {
				t.Errorf("told: %v", told)
			}
		})
	}
}

// confirming counts the rollouts of confirmations.
func (w *world) confirming() int {
	n := 0
	for _, key := range w.rollouts {
		if strings.Contains(key, "/stop/") {
			n++
		}
	}
	return n
}

// Skills that fail when they are asked again are asked so often and not more.
func TestConfirmationsEnd(t *testing.T) {
	t.Parallel()
	w, o := climbing(gate.ModeStrict)
	o.Epochs, o.Stop.Perfect, o.Deterministic = 4, true, false
	for step := 4; step <= 16; step++ {
		w.propose[step] = []string{fmt.Sprint("more ", step)}
	}
	w.forgets = func(key string) bool { return strings.Contains(key, "/stop/") }
	r := w.must(t, o)
	if n := w.confirming(); r.History.Stop != nil || n == 0 || n > MostConfirmations*6 {
		t.Errorf("%d rollouts confirm, stop %+v", n, r.History.Stop)
	}
}

// What a stop rests on stands in what the run has written.
func TestAStopFollowsFromTheRecord(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		o, w := anyOptions(rt)
		r, err := w.run(t.Context(), o)
		if err != nil {
			rt.Fatal(err)
		}
		s := r.History.Stop
		if s == nil {
			return
		}
		if len(r.History.Steps)-1 != s.Step || r.Units != s.Units || len(r.History.Epochs) > s.Epoch {
			rt.Fatalf("%+v of %d steps and %d units", s, len(r.History.Steps)-1, r.Units)
		}
		for _, key := range w.rollouts {
			var epoch, step int
			if _, err := fmt.Sscanf(key, "e%d/s%d/", &epoch, &step); err == nil && step > s.Step {
				rt.Fatalf("%s was asked after the stop: %+v", key, s)
			}
		}
		steps := r.History.Steps
		switch last := steps[len(steps)-1]; s.Rule {
		case result.StopPerfect:
			if *s.Score != 1 || s.Items != s.Tasks || s.Evaluations < 2*s.Tasks {
				rt.Fatalf("%+v", s)
			}
		case result.StopScore:
			if *s.Score < o.Stop.Score-score.Negligible {
				rt.Fatalf("%+v", s)
			}
		case result.StopPatience:
			for _, step := range steps[max(1, len(steps)-o.Stop.Patience):] {
				if step.Action == string(gate.AcceptNewBest) && step.BestStep == step.Step {
					rt.Fatalf("step %d gained: %+v", step.Step, s)
				}
			}
		case result.StopEvidence:
			if *s.Open >= LeastToShow && *s.Left >= *s.Shown {
				rt.Fatalf("%+v", s)
			}
		default:
			rt.Fatalf("%+v after %+v", s, last)
		}
	})
}

// Nothing is asked ahead of a stop that is of no use after it: a run that begins the rollouts
// of the next part beside the last asks what one asks that does not.
func TestNothingIsPrefetchedBeyondAStop(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		o, w := anyOptions(rt)
		o.Gate = rapid.SampledFrom([]gate.Mode{gate.ModeStrict}).Draw(rt, "gate that may prefetch")
		ahead := *newWorld(0, 0, 0)
		ahead.data, ahead.seed, ahead.propose, ahead.praise, ahead.notes, ahead.reply, ahead.guidance, ahead.memory = w.data, w.seed, w.propose, w.praise, w.notes, w.reply, w.guidance, w.memory
		ahead.overlap = true
		for _, w := range []*world{w, &ahead} {
			if _, err := w.run(t.Context(), o); err != nil {
				rt.Fatal(err)
			}
			// How much of what a race needs no more is under way when it ends is chance.
			w.rollouts = slices.DeleteFunc(w.rollouts, func(key string) bool { return strings.Contains(key, "/gate/") })
			slices.Sort(w.rollouts)
		}
		if diff := cmp.Diff(w.rollouts, ahead.rollouts); diff != "" {
			rt.Fatalf("asked (-in turn +ahead):\n%s", diff)
		}
		if diff := cmp.Diff(w.files, ahead.files); diff != "" {
			rt.Fatal(diff)
		}
	})
}

// newTape is a world with a record.
func newTape(w *world) *tape {
	return &tape{world: w, outcomes: map[string]trajectory.Outcome{}, answers: map[string]string{}, given: map[string]bool{}, without: map[string][]byte{}}
}

// A run that may stop can end anywhere and go on from its record: it stops where one stops
// that was never interrupted, and writes the same bytes.
func TestStopAndResumeAnywhere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		o := hard()
		o.Gate = rapid.SampledFrom([]gate.Mode{gate.ModeStrict, gate.ModeObserve}).Draw(rt, "gate")
		o.Deterministic, o.Stop = rapid.Bool().Draw(rt, "steady"), anyStop(rt)
		salt, chance := rapid.IntRange(0, 1000).Draw(rt, "world"), rapid.SampledFrom([]float64{0, 0, 0.02, 0.15}).Draw(rt, "chance")
		folds := o.Gate != gate.ModeObserve && rapid.Bool().Draw(rt, "folds")
		world := func() *world {
			w := hardWorld(salt)
			w.propose = map[int][]string{1: {"rule a", "rule b"}, 2: {"rule c"}, 3: {"nothing"}}
			w.lines, w.fails, w.forgets = nil, nil, share(chance, salt)
			if folds {
				w.data = w.data.CrossFit(4, 1)
			}
			return w
		}
		play := func(r *tape, left func(session int) int) map[string]string {
			for session := 0; ; session++ {
				r.left = left(session)
				d := r.deps(&rollout.Runner{Extra: 1, Episode: r})
				d.Ask, d.Record, d.Overlap = r.ask, r, overlaps(session%2 == 0)
				_, err := Run(t.Context(), o, d)
				if err == nil {
					return r.files
				}
				if !errors.Is(err, errEnds) {
					rt.Fatal(err)
				}
			}
		}
		whole := play(newTape(world()), func(int) int { return 1 << 30 })
		cut := play(newTape(world()), func(int) int { return rapid.IntRange(1, 200).Draw(rt, "answers") })
		if diff := cmp.Diff(whole, cut); diff != "" {
			rt.Fatalf("files (-never interrupted +interrupted):\n%s", diff)
		}
	})
}

// A loop that goes on from another one asks nothing again that this one has asked, decides
// the same in its part, and is not ended at once by the rule that ended it.
func TestGoesOnFromAStop(t *testing.T) {
	t.Parallel()
	for _, mode := range []gate.Mode{gate.ModeStrict} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			w, o := climbing(mode)
			o.Schedule, o.Budget, o.Stop = "cosine", 8, Stop{Perfect: true}
			r := newTape(w)
			run := func(o Options, left int) (*Result, error) {
				r.left = left
				d := r.deps(&rollout.Runner{Extra: 1, Episode: r})
				d.Ask, d.Record = r.ask, r
				return Run(t.Context(), o, d)
			}
			first, err := run(o, 1<<30)
			if err != nil || first.History.Stop == nil {
				t.Fatalf("%v, %+v", err, first.History.Stop)
			}
			last := Stretch{Units: first.Units, Steps: first.History.Stop.Step, Epochs: o.Epochs, Asked: o.Stop, Stop: o.Stop, Ended: first.History.Stop.Rule}
			o.Epochs, o.Earlier, o.Stop = 4, []Stretch{last}, last.After(o.Stop)
			w.propose[9] = []string{"more"}
			part, err := run(o, 0)
			if !errors.Is(err, errEnds) || len(part.History.Steps) != len(first.History.Steps) {
				t.Fatalf("%v after %d steps, want %d that are paid for", err, len(part.History.Steps), len(first.History.Steps))
			}
			if diff := cmp.Diff(first.History.Steps, part.History.Steps); diff != "" {
				t.Errorf("its steps (-before +now):\n%s", diff)
			}
			second, err := run(o, 1<<30)
			if err != nil || second.History.Stop != nil || len(second.History.Steps) != 17 {
				t.Errorf("%v, %d steps, %+v", err, len(second.History.Steps), second.History.Stop)
			}
		})
	}
}

// Which rules hold after another run.
func TestRulesAfter(t *testing.T) {
	t.Parallel()
	asked := Stop{Perfect: true, Score: 0.9, Patience: 3, Evidence: true}
	for _, tt := range []struct {
		ended     string
		now, want Stop
	}{
		{"", asked, asked},
		{result.StopPerfect, asked, Stop{Score: 0.9, Patience: 3, Evidence: true}},
		{result.StopScore, asked, Stop{Perfect: true, Patience: 3, Evidence: true}},
		{result.StopScore, Stop{Perfect: true, Score: 0.95}, Stop{Perfect: true, Score: 0.95}},
		{result.StopPatience, asked, asked},
		{result.StopEvidence, Stop{Perfect: true, Evidence: true}, Stop{Perfect: true}},
		{result.StopPerfect, Stop{Patience: 9}, Stop{Patience: 9}},
	} {
		if got := (Stretch{Asked: asked, Stop: asked, Ended: tt.ended}).After(tt.now); got != tt.want {
			t.Errorf("ended by %q, asked for %+v: %+v, want %+v", tt.ended, tt.now, got, tt.want)
		}
	}
}

// What another run has carried out, by the keys of the record.
func TestCarriedOut(t *testing.T) {
	t.Parallel()
	var o, middle Options
	o.Earlier = []Stretch{{Units: 4, Steps: 3, PerEpoch: 3, Epochs: 1, Tested: true}}
	middle.Earlier = []Stretch{{Units: 6, Steps: 5, PerEpoch: 3, Epochs: 3}}
	for key, want := range map[string][2]bool{
		"seed/selection":            {true, true},
		"e1/s3/mb0/rollout":         {true, true},
		"e1/s3/mb0/analyst_error/0": {true, true},
		"e1/end/compare/curr":       {true, true},
		"e2/s4/gate/cand":           {false, true},
		"e2/s6/gate/cand":           {false, false},
		"e2/end/slow_update":        {false, false},
		"e10/s31/mb0/rollout":       {false, false},
		"final/test/seed":           {true, false},
		"final/test/best":           {false, false},
		"final/fresh":               {false, false},
	} {
		if got := [2]bool{o.CarriedOut(key), middle.CarriedOut(key)}; got != want {
			t.Errorf("%s: %t, want %t", key, got, want)
		}
		if (Options{}).CarriedOut(key) {
			t.Errorf("%s: nobody has", key)
		}
	}
}
