package wiring

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/env"
	"github.com/seed-f4525e22/skillopt/internal/gateway"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// EnvRunner has a user's own environment carry out tasks, with the target of the run at
// hand where it has one: a gateway, whose key is another one for each task.
type EnvRunner struct {
	env     *env.Env
	gateway *gateway.Gateway // nil: the program finds no model
	target  config.Model
	hosted  []string
	hide    *redact.Exact
	timeout time.Duration
}

var (
	_ rollout.Program = (*EnvRunner)(nil)
	_ rollout.Prober  = (*EnvRunner)(nil)
)

// NewEnvRunner builds the environment of a config, and with asks a gateway through which
// its processes ask the target. o is what they are started with. Close ends both.
func NewEnvRunner(o env.Options, c config.Config, asks bool) (*EnvRunner, error) {
	p := &EnvRunner{target: c.Models.Target, hosted: c.Agent.HostedTools, hide: o.Hide, timeout: c.Env.Timeout.Std()}
	if asks {
		var err error
		if p.gateway, err = gateway.New(gateway.Options{}); err != nil {
			return nil, fmt.Errorf("start the gateway: %w", err)
		}
		o.Keyed = p.keyMaker(o.Environ, c.Env.PassEnv)
	}
	var err error
	if p.env, err = env.New(o); err != nil {
		return nil, errors.Join(err, p.closeGateway())
	}
	return p, nil
}

// ModelName returns what programs learn that the target is called.
func ModelName(m config.Model) string { return cmp.Or(m.Model, model.Target) }

// keyMaker returns a function that makes the key and the variables of a process.
func (p *EnvRunner) keyMaker(environ, passed []string) func() (string, []string, error) {
	direct := bypassProxy(environ)
	return func() (string, []string, error) {
		key, err := p.gateway.NewKey()
		if err != nil {
			return "", nil, err
		}
		return key, append(modelVariables(p.gateway.URL(), key, ModelName(p.target), passed), direct...), nil
	}
}

// family are the variables by which the clients of one vendor find a server and a key.
type family struct {
	server, keys []string
	others       []string // likewise, which are not set
	path         string   // behind the root of the gateway
}

func families() []family {
	return []family{
		{server: []string{"OPENAI_BASE_URL", "OPENAI_API_BASE"}, keys: []string{"OPENAI_API_KEY"}, path: "/v1"},
		{server: []string{"ANTHROPIC_BASE_URL"}, keys: []string{"ANTHROPIC_API_KEY"}, others: []string{"ANTHROPIC_AUTH_TOKEN"}},
		{server: []string{"GOOGLE_GEMINI_BASE_URL"}, keys: []string{"GEMINI_API_KEY"}, others: []string{"GOOGLE_API_KEY"}},
	}
}

// modelVariables returns the variables by which a process learns where its model is: in names of
// our own, and in those that the clients of vendors read. A family of which the user has named one
// variable in env.pass_env is the user's own: a key of the vendor would be sent to the gateway, or
// the gateway's to the vendor.
func modelVariables(root, key, name string, passed []string) []string {
	out := []string{"SKILLOPT_BASE_URL=" + root + "/v1", "SKILLOPT_API_KEY=" + key, "SKILLOPT_MODEL=" + name}
	for _, f := range families() {
		own := slices.ContainsFunc(slices.Concat(f.server, f.keys, f.others), func(v string) bool { return slices.Contains(passed, v) })
		if own {
			continue
		}
		for _, v := range f.server {
			out = append(out, v+"="+root+f.path)
		}
		for _, v := range f.keys {
			out = append(out, v+"="+key)
		}
	}
	return out
}

// bypassProxy returns the variables with which a process that got a proxy reaches this machine without it.
func bypassProxy(environ []string) []string {
	proxied, except := false, ""
	for _, e := range environ {
		name, value, _ := strings.Cut(e, "=")
		switch strings.ToUpper(name) {
		case "HTTP_PROXY", "ALL_PROXY":
			proxied = true
		case "NO_PROXY":
			except = cmp.Or(except, value)
		}
	}
	if !proxied {
		return nil
	}
	except = strings.TrimPrefix(except+",127.0.0.1,localhost", ",")
	return []string{"NO_PROXY=" + except, "no_proxy=" + except}
}

// Probe implements rollout.Prober.
func (p *EnvRunner) Probe(ctx context.Context, settle time.Duration) (parting string, err error) {
	return p.env.Probe(ctx, settle)
}

// Close ends the processes and the gateway.
func (p *EnvRunner) Close() error { return errors.Join(p.env.Close(), p.closeGateway()) }

func (p *EnvRunner) closeGateway() error {
	if p.gateway == nil {
		return nil
	}
	return p.gateway.Close()
}

