package train

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/skill"
)

// epochs are options of some epochs with one step each.
func epochs(n int) Options {
	o := standard()
	o.Epochs, o.SlowUpdate = n, true
	return o
}

func TestSlowUpdateIsGated(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, guidance string
		gate           gate.Mode
		action         string
		bestStep       int
		bestHolds      bool
	}{
		{"better", "rule b", "strict", "accept_new_best", 2, true},
		{"no worse", "be careful", "strict", "accept", 1, false},
		{"worse", "harm a", "strict", "reject", 1, false},
		{"worse, observed", "harm a", "observe", "accept", 1, false},
		{"not scored", "harm a", "off", "accept_new_best", 2, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(8, 4, 0)
			w.propose[1], w.guidance[2] = []string{"rule a"}, tt.guidance
			o := epochs(2)
			o.Gate = tt.gate
			r := w.must(t, o)
			e := r.History.Epochs[0]
			if len(r.History.Epochs) != 1 || e.Epoch != 2 || e.SlowUpdate != tt.action || e.Guidance != tt.guidance {
				t.Errorf("epochs: %+v, want %s", r.History.Epochs, tt.action)
			}
			accepted := tt.action != "reject"
			if got := skill.SlowText(r.Final.Text()); (got == tt.guidance) != accepted {
				t.Errorf("the region holds %q after %s", got, tt.action)
			}
			if strings.Contains(r.Best.Text(), tt.guidance) != tt.bestHolds || r.BestStep != tt.bestStep {
				t.Errorf("best is of step %d:\n%s", r.BestStep, r.Best.Text())
			}
			if (e.Score == nil) != (tt.gate == gate.ModeOff) {
				t.Errorf("the score of the guidance is %v", value(e.Score))
			}
		})
	}
}

// A text that is forced in is measured before anything is compared with it, and
// before it can be the best.
func TestForcedGuidanceIsMeasuredFirst(t *testing.T) {
	t.Parallel()
	t.Run("before the next comparison", func(t *testing.T) {
		t.Parallel()
		w := newWorld(8, 4, 0)
		w.propose = map[int][]string{1: {"rule a"}, 3: {"rule b"}}
		w.guidance[2] = "harm a"
		o := epochs(3)
		o.SlowGated = false
		r := w.must(t, o)
		if got := w.rolled("e3/s3/gate/inc/"); got != 4 {
			t.Errorf("the incumbent was measured on %d of 4 items", got)
		}
		if got := w.rolled("e2/end/gate/"); got != 0 {
			t.Errorf("forced guidance was measured %d times at once", got)
		}
		s := r.History.Steps[3]
		// The candidate (b, but not a) beats the forced incumbent and not the best.
		if s.Action != "accept" || value(s.Candidate) != "0.25" || value(s.Best) != "0.25" || s.BestStep != 1 {
			t.Errorf("step 3: %s, candidate %s, best %s of step %d", s.Action, value(s.Candidate), value(s.Best), s.BestStep)
		}
		if r.History.Epochs[0].SlowUpdate != "forced" || r.History.Steps[2].Action != "skip_no_patches" {
			t.Errorf("epochs %+v, steps %v", r.History.Epochs, actions(r))
		}
		if strings.Contains(r.Best.Text(), "harm a") {
			t.Error("the forced text reached the best skill")
		}
	})
	t.Run("kept after a rejection", func(t *testing.T) {
		t.Parallel()
		w := newWorld(8, 4, 0)
		w.propose = map[int][]string{1: {"rule a"}, 3: {"nothing"}, 4: {"nothing else"}}
		w.guidance = map[int]string{2: "be careful"}
		w.reply[model.StageMetaSkill] = "lost"
		o := epochs(2)
		o.BatchSize, o.SlowGated = 4, false // two steps an epoch, the forced text at the end of epoch 2
		o.Epochs = 3
		w.propose = map[int][]string{1: {"rule a"}, 5: {"nothing"}, 6: {"nothing else"}}
		r := w.must(t, o)
		if first, second := w.rolled("e3/s5/gate/inc/"), w.rolled("e3/s6/gate/inc/"); first != 4 || second != 0 {
			t.Errorf("the incumbent was measured on %d items, then on %d, want 4 and 0", first, second)
		}
		if s := r.History.Steps[5]; s.Action != "reject" || value(s.Current) != "0.25" {
			t.Errorf("step 5: %s, current %s", s.Action, value(s.Current))
		}
	})
	t.Run("at the end", func(t *testing.T) {
		t.Parallel()
		for _, tt := range []struct {
			guidance string
			promoted bool
		}{{"rule b", true}, {"harm a", false}, {"be careful", false}} {
			w := newWorld(8, 4, 4)
			w.propose[1], w.guidance[2] = []string{"rule a"}, tt.guidance
			o := epochs(2)
			o.SlowGated, o.Test = false, true
			r := w.must(t, o)
			f := r.History.Final
			if got := w.rolled("final/selection/"); got != 4 || f.Promoted != tt.promoted || f.FinalScore == nil {
				t.Errorf("%s: %d rollouts of the final skill, promoted %v with %s", tt.guidance, got, f.Promoted, value(f.FinalScore))
			}
			if strings.Contains(r.Best.Text(), tt.guidance) != tt.promoted {
				t.Errorf("%s: best is\n%s", tt.guidance, r.Best.Text())
			}
		}
	})
}

