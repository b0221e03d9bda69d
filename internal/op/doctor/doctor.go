// Package doctor is the operation that checks whether a configuration can run, without
// beginning a run: what it names, what runs its tasks, and the models.
//
// It knows sessions, agents and the sandbox. It knows nothing of training.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/session"
	"github.com/seed-f4525e22/skillopt/internal/training"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// Tasks loads the tasks of a configuration the way training does and reports what they
// are. The error names every problem.
func Tasks(ctx context.Context, cfg config.Config, o session.Options) (result.TaskReport, error) {
	o.Counting = true
	in, err := session.Load(ctx, cfg, o)
	if err == nil {
		err = in.Doubt(false)
	}
	if err != nil {
		return result.TaskReport{}, err
	}
	r := result.TaskReport{Tasks: in.Set.Len(), Triggers: in.Triggers.Len(), Unreviewed: in.Set.Unreviewed() + in.Triggers.Unreviewed(), Warnings: in.Warnings, Tables: in.Set.Tables(), ByType: map[string]int{}}
	r.Train, r.Selection, r.Test = countTasks(in, task.Train), countTasks(in, task.Selection), countTasks(in, task.Test)
	for _, t := range in.Set.Tasks() {
		if t.Type != "" {
			r.ByType[t.Type]++
		}
	}
	return r, nil
}

// aboutSkill says how large a skill is, and what it is named by.
func aboutSkill(s skill.Skill) string {
	text := fmt.Sprintf("%s, hash %s", wording.Plural(len(s.Text()), "byte", "bytes"), s.Digest())
	others, bytes := s.Others(), 0
	for _, path := range others {
		content, _ := s.File(path)
		bytes += len(content)
	}
	if len(others) > 0 {
		text = fmt.Sprintf("%s of %s with %s next to it of %s", text, skill.Main, wording.Plural(len(others), "file", "files"), wording.Plural(bytes, "byte", "bytes"))
	}
	return text
}

// countTasks returns the number of tasks of a split.
func countTasks(in *session.Inputs, name task.Split) int {
	if in.Sizes != nil {
		return in.Sizes[name]
	}
	return in.Set.Count(name)
}

// Examine checks whether a configuration can run: what it names, what runs its tasks,
// and the models, with one real call to each server of a role, and two more where it is on
// this machine, to measure it. No one who answers by hand is asked. A coding agent works once against a scripted model.
func Examine(ctx context.Context, cfg config.Config, o session.Options) result.Examination {
	e := &examiner{}
	s, err := session.Prepare(ctx, cfg, o)
	if err != nil {
		e.add("config, skill, tasks", "", err, "correct what is named; `skillopt tasks lint` checks tasks alone")
		return result.Examination{Rows: e.rows}
	}
	e.session = s
	e.inputs(ctx)
	e.worker(ctx)
	for _, role := range e.listRoles() {
		e.model(ctx, role)
	}
	e.try(ctx)
	if err := s.Close(); err != nil {
		e.add("models", "", err, "")
	}
	for _, text := range s.Warnings {
		e.rows = append(e.rows, result.Finding{Name: "warning", OK: true, Warning: true, Detail: text})
	}
	e.edition()
	return result.Examination{Rows: e.rows}
}

// examiner examines one configuration.
type examiner struct {
	session *session.Session
	rows    []result.Finding
	calls   int64 // of probes
}

// edition says what this build leaves out.
func (e *examiner) edition() {
	if out := e.session.Clouds.LeftOut(); len(out) > 0 {
		e.rows = append(e.rows, result.Finding{Name: "edition", OK: true, Warning: true, Detail: "plain: a build without the SDKs for " + strings.Join(out, ", ")})
	}
}

// inputs examines what the configuration names.
func (e *examiner) inputs(ctx context.Context) {
	s := e.session
	e.add("skill", aboutSkill(s.Skill), nil, "")
	if err := session.TrainRegion(s.Inputs); err != nil {
		e.add("region", "", err, "")
	}
	e.add("tasks", e.describeSplits(), s.RequireSplits(), "add tasks, or set split.ratio")
	if reads, err := s.ReadBefore(ctx); err != nil || reads.Words() != "" {
		why := ""
		if s.Config.Eval.Test {
			why = training.NewGating(s.Inputs, false).Uncertifiable(s.Data, reads)
		}
		e.add("test set", strings.TrimSuffix("its tasks were "+reads.Words()+"; "+why, "; "), err, "")
		e.rows[len(e.rows)-1].Warning = err == nil
	}
	if err := s.Doubt(false); err != nil {
		e.add("gold and checks", "", err, "correct what is named: no answer could be right")
	}
	e.add("run folder", s.Config.Run.Dir, writable(s.Config.Run.Dir), "choose another with --set run.dir=...")
}