// Answer implements rollout.Program.
func (p *EnvRunner) Answer(ctx context.Context, t task.Task, s skill.Skill, client model.Client) (out trajectory.Outcome, scored bool, err error) {
	if p.gateway == nil {
		return p.env.Answer(ctx, t, s, nil)
	}
	e := &exchange{Client: client, name: p.target.Model, strangers: p.gateway.Strangers(), timeout: p.timeout}
	session, err := p.gateway.Open(gateway.Session{
		Client: e, Model: p.target.Model, Sampling: Sampling(p.target), Hosted: p.hosted, Retried: true,
	})
	if err != nil {
		return trajectory.Outcome{}, false, fmt.Errorf("open the gateway: %w", err)
	}
	defer session.Close()
	out, scored, err = p.env.Answer(ctx, t, s, &env.Access{Model: p.model(session), Bind: session.Bind, Unbind: session.Unbind})
	session.Close() // no one needs what it still asks
	if err := e.checkAnswers(p.gateway, session, err); err != nil {
		return trajectory.Outcome{}, false, err
	}
	if err != nil {
		if out, ok := e.overLimit(t, err); ok {
			return out, true, nil
		}
		return trajectory.Outcome{LeftOut: session.LeftOut()}, false, e.late(err)
	}
	e.complete(&out, session, p.hide)
	return out, scored, nil
}

// model returns how the line of a task names the session.
func (p *EnvRunner) model(session *gateway.Handle) env.Model {
	root := p.gateway.URL()
	return env.Model{Name: ModelName(p.target), BaseURL: root + "/v1", AnthropicBaseURL: root, APIKey: session.Key()}
}

// exchange remembers of the calls of an episode what distinguishes a failure at the task from
// one of infrastructure.
type exchange struct {
	model.Client
	name      string // of the model, "" if the provider has one only
	strangers int64  // that the gateway had refused before
	timeout   time.Duration

	mu         sync.Mutex
	calls      int
	inside     int
	overlapped bool                   // two calls were under way at a time
	over       *caller.TaskLimitError // the first limit of the task that was met
}

// Passes implements model.Passer.
func (e *exchange) Passes(wire string) bool { return model.Passes(e.Client, wire) }

// Generate implements model.Client. The model is that of the config, whatever the
// program names.
func (e *exchange) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	req.Model = e.name
	e.mu.Lock()
	e.calls++
	e.overlapped = e.overlapped || e.inside > 0
	e.inside++
	e.mu.Unlock()
	resp, err := e.Client.Generate(ctx, req)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.inside--
	var limit *caller.TaskLimitError
	if errors.As(err, &limit) && e.over == nil {
		e.over = limit
	}
	return resp, err
}

// checkAnswers returns the error of an episode from which an answer of the model was kept, nil if
// none was. What the program made of that, an answer or a fault, says nothing of it.
func (e *exchange) checkAnswers(g *gateway.Gateway, session *gateway.Handle, did error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var why error
	switch missed := session.UnservedRequest(); {
	case session.Err() != nil:
		why = fmt.Errorf("the gateway kept an answer from the program: %w", session.Err())
	case e.calls > 0:
		return nil
	case missed != "":
		why = fmt.Errorf("the program had no answer from its model, and asked the gateway for what it does not serve: %s; base_url ends in /v1, anthropic_base_url does not", missed)
	case g.Strangers() > e.strangers:
		why = errors.New("the program had no answer from its model, and the gateway refused a key that it has given to no one: have the program send api_key of the task, or that of its variables")
	default:
		return nil
	}
	if did != nil { // in words: it is no fault of the program
		return fmt.Errorf("%w (then: %s)", why, did)
	}
	return why
}

// overLimit returns the outcome of a task whose program failed after its model had refused a prompt
// that is too long, or that a filter stopped: however the program puts it, it ran into a limit of
// the task.
func (e *exchange) overLimit(t task.Task, err error) (trajectory.Outcome, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var fault *env.Error
	if e.over == nil || !errors.As(err, &fault) || fault.Kind != env.Died && fault.Kind != env.Refused {
		return trajectory.Outcome{}, false
	}
	return trajectory.Outcome{
		ID: t.ID, Type: t.Type, Question: t.Prompt, Status: score.AgentError, FailReason: string(e.over.Code) + ": " + e.over.Error(),
	}, true
}

// late says of a deadline that was missed how much of the time calls waited.
func (e *exchange) late(err error) error {
	var fault *env.Error
	c, ok := e.Client.(interface{ Waited() time.Duration })
	if !ok || !errors.As(err, &fault) || fault.Kind != env.Deadline {
		return err
	}
	if waited := c.Waited(); waited > e.timeout/2 {
		fault.Detail += fmt.Sprintf("; its calls waited %s for limits and further tries: raise env.timeout, or lower limits.concurrency", waited.Round(time.Second/10))
	}
	return err
}

// Bounds of what is kept of a conversation that the program does not report itself.
const (
	maxToldText  = 6000 // bytes of a text
	maxToldTurns = 400
)

// complete adds to an outcome what the gateway has seen. Concurrent calls have no
// order that a second run would find again: no trajectory is made of them.
func (e *exchange) complete(out *trajectory.Outcome, session *gateway.Handle, hide *redact.Exact) {
	e.mu.Lock()
	defer e.mu.Unlock()
	out.LeftOut = session.LeftOut()
	if e.calls == 0 {
		return
	}
	out.Usage = session.Usage()
	turns := session.Transcript()
	if len(out.Trajectory) > 0 || e.overlapped || len(turns) > maxToldTurns {
		return
	}
	key := redact.NewExact(session.Key())
	plain := func(text string) string { return wording.Middle(key.Text(hide.Text(text)), maxToldText) }
	for i := range turns {
		turns[i].Content, turns[i].Action, turns[i].Observation = plain(turns[i].Content), plain(turns[i].Action), plain(turns[i].Observation)
	}
	out.Trajectory = turns
}
