package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/provider/header"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Run has the agent do a job. How it went, badly too, is in the Report; the
// error says that it could not be started, that the workspace cannot be written
// to, or that ctx was done. Nothing of the agent is left running. Run may be
// called concurrently for different workspaces and homes.
func (a *Agent) Run(ctx context.Context, j Job) (Report, error) {
	rep, err := a.run(ctx, j)
	if err != nil {
		return Report{}, fmt.Errorf("agent %s: %w", a.adapter.name, err)
	}
	return rep, nil
}

func (a *Agent) run(ctx context.Context, j Job) (Report, error) {
	j, err := j.withDefaults(a.adapter)
	if err != nil {
		return Report{}, err
	}
	w, prompt, err := prepare(a.adapter, j)
	if err != nil {
		return Report{}, err
	}
	rep := Report{Written: w.written, Notes: w.notes}
	if err := os.MkdirAll(filepath.Join(j.Home, "tmp"), 0o700); err != nil {
		return Report{}, fmt.Errorf("prepare the home folder: %w", err)
	}
	if a.adapter.name == BuiltinName {
		err = a.runBuiltin(ctx, j, prompt, &rep)
	} else {
		err = a.runProgram(ctx, j, prompt, &rep)
	}
	if err == nil && rep.Status == "" { // it was stopped before it had any result
		err = context.Cause(ctx)
	}
	rep.scrub(secrets(j))
	return rep, err
}

// partial is a reader that knows of usage before the last event.
type partial interface {
	partial() trajectory.Usage
}

// maxErrors is how much of standard error a program's result holds, in bytes: one that
// is so long is the end of what was written.
const maxErrors = 64 << 10

func (a *Agent) runProgram(ctx context.Context, j Job, prompt string, rep *Report) error {
	spec, err := a.spec(ctx, j, prompt)
	if err != nil {
		return err
	}
	r, in, raw := &record{shell: a.adapter.shell}, a.adapter.reader(), &lastBytes{max: maxRaw}
	events := newLines(func(text []byte, whole bool) { in.line(r, j.Hide.JSON(text), whole) })
	spec.Stdout = io.MultiWriter(raw, events)
	res, err := sandbox.Run(ctx, spec)
	if err != nil {
		return err
	}
	events.end()
	if l, ok := in.(interface{ last(*record, sandbox.Result) }); ok {
		l.last(r, res)
	}
	if p, ok := in.(partial); ok && !r.known {
		r.usage = p.partial()
	}
	res.Stderr = j.Hide.Tail(res.Stderr, len(res.Stderr) >= maxErrors, maxErrors)
	rep.Result, rep.Raw = res, raw.text(j.Hide)
	rep.Starved = isStarved(res.Waited, j)
	rep.fill(r)
	if res.Reason != sandbox.Cancelled {
		a.judge(rep, r, j)
	}
	return nil
}

// spec says how the program is started.
func (a *Agent) spec(ctx context.Context, j Job, prompt string) (sandbox.Spec, error) {
	program, err := a.find()
	if err != nil {
		return sandbox.Spec{}, fmt.Errorf("%w: %s", err, cmp.Or(a.adapter.help, "see its description"))
	}
	login := ""
	if j.Endpoint == nil {
		login = j.LoginHome
	}
	l := &launch{job: j, home: cmp.Or(login, j.Show.Seen(j.Home)), prompt: prompt, stdin: prompt}
	l.ask = a.newAskFunc(ctx, l, program, login)
	if a.adapter.abilities.Images {
		if err := l.attach(); err != nil {
			return sandbox.Spec{}, err
		}
	}
	if err := a.adapter.launch(l); err != nil {
		return sandbox.Spec{}, err
	}
	s := sandbox.Spec{
		Argv: append(append([]string{program}, l.argv...), a.opts.Args...), Dir: j.Workspace,
		Env: mergeEnv(baseEnv(a.opts.Path, j.Show.Seen(j.Home), login), l.env, j.Env), Stdin: strings.NewReader(l.stdin),
		MaxOutput: j.MaxOutput, Timeout: j.Timeout,
	}
	plan, err := a.Reach()
	s.Env = mergeEnv(plan.Env, s.Env)
	if !j.Confine {
		return s, nil
	}
	if err != nil {
		return sandbox.Spec{}, err
	}
	s.Confine = a.confine(j, plan.Read, login)
	return s, nil
}