func TestNoSlowUpdateWithoutChange(t *testing.T) {
	t.Parallel()
	w := newWorld(8, 4, 0)
	w.guidance = map[int]string{2: "be careful", 3: "be careful"}
	r := w.must(t, epochs(4))
	var got []string
	for _, e := range r.History.Epochs {
		got = append(got, e.SlowUpdate)
	}
	if diff := cmp.Diff([]string{"accept", "skip_no_change", "lost"}, got); diff != "" {
		t.Errorf("slow updates (-want +got):\n%s", diff)
	}
	if r.Lost != 1 {
		t.Errorf("%d lost replies", r.Lost)
	}
	if w.asked(model.StageSlowUpdate)[0].key != "e2/end/slow_update" {
		t.Errorf("epoch 1 was compared with nothing: %s", w.asked(model.StageSlowUpdate)[0].key)
	}
}

func TestGuidanceThatDoesNotFitIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(8, 4, 0)
	w.seed += strings.Repeat("x", skill.MaxBytes-len(w.seed)-10)
	w.guidance[2] = "be careful"
	r := w.must(t, epochs(2))
	if got := r.History.Epochs[0].SlowUpdate; got != "skip_refused" {
		t.Errorf("slow update: %s", got)
	}
}

func TestEpochsAreCompared(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pairs      string
		propose    map[int][]string
		prev, curr int // rollouts at the end of epoch 2
		want       map[string]int
	}{
		{"mixed", map[int][]string{2: {"rule a", "rule b", "rule c", "rule d"}}, 4, 4, map[string]int{"improved": 4}},
		{"mixed", nil, 0, 4, map[string]int{"persistent_fail": 4}},
		// Four tasks change: all of train is looked through for a fifth.
		{"changed", map[int][]string{2: {"rule a"}}, 16, 16, map[string]int{"improved": 4, "persistent_fail": 12}},
		{"changed", nil, 0, 4, map[string]int{"persistent_fail": 4}},
		{"unchanged", map[int][]string{2: {"rule a", "rule b", "rule c", "rule d"}}, 16, 16, map[string]int{"improved": 16}},
	} {
		w := newWorld(16, 4, 0)
		w.propose = tt.propose
		w.guidance[2] = "be careful"
		o := epochs(2)
		o.BatchSize, o.SlowPairs = 16, tt.pairs
		if tt.pairs == "changed" && tt.propose != nil {
			o.SlowSamples = 5
		}
		r := w.must(t, o)
		prev, curr := w.rolled("e2/end/compare/prev/"), w.rolled("e2/end/compare/curr/")
		if diff := cmp.Diff(tt.want, r.History.Epochs[0].Pairs); diff != "" || prev != tt.prev || curr != tt.curr {
			t.Errorf("%s, %v: %d and %d rollouts, want %d and %d; pairs (-want +got):\n%s", tt.pairs, tt.propose, prev, curr, tt.prev, tt.curr, diff)
		}
	}
}

func TestUnknownPairPolicy(t *testing.T) {
	t.Parallel()
	o := epochs(2)
	o.SlowPairs = "some"
	if _, err := newWorld(8, 4, 0).run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "end of epoch 2") {
		t.Errorf("got %v", err)
	}
}

// The memory of one epoch is read in the next ones, by analysts, merges and
// rankings, and never gets into the skill.
func TestMetaSkillIsHandedOn(t *testing.T) {
	t.Parallel()
	const memory = "short lines win"
	w := newWorld(8, 4, 0)
	w.memory[2], w.reply[model.StageSlowUpdate] = memory, "lost"
	five := []string{"l1", "l2", "l3", "l4", "l5"}
	w.propose = map[int][]string{1: five, 2: five, 3: five}
	o := epochs(3)
	o.SlowUpdate, o.MetaSkill, o.Minibatch = false, true, 4
	r := w.must(t, o)
	for _, stage := range []string{model.StageAnalystError, model.StageMerge, model.StageRanking} {
		seen := 0
		for _, q := range w.asked(stage) {
			told := strings.Contains(q.System+q.User, memory)
			if third := strings.HasPrefix(q.key, "e3/"); told != third {
				t.Errorf("%s knows the memory: %v", q.key, told)
			}
			if told {
				seen++
			}
		}
		if seen == 0 {
			t.Errorf("stage %s never saw the memory", stage)
		}
	}
	if last := w.asked(model.StageMetaSkill)[1]; !strings.Contains(last.System+last.User, memory) {
		t.Error("the memory is not renewed from what it was")
	}
	if r.History.Epochs[0].MetaSkill != memory || r.History.Epochs[1].MetaSkill != "" || len(r.History.Epochs[1].Lost) != 1 {
		t.Errorf("epochs: %+v", r.History.Epochs)
	}
	if strings.Contains(r.Final.Text(), memory) {
		t.Error("the memory got into the skill")
	}
	if len(w.asked(model.StageSlowUpdate)) != 0 {
		t.Error("a slow update was asked for though it is off")
	}
}
