package train

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// several are options of steps with so many candidates, one analyst for each two
// tasks.
func several(size int, mode gate.Mode) Options {
	o := raced()
	o.Minibatch, o.Gate = 2, mode
	o.Population = Population{Size: size, Vary: "minibatches"}
	return o
}

// byAnalyst lets the analysts of a step append lines of their own, in turn.
func byAnalyst(lines ...string) func(key string) []string {
	return func(key string) []string {
		var n int
		if _, err := fmt.Sscanf(key[strings.LastIndex(key, "/")+1:], "%d", &n); err != nil {
			panic(err)
		}
		if n >= len(lines) {
			return nil
		}
		return strings.Split(lines[n], "\n")
	}
}

func TestPopulationOfOneIsPlain(t *testing.T) {
	t.Parallel()
	train := func(p Population) *world {
		w := newWorld(24, 20, 12)
		w.propose = map[int][]string{1: {"rule a"}, 2: {"harm a"}, 3: {"rule b"}}
		o := raced()
		o.Population = p
		w.must(t, o)
		return w
	}
	plain, one := train(Population{}), train(Population{Size: 1, Vary: VaryTemperature})
	if diff := cmp.Diff(plain.files, one.files); diff != "" {
		t.Errorf("files (-without +one):\n%s", diff)
	}
	slices.Sort(plain.rollouts)
	slices.Sort(one.rollouts)
	if diff := cmp.Diff(plain.rollouts, one.rollouts); diff != "" {
		t.Errorf("keys (-without +one):\n%s", diff)
	}
}

// Two candidates that gain on different tasks are merged, and what comes of it is
// taken because it is better than either.
func TestComplementaryWinnersAreMerged(t *testing.T) {
	t.Parallel()
	for _, mode := range []gate.Mode{"race", "strict"} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			w := newWorld(4, 40, 8)
			w.lines = byAnalyst("rule a\nhalf a", "rule b")
			o := several(2, mode)
			o.Budget = 2 // of each candidate
			r := w.must(t, o)
			s := r.History.Steps[1]
			if !strings.HasPrefix(s.Reason, "merged of candidates 1, 2, ") && !strings.HasPrefix(s.Reason, "merged of candidates 2, 1, ") {
				t.Errorf("reason: %s", s.Reason)
			}
			if s.Action != "accept_new_best" || len(s.Candidates) != 3 || value(s.Candidate) != "0.5" {
				t.Fatalf("step 1: %+v", s)
			}
			m := s.Candidates[2]
			if !m.Taken || len(m.Merged) != 2 || m.Edits != 3 || s.Candidates[0].Taken || s.Candidates[1].Taken || m.Hash != s.SkillHash {
				t.Errorf("candidates: %+v", s.Candidates)
			}
			again, _ := skill.Apply(skill.New(w.seed), editsOf("rule a", "half a", "rule b"), skill.ApplyOptions{})
			other, _ := skill.Apply(skill.New(w.seed), editsOf("rule b", "rule a", "half a"), skill.ApplyOptions{})
			if got := r.Best.Text(); got != again.Text() && got != other.Text() || len(s.Edits) != 3 || w.files["steps/step_0001/candidate_skill.md"] != got {
				t.Errorf("the best skill is not what its edits make of the seed: %q, %+v", got, s.Edits)
			}
			c := w.candidates(t)
			if got := c["step 1, merged"]; !got.Accepted || !got.Best || got.Parent != c["seed"].Hash || len(got.Edits) != 3 {
				t.Errorf("stored: %+v", got)
			}
			if c["step 1"].Accepted || c["step 1, candidate 2"].Accepted {
				t.Error("a candidate that was not taken counts as accepted")
			}
			if w.files["steps/step_0001/p2/candidate_skill.md"] == "" || w.files["steps/step_0001/p3/edit_apply_report.json"] == "" {
				t.Errorf("files: %v", slices.Sorted(maps.Keys(w.files)))
			}
		})
	}
}

func editsOf(lines ...string) []skill.Edit {
	var out []skill.Edit
	for _, l := range lines {
		out = append(out, skill.Edit{Op: skill.Append, Content: l})
	}
	return out
}

// What is merged does not always go together: each of these harms what the other
// gains.
func TestAWorseMergeIsNotTaken(t *testing.T) {
	t.Parallel()
	for _, mode := range []gate.Mode{"race", "strict", "observe"} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			w := newWorld(4, 40, 8)
			w.seed = "# Skill\nrule d\n"
			w.data.Train = tasks("t", 3)
			o := several(2, mode)
			w.lines = byAnalyst("rule a\nrule c\nharm b", "rule b\nharm a\nharm c")
			o.Minibatch = 2
			r := w.must(t, o)
			s := r.History.Steps[1]
			if len(s.Candidates) != 3 || s.Candidates[2].Taken || value(s.Candidate) != "0.75" || !strings.Contains(r.Best.Text(), "rule a") {
				t.Fatalf("step 1: %+v", s)
			}
			if s.SkillHash != s.CandidateHash || w.files["steps/step_0001/candidate_skill.md"] != r.Best.Text() || len(s.Edits) != 3 {
				t.Errorf("the step is not recorded by what was taken: %+v", s)
			}
		})
	}
}

