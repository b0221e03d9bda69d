package wiring

import (
	"context"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/agent"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
)

// waiter is a client whose requests had to wait.
type waiter time.Duration

func (w waiter) Waited() time.Duration { return time.Duration(w) }

func (waiter) Generate(context.Context, model.Request) (model.Response, error) {
	return model.Response{Text: "a"}, nil
}

// A deadline that passed while requests queued is not the agent's failure.
func TestDeadlinesSpentInQueues(t *testing.T) {
	t.Parallel()
	late := agent.Report{Status: score.AgentError, Reason: "deadline: not done after 10s"}
	for _, tt := range []struct {
		name     string
		rep      agent.Report
		waited   time.Duration
		measured bool
	}{
		{"at work", late, time.Second, true},
		{"in queues", late, 6 * time.Second, false},
		{"another failure", agent.Report{Status: score.AgentError, Reason: "empty: it ended without a word"}, 6 * time.Second, true},
		{"done all the same", agent.Report{Status: score.OK, Answer: "a"}, 6 * time.Second, true},
	} {
		w := &metered{Client: waiter(tt.waited), timeout: 10 * time.Second}
		if _, err := w.Generate(t.Context(), model.Request{}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.judge(tt.rep, nil); (err == nil) != tt.measured {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}
