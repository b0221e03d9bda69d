package sim

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/model"
)

// bash carries out the calls of an answer in dir and returns the next message.
func bash(t *testing.T, dir string, resp model.Response) model.Message {
	t.Helper()
	out := model.Message{Role: model.ToolRole}
	for _, call := range resp.Calls() {
		var args struct{ Command string }
		if err := json.Unmarshal(call.Arguments, &args); err != nil || call.Name != "bash" {
			t.Fatalf("call %+v: %v", call, err)
		}
		cmd := exec.Command("sh", "-c", args.Command)
		cmd.Dir = dir
		text, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		out.Parts = append(out.Parts, model.Part{Result: &model.ToolResult{CallID: call.ID, Content: string(text)}})
	}
	return out
}

func reply(t *testing.T, c *Client, req model.Request) model.Response {
	t.Helper()
	resp, err := c.Generate(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

// Inside an agent the target reads the skill with the agent's shell, and what it
// writes is what it would have said to a prompt with that skill.
func TestTargetInsideAnAgent(t *testing.T) {
	t.Parallel()
	c := New(world(t, ""))
	task := "Add 1 and 2"
	tools := []model.Tool{
		{Name: "read", Parameters: json.RawMessage(`{"type":"object","properties":{"path":{}}}`)},
		{Name: "bash", Parameters: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}}}`)},
	}
	for _, doc := range []string{"", "It's the rule: numbers have a prefix."} {
		dir := t.TempDir()
		if doc != "" {
			if err := os.MkdirAll(filepath.Join(dir, ".agents/skills/desk"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, ".agents/skills/desk/SKILL.md"), []byte(doc), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		req := model.Request{Tools: tools, Tags: model.Tags{Stage: model.StageRollout, Role: model.Target}, Messages: []model.Message{
			{Role: model.System, Content: "You are an agent."},
			{Role: model.User, Parts: []model.Part{{Text: "Work in this folder."}, {Text: "<note>the house</note>\n\n" + task + "\n"}, {Text: "Be brief."}}},
		}}
		var resp model.Response
		for turn := range 3 {
			resp = reply(t, c, req)
			if (len(resp.Calls()) == 1) != (turn < 2) || (resp.Finish == model.FinishTools) != (turn < 2) {
				t.Fatalf("turn %d: %+v", turn, resp)
			}
			if resp.Usage.Input == 0 || resp.Usage.Output == 0 {
				t.Errorf("turn %d counts %+v", turn, resp.Usage)
			}
			if turn < 2 {
				req.Messages = append(req.Messages, resp.Message(), bash(t, dir, resp))
			}
		}
		plain := reply(t, c, rollout(doc, task))
		written, err := os.ReadFile(filepath.Join(dir, "answer.txt"))
		if err != nil {
			t.Fatal(err)
		}
		if resp.Text != plain.Text || strings.TrimSuffix(string(written), "\n") != plain.Text {
			t.Errorf("skill %q: it said %q and wrote %q, a prompt gets %q", doc, resp.Text, written, plain.Text)
		}
	}
}

// What an agent puts before its user's words, in one text with them, is told to the target as any other document is.
func TestDocumentsBeforeTheTask(t *testing.T) {
	t.Parallel()
	c := New(world(t, ""))
	const doc, task = "It's the rule: numbers have a prefix.", "Add 1 and 2"
	tools := []model.Tool{{Name: "bash", Parameters: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}}}`)}}
	said := "<system-reminder>\nContents of /workspace/CLAUDE.md:\n\n" + doc + "\n</system-reminder>\n\n" + task
	dir := t.TempDir()
	req := model.Request{Tools: tools, Tags: model.Tags{Stage: model.StageRollout, Role: model.Target}, Messages: []model.Message{{Role: model.User, Content: said}}}
	var resp model.Response
	for range 3 {
		resp = reply(t, c, req)
		if len(resp.Calls()) > 0 {
			req.Messages = append(req.Messages, resp.Message(), bash(t, dir, resp))
		}
	}
	if with, without := reply(t, c, rollout(doc, task)), reply(t, c, rollout("", task)); resp.Text != with.Text || with.Text == without.Text {
		t.Errorf("it said %q; with the document a prompt gets %q, without %q", resp.Text, with.Text, without.Text)
	}
}
