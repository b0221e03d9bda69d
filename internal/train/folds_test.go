package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// readBy are the ids of the tasks that a step's analysts have read.
func (w *world) readBy(t *rapid.T, step int) []string {
	var out []trajectory.Outcome
	if err := json.Unmarshal([]byte(w.files[fmt.Sprintf("steps/step_%04d/rollout.json", step)]), &out); err != nil {
		t.Fatalf("step %d: %v", step, err)
	}
	ids := make([]string, len(out))
	for i, o := range out {
		ids[i] = o.ID
	}
	return ids
}

// rolledUnder are the ids of the tasks that were rolled out under keys with a part.
func (w *world) rolledUnder(prefix, part string) []string {
	var out []string
	for _, key := range w.rollouts {
		if !strings.HasPrefix(key, prefix) || !strings.Contains(key, part) || strings.Contains(key, "/gate/again/") { // what was accepted is asked again

			continue
		}
		for _, tk := range w.data.Train {
			if strings.Contains(key[len(prefix)-1:]+"/", "/"+tk.ID+"/") { // a step may be named as a task is
				out = append(out, tk.ID)
			}
		}
	}
	return out
}

// In folds no candidate is judged by a task that its step has read, whatever the gate, the
// batches and what cannot be measured, and every gate judges by the fold that is its turn.
func TestNoCandidateIsJudgedByWhatItWasMadeFrom(t *testing.T) {
	t.Parallel()
	judged := 0
	rapid.Check(t, func(rt *rapid.T) {
		o := hard()
		o.BatchSize, o.Accumulation = rapid.IntRange(2, 30).Draw(rt, "batch"), rapid.IntRange(1, 2).Draw(rt, "accumulation")
		o.Epochs = rapid.IntRange(1, 3).Draw(rt, "epochs")
		o.Curriculum.Strategy = rapid.SampledFrom([]string{"none", "uniform"}).Draw(rt, "curriculum")
		o.Curriculum.Bins, o.Curriculum.Temperature = 3, 1
		o.SecondTry = rapid.Bool().Draw(rt, "second tries")
		w := hardWorld(rapid.IntRange(0, 1000).Draw(rt, "world"))
		w.data = w.data.CrossFit(rapid.IntRange(2, 6).Draw(rt, "folds"), 1)
		r, err := w.run(t.Context(), o)
		if err != nil {
			if nothing := new(NothingMeasuredError); !errors.As(err, &nothing) {
				rt.Fatal(err)
			}
			rt.Skip(err)
		}
		for _, s := range r.History.Steps[1:] {
			var fold []string
			for _, i := range w.data.selectionItems(s.Step) {
				fold = append(fold, w.data.Selection[i].ID)
			}
			if s.Fold == nil || *s.Fold != w.data.fold(s.Step) {
				rt.Fatalf("step %d: fold %v", s.Step, s.Fold)
			}
			prefix := fmt.Sprintf("e%d/s%d/", s.Epoch, s.Step)
			for _, id := range w.rolledUnder(prefix, "/gate/") {
				if judged++; !slices.Contains(fold, id) && !strings.Contains(fmt.Sprint(r.History.Drift), prefix) {
					rt.Fatalf("step %d is judged by %s, which is not of its fold", s.Step, id)
				}
			}
			read := w.readBy(rt, s.Step)
			if len(read) == 0 {
				rt.Fatalf("step %d has read nothing", s.Step)
			}
			for _, id := range read {
				if slices.Contains(fold, id) {
					rt.Fatalf("step %d has read %s, which judges it", s.Step, id)
				}
			}
		}
		for _, e := range r.History.Epochs {
			prefix := endPrefix(e.Epoch) + "/"
			for _, id := range w.rolledUnder(prefix, "/gate/") {
				if slices.Contains(w.rolledUnder(prefix, "/compare/"), id) {
					rt.Fatalf("guidance of epoch %d is judged by %s, which it was made from", e.Epoch, id)
				}
			}
		}
	})
	if judged == 0 {
		t.Error("no gate has read anything")
	}
}

// What a gate has measured of the current skill is not asked for again, once.
func TestABatchInFoldsReadsWhatIsKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(12, 12, 4)
	w.data = w.data.CrossFit(4, 1)
	w.propose = map[int][]string{1: {"rule a"}, 2: {"rule b"}, 3: {"nothing"}}
	o := standard()
	o.Epochs, o.BatchSize = 3, 18
	r := w.must(t, o)
	if got := w.rolledUnder("e1/s1/", "/rollout/"); got != nil {
		t.Errorf("the first step asked for %v, which the baseline has", got)
	}
	fold := map[int]int{} // rollouts of the second batch: all but the fold that accepted its skill
	for range w.rolledUnder("e2/s2/", "/rollout/") {
		fold[2]++
	}
	if r.History.Steps[1].Action != "accept_new_best" || fold[2] != 12 {
		t.Errorf("after %s the second step asked for %d of 18 tasks, want 12", r.History.Steps[1].Action, fold[2])
	}
	if r.Best.Text() != r.Final.Text() || !strings.Contains(r.Best.Text(), "rule b") {
		t.Errorf("ships %q, the current skill is %q", r.Best.Text(), r.Final.Text())
	}
}

// A score in folds says that it is one.
func TestAScoreInFoldsIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(12, 12, 4)
	o := fresh()
	plain := w.must(t, o)
	w = newWorld(12, 12, 4)
	w.data = w.data.CrossFit(3, 1)
	folded := w.must(t, o)
	if plain.Reported.Caveat() != "" || folded.Reported.Folds != 3 || folded.Reported.Caveat() == "" {
		t.Errorf("%+v\n%+v", plain.Reported, folded.Reported)
	}
	sizes := w.data.Sizes()
	if diff := cmp.Diff(Sizes{Train: 16, Selection: 24, Test: 4, Fold: 8}, sizes); diff != "" {
		t.Error(diff)
	}
}

// A run in folds makes no more rollouts than its plan says.
func TestThePlanBoundsARunInFolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		o := hard()
		o.Fresh = rapid.Bool().Draw(rt, "fresh")
		o.Test = false
		o.BatchSize = rapid.IntRange(2, 30).Draw(rt, "batch")
		w := hardWorld(rapid.IntRange(0, 1000).Draw(rt, "world"))
		w.fails, w.served = nil, nil
		w.data = w.data.CrossFit(rapid.IntRange(2, 6).Draw(rt, "folds"), 1)
		if _, err := w.run(t.Context(), o); err != nil {
			rt.Fatal(err)
		}
		if most := o.Plan(w.data.Sizes())[0].Calls; len(w.rollouts) > most {
			rt.Errorf("%d rollouts, at most %d are planned", len(w.rollouts), most)
		}
	})
}

// Where answers are the same every time, what is shipped is asked once for each task of the
// pool, under either gate.
func TestWhatIsShippedIsMeasuredOnTheWholePool(t *testing.T) {
	t.Parallel()
	{
		mode, w := gate.ModeStrict, newWorld(12, 12, 4)
		w.data = w.data.CrossFit(4, 1)
		w.propose = map[int][]string{1: {"rule a"}}
		o := fresh()
		o.Fresh = false
		r := w.must(t, o)
		if !strings.Contains(r.Best.Text(), "rule a") || r.Selection == nil || r.Selection.N != 24 || len(r.Selection.Unmeasured) != 0 {
			t.Errorf("%s ships %q, scored %+v", mode, r.Best.Text(), r.Selection)
		}
	}
}
