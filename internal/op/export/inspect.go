package export

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// scorerName is what a log calls the checks of the tasks.
const scorerName = "skillopt"

// Which says which answers of a run are meant: those of a skill to the tasks of a split.
type Which struct {
	Split string // train, selection or test; "": what judged the best skill, or what the run has
	Arm   string // seed, best, final, ...; "": best where it is there
}

// Inspect writes the answers of a run as a log of inspect_ai, version 2, to the file at
// path, as a whole or not at all. What has the shape of a key and the given secrets are
// taken out. What was not measured is an error in it and no score.
func Inspect(ctx context.Context, dir, path string, which Which, secrets ...string) (out result.ExportedLog, err error) {
	defer func() { err = fault.InRun(dir, err) }()
	r, err := record.Open(ctx, dir)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	sheet, err := which.sheet(r)
	if err != nil {
		return out, err
	}
	outcomes, err := r.Outcomes(sheet)
	if err != nil {
		return out, err
	}
	replies, err := r.Replies(ctx)
	if err != nil {
		return out, err
	}
	log := newLog(r.Manifest, sheet)
	if err := log.add(ctx, replies, sheet, outcomes); err != nil {
		return out, err
	}
	out = result.ExportedLog{Split: sheet.Split, Arm: sheet.Arm, Samples: len(log.Samples), Unmeasured: len(log.Samples) - log.Results.Completed}
	clean := redact.Strings(redact.New(secrets...).Text, log)
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(clean); err != nil {
		return out, fmt.Errorf("write log: %w", err)
	}
	return out, run.WriteExport(path, text.Bytes())
}

// sheet finds the answers that are meant.
func (w Which) sheet(r *record.Run) (record.Sheet, error) {
	all, err := r.Sheets()
	if err != nil {
		return record.Sheet{}, err
	}
	if w == (Which{}) {
		if s, found, err := r.BestSheet(); found || err != nil {
			return s, err
		}
	}
	fits := slices.DeleteFunc(slices.Clone(all), func(s record.Sheet) bool {
		return w.Split != "" && s.Split != w.Split || w.Arm != "" && s.Arm != w.Arm
	})
	if len(fits) == 0 {
		var there []string
		for _, s := range all {
			if text := fmt.Sprintf("--split %s --arm %s", s.Split, s.Arm); !slices.Contains(there, text) {
				there = append(there, text)
			}
		}
		return record.Sheet{}, fault.Input(fmt.Errorf("the run has written no such outcomes; there are: %s", strings.Join(there, ", ")))
	}
	for _, arm := range []string{"best", "skill"} {
		for _, s := range slices.Backward(fits) {
			if w.Arm == "" && s.Arm == arm {
				return s, nil
			}
		}
	}
	return fits[len(fits)-1], nil
}

// evalLog is a log of inspect_ai: the keys that it asks for, with those that say something.
type evalLog struct {
	Version     int            `json:"version"`
	Status      string         `json:"status"`
	Eval        evalSpec       `json:"eval"`
	Plan        evalPlan       `json:"plan"`
	Results     evalResults    `json:"results"`
	Stats       evalStats      `json:"stats"`
	Invalidated bool           `json:"invalidated"`
	Tags        []string       `json:"tags"`
	Metadata    map[string]any `json:"metadata"`
	Samples     []evalSample   `json:"samples"`
}

type evalSpec struct {
	EvalID      string            `json:"eval_id"`
	RunID       string            `json:"run_id"`
	Created     string            `json:"created"`
	Task        string            `json:"task"`
	TaskID      string            `json:"task_id"`
	TaskVersion int               `json:"task_version"`
	Attribs     map[string]any    `json:"task_attribs"`
	Args        map[string]any    `json:"task_args"`
	Passed      map[string]any    `json:"task_args_passed"`
	Dataset     evalDataset       `json:"dataset"`
	Model       string            `json:"model"`
	Generate    map[string]any    `json:"model_generate_config"`
	ModelArgs   map[string]any    `json:"model_args"`
	Config      map[string]any    `json:"config"`
	Packages    map[string]string `json:"packages"`
	Metadata    map[string]any    `json:"metadata"`
	Scorers     []evalScorer      `json:"scorers"`
}

type evalDataset struct {
	Name     string   `json:"name"`
	Samples  int      `json:"samples"`
	IDs      []string `json:"sample_ids"`
	Shuffled bool     `json:"shuffled"`
}

type evalScorer struct {
	Name string `json:"name"`
}

type evalPlan struct {
	Name   string         `json:"name"`
	Steps  []evalStep     `json:"steps"`
	Config map[string]any `json:"config"`
}

type evalStep struct {
	Solver string         `json:"solver"`
	Params map[string]any `json:"params"`
	Passed map[string]any `json:"params_passed"`
}

