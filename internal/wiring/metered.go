package wiring

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/agent"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/gateway"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// metered remembers of the calls of an episode what distinguishes a failure of the agent
// from one of infrastructure.
type metered struct {
	model.Client
	gateway   *gateway.Gateway // nil without one
	strangers int64            // that it had refused before

	timeout time.Duration // of the task

	mu       sync.Mutex
	calls    int
	answered int
	usage    trajectory.Usage
	over     *caller.TaskLimitError // the first limit of the task that was met
	marks    rollout.Marks          // of the skill's body; none: no one asks
	loaded   bool                   // a request held one of them
	told     trajectory.Told        // by the first request with the most tools
	tools    int                    // of that request
}

// Passes implements model.Passer.
func (w *metered) Passes(wire string) bool { return model.Passes(w.Client, wire) }

// Generate implements model.Client.
func (w *metered) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	w.listen(&req)
	w.look(&req)
	resp, err := w.Client.Generate(ctx, req)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls++
	w.usage = w.usage.Add(resp.Usage)
	if err == nil {
		w.answered++
	}
	var limit *caller.TaskLimitError
	if errors.As(err, &limit) && w.over == nil {
		w.over = limit
	}
	return resp, err
}

// listen remembers what the agent gives its model apart from the task. Agents also ask for
// titles and the like: the request that offers most tools is that of the work.
func (w *metered) listen(req *model.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.told != (trajectory.Told{}) && len(req.Tools) <= w.tools {
		return
	}
	var system, tools []string
	for _, m := range req.Messages {
		if m.Role == model.System {
			system = append(system, m.Text())
		}
	}
	for _, t := range req.Tools {
		tools = append(tools, strings.Join(strings.Fields(t.Name+": "+t.Description), " "))
	}
	w.tools = len(req.Tools)
	w.told = trajectory.Told{System: strings.Join(system, "\n\n"), Tools: strings.Join(tools, "\n")}
}

// hasWaited reports whether the agent's requests waited for more than half of its
// time: its deadline then says more about the server than about the agent.
func (w *metered) hasWaited() bool {
	c, ok := w.Client.(interface{ Waited() time.Duration })
	return ok && w.timeout > 0 && c.Waited() > w.timeout/2
}

// judge turns what an agent reports into what a rollout gets. session is nil
// without a gateway.
func (w *metered) judge(rep agent.Report, session *gateway.Handle) (rollout.AgentReport, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := rollout.AgentReport{Answer: rep.Answer, Turns: rep.Turns, Written: rep.Written, Usage: w.usage, Notes: rep.Notes, Told: w.told}
	if session != nil {
		out.LeftOut = session.LeftOut()
	}
	if w.calls == 0 {
		out.Usage = rep.Usage
		if !rep.UsageKnown {
			out.Notes = append(out.Notes, "the agent did not report all tokens that it used: what is counted is a lower bound")
		}
	}
	if w.over != nil && rep.Status != score.OK {
		// However the agent puts it, it ran into a limit of the task.
		out.Failure = string(w.over.Code) + ": " + w.over.Error()
		return out, nil
	}
	if session != nil && session.Err() != nil {
		return out, fmt.Errorf("the gateway kept an answer from the agent: %w", session.Err())
	}
	if w.gateway != nil && w.calls == 0 && w.gateway.Strangers() > w.strangers {
		return out, errors.New("the agent had no answer from its model, and the gateway refused a key that is not that of its session: have the agent send the one that it is given")
	}
	late := rep.Status != score.OK && (rep.Silent || strings.HasPrefix(rep.Reason, "deadline"))
	if late && w.hasWaited() {
		return out, errors.New("the agent was not done in time, more than half of which its requests waited for limits and further tries")
	}
	switch {
	case rep.Status == score.OK:
		return out, nil
	case rep.Status == score.AgentError:
		out.Failure, out.Starved = rep.Reason, rep.Starved && late
		return out, nil
	case rep.Silent && w.answered > 0:
		out.Failure, out.Starved = "deadline: its model had answered, and it was not done in time", rep.Starved
		return out, nil
	}
	return out, rep.Failure
}