func TestNobodyAcceptedIsARejection(t *testing.T) {
	t.Parallel()
	w := newWorld(4, 40, 8)
	w.seed = "# Skill\nrule d\n"
	w.lines = byAnalyst("harm d", "harm d\nnothing")
	r := w.must(t, several(2, "race"))
	s := r.History.Steps[1]
	if r.Rejected != 1 || r.Accepted != 0 || len(s.Candidates) != 2 || s.SkillHash != skill.New(w.seed).Hash() || !strings.HasPrefix(s.Action, "reject") {
		t.Errorf("step 1: %+v", s)
	}
}

// Candidates of equal text are judged once, and there are no more candidates than
// patches.
func TestEqualCandidatesAreJudgedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(4, 40, 8)
	w.lines = byAnalyst("rule a", "rule a")
	s := w.must(t, several(8, "strict")).History.Steps[1]
	if len(s.Candidates) != 2 || s.Candidates[1].Action != result.ActionDuplicate || s.Action != "accept_new_best" {
		t.Errorf("candidates: %+v", s.Candidates)
	}
}

// With temperatures all patches go to every candidate, which asks anew.
func TestCandidatesByTemperature(t *testing.T) {
	t.Parallel()
	w := newWorld(4, 40, 8)
	w.propose = map[int][]string{1: {"rule a"}}
	o := several(3, "strict")
	half := 0.5
	o.Population = Population{Size: 3, Vary: VaryTemperature, Temperature: &half}
	w.must(t, o)
	temperatures := map[string]string{}
	for _, q := range w.asked(model.StageMerge) {
		temperatures[q.key] = value(q.Temperature)
	}
	got := slices.Sorted(maps.Values(temperatures))
	if diff := cmp.Diff([]string{"0.75", "1", "null"}, got); diff != "" {
		t.Errorf("temperatures of %v (-want +got):\n%s", temperatures, diff)
	}
	if n := len(w.asked(model.StageAnalystError)); n != 2 {
		t.Errorf("%d analysts, want 2: they are asked once", n)
	}
}

// The same run comes of one worker and of eight, and of a run that is stopped and
// run again over its record.
func TestPopulationIsDeterministic(t *testing.T) {
	t.Parallel()
	for _, vary := range []string{"minibatches", VaryTemperature} {
		t.Run(vary, func(t *testing.T) {
			t.Parallel()
			o := several(3, "race")
			o.Population.Vary, o.Epochs, o.SlowUpdate, o.Deterministic = vary, 2, true, false
			once := noisyWorld()
			once.must(t, o)
			for _, n := range []int{1, 8} {
				synctest.Test(t, func(t *testing.T) {
					w := noisyWorld()
					if _, err := w.jittered(t.Context(), o, n); err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(once.files, w.files); diff != "" {
						t.Errorf("files of %d workers (-all at once +so many):\n%s", n, diff)
					}
				})
			}
			cut := noisyWorld()
			cut.refuse = func(name string) error {
				if strings.HasPrefix(name, "steps/step_0002/p2") {
					return errors.New("killed")
				}
				return nil
			}
			if _, err := cut.run(t.Context(), o); err == nil {
				t.Fatal("the run was not stopped")
			}
			cut.refuse = nil
			clear(cut.decisions)
			cut.must(t, o)
			if diff := cmp.Diff(once.files, cut.files); diff != "" {
				t.Errorf("files of a resumed run (-once +resumed):\n%s", diff)
			}
		})
	}
}

func noisyWorld() *world {
	w := newWorld(16, 24, 8)
	w.forgets = noisy(0.15)
	w.lines = byAnalyst("rule a", "rule b", "harm c", "rule c\nnothing")
	w.propose = map[int][]string{1: {"rule a"}, 2: {"rule b"}, 3: {"rule c"}, 4: {"rule d"}}
	return w
}

func TestCompatible(t *testing.T) {
	t.Parallel()
	text := "# Skill\nfirst rule\nsecond rule\n"
	replace := skill.Edit{Op: skill.Replace, Target: "first rule", Content: "other rule"}
	tests := []struct {
		name string
		more skill.Edit
		want bool
	}{
		{"the same", replace, false},
		{"overlap", skill.Edit{Op: skill.Delete, Target: "rule\nsecond"}, false},
		{"after what is replaced", skill.Edit{Op: skill.InsertAfter, Target: "first rule", Content: "x"}, false},
		{"elsewhere", skill.Edit{Op: skill.Replace, Target: "second rule", Content: "x"}, true},
		{"append", skill.Edit{Op: skill.Append, Content: "x"}, true},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := len(compatible(skill.New(text), []skill.Edit{replace}, []skill.Edit{tc.more})) == 1; got != tc.want {
				t.Errorf("compatible = %v, want %v", got, tc.want)
			}
		})
	}
}