// describeSplits describes how tasks are used.
func (e *examiner) describeSplits() string {
	if n := e.session.Data.NumFolds(); n > 0 {
		return fmt.Sprintf("%d train and selection in %s, %d test", len(e.session.Data.Train), wording.Plural(n, "pool", "folds"), len(e.session.Data.Test))
	}
	return fmt.Sprintf("%d train, %d selection, %d test", len(e.session.Data.Train), len(e.session.Data.Selection), len(e.session.Data.Test))
}

// listRoles lists the roles that are asked: a judge only if there is something to
// judge, or it is set.
func (e *examiner) listRoles() []string {
	roles := []string{model.Target, model.Optimizer}
	if e.session.Config.Models.Judge.Provider != "" || e.session.Needs().Judge {
		roles = append(roles, model.Judge)
	}
	return roles
}

func (e *examiner) add(name, detail string, err error, fix string) {
	f := result.Finding{Name: name, OK: err == nil, Detail: detail}
	if err != nil {
		f.Detail, f.Fix, f.Err = strings.TrimSuffix(err.Error(), "; "+fix), fix, err
	}
	e.rows = append(e.rows, f)
}

// writable makes and removes a file in dir.
func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make run folder: %w", err)
	}
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return fmt.Errorf("write to run folder: %w", err)
	}
	return errors.Join(f.Close(), os.Remove(filepath.Clean(f.Name())))
}

// model examines the model of a role: each of its servers is asked, since a run
// continues as long as one of them answers and says little of the others.
func (e *examiner) model(ctx context.Context, role string) {
	row := "model " + role
	detail, asked, err := e.reachable(ctx, role)
	if err != nil || !asked {
		e.add(row, detail, err, advise(e.session.Config.Models.Of(role), role, "base_url", err))
		return
	}
	b := e.session.Models.Of(role)
	if len(b.Servers) < 2 {
		one := wiring.Server{Name: b.Endpoint, Client: b.Client}
		if len(b.Servers) == 1 {
			one.Window = b.Servers[0].Window
		}
		detail, err := e.probe(ctx, role, one)
		e.add(row, detail, err, advise(e.session.Config.Models.Of(role), role, "base_url", err))
		return
	}
	for i, one := range b.Servers {
		key := "base_url"
		if i > 0 {
			key = "endpoints"
		}
		detail, err := e.probe(ctx, role, one)
		e.add(row, one.Name+": "+detail, err, advise(e.session.Config.Models.Of(role), role, key, err))
	}
}

// reachable builds the model of a role. It reports whether there is somebody to
// ask, and if not, why.
func (e *examiner) reachable(ctx context.Context, role string) (detail string, asked bool, err error) {
	m := e.session.Config.Models.Of(role)
	if role == model.Target && m.Provider == "" && e.session.Clients[role] == nil {
		switch {
		case e.session.OwnEnv():
			return "none: the environment calls models by itself", false, nil
		case e.session.Config.Agent.Name != "" && !e.session.Config.Agent.Gateway:
			return "none: the agent calls models by itself", false, nil
		}
	}
	if err := e.session.Models.Load(role); err != nil {
		return "", false, err
	}
	b := e.session.Models.Of(role)
	switch {
	case e.session.Replay != nil:
		return "answered from " + e.session.DescribeCassette(), false, nil
	case b.Kind == wiring.ByHand:
		return "questions are written to " + b.Folder + " for somebody to answer; none is put now", false, nil
	}
	if b.Kind == wiring.Program {
		if _, err := b.Ready(ctx); err != nil {
			return "", false, session.Unfit(err)
		}
	}
	return "", true, nil
}

// probe asks a server of the model of a role for one short answer.
func (e *examiner) probe(ctx context.Context, role string, one wiring.Server) (string, error) {
	one.Client = metered{one.Client, e}
	answered, err := e.ask(ctx, role, one.Client)
	if err != nil {
		return "", &probeError{endpoint: one.Name, err: err}
	}
	details := []string{answered, e.describePrice(role)}
	if one.Window != nil {
		n, err := one.Window(ctx)
		if err != nil {
			return "", &probeError{endpoint: one.Name, err: err}
		}
		details = append(details, fmt.Sprintf("context of %d tokens (models.%s.context)", n, role))
	}
	if b := e.session.Models.Of(role); b.Local && len(b.Servers) == 1 {
		speed, err := e.measureSpeed(ctx, role, one.Client)
		if err != nil {
			return "", &probeError{endpoint: one.Name, err: err}
		}
		details = append(details, speed)
	}
	return strings.Join(slices.DeleteFunc(details, func(d string) bool { return d == "" }), "; "), nil
}

