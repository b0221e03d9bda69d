package night_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/task"
)

// persona is a user some of whose tasks need rules that the document does not state. A part of each answer is right
// without them. It is a simulation.
type persona struct {
	rules []string // that help
	harm  string   // a rule that spoils every answer
	parts []int    // by selection task: parts of its answer that are right without rules, of
	of    []int    // so many in all
	asked atomic.Int64
}

// Generate plays target and optimizer.
func (p *persona) Generate(_ context.Context, req model.Request) (model.Response, error) {
	reply := ""
	switch {
	case req.Tags.Role == model.Target:
		reply = p.answer(req.Messages[0].Content, req.Messages[len(req.Messages)-1].Content)
	case strings.HasPrefix(req.Tags.Stage, "analyst"):
		edits := []any{}
		if p.asked.Add(1) == 1 { // an optimizer that errs at first
			edits = append(edits, map[string]any{"op": "append", "content": "- " + p.harm})
		}
		for _, r := range p.rules {
			edits = append(edits, map[string]any{"op": "append", "content": "- " + r})
		}
		data, err := json.Marshal(map[string]any{"batch_size": 1, "failure_summary": []any{}, "success_patterns": []any{}, "patch": map[string]any{"reasoning": "r", "edits": edits}})
		if err != nil {
			return model.Response{}, err
		}
		reply = string(data)
	default:
		reply = `{"reasoning": "", "edits": []}`
	}
	return model.Response{Text: reply, Finish: model.FinishStop}, nil
}

// answer has the parts that are right without rules, and one more for each rule that the document states.
func (p *persona) answer(document, prompt string) string {
	if strings.Contains(document, p.harm) {
		return "nothing"
	}
	var right, parts int
	if _, err := fmt.Sscanf(prompt[strings.LastIndex(prompt, "PARTS "):], "PARTS %d of %d", &right, &parts); err != nil {
		return "nothing"
	}
	for _, r := range p.rules {
		if strings.Contains(document, r) {
			right += (parts - right + len(p.rules) - 1) / len(p.rules)
		}
	}
	if strings.Count(document, "- rule") >= len(p.rules) {
		right = parts
	}
	var out []string
	for i := range min(right, parts) {
		out = append(out, fmt.Sprintf("part%d", i))
	}
	return strings.Join(out, " ")
}

// tasks need all parts: each is a check of its own.
func (p *persona) tasks(h *home) []wish.Task {
	var out []wish.Task
	for i := range 2 * len(p.parts) {
		right, parts := p.parts[i/2], p.of[i/2]
		var checks []any
		for k := range parts {
			checks = append(checks, map[string]any{"type": "contains", "value": fmt.Sprintf("part%d", k)})
		}
		data, err := json.Marshal(checks)
		if err != nil {
			h.t.Fatal(err)
		}
		out = append(out, wish.Task{
			Task:  task.Task{ID: fmt.Sprintf("p%02d", i), Prompt: fmt.Sprintf("Task %d, PARTS %d of %d", i, right, parts), Checks: data},
			Trust: wish.ByCorrection, Project: h.project, Input: fmt.Sprint(i), At: h.now.Add(time.Duration(i-100) * time.Second),
			Seen: []wish.Ref{{Source: "claude", Session: fmt.Sprintf("s%03d", i), Turn: "t"}},
		})
	}
	return out
}

// The personas of the reference, as worlds of ours with its numbers: one night of --explore learns what they need, and
// never the rule that harms. What it says of it is a suggestion.
func TestTrap1Personas(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		p    *persona
		from float64
	}{
		"researcher": {&persona{rules: []string{"rule one: wrap the answer", "rule two: name the source"}, harm: "rule of harm", parts: []int{4, 2, 4}, of: []int{6, 3, 6}}, 1.0 / 3},
		"programmer": {&persona{rules: []string{"rule one: use the imperative"}, harm: "rule of harm", parts: []int{1, 7, 2}, of: []int{2, 9, 3}}, 23.0 / 72},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, small())
			h.day(2*len(tt.p.parts), "", true)
			i := 0
			for id := range h.miner.tasks {
				delete(h.miner.tasks, id)
			}
			for _, w := range tt.p.tasks(h) {
				h.miner.tasks[fmt.Sprintf("s%03d", i)] = w
				i++
			}
			h.cfg.Tasks.Extract = nil
			h.cfg.Gate.Mode = "strict"
			h.cfg.Models.Target.Temperature, h.cfg.Models.Optimizer.MaxTokens = new(float64), 1000
			before, _ := os.ReadFile(filepath.Join(h.project, "CLAUDE.md"))
			r := h.night(func(o *night.Options) {
				o.Explore = true
				o.With = []skillopt.Option{skillopt.WithClient(model.Target, name, tt.p), skillopt.WithClient(model.Optimizer, name, tt.p)}
			})
			got := r.Targets[0]
			c := got.Consolidation
			t.Logf("%s: %s, %v -> %v, edits %d, rejected %d", got.Outcome, got.Reason, num(c.BaselineScore), num(c.CandidateScore), len(c.AppliedEdits), len(c.RejectedEdits))
			if c.BaselineScore == nil || c.CandidateScore == nil || abs(*c.BaselineScore-tt.from) > 1e-9 || abs(*c.CandidateScore-1) > 1e-9 {
				t.Errorf("%v -> %v, want %v -> 1", num(c.BaselineScore), num(c.CandidateScore), tt.from)
			}
			if got.Outcome != night.Suggested || len(c.AppliedEdits) != len(tt.p.rules) {
				t.Errorf("%s with %d edits, want a suggestion with %d", got.Outcome, len(c.AppliedEdits), len(tt.p.rules))
			}
			p, err := night.Open(h.dir, h.project, r.ID)
			if err != nil {
				t.Fatal(err)
			}
			text, err := p.Text(got.Target)
			if err != nil || strings.Contains(text, tt.p.harm) || !strings.HasPrefix(text, string(before)) {
				t.Errorf("%v: %s", err, text)
			}
		})
	}
}

func num(f *float64) string {
	if f == nil {
		return "none"
	}
	return fmt.Sprintf("%.4f", *f)
}

func abs(f float64) float64 { return max(f, -f) }
