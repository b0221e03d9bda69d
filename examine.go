package skillopt

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
	"github.com/seed-f4525e22/skillopt/internal/plural"
	"github.com/seed-f4525e22/skillopt/internal/wire"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/task"
)

// TaskReport is what a set of tasks holds.
type TaskReport struct {
	Tasks     int            `json:"tasks"`
	Train     int            `json:"train"`
	Selection int            `json:"selection"`
	Test      int            `json:"test"`
	ByType    map[string]int `json:"by_type,omitempty"`
	// Unreviewed counts drafts that nobody has accepted: runs on them are exploratory.
	Unreviewed int `json:"unreviewed,omitempty"`

	Warnings []string `json:"warnings,omitempty"`
}

// CheckTasks loads the tasks of a configuration the way training does and
// reports what they are. The error is an *Error that names every problem.
func CheckTasks(cfg Config, opts ...Option) (TaskReport, error) {
	return CheckTasksContext(context.Background(), cfg, opts...)
}

// CheckTasksContext is CheckTasks that ends with ctx.
func CheckTasksContext(ctx context.Context, cfg Config, opts ...Option) (TaskReport, error) {
	s, err := prepare(ctx, cfg, append(slices.Clone(opts), func(o *options) { o.counting = true }))
	if err == nil {
		err = s.doubts(false)
	}
	if err != nil {
		return TaskReport{}, classify(err, "")
	}
	r := TaskReport{Tasks: s.set.Len(), Unreviewed: s.set.Unreviewed(), Warnings: s.warnings, ByType: map[string]int{}}
	r.Train, r.Selection, r.Test = s.sized(task.Train), s.sized(task.Selection), s.sized(task.Test)
	for _, t := range s.set.Tasks() {
		if t.Type != "" {
			r.ByType[t.Type]++
		}
	}
	return r, nil
}

// sized returns the number of tasks of a split.
func (s *setup) sized(name task.Split) int {
	if s.parts != nil {
		return s.parts[name]
	}
	return s.set.Count(name)
}

// divided says how tasks are used.
func (s *setup) divided() string {
	if n := s.data.NumFolds(); n > 0 {
		return fmt.Sprintf("%d train and selection in %d folds, %d test", len(s.data.Train), n, len(s.data.Test))
	}
	return fmt.Sprintf("%d train, %d selection, %d test", len(s.data.Train), len(s.data.Selection), len(s.data.Test))
}

// Examination is what Examine found.
type Examination struct {
	Rows []Finding `json:"rows"`
}

// Finding is one thing that was examined.
type Finding struct {
	Name    string `json:"name"`
	OK      bool   `json:"ok"`
	Skipped bool   `json:"skipped,omitempty"` // it is not there, and need not be
	Warning bool   `json:"warning,omitempty"` // it runs, but there is something to know
	Detail  string `json:"detail"`
	Mend    string `json:"mend,omitempty"` // what helps, if it is not OK

	err error
}

// Err returns the first failure, an *Error, or nil.
func (e Examination) Err() error {
	for _, r := range e.Rows {
		if !r.OK && !r.Skipped {
			return classify(r.err, "")
		}
	}
	return nil
}

// Examine checks whether a configuration can run: what it names, what runs its
// tasks, and the models, with one real call to each server of a role. Nobody who
// answers by hand is asked. A coding agent works once against a scripted model, see
// WithProofs.
func Examine(ctx context.Context, cfg Config, opts ...Option) Examination {
	var e Examination
	s, err := prepare(ctx, cfg, opts)
	if err != nil {
		e.add("config, skill, tasks", "", err, "correct what is named; `skillopt tasks lint` checks tasks alone")
		return e
	}
	e.add("skill", fmt.Sprintf("%s, hash %s", plural.Of(len(s.skill.Text()), "byte", "bytes"), s.skill.Hash()), nil, "")
	e.add("tasks", s.divided(), s.requireSplits(), "add tasks, or set split.ratio")
	if reads, err := s.testReads(ctx); err != nil || reads.Words() != "" {
		e.add("test set", "its tasks were "+reads.Words(), err, "")
		e.Rows[len(e.Rows)-1].Warning = err == nil
	}
	if err := s.doubts(false); err != nil {
		e.add("gold and checks", "", err, "correct what is named: no answer could be right")
	}
	e.add("run folder", s.cfg.Run.Dir, writable(s.cfg.Run.Dir), "choose another with --set run.dir=...")
	e.worker(ctx, s)
	for _, role := range s.examined() {
		e.model(ctx, s, role)
	}
	e.try(ctx, s)
	for _, role := range s.examined() {
		if b := s.models[role]; b.Close != nil {
			if err := b.Close(); err != nil {
				e.add("model "+role, "", err, "")
			}
		}
	}
	for _, text := range s.warnings {
		e.Rows = append(e.Rows, Finding{Name: "warning", OK: true, Warning: true, Detail: text})
	}
	return e
}

// examined lists the roles that are asked: a judge only if there is something to
// judge, or it is set.
func (s *setup) examined() []string {
	roles := []string{model.Target, model.Optimizer}
	if s.cfg.Models.Judge.Provider != "" || s.needs().Judge {
		roles = append(roles, model.Judge)
	}
	return roles
}

