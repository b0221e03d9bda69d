package optimize

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/prompt"
	"github.com/seed-f4525e22/skillopt/skill"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	before, after := 0.5, 0.4
	notes := []StepNote{
		{
			Step: 1, Action: "accept_new_best", Failed: 2, Total: 8, Patterns: []Pattern{{"wrong", 2, []string{"a", "b"}}},
			Accepted: []skill.Edit{{Op: skill.Append, Content: "- One\n  line"}}, Before: &before, After: nil,
		},
		{
			Step: 2, Action: "reject", Failed: 1, Total: 8, Rejected: []skill.Edit{{Op: skill.Delete, Target: "- Two"}},
			Fared: []Fared{{"sum", 1, 2, 3}, {"", 0, 1, 0}}, Before: &before, After: &after,
		},
		{Step: 3, Action: "skip_no_patches", Total: 8},
	}
	want := `### Step 1: accept_new_best, 2 of 8 tasks failed
- wrong: 2 (a, b)
Tried and accepted (score 0.5000 before, unmeasured after):
- append content=- One\n  line

### Step 2: reject, 1 of 8 tasks failed
Tried and rejected (score 0.5000 before, 0.4000 after):
- delete target=- Two
On the tasks that judge, by type:
- sum: won 1, lost 2, same 3
- tasks without a type: won 0, lost 1, same 0

### Step 3: skip_no_patches, 0 of 8 tasks failed

### Failures that stay
These tasks failed in the steps named and fail again. What was tried did not mend them: look for another cause.
- a: steps 1, 2
- b: step 2`
	got := Memory(notes, []Staying{{"a", []int{1, 2}}, {"b", []int{2}}})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("memory (-want +got):\n%s", diff)
	}
	if got := Memory(nil, nil); got != "" {
		t.Errorf("of nothing: %q", got)
	}
}

// However long a run and its edits are, what is told of it is bounded, and the newest step is
// among it.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	var notes []StepNote
	for i := range 8 {
		n := StepNote{Step: i + 1, Action: "reject"}
		for k := range 400 {
			n.Rejected = append(n.Rejected, skill.Edit{Op: skill.Append, Content: strings.Repeat(fmt.Sprint("x", k), 4000)})
			n.Fared = append(n.Fared, Fared{Type: strings.Repeat("t", 4000)})
		}
		notes = append(notes, n)
	}
	got := Memory(notes, make([]Staying, 10_000))
	if len(got) > maxMemory+20_000 || !strings.Contains(got, "### Step 8: reject") || strings.Contains(got, "### Step 1: ") {
		t.Errorf("%d bytes: %.300s", len(got), got)
	}
}

func TestSecondTry(t *testing.T) {
	t.Parallel()
	edits := []skill.Edit{{Op: skill.Append, Content: "- A"}, {Op: skill.Delete, Target: "- B"}, {Op: skill.Append, Content: "- C"}}
	for name, tt := range map[string]struct {
		reply string
		keep  []int
		lost  bool
	}{
		"some":          {`{"reasoning": "why", "selected_indices": [2, 0, 2]}`, []int{0, 2}, false},
		"none":          {`{"reasoning": "why", "selected_indices": []}`, []int{}, false},
		"all":           {`{"selected_indices": [0, 1, 2]}`, []int{}, true},
		"none of them":  {`{"selected_indices": [3, -1, "x"]}`, []int{}, true},
		"no list":       {`{"selected_indices": 1}`, []int{}, true},
		"no JSON":       {`keep the first`, []int{}, true},
		"JSON in prose": {"I keep:\n```json\n{\"selected_indices\": [1]}\n```", []int{1}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := SecondTry(t.Context(), SecondTryInput{
				Prompts: prompt.Whole(), Edits: edits, Fared: []Fared{{"sum", 1, 2, 3}}, Skill: "# Skill\n- B\n", View: View{Whole: true},
				Ask: func(_ context.Context, q Request) (string, error) {
					if !strings.Contains(q.User, "budget=2\n") || !strings.Contains(q.User, "[1] op=delete target=- B") || !strings.Contains(q.User, "- sum: won 1, lost 2, same 3") {
						t.Errorf("asked:\n%s", q.User)
					}
					if q.Accept(tt.reply) != nil {
						return "", ErrLost
					}
					return tt.reply, nil
				},
			})
			if err != nil || len(got.Lost) > 0 != tt.lost || got.Of != 3 || !cmp.Equal(got.Keep, tt.keep) {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	broken := errors.New("the line is dead")
	_, err := SecondTry(t.Context(), SecondTryInput{
		Prompts: prompt.Whole(), Edits: edits, Ask: func(context.Context, Request) (string, error) { return "", broken },
	})
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}
