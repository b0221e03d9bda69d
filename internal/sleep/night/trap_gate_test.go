package night_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/task"
)

// pupil plays target and optimizer by a script: which parts of ten of its answer are right, by the task, by whether the
// document states the rule, and by how often it was asked so. It is a simulation.
type pupil struct {
	rule   string                                       // that answers go by; "" is pupilRule
	rules  []string                                     // that the first analyst proposes, an edit each
	parts  func(task string, ruled bool, asked int) int // of ten; below 0: the reply is empty
	edits  []any                                        // beside the rules
	always bool                                         // every analyst proposes them
	empty  func() (model.Response, error)               // in place of an empty reply

	mu      sync.Mutex
	asked   map[string]int // by task and whether the rule was there
	prompts []string       // of the optimizer
	tried   bool
}

const pupilRule = "- rule one: say it in ten parts"

// Generate implements model.Client.
func (p *pupil) Generate(_ context.Context, req model.Request) (model.Response, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if req.Tags.Role == model.Target {
		return p.answer(req.Messages[0].Content, req.Messages[len(req.Messages)-1].Content)
	}
	for _, m := range req.Messages {
		p.prompts = append(p.prompts, m.Content)
	}
	reply := `{"reasoning": "", "edits": []}`
	if strings.HasPrefix(req.Tags.Stage, "analyst") {
		edits := []any{}
		if !p.tried || p.always {
			for _, r := range p.rules {
				edits = append(edits, map[string]any{"op": "append", "content": r})
			}
			edits = append(edits, p.edits...)
		}
		p.tried = true
		data, err := json.Marshal(map[string]any{"batch_size": 1, "failure_summary": []any{}, "success_patterns": []any{}, "patch": map[string]any{"reasoning": "r", "edits": edits}})
		if err != nil {
			return model.Response{}, err
		}
		reply = string(data)
	}
	return model.Response{Text: reply, Finish: model.FinishStop}, nil
}

func (p *pupil) answer(document, prompt string) (model.Response, error) {
	name := prompt[strings.LastIndex(prompt, "QQ ")+len("QQ "):]
	ruled := strings.Contains(strings.ReplaceAll(document, "\r\n", "\n"), cmp.Or(p.rule, pupilRule))
	key := fmt.Sprint(name, ruled)
	if p.asked == nil {
		p.asked = map[string]int{}
	}
	n := p.parts(name, ruled, p.asked[key])
	p.asked[key]++
	if n < 0 && p.empty != nil {
		return p.empty()
	}
	if n < 0 {
		return model.Response{Finish: model.FinishStop}, nil
	}
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("part%d.", i))
	}
	return model.Response{Text: "So: " + strings.Join(out, " "), Finish: model.FinishStop}, nil
}

// calls are how often a task was asked, with the rule or without.
func (p *pupil) calls(name string, ruled bool) int { return p.asked[fmt.Sprint(name, ruled)] }

// pupilTasks have ten checks each.
func pupilTasks(h *home, names ...string) {
	h.t.Helper()
	h.day(len(names), "", true)
	clear(h.miner.tasks)
	var checks []any
	for k := range 10 {
		checks = append(checks, map[string]any{"type": "contains", "value": fmt.Sprintf("part%d.", k), "required": h.cfg.Tasks.Threshold == 0})
	}
	data, err := json.Marshal(checks)
	if err != nil {
		h.t.Fatal(err)
	}
	for i, name := range names {
		id := fmt.Sprintf("s%03d", h.next-len(names)+i)
		h.miner.tasks[id] = wish.Task{
			Task: task.Task{ID: name, Prompt: "QQ " + name, Checks: data}, Trust: wish.ByCorrection, Project: h.project, Input: name,
			At: h.now.Add(time.Duration(i-100) * time.Second), Seen: []wish.Ref{{Source: "claude", Session: id, Turn: id + "-1"}},
		}
	}
}

