package night_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/task"
)

// needy plays models for tasks each of which needs a rule, as its prompt says: NEED <rule>. The target reads the
// skills that it is told of, and does what any text that it was given states. The optimizer proposes the rules that
// failures need. It is a simulation.
type needy struct {
	mu      sync.Mutex
	file    string            // of the skill, that the optimizer edits; "": SKILL.md
	forgets bool              // the optimizer deletes what it is told is proposed for removal
	name    string            // that the target gives itself; "": none
	seen    map[string]string // by rule that a task needs: all that the target was given with the first one
}

// spoiled is what a task needs that is solved unless two rules are there at once.
const spoiled = "no two rules"

var skillAt = regexp.MustCompile(`\(in ([^)]+SKILL\.md)\)`)

func (n *needy) Generate(_ context.Context, req model.Request) (model.Response, error) {
	if req.Tags.Role == model.Target {
		return n.target(req)
	}
	reply := `{"reasoning": "", "edits": []}`
	if strings.HasPrefix(req.Tags.Stage, "analyst") { // one of successes has nothing to propose
		failures := strings.HasPrefix(req.Tags.Stage, "analyst_error")
		user := req.Messages[len(req.Messages)-1].Content
		edits := []any{}
		for _, rule := range []string{"rule one", "rule two"} {
			if failures && strings.Contains(user, "NEED "+rule) {
				edit := map[string]any{"op": "append", "content": "- " + rule + " holds"}
				if n.file != "" {
					edit["file"] = n.file
				}
				edits = append(edits, edit)
			}
		}
		if failures && n.forgets && strings.HasSuffix(req.Messages[0].Content, "does not need:\n- rule one holds") {
			edits = append(edits, map[string]any{"op": "delete", "target": "- rule one holds"})
		}
		data, err := json.Marshal(map[string]any{"batch_size": 1, "failure_summary": []any{}, "success_patterns": []any{}, "patch": map[string]any{"reasoning": "r", "edits": edits}})
		if err != nil {
			return model.Response{}, err
		}
		reply = string(data)
	}
	return model.Response{Text: reply, Finish: model.FinishStop}, nil
}

// target reads each skill that it is told of, one a turn, and then answers.
func (n *needy) target(req model.Request) (model.Response, error) {
	var given strings.Builder
	read, prompt := 0, ""
	for _, m := range req.Messages {
		switch m.Role {
		case model.User:
			prompt = m.Content
			continue
		case model.ToolRole:
			read++
		}
		given.WriteString(m.Content)
		for _, p := range m.Parts {
			given.WriteString(p.Text)
			if p.Result != nil {
				given.WriteString(p.Result.Content)
			}
		}
	}
	if at := skillAt.FindAllStringSubmatch(req.Messages[0].Content, -1); read < len(at) && len(req.Tools) > 0 {
		args, err := json.Marshal(map[string]string{"path": at[read][1]})
		return model.Response{Finish: model.FinishTools, Parts: []model.Part{{Call: &model.ToolCall{ID: fmt.Sprint("c", read), Name: "read", Arguments: args}}}}, err
	}
	_, rule, _ := strings.Cut(prompt, "NEED ")
	n.mu.Lock()
	if n.seen == nil {
		n.seen = map[string]string{}
	}
	if n.seen[rule] == "" {
		n.seen[rule] = given.String()
	}
	n.mu.Unlock()
	answer := "no"
	if strings.Contains(given.String(), rule+" holds") {
		answer = "yes"
	}
	if rule == spoiled && !(strings.Contains(given.String(), "rule one holds") && strings.Contains(given.String(), "rule two holds")) {
		answer = "yes"
	}
	return model.Response{Text: answer, Finish: model.FinishStop, Model: n.name, Fingerprint: fmt.Sprint("f", len(prompt))}, nil
}

// needs has sessions that show tasks which need a rule.
func (h *home) needs(n int, skill, rule string) {
	h.t.Helper()
	first := h.next
	h.day(n, skill, true)
	for i := first; i < h.next; i++ {
		id := fmt.Sprintf("s%03d", i)
		w := h.miner.tasks[id]
		w.Task = task.Task{ID: "need-" + id, Prompt: fmt.Sprintf("Task %d. NEED %s", i, rule), Checks: json.RawMessage(`[{"type": "contains", "value": "yes"}]`)}
		w.Input, w.Outcome, w.Trust = id, "yes", wish.ByCorrection
		h.miner.tasks[id] = w
	}
}

func needsSandbox(t *testing.T) {
	t.Helper()
	if s := sandbox.Supports(); s.Kind == "" {
		t.Skip("programs cannot be confined here: " + s.Why)
	}
}