type evalResults struct {
	Total     int         `json:"total_samples"`
	Completed int         `json:"completed_samples"`
	Scores    []evalScore `json:"scores"`
}

type evalScore struct {
	Name     string                `json:"name"`
	Scorer   string                `json:"scorer"`
	Scored   int                   `json:"scored_samples"`
	Unscored int                   `json:"unscored_samples"`
	Params   map[string]any        `json:"params"`
	Metrics  map[string]evalMetric `json:"metrics"`
}

type evalMetric struct {
	Name   string         `json:"name"`
	Value  float64        `json:"value"`
	Params map[string]any `json:"params"`
}

type evalStats struct {
	Started     string               `json:"started_at"`
	Completed   string               `json:"completed_at"`
	Usage       map[string]evalUsage `json:"model_usage"`
	Roles       map[string]evalUsage `json:"role_usage"`
	Connections []any                `json:"connection_limit_history"`
}

type evalUsage struct {
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
	Total  int64 `json:"total_tokens"`
}

type evalSample struct {
	ID          string                 `json:"id"`
	Epoch       int                    `json:"epoch"`
	Input       string                 `json:"input"`
	Target      string                 `json:"target"`
	Messages    []evalMessage          `json:"messages"`
	Output      evalOutput             `json:"output"`
	Scores      map[string]sampleScore `json:"scores,omitempty"`
	Metadata    map[string]any         `json:"metadata"`
	Store       map[string]any         `json:"store"`
	Events      []any                  `json:"events"`
	Usage       map[string]evalUsage   `json:"model_usage"`
	Roles       map[string]evalUsage   `json:"role_usage"`
	Error       *evalError             `json:"error,omitempty"`
	Attachments map[string]string      `json:"attachments"`
}

type evalMessage struct {
	ID      string `json:"id"`
	Role    string `json:"role"`
	Content string `json:"content"`
	Model   string `json:"model,omitempty"`
	Source  string `json:"source,omitempty"`
}

type evalOutput struct {
	Model      string       `json:"model"`
	Choices    []evalChoice `json:"choices"`
	Completion string       `json:"completion"`
}

type evalChoice struct {
	Message    evalMessage `json:"message"`
	StopReason string      `json:"stop_reason"`
}

type sampleScore struct {
	Value       float64        `json:"value"`
	Answer      string         `json:"answer,omitempty"`
	Explanation string         `json:"explanation,omitempty"`
	Metadata    map[string]any `json:"metadata,omitempty"`
	History     []any          `json:"history"`
}

type evalError struct {
	Message   string `json:"message"`
	Traceback string `json:"traceback"`
	ANSI      string `json:"traceback_ansi"`
}

func newLog(m run.Manifest, s record.Sheet) *evalLog {
	none := map[string]any{}
	name, created := m.Name, m.CreatedAt.UTC().Format(time.RFC3339)
	model := "unknown"
	for _, p := range record.Participants(m) {
		if p.Role == "target" {
			model = strings.TrimPrefix(p.Provider+"/"+p.Model, "/")
		}
	}
	status := map[result.Status]string{result.Completed: "success", result.Running: "started"}[m.Status]
	if status == "" {
		status = "cancelled"
	}
	about := map[string]any{"skill": s.Arm, "split": s.Split, "step": s.Step, "epoch": s.Epoch, "simulated": m.Simulated}
	log := &evalLog{
		Version: 2, Status: status, Tags: []string{}, Metadata: about, Samples: []evalSample{},
		Eval: evalSpec{
			EvalID: m.RunID + "-" + s.Arm + "-" + s.Split, RunID: m.RunID, Created: created, Task: name, TaskID: m.RunID, Attribs: none, Args: none, Passed: none,
			Dataset: evalDataset{Name: s.Split, IDs: []string{}}, Model: strings.TrimSuffix(model, "/"), Generate: none, ModelArgs: none, Config: none,
			Packages: map[string]string{"skillopt": m.Version}, Metadata: about, Scorers: []evalScorer{{scorerName}},
		},
		Plan:    evalPlan{Name: "plan", Steps: []evalStep{{Solver: "skillopt " + s.Arm, Params: none, Passed: none}}, Config: none},
		Results: evalResults{Scores: []evalScore{}},
		Stats:   evalStats{Started: created, Usage: map[string]evalUsage{}, Roles: map[string]evalUsage{}, Connections: []any{}},
	}
	if m.EndedAt != nil {
		log.Stats.Completed = m.EndedAt.UTC().Format(time.RFC3339)
	}
	return log
}