// explored is a night that trains whatever there is, by a gate that goes by means alone.
func (p *pupil) explored(h *home, change ...func(*night.Options)) *night.Report {
	h.t.Helper()
	h.cfg.Tasks.Extract = nil
	h.cfg.Gate.Mode = "strict"
	h.cfg.Models.Target.Temperature, h.cfg.Models.Optimizer.MaxTokens = new(float64), 1000
	return h.night(append([]func(*night.Options){func(o *night.Options) {
		o.Explore = true
		o.With = []skillopt.Option{skillopt.WithClient(model.Target, "pupil", p), skillopt.WithClient(model.Optimizer, "pupil", p)}
	}}, change...)...)
}

func (h *home) diagnostics(id string) night.Diagnostics {
	h.t.Helper()
	data, err := os.ReadFile(filepath.Join(night.Folder(h.dir, h.project, id), "diagnostics.json"))
	var d night.Diagnostics
	if err == nil {
		err = json.Unmarshal(data, &d)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return d
}

func right(ok bool) int {
	if ok {
		return 10
	}
	return 0
}

// An edit that wins the train task by its own check and breaks the selection task is rejected, and is told to the
// optimizer of the next night as one that was tried in vain.
func TestTrap2AnEditThatBreaksSelection(t *testing.T) {
	t.Parallel()
	h := newHome(t, small())
	p := &pupil{rules: []string{pupilRule}, parts: func(name string, ruled bool, _ int) int { return right((name == "train") == ruled) }}
	pupilTasks(h, "train", "selection")
	h.cfg.Train.Stop.Perfect = false
	r := p.explored(h)
	got := r.Targets[0]
	c := got.Consolidation
	if got.Outcome != night.Rejected || c.GateAction != "reject" || num(c.BaselineScore) != "1.0000" || num(c.CandidateScore) != "1.0000" || c.Accepted || got.Proposal != "" {
		t.Errorf("%s: %s, %s, %s -> %s", got.Outcome, got.Reason, c.GateAction, num(c.BaselineScore), num(c.CandidateScore))
	}
	if len(c.AppliedEdits) != 0 || len(c.RejectedEdits) != 1 || c.RejectedEdits[0].Content != pupilRule || num(c.RejectedEdits[0].Difference) != "-1.0000" {
		t.Errorf("applied %+v, rejected %+v", c.AppliedEdits, c.RejectedEdits)
	}
	if _, err := night.Open(h.dir, h.project, r.ID); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something is staged: %v", err)
	}
	p.prompts, p.tried = nil, false
	pupilTasks(h, "train-b", "train-c")
	p.explored(h)
	if all := strings.Join(p.prompts, "\n"); !strings.Contains(all, pupilRule) {
		t.Errorf("the next night's optimizer is not told of the edit:\n%s", all)
	}
}

// What is solved already by the tasks that judge can gain nothing: no edit is asked for, and the reason claims nothing of
// the others.
func TestTrap2NothingToGain(t *testing.T) {
	t.Parallel()
	h := newHome(t, small())
	p := &pupil{rules: []string{pupilRule}, parts: func(name string, ruled bool, _ int) int { return right((name == "train") == ruled) }}
	pupilTasks(h, "train", "selection")
	got := p.explored(h).Targets[0]
	if got.Outcome != night.NothingToLearn || p.tried || !strings.Contains(got.Reason, "by which edits are judged") {
		t.Errorf("%s: %s", got.Outcome, got.Reason)
	}
}