// confine bounds an agent to its workspace, its home and its model. With a
// login of its own it needs the network, and what it keeps of that login.
func (a *Agent) confine(j Job, read []string, login string) *sandbox.Confine {
	c := &sandbox.Confine{Write: []string{j.Workspace, j.Home}, Read: read, Network: j.Network, Show: j.Show, Limits: j.Limits}
	if j.Tools != nil {
		c.Ports = append(c.Ports, j.Tools.port())
	}
	if j.Endpoint != nil {
		c.Ports = append(c.Ports, j.Endpoint.port())
		return c
	}
	c.Network = true
	if login != "" {
		c.Write = append(c.Write, a.stateBelow(login)...)
	}
	return c
}

// fill takes over what the events have reported.
func (rep *Report) fill(r *record) {
	rep.Answer, rep.Turns, rep.Model = strings.TrimSpace(r.answer), r.trace(), r.model
	rep.Usage, rep.UsageKnown, rep.Calls = r.usage, r.known && r.ended, r.calls
	if r.odd > 0 {
		rep.Notes = append(rep.Notes, fmt.Sprintf("%d lines of output are no events", r.odd))
	}
}

// judge decides what a run amounts to.
//
// The task's own deadline is the agent's failure, but only when it had a chance:
// if no model has answered at all, or the agent was waiting to try again after
// a failure, nothing was measured. A run whose last event is missing was cut
// off, whatever its exit code says.
func (a *Agent) judge(rep *Report, r *record, j Job) {
	r.settle()
	res := rep.Result
	ended := r.ended && (!a.adapter.exitZero || res.Reason == sandbox.Exited && res.Code == 0)
	switch {
	case res.Reason == sandbox.Starved:
		a.faulty(rep, &fault{code: model.Server, text: "the agent could not work: " + res.Detail}, j)
	case res.Reason == sandbox.Exhausted:
		rep.agentError(res.Limit, res.Detail)
	case res.Reason == sandbox.Flooded:
		rep.agentError("output", fmt.Sprintf("it printed more than %d MB", cmp.Or(j.MaxOutput, 64<<20)>>20))
	case r.broken != "":
		a.faulty(rep, &fault{code: model.Server, text: r.broken}, j)
	case res.Reason == sandbox.Deadline && (!r.ended || r.fault != nil):
		a.late(rep, r, j)
	case r.fault != nil:
		a.faulty(rep, r.fault, j)
	case r.own != "":
		class, detail, _ := strings.Cut(r.own, ": ")
		rep.agentError(class, detail)
	case !ended:
		a.cut(rep, r, j)
	case isGone(j.Workspace):
		rep.agentError("workspace", "the agent deleted its workspace")
	case rep.Answer == "":
		rep.agentError("empty", "it ended without a word")
	default:
		rep.Status = score.OK
		if res.Reason == sandbox.Deadline {
			rep.Notes = append(rep.Notes, "the agent was done but did not end by itself")
		}
	}
}

func (a *Agent) late(rep *Report, r *record, j Job) {
	f := r.waiting
	if f == nil {
		f = r.fault
	}
	switch {
	case f != nil:
		a.faulty(rep, &fault{code: f.code, status: f.status, text: fmt.Sprintf("still trying after %v: %s", j.Timeout, f.text)}, j)
	case !r.heard:
		rep.Silent = true
		code, text := model.Timeout, fmt.Sprintf("no model answered within %v", j.Timeout)
		if said := rep.Result.Stderr; said != "" {
			if c := classify(statusIn(said), said); c != model.Server {
				code, text = c, text+": "+excerpt(said)
			}
		}
		a.faulty(rep, &fault{code: code, text: text}, j)
	default:
		rep.agentError("deadline", fmt.Sprintf("not done after %v", j.Timeout))
	}
}