// ask sends the request of the probe.
func (e *examiner) ask(ctx context.Context, role string, c model.Client) (string, error) {
	m := e.session.Config.Models.Of(role)
	ctx, cancel := limitTime(ctx, m)
	defer cancel()
	began := time.Now()
	resp, err := c.Generate(ctx, model.Request{
		Model: m.Model, Messages: []model.Message{{Role: model.User, Content: `Answer with this JSON object and nothing else: {"ready": true}`}},
		// With structured_output on, whether the server takes a schema is part of
		// the request.
		Schema:   &model.Schema{Name: "ready", JSON: []byte(`{"type":"object","properties":{"ready":{"type":"boolean"}},"required":["ready"]}`)},
		Sampling: wiring.Sampling(m),
		Tags:     model.Tags{Stage: "doctor", Role: role, Run: "doctor"},
	})
	if err != nil {
		return "", err
	}
	kind := ""
	if e.session.Models.Of(role).Simulated {
		kind = "simulated, "
	}
	return fmt.Sprintf("%s%s answered in %d ms, %s", kind, resp.Model, time.Since(began).Milliseconds(), wording.Plural(resp.Usage.Input+resp.Usage.Output, "token", "tokens")), nil
}

// limitTime bounds a request by the timeout of its model, if that has one.
func limitTime(ctx context.Context, m config.Model) (context.Context, context.CancelFunc) {
	if timeout := m.Timeout.Std(); timeout > 0 {
		return context.WithTimeout(ctx, timeout)
	}
	return context.WithCancel(ctx)
}

// describePrice describes what a model costs, as far as it is known.
func (e *examiner) describePrice(role string) string {
	b := e.session.Models.Of(role)
	if b.Simulated {
		return ""
	}
	_, own := e.session.Config.Prices[e.session.Config.Models.Of(role).Model]
	p := e.session.Models.Role(role).Price
	switch {
	case p == nil:
		return fmt.Sprintf("price unknown (set prices.%s to know the cost)", e.session.Config.Models.Of(role).Model)
	case own:
		return fmt.Sprintf("$%g in, $%g out per million tokens", p.Input, p.Output)
	}
	text := fmt.Sprintf("$%g in, $%g out per million tokens (list price)", p.Input, p.Output)
	if p.UpTo > 0 {
		text += fmt.Sprintf("; with prompts of more than %d tokens $%g and $%g", p.UpTo, p.Long.Input, p.Long.Output)
	}
	return text
}

// probeError is a call of doctor that got no answer.
type probeError struct {
	endpoint string
	err      error
}

func (e *probeError) Error() string { return fmt.Sprintf("%s: %v", e.endpoint, e.err) }

func (e *probeError) Unwrap() error { return e.err }

// ErrorKind says whose business the error is.
func (*probeError) ErrorKind() string { return string(fault.Unmeasurable) }

// advise says how to fix a failed probe of a server whose address the given key
// has.
func advise(m config.Model, role, address string, err error) string {
	var key *wiring.MissingKeyError
	if errors.As(err, &key) {
		return "export " + key.Var + "=..., or write it into .env next to the config"
	}
	var missing *wiring.AgentError
	if errors.As(err, &missing) {
		return missing.Help
	}
	var out *wiring.LeftOutError
	if errors.As(err, &out) {
		return wiring.CloudBuild
	}
	login, isLogin := strings.CutSuffix(m.Provider, "-cli")
	switch code := model.CodeOf(err); {
	case code == model.Auth && isLogin:
		return fmt.Sprintf("log in: run %s once by hand, or name a key with models.%s.api_key_env", login, role)
	case code == model.Auth:
		return fmt.Sprintf("the key is wrong or has no rights: check the variable of models.%s.api_key_env", role)
	case code == model.Credit:
		return fmt.Sprintf("check the plan, the credit and the billing of the account behind models.%s", role)
	case code == model.Certificate, code == model.Redirect:
		return fmt.Sprintf("check models.%s.%s, and a proxy in HTTPS_PROXY", role, address)
	case code == model.NotFound && m.Provider == "ollama":
		return fmt.Sprintf("ollama pull %s, or check models.%s.model", m.Model, role)
	case code == model.NotFound:
		return fmt.Sprintf("check models.%s.model and that models.%s.%s ends in /v1", role, role, address)
	case (code == model.Network || code == model.Timeout) && m.Provider == "ollama":
		return fmt.Sprintf("start it with `ollama serve`, or check models.%s.%s", role, address)
	case code == model.Network, code == model.Timeout:
		return fmt.Sprintf("is the server running? check models.%s.%s", role, address)
	case code == model.RateLimit, code == model.Overloaded:
		return "wait, or ask the provider for a higher limit"
	case code == model.BadRequest:
		return fmt.Sprintf("the server refuses the settings: check models.%s (temperature, max_tokens, reasoning_effort, structured_output)", role)
	case role == model.Judge && m.Provider == "":
		return "the checks of the tasks need a judge: set models.judge"
	}
	return fmt.Sprintf("check models.%s", role)
}