func TestTrap3AnEditThatGainsOnBoth(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 16} {
		h := newHome(t, small())
		p := &pupil{rules: []string{pupilRule}, parts: func(_ string, ruled bool, _ int) int { return right(ruled) }}
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf("task%02d", i))
		}
		pupilTasks(h, names...)
		r := p.explored(h, func(o *night.Options) { o.Explore = n == 2 })
		got := r.Targets[0]
		c := got.Consolidation
		if c.GateAction != "accept_new_best" || num(c.BaselineScore) != "0.0000" || num(c.CandidateScore) != "1.0000" || len(c.AppliedEdits) != 1 || len(c.RejectedEdits) != 0 {
			t.Errorf("%d tasks: %s: %s, %s, %s -> %s, %+v", n, got.Outcome, got.Reason, c.GateAction, num(c.BaselineScore), num(c.CandidateScore), c.RejectedEdits)
		}
		if want := map[int]night.Outcome{2: night.Suggested, 16: night.Supported}[n]; got.Outcome != want || c.Accepted != (want == night.Supported) {
			t.Errorf("%d tasks: %s, accepted %t", n, got.Outcome, c.Accepted)
		}
	}
}

// Both selection tasks are listed for both arms, with what each scored.
func TestTrap4RejectedWithBothArms(t *testing.T) {
	t.Parallel()
	h := newHome(t, small())
	p := &pupil{rules: []string{pupilRule}, parts: func(name string, ruled bool, _ int) int {
		return right(strings.HasPrefix(name, "train") == ruled || name == "selection-b")
	}}
	pupilTasks(h, "train-a", "selection-a", "train-b", "selection-b")
	h.cfg.Train.Stop.Perfect = false
	r := p.explored(h)
	got := r.Targets[0]
	c := got.Consolidation
	if got.Outcome != night.Rejected || num(c.BaselineScore) != "1.0000" || len(c.RejectedEdits) != 1 || num(c.RejectedEdits[0].Difference) != "-0.5000" {
		t.Errorf("%s: %s, %s, %+v", got.Outcome, got.Reason, num(c.BaselineScore), c.RejectedEdits)
	}
	list := []string{}
	for _, d := range h.diagnostics(r.ID).Tasks {
		list = append(list, fmt.Sprintf("%s %s %s %s", d.Arm, d.ID, num(d.Hard), d.Kind))
	}
	want := []string{"live selection-a 1.0000 correction", "live selection-b 1.0000 correction", "proposed selection-a 0.0000 correction", "proposed selection-b 1.0000 correction"}
	if diff := gocmp.Diff(want, list); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A task that is won before must not be lost, whatever is gained elsewhere; won is what the threshold says.
func TestTrap5WhatWasWonIsKept(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		keep      bool
		threshold float64
		lucky     bool // the loss is seen once, and fresh answers do not confirm it
		accepted  bool
	}{
		"without gate.keep":          {false, 0.75, false, true},
		"with gate.keep":             {true, 0.75, false, false},
		"with gate.keep, not lost":   {true, 0.75, true, true},
		"with gate.keep, not won":    {true, 1, false, true},
		"without gate.keep, not won": {false, 1, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, small())
			p := &pupil{rules: []string{pupilRule}, parts: func(name string, ruled bool, asked int) int {
				switch {
				case strings.HasPrefix(name, "train"):
					return right(ruled)
				case name == "selection-a":
					return right(ruled)
				case ruled && (!tt.lucky || asked == 0):
					return 7
				}
				return 8
			}}
			h.cfg.Tasks.Threshold = tt.threshold
			pupilTasks(h, "train-a", "selection-a", "train-b", "selection-b")
			loaded, err := config.Load(config.Options{Dir: t.TempDir(), Settings: []config.Setting{{Key: "gate.keep", Value: tt.keep}, {Key: "gate.metric", Value: "soft"}}})
			if err != nil {
				t.Fatal(err)
			}
			h.cfg.Gate.Keep, h.cfg.Gate.Metric = tt.keep, "soft"
			r := p.explored(h, func(o *night.Options) {
				o.Loaded, o.Config.Models.Target.Temperature = loaded, nil
			})
			got := r.Targets[0]
			c := got.Consolidation
			if accepted := len(c.AppliedEdits) == 1; accepted != tt.accepted || num(c.BaselineScore) != "0.4000" {
				t.Fatalf("%s: %s, %s -> %s %+v", got.Outcome, got.Reason, num(c.BaselineScore), num(c.CandidateScore), got.Baseline)
			}
			if tt.accepted {
				if num(c.CandidateScore) != "0.8500" {
					t.Errorf("%s -> %s", num(c.BaselineScore), num(c.CandidateScore))
				}
				return
			}
			if got.Outcome != night.Rejected || !strings.Contains(got.Reason, "selection-b") {
				t.Errorf("%s: the item is not named: %s", got.Outcome, got.Reason)
			}
			if live, ruled := p.calls("selection-b", false), p.calls("selection-b", true); live < 2 || ruled < 2 {
				t.Errorf("the loss was not asked afresh: live %d, candidate %d answers", live, ruled)
			}
		})
	}
}

