package train

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// again are options with second tries.
func again() Options {
	o := fresh()
	o.SecondTry, o.Deterministic, o.Epochs = true, true, 1
	return o
}

// keeps answers the request for a second try.
func keeps(w *world, indices string) {
	w.reply[model.StageRanking] = `{"reasoning": "the rest hurt", "selected_indices": [` + indices + `]}`
}

// A bundle that one edit pulls down is rejected; without that edit it is accepted, in the
// same step and by the rollouts that the gate makes of it alone.
func TestWhatHurtsIsLeftOut(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"strict"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			w := newWorld(8, 40, 8)
			w.seed = "# Skill\nrule b\nrule c\nrule d\n"
			w.propose = map[int][]string{1: {"rule a", "harm b", "harm c", "harm d"}}
			keeps(w, "0")
			o := again()
			r := w.must(t, o)
			s := r.History.Steps[1]
			if s.Action != "accept_new_best" || r.Best.Text() != "# Skill\nrule b\nrule c\nrule d\n\nrule a\n" || r.History.Steps[1].CurrentOrigin != "step 1, second try" {
				t.Fatalf("step 1: %s (%s), best %q of %s", s.Action, s.Reason, r.Best.Text(), s.CurrentOrigin)
			}
			if len(s.Candidates) != 2 || !strings.HasPrefix(s.Candidates[0].Action, "reject") || s.Candidates[1].SecondTry != 1 || !s.Candidates[1].Taken {
				t.Errorf("candidates: %+v", s.Candidates)
			}
			if n := len(s.Edits); n != 1 || s.Ranked != 1 {
				t.Errorf("%d edits are reported, %d ranked", n, s.Ranked)
			}
			var told optimize.SecondTryResult
			if err := json.Unmarshal([]byte(w.files["steps/step_0001/second_try.json"]), &told); err != nil {
				t.Fatal(err)
			}
			lost := 0
			for _, f := range told.Fared {
				if lost += f.Lost; f.Won > 0 != (f.Type == "a") || f.Lost > 0 && f.Type == "a" {
					t.Errorf("type %s: %+v", f.Type, f)
				}
			}
			if lost == 0 {
				t.Errorf("nothing was lost: %+v", told.Fared)
			}
			for _, q := range w.asked(model.StageRanking) {
				if strings.Contains(q.User, "do a") || strings.Contains(q.User, "s00") {
					t.Errorf("the optimizer is shown a task that judges:\n%s", q.User)
				}
			}
			if n := w.rolled("e1/s1/mb0/"); n != 8 {
				t.Errorf("%d rollouts of train tasks in the step, want the 8 of its batch", n)
			}
		})
	}
}

// A reply that keeps everything or nothing, or cannot be read, leaves the halves of the bundle.
func TestHalvesAreTriedWithoutAChoice(t *testing.T) {
	t.Parallel()
	for name, indices := range map[string]string{"nothing": "", "all": "0, 1, 2", "no such edit": "7"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(8, 40, 8)
			w.seed = "# Skill\nrule b\nrule c\n"
			w.propose = map[int][]string{1: {"rule a", "harm b", "harm c"}}
			keeps(w, indices)
			r := w.must(t, again())
			lost := 1
			if indices == "" {
				lost = 0
			}
			s := r.History.Steps[1]
			if s.LostReplies != lost || len(w.asked(model.StageRanking)) != 1 {
				t.Errorf("%d replies are lost, want %d; %d questions", s.LostReplies, lost, len(w.asked(model.StageRanking)))
			}
			if s.Action != "accept_new_best" || !strings.HasPrefix(s.Reason, "second try, with 1 of 3 edits: ") || len(s.Candidates) != 2 || !s.Candidates[1].Taken {
				t.Errorf("%s (%s): %+v", s.Action, s.Reason, s.Candidates)
			}
			if n := w.rolled("e1/s1/second/half1/gate/cand/"); n != 40 {
				t.Errorf("the first half is measured on %d tasks", n)
			}
		})
	}
}

// Edits that add text are one half and those that take some out the other, where there are
// both.
func TestHalves(t *testing.T) {
	t.Parallel()
	edit := func(op skill.Op) skill.Edit { return skill.Edit{Op: op} }
	for _, tt := range []struct {
		edits []skill.Edit
		want  [][]int
	}{
		{[]skill.Edit{edit(skill.Append), edit(skill.Delete), edit(skill.InsertAfter), edit(skill.Replace)}, [][]int{{0, 2}, {1, 3}}},
		{[]skill.Edit{edit(skill.Append), edit(skill.Append), edit(skill.Append)}, [][]int{{0}, {1, 2}}},
		{[]skill.Edit{edit(skill.Delete), edit(skill.Replace)}, [][]int{{0}, {1}}},
	} {
		if diff := cmp.Diff(tt.want, halves(tt.edits)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", tt.edits, diff)
		}
	}
}

// Parts that are worse as well are rejected, and the step names all tries.
func TestASecondTryMayFail(t *testing.T) {
	t.Parallel()
	w := newWorld(8, 40, 8)
	w.seed = "# Skill\nrule b\nrule c\n"
	w.propose = map[int][]string{1: {"nothing", "harm b", "harm c"}, 2: {"rule d"}}
	keeps(w, "1")
	o := again()
	o.BatchSize = 4
	r := w.must(t, o)
	s := r.History.Steps[1]
	if !strings.HasPrefix(s.Action, "reject") || len(s.Candidates) != 4 || slices.ContainsFunc(s.Candidates, func(c result.CandidateRecord) bool { return c.Taken }) || r.Rejected != 1 {
		t.Errorf("step 1: %s, %+v, %d rejected", s.Action, s.Candidates, r.Rejected)
	}
	if got := actions(r)[2]; got != "accept_new_best" {
		t.Errorf("step 2: %s", got)
	}
}

// Where a ceiling has no room for another candidate nobody is asked. What was decided stays,
// whatever the ceiling is when the run continues.
func TestASecondTryNeedsRoom(t *testing.T) {
	t.Parallel()
	run := func(w *world, room int) *Result {
		w.seed = "# Skill\nrule b\nrule c\n"
		w.propose = map[int][]string{1: {"rule a", "harm b", "harm c"}}
		keeps(w, "0")
		w.pace = func(p Unit) (int, error) {
			if p.Name == UnitSecondTry {
				return room, nil
			}
			return p.Tasks, nil
		}
		return w.must(t, again())
	}
	w := newWorld(8, 40, 8)
	if r := run(w, 0); r.Accepted != 0 || len(w.asked(model.StageRanking)) != 0 {
		t.Errorf("%d accepted, %d questions", r.Accepted, len(w.asked(model.StageRanking)))
	}
	w.questions = nil
	if r := run(w, 1); r.Accepted != 0 || len(w.asked(model.StageRanking)) != 0 {
		t.Errorf("resumed: %d accepted, %d questions", r.Accepted, len(w.asked(model.StageRanking)))
	}
	w = newWorld(8, 40, 8)
	if r := run(w, 1); r.Accepted != 1 {
		t.Errorf("with room: %d accepted", r.Accepted)
	}
	if r := run(w, 0); r.Accepted != 1 {
		t.Errorf("resumed: %d accepted", r.Accepted)
	}
	if !slices.ContainsFunc(keysOf(w.recorded), IsRoom) {
		t.Errorf("recorded: %v", keysOf(w.recorded))
	}
}

func keysOf(m map[string][]byte) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	return out
}
