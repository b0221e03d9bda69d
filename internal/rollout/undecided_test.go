package rollout

import (
	"context"
	"errors"
	"testing"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Of a rollout that could not be scored there is no score, and what its checks came to
// until then is told.
func TestVerdictsOfWhatCouldNotBeScored(t *testing.T) {
	t.Parallel()
	r := Runner{Episode: &Chat{
		Model: &doer{resp: model.Response{Text: "4"}}, Prompt: &ChatPrompt{System: parsed(t, "{{skill}}"), User: parsed(t, "{{prompt}}")},
		Assess: func(context.Context, string, task.Task, Evidence) (Assessment, error) {
			return Assessment{Answer: "4"}, caller.Unmeasurable(&check.UndecidedError{
				Components: []score.Component{{Check: "a", Pass: true, Score: 1}, {Check: "b", NotRun: true, Reason: "no"}}, Err: errors.New("no"),
			})
		},
	}}
	out, err := r.One(t.Context(), Place{Prefix: "p"}, sum, skill.New("s"))
	if err != nil {
		t.Fatal(err)
	}
	if out.Status != score.Unmeasured || len(out.Checks) != 2 || out.Checks[0].Verdict != trajectory.Passed || out.Checks[1].Verdict != trajectory.NotRun {
		t.Errorf("%+v", out)
	}
}