// What wins once and fails when it is asked afresh is not accepted.
func TestTrap11AWinThatWasLuck(t *testing.T) {
	t.Parallel()
	h := newHome(t, small())
	p := &pupil{rules: []string{pupilRule}, parts: func(_ string, ruled bool, asked int) int { return right(ruled && asked == 0) }}
	pupilTasks(h, "train", "selection")
	before, _ := os.ReadFile(filepath.Join(h.project, "CLAUDE.md"))
	r := p.explored(h)
	got := r.Targets[0]
	c := got.Consolidation
	if got.Outcome != night.Rejected || c.Accepted || num(c.BaselineScore) != "0.0000" || num(c.HoldoutCandidate) != "0.0000" || got.Proposal != "" || c.NewMemory != nil {
		t.Errorf("%s: %s, %+v", got.Outcome, got.Reason, c)
	}
	if len(c.AppliedEdits) != 0 || len(c.RejectedEdits) != 1 || c.RejectedEdits[0].Content != pupilRule {
		t.Errorf("applied %+v, rejected %+v", c.AppliedEdits, c.RejectedEdits)
	}
	if after, _ := os.ReadFile(filepath.Join(h.project, "CLAUDE.md")); string(after) != string(before) {
		t.Error("the document was changed")
	}
	if _, err := night.Open(h.dir, h.project, r.ID); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something is staged: %v", err)
	}
}

// Edits that cannot be applied are listed with their status, and reject nothing: nobody has judged them.
func TestTrap13UnusableEdits(t *testing.T) {
	t.Parallel()
	h := newHome(t, small())
	p := &pupil{parts: func(string, bool, int) int { return 0 }, edits: []any{
		map[string]any{"op": "replace", "target": "- not there", "content": "- x"},
		map[string]any{"op": "delete", "target": "- not there"},
		map[string]any{"op": "replace", "target": "Answer briefly.", "content": "Answer at length."},
		map[string]any{"op": "append", "content": " "},
	}}
	pupilTasks(h, "train", "selection")
	before, _ := os.ReadFile(filepath.Join(h.project, "CLAUDE.md"))
	r := p.explored(h)
	got := r.Targets[0]
	if got.Outcome != night.NothingToLearn || !strings.Contains(got.Reason, "4 edits were proposed, and none could be applied: skipped_replace_target_not_found") || len(got.Consolidation.AppliedEdits) > 0 || got.Proposal != "" {
		t.Errorf("%s: %s, %+v", got.Outcome, got.Reason, got.Consolidation)
	}
	statuses := []string{}
	for _, e := range got.Consolidation.RejectedEdits {
		statuses = append(statuses, e.Status)
	}
	if diff := gocmp.Diff([]string{"skipped_replace_target_not_found", "skipped_delete_target_not_found", "skipped_outside_region", "skipped_no_change"}, statuses); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if after, _ := os.ReadFile(filepath.Join(h.project, "CLAUDE.md")); string(after) != string(before) {
		t.Error("the document was changed")
	}
}