// needyHome is a user of the builtin agent, or of a chat, with a skill and a memory file.
func needyHome(t *testing.T, agent string) (*home, *needy, func(*night.Options)) {
	t.Helper()
	h, n := newHome(t, small()), &needy{}
	h.cfg.Agent.Name, h.cfg.Agent.Gateway = agent, agent != ""
	h.cfg.Tasks.Extract, h.cfg.Models.Target.Temperature, h.cfg.Train.Epochs = nil, new(float64), 1
	h.cfg.Models.Target.MaxTokens, h.cfg.Models.Optimizer.MaxTokens = 100, 500
	tokens := int64(20_000_000)
	h.cfg.Limits.Tokens = &tokens
	return h, n, func(o *night.Options) {
		o.With = []skillopt.Option{skillopt.WithClient(model.Target, "needy", n), skillopt.WithClient(model.Optimizer, "needy", n)}
	}
}

// A document is trained with what the night has staged before beside it, and with the others as they are.
func TestDocumentsLieBesideEachOther(t *testing.T) {
	t.Parallel()
	needsSandbox(t)
	h, n, with := needyHome(t, "builtin")
	h.cfg.Sleep.Memory = "CLAUDE.md"
	h.skill("cards")
	folder := filepath.Join(h.project, ".claude", "skills", "cards")
	if err := os.WriteFile(filepath.Join(folder, "table.txt"), []byte("A table.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	h.needs(16, "cards", "rule one")
	h.needs(16, "", "rule two")
	r := h.night(with)
	if len(r.Targets) != 2 || r.Targets[0].Outcome != night.Supported || r.Targets[1].Outcome != night.Supported {
		t.Fatalf("%+v", r.Targets)
	}
	skill, memory := n.seen["rule one"], n.seen["rule two"]
	if !strings.Contains(skill, "Answer briefly.") || strings.Contains(skill, "rule two holds") {
		t.Errorf("with the skill the target was given: %s", skill)
	}
	if !strings.Contains(memory, "rule one holds") {
		t.Errorf("with the memory file the target was given: %s", memory)
	}
	// The skill alone is measured by itself, with the live memory file beside it; the same again is paid for once.
	p, err := night.Open(h.dir, h.project, r.ID)
	must(t, err)
	text, err := p.Text("skill:cards")
	must(t, err)
	for _, paid := range []bool{true, false} {
		n.mu.Lock()
		n.seen = nil
		n.mu.Unlock()
		part, err := night.Measure(t.Context(), h.options(with), r, p, "skill:cards", text)
		if err != nil || part.Outcome != night.Supported || part.Look.Level != 0.05 || (n.seen != nil) != paid {
			t.Errorf("paid %v: %+v, %v", paid, part, err)
		}
		if given := n.seen["rule one"]; paid && (!strings.Contains(given, "Answer briefly.") || strings.Contains(given, "rule two holds")) {
			t.Errorf("a part was measured beside %s", given)
		}
	}
	other, err := night.Measure(t.Context(), h.options(with), r, p, "skill:cards", text+"\n")
	if err != nil || other.Look.Level != 0.025 {
		t.Errorf("a further part: %+v, %v", other, err)
	}
	for _, state := range []string{"live", "staged"} {
		at := filepath.Join(night.Folder(h.dir, h.project, r.ID), "documents", state, "cards")
		text, err1 := os.ReadFile(filepath.Join(at, "SKILL.md"))
		table, err2 := os.ReadFile(filepath.Join(at, "table.txt"))
		if err1 != nil || err2 != nil || string(table) != "A table.\n" || strings.Contains(string(text), "rule one holds") != (state == "staged") {
			t.Errorf("%s: %v %v: %s", state, err1, err2, text)
		}
	}
}

// In a chat a document is alone: nothing but it and the task reaches the model.
func TestDocumentsOfAChatAreAlone(t *testing.T) {
	t.Parallel()
	h, n, with := needyHome(t, "")
	h.skill("cards")
	h.needs(16, "cards", "rule one")
	h.needs(16, "", "rule two")
	r := h.night(with)
	if len(r.Targets) != 2 || r.Targets[0].Outcome != night.Supported || r.Targets[1].Outcome != night.Supported {
		t.Fatalf("%+v", r.Targets)
	}
	if b := r.Joint; b == nil || b.Verdict != result.JointStands || b.N != 26 || b.Wins != 26 || len(b.Runs) != 4 {
		t.Errorf("%+v", b)
	}
	if strings.Contains(n.seen["rule one"], "Answer briefly.") || strings.Contains(n.seen["rule two"], "rule one holds") {
		t.Errorf("%q", n.seen)
	}
}