// cut reports the fault of a run whose events break off.
func (a *Agent) cut(rep *Report, r *record, j Job) {
	if r.waiting != nil {
		a.faulty(rep, r.waiting, j)
		return
	}
	f := &fault{code: model.Truncated, text: "its events break off; it ended with " + describeEnding(rep.Result)}
	if said := cmp.Or(strings.TrimSpace(rep.Result.Stderr), rep.Raw); said != "" {
		f.text += ": " + excerpt(said)
		if n := statusIn(said); !r.heard && (n > 0 || classifyText(said) != "") {
			f.code, f.status = classify(n, said), n
		}
	}
	a.faulty(rep, f, j)
}

// faulty distinguishes the limits of the task from failures of what is under it.
func (a *Agent) faulty(rep *Report, f *fault, j Job) {
	switch f.code {
	case model.ContextLength, model.ContentFilter:
		rep.agentError(string(f.code), f.text)
		return
	}
	where := a.adapter.name
	if j.Endpoint != nil {
		if u, err := url.Parse(j.Endpoint.URL); err == nil {
			where = u.Host
		}
	}
	rep.Status = score.Unmeasured
	rep.Failure = &model.Error{Code: f.code, Status: f.status, Endpoint: where, Err: errors.New(f.text)}
	rep.Reason = string(f.code) + ": " + f.text
}

// isStarved reports whether an agent waited for a processor for so long that its deadline says
// more of the machine than of the agent.
func isStarved(waited time.Duration, j Job) bool { return waited > j.Timeout/5 }

func (rep *Report) agentError(class, detail string) {
	rep.Status, rep.Reason = score.AgentError, class+": "+detail
}

func isGone(dir string) bool {
	info, err := os.Stat(dir)
	return err != nil || !info.IsDir()
}

// describeEnding says how a program ended, for messages.
func describeEnding(res sandbox.Result) string {
	switch {
	case res.Detail != "":
		return string(res.Reason) + ": " + res.Detail
	case res.Reason != sandbox.Exited:
		return string(res.Reason) + " after " + res.Took.Round(time.Millisecond).String()
	case res.Signal != "":
		return "signal " + res.Signal
	}
	return fmt.Sprintf("exit code %d", res.Code)
}

// secrets returns the values of a job that no one may read in its report.
func secrets(j Job) []string {
	var found []string
	for _, e := range []*Endpoint{j.Endpoint, j.Tools} {
		if e != nil {
			found = append(found, e.Key)
		}
	}
	for _, e := range j.Env {
		name, value, _ := strings.Cut(e, "=")
		if header.Mentions(name, "key", "token", "secret", "password") {
			found = append(found, value)
		}
	}
	return found
}

// scrub takes secrets out of all that the agent may have printed.
func (rep *Report) scrub(secrets []string) {
	var pairs []string
	for _, s := range secrets {
		if s != "" {
			pairs = append(pairs, s, redact.Mask)
		}
	}
	if len(pairs) == 0 {
		return
	}
	clean := strings.NewReplacer(pairs...)
	rep.Answer, rep.Reason, rep.Raw = clean.Replace(rep.Answer), clean.Replace(rep.Reason), clean.Replace(rep.Raw)
	rep.Result.Stderr = clean.Replace(rep.Result.Stderr)
	for i := range rep.Turns {
		t := &rep.Turns[i]
		t.Content, t.Action, t.Observation = clean.Replace(t.Content), clean.Replace(t.Action), clean.Replace(t.Observation)
	}
	if rep.Failure != nil {
		rep.Failure.Err = errors.New(clean.Replace(rep.Failure.Err.Error()))
	}
}