// add puts the outcomes in, each with what was said, and sums them up.
func (l *evalLog) add(ctx context.Context, replies *record.Replies, s record.Sheet, outcomes []trajectory.Outcome) error {
	passes := map[string]int{}
	var hard, soft float64
	for _, o := range outcomes {
		reply, err := replies.Read(ctx, replies.Of(s, o.ID, passes[o.ID]))
		if err != nil && !errors.Is(err, record.ErrNoReply) {
			return err
		}
		passes[o.ID]++
		if passes[o.ID] == 1 {
			l.Eval.Dataset.IDs = append(l.Eval.Dataset.IDs, o.ID)
		}
		l.Samples = append(l.Samples, l.sample(o, reply, passes[o.ID]))
		if o.Status.Measured() {
			l.Results.Completed++
			hard, soft = hard+o.Hard, soft+o.Soft
		}
	}
	l.Eval.Dataset.Samples, l.Results.Total = len(l.Eval.Dataset.IDs), len(l.Samples)
	score := evalScore{
		Name: scorerName, Scorer: scorerName, Scored: l.Results.Completed, Unscored: len(l.Samples) - l.Results.Completed,
		Params: map[string]any{}, Metrics: map[string]evalMetric{},
	}
	if n := float64(l.Results.Completed); n > 0 { // of nothing there is no mean
		score.Metrics["accuracy"] = evalMetric{"accuracy", hard / n, map[string]any{}}
		score.Metrics["soft"] = evalMetric{"soft", soft / n, map[string]any{}}
	}
	l.Results.Scores = append(l.Results.Scores, score)
	return nil
}

func (l *evalLog) sample(o trajectory.Outcome, reply record.Reply, epoch int) evalSample {
	model := o.Served
	if model == "" {
		model = l.Eval.Model
	}
	question := o.Question
	if question == "" {
		question = reply.Question
	}
	text := reply.Text
	if text == "" {
		text = o.Answer
	}
	out := evalSample{
		ID: o.ID, Epoch: epoch, Input: question, Target: strings.TrimPrefix(o.Reference, "expected: "), Messages: []evalMessage{{Role: "user", Content: question, Source: "input"}},
		Metadata: map[string]any{"type": o.Type}, Store: map[string]any{}, Events: []any{}, Usage: map[string]evalUsage{}, Roles: map[string]evalUsage{},
		Attachments: map[string]string{}, Output: evalOutput{Model: model, Choices: []evalChoice{}},
	}
	for _, t := range o.Trajectory {
		out.Messages = append(out.Messages, toMessages(t, model)...)
	}
	said := evalMessage{Role: "assistant", Content: text, Model: model, Source: "generate"}
	if last := out.Messages[len(out.Messages)-1]; text != "" && (last.Role != "assistant" || last.Content != text) {
		out.Messages = append(out.Messages, said)
	}
	for i := range out.Messages {
		out.Messages[i].ID = fmt.Sprintf("%s-%d-%d", o.ID, epoch, i+1)
	}
	said.ID = out.Messages[len(out.Messages)-1].ID
	if u := o.Usage; u != (trajectory.Usage{}) {
		out.Usage[model] = evalUsage{u.Input, u.Output, u.Input + u.Output}
		sum := l.Stats.Usage[model]
		l.Stats.Usage[model] = evalUsage{sum.Input + u.Input, sum.Output + u.Output, sum.Total + u.Input + u.Output}
	}
	if !o.Status.Measured() {
		why := o.FailReason
		if why == "" {
			why = "not measured"
		}
		out.Error = &evalError{Message: why}
		return out
	}
	out.Output.Choices = append(out.Output.Choices, evalChoice{Message: said, StopReason: "stop"})
	out.Output.Completion = text
	out.Scores = map[string]sampleScore{scorerName: {
		Value: o.Hard, Answer: o.Answer, Explanation: o.FailReason, Metadata: map[string]any{"soft": o.Soft, "checks": verdicts(o.Checks)}, History: []any{},
	}}
	return out
}

// toMessages returns a turn as messages: what was said, or what was done and its result.
func toMessages(t trajectory.Turn, model string) (out []evalMessage) {
	switch {
	case t.Role == "user" || t.Role == "system":
		return nil // the log has it already, as what was asked
	case t.Content != "":
		out = append(out, evalMessage{Role: "assistant", Content: t.Content, Model: model, Source: "generate"})
	}
	if t.Action != "" {
		out = append(out, evalMessage{Role: "assistant", Content: t.Action, Model: model, Source: "generate"})
	}
	if t.Observation != "" {
		out = append(out, evalMessage{Role: "user", Content: t.Observation})
	}
	return out
}

// verdicts returns the checks of an answer, as text.
func verdicts(checks []trajectory.CheckVerdict) []string {
	out := []string{}
	for _, c := range checks {
		out = append(out, strings.TrimSuffix(fmt.Sprintf("%s: %s %s", c.Check, c.Verdict, c.Why), " "))
	}
	return out
}
