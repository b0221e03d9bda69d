package check

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/task"
)

// When a check cannot be decided there is no score, but it is told which checks before it
// were, and that those behind it were not run.
func TestWhatWasDecidedBeforeAFault(t *testing.T) {
	t.Parallel()
	s := suite(t, `
- {type: number, value: 4}
- {type: llm-equivalent, value: four}
- {type: contains, value: "4", name: has-4, weight: 2}`, Options{Judge: true})
	got, err := s.Assess(t.Context(), Evidence{Answer: "4 %"}, task.Task{}, Means{
		Judge: func(context.Context, string, JudgeRequest) (string, error) { return "", errors.New("out of order") },
	})
	var undecided *UndecidedError
	if got.Components != nil || !errors.As(err, &undecided) {
		t.Fatalf("%+v, %v", got, err)
	}
	if d := cmp.Diff([]score.Component{
		{Check: "number", Type: "number", Score: 1, Weight: 1, Required: true, Pass: true, Saw: "the number 4 %"},
		{Check: "llm-equivalent", Type: "llm-equivalent", Weight: 1, Required: true, NotRun: true, Reason: "ask the judge (check2): out of order"},
		{Check: "has-4", Type: "contains", Weight: 2, Required: true, NotRun: true},
	}, undecided.Components); d != "" {
		t.Error(d)
	}
}
