package skillopt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

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
	s, err := prepare(cfg, opts)
	if err != nil {
		return TaskReport{}, classify(err, "")
	}
	r := TaskReport{Tasks: s.set.Len(), Unreviewed: s.set.Unreviewed(), Warnings: s.warnings, ByType: map[string]int{}}
	r.Train, r.Selection, r.Test = len(s.set.Split(task.Train)), len(s.set.Split(task.Selection)), len(s.set.Split(task.Test))
	for _, t := range s.set.Tasks() {
		if t.Type != "" {
			r.ByType[t.Type]++
		}
	}
	return r, nil
}

// Examination is what Examine found.
type Examination struct {
	Rows []Finding `json:"rows"`
}

// Finding is one thing that was examined.
type Finding struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	Mend   string `json:"mend,omitempty"` // what helps, if it is not OK

	err error
}

// Err returns the first failure, an *Error, or nil.
func (e Examination) Err() error {
	for _, r := range e.Rows {
		if !r.OK {
			return classify(r.err, "")
		}
	}
	return nil
}

// Examine checks whether a configuration can run, with one real call per role.
func Examine(ctx context.Context, cfg Config, opts ...Option) Examination {
	var e Examination
	s, err := prepare(cfg, opts)
	if err != nil {
		e.add("config, skill, tasks", "", err, "correct what is named; `skillopt tasks lint` checks tasks alone")
		return e
	}
	e.add("skill", fmt.Sprintf("%d bytes, hash %s", len(s.skill.Text()), s.skill.Hash()), nil, "")
	e.add("tasks", fmt.Sprintf("%d train, %d selection, %d test", len(s.data.Train), len(s.data.Selection), len(s.data.Test)), s.requireSplits(), "add tasks, or set split.ratio")
	e.add("run folder", s.cfg.Run.Dir, writable(s.cfg.Run.Dir), "choose another with --set run.dir=...")
	roles := []string{model.Target, model.Optimizer}
	if s.cfg.Models.Judge.Provider != "" {
		roles = append(roles, model.Judge)
	}
	for _, role := range roles {
		detail, err := s.probe(ctx, role)
		e.add("model "+role, detail, err, advise(role, err))
	}
	return e
}

func (e *Examination) add(name, detail string, err error, mend string) {
	f := Finding{Name: name, OK: err == nil, Detail: detail}
	if err != nil {
		f.Detail, f.Mend, f.err = err.Error(), mend, err
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

// probe asks the model of a role for one short answer.
func (s *setup) probe(ctx context.Context, role string) (string, error) {
	if role == model.Target && s.ownEnv() && s.model(role).Provider == "" {
		return "none: the environment calls models by itself", nil
	}
	if err := s.loadModel(role); err != nil {
		return "", err
	}
	m := s.model(role)
	if timeout := m.Timeout.Std(); timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	began := time.Now()
	resp, err := s.models[role].Client.Generate(ctx, model.Request{
		Model: m.Model, Messages: []model.Message{{Role: model.User, Content: `Answer with this JSON object and nothing else: {"ready": true}`}},
		// With structured_output on, whether the server takes a schema is part of
		// the question.
		Schema:   &model.Schema{Name: "ready", JSON: []byte(`{"type":"object","properties":{"ready":{"type":"boolean"}},"required":["ready"]}`)},
		Sampling: model.Sampling{Temperature: m.Temperature, TopP: m.TopP, MaxTokens: m.MaxTokens, ReasoningEffort: m.ReasoningEffort},
		Tags:     model.Tags{Stage: "doctor", Role: role, Run: "doctor"},
	})
	if err != nil {
		return "", &probeError{endpoint: s.models[role].Endpoint, err: err}
	}
	kind := ""
	if s.models[role].Simulated {
		kind = "simulated, "
	}
	return fmt.Sprintf("%s%s answered in %d ms, %d tokens", kind, resp.Model, time.Since(began).Milliseconds(), resp.Usage.Input+resp.Usage.Output), nil
}

// probeError is a call of doctor that got no answer.
type probeError struct {
	endpoint string
	err      error
}

func (e *probeError) Error() string { return fmt.Sprintf("%s: %v", e.endpoint, e.err) }

func (e *probeError) Unwrap() error { return e.err }

// advise says how to mend a failed probe.
func advise(role string, err error) string {
	var key *wire.MissingKeyError
	if errors.As(err, &key) {
		return "export " + key.Var + "=..., or write it into .env beside the config"
	}
	switch model.CodeOf(err) {
	case model.Auth:
		return fmt.Sprintf("the key is wrong or has no rights: check the variable of models.%s.api_key_env", role)
	case model.NotFound:
		return fmt.Sprintf("check models.%s.model and that models.%s.base_url ends in /v1", role, role)
	case model.Network, model.Timeout:
		return fmt.Sprintf("is the server running? check models.%s.base_url", role)
	case model.RateLimit, model.Overloaded:
		return "wait, or ask the provider for a higher limit"
	case model.BadRequest:
		return fmt.Sprintf("the server refuses the settings: check models.%s (temperature, top_p, max_tokens, reasoning_effort, structured_output)", role)
	}
	return fmt.Sprintf("check models.%s", role)
}