func (e *Examination) add(name, detail string, err error, mend string) {
	f := Finding{Name: name, OK: err == nil, Detail: detail}
	if err != nil {
		f.Detail, f.Mend, f.err = strings.TrimSuffix(err.Error(), "; "+mend), mend, err
	}
	e.Rows = append(e.Rows, f)
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
// goes on as long as one of them answers and tells little of the others.
func (e *Examination) model(ctx context.Context, s *setup, role string) {
	row := "model " + role
	detail, asked, err := s.reachable(ctx, role)
	if err != nil || !asked {
		e.add(row, detail, err, advise(s.model(role), role, "base_url", err))
		return
	}
	b := s.models[role]
	if len(b.Servers) < 2 {
		one := wire.Server{Name: b.Endpoint, Client: b.Client}
		if len(b.Servers) == 1 {
			one.Window = b.Servers[0].Window
		}
		detail, err := s.probe(ctx, role, one)
		e.add(row, detail, err, advise(s.model(role), role, "base_url", err))
		return
	}
	for i, one := range b.Servers {
		key := "base_url"
		if i > 0 {
			key = "endpoints"
		}
		detail, err := s.probe(ctx, role, one)
		e.add(row, one.Name+": "+detail, err, advise(s.model(role), role, key, err))
	}
}

// reachable builds the model of a role. It reports whether there is somebody to
// ask, and if not, why.
func (s *setup) reachable(ctx context.Context, role string) (detail string, asked bool, err error) {
	m := s.model(role)
	if role == model.Target && m.Provider == "" && s.clients[role] == nil {
		switch {
		case s.ownEnv():
			return "none: the environment calls models by itself", false, nil
		case s.cfg.Agent.Name != "" && !s.cfg.Agent.Gateway:
			return "none: the agent calls models by itself", false, nil
		}
	}
	if err := s.loadModel(role); err != nil {
		return "", false, err
	}
	b := s.models[role]
	switch {
	case s.replay != nil:
		return "answered from " + s.replayed(), false, nil
	case b.Questions != nil:
		return "questions are written to " + b.Folder + " for somebody to answer; none is put now", false, nil
	}
	if b.Ready != nil {
		if _, err := b.Ready(ctx); err != nil {
			return "", false, unfit(err)
		}
	}
	return "", true, nil
}

// probe asks a server of the model of a role for one short answer.
func (s *setup) probe(ctx context.Context, role string, one wire.Server) (string, error) {
	answered, err := s.ask(ctx, role, one.Client)
	if err != nil {
		return "", &probeError{endpoint: one.Name, err: err}
	}
	details := []string{answered, s.priced(role)}
	if one.Window != nil {
		n, err := one.Window(ctx)
		if err != nil {
			return "", &probeError{endpoint: one.Name, err: err}
		}
		details = append(details, fmt.Sprintf("context of %d tokens (models.%s.context)", n, role))
	}
	return strings.Join(slices.DeleteFunc(details, func(d string) bool { return d == "" }), "; "), nil
}

// ask puts the question of the probe.
func (s *setup) ask(ctx context.Context, role string, c model.Client) (string, error) {
	m := s.model(role)
	if timeout := m.Timeout.Std(); timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	began := time.Now()
	resp, err := c.Generate(ctx, model.Request{
		Model: m.Model, Messages: []model.Message{{Role: model.User, Content: `Answer with this JSON object and nothing else: {"ready": true}`}},
		// With structured_output on, whether the server takes a schema is part of
		// the question.
		Schema:   &model.Schema{Name: "ready", JSON: []byte(`{"type":"object","properties":{"ready":{"type":"boolean"}},"required":["ready"]}`)},
		Sampling: wire.Sampling(m),
		Tags:     model.Tags{Stage: "doctor", Role: role, Run: "doctor"},
	})
	if err != nil {
		return "", err
	}
	kind := ""
	if s.models[role].Simulated {
		kind = "simulated, "
	}
	return fmt.Sprintf("%s%s answered in %d ms, %s", kind, resp.Model, time.Since(began).Milliseconds(), plural.Of(resp.Usage.Input+resp.Usage.Output, "token", "tokens")), nil
}

// priced says what a model costs, as far as it is known.
func (s *setup) priced(role string) string {
	b := s.models[role]
	if b.Simulated {
		return ""
	}
	_, own := s.cfg.Prices[s.model(role).Model]
	p := s.role(role, b).Price
	switch {
	case p == nil:
		return fmt.Sprintf("price unknown (set prices.%s to know the cost)", s.model(role).Model)
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

// advise says how to mend a failed probe of a server whose address the given key
// has.
func advise(m config.Model, role, address string, err error) string {
	var key *wire.MissingKeyError
	if errors.As(err, &key) {
		return "export " + key.Var + "=..., or write it into .env beside the config"
	}
	var missing *wire.AgentError
	if errors.As(err, &missing) {
		return missing.Help
	}
	seat, isSeat := strings.CutSuffix(m.Provider, "-cli")
	switch code := model.CodeOf(err); {
	case code == model.Auth && isSeat:
		return fmt.Sprintf("log in: run %s once by hand, or name a key with models.%s.api_key_env", seat, role)
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
		return fmt.Sprintf("the server refuses the settings: check models.%s (temperature, top_p, max_tokens, reasoning_effort, structured_output)", role)
	case role == model.Judge && m.Provider == "":
		return "the checks of the tasks need a judge: set models.judge"
	}
	return fmt.Sprintf("check models.%s", role)
}
