package optimize

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/prompt"
	"github.com/seed-f4525e22/skillopt/skill"
)

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
