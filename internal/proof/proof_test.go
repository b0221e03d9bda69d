package proof_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/proof"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// player is an agent of a few lines.
type player struct {
	tools []model.Tool
	hides bool              // it tells its model nothing of the skill
	lame  map[string]string // what a tool, or a call of that argument, gives
	files map[string]string
	usage trajectory.Usage
}

const about = "Skills: setup-proof: MARK-7C41E0-DESCRIPTION how the setup of this machine is proven."

func tool(name, schema string) model.Tool {
	return model.Tool{Name: name, Parameters: json.RawMessage(schema)}
}

func able() []model.Tool {
	return []model.Tool{
		tool("Skill", `{"properties":{"skill":{"type":"string"}},"required":["skill"]}`),
		tool("Edit", `{"properties":{"file_path":{"type":"string"},"old_string":{"type":"string"},"content":{"type":"string"}}}`),
		tool("Shell", `{"properties":{"command":{"type":"array"},"why":{"type":"string"}},"required":["command","why"]}`),
		tool("Create", `{"properties":{"path":{"type":"string"},"file_text":{"type":"string"}},"required":["path","file_text"]}`),
	}
}

// play talks with the script until it calls no tool.
func (p *player) play(t *testing.T, s *proof.Script) string {
	t.Helper()
	messages := []model.Message{{Role: model.User, Content: proof.Prompt}}
	if !p.hides {
		messages = append([]model.Message{{Role: model.System, Content: about}}, messages...)
	}
	for range 10 {
		resp, err := s.Generate(t.Context(), model.Request{Model: "m", Messages: messages, Tools: p.tools})
		if err != nil {
			t.Fatal(err)
		}
		p.usage = p.usage.Add(resp.Usage)
		if len(resp.Calls()) == 0 {
			return resp.Text
		}
		messages = append(messages, resp.Message())
		for _, c := range resp.Calls() {
			messages = append(messages, model.Message{Role: model.ToolRole, Parts: []model.Part{{Result: &model.ToolResult{CallID: c.ID, Content: p.do(c)}}}})
		}
	}
	t.Fatal("the script does not end")
	return ""
}

func (p *player) do(c model.ToolCall) string {
	args := string(c.Arguments)
	for what, text := range p.lame {
		if c.Name == what || strings.Contains(args, what) {
			return text
		}
	}
	switch {
	case c.Name == "Skill", strings.Contains(args, "SKILL.md"):
		return proof.Skill().Text()
	case strings.Contains(args, "references/proof.md"):
		text, _ := proof.Skill().File("references/proof.md")
		return text
	case strings.Contains(args, "scripts/proof.sh"):
		p.files["proof-script.txt"] = "MARK-C60F38-SCRIPT\n"
	case strings.Contains(args, "proof-command.txt"):
		p.files["proof-command.txt"] = "/usr/bin:/bin\n"
	case strings.Contains(args, "proof-written.txt"):
		p.files["proof-written.txt"] = "MARK-4D2F77-WRITTEN\n"
	}
	return "done"
}

func TestJudge(t *testing.T) {
	t.Parallel()
	code := model.Tool{Name: "exec", Description: "Runs JavaScript, such as tools.exec_command({cmd})", Parameters: json.RawMessage(`{"properties":{"input":{"type":"string"}},"required":["input"]}`)}
	for _, tc := range []struct {
		name   string
		player player
		expect proof.Expect
		change func(s *proof.Seen)
		wrong  string // "" = it is proven
		note   string
	}{
		{name: "all of it", player: player{tools: able()}},
		{name: "nothing but a shell", player: player{tools: able()[2:3]}},
		{name: "nothing but code", player: player{tools: []model.Tool{code}}},
		{name: "no tools", wrong: "its model is offered no tool that runs commands or writes files; left out of its requests on the way: item more_tools"},
		{name: "useless tools", player: player{tools: able()[:2]}, wrong: "but Skill, Edit"},
		{name: "a skill that is not found", player: player{tools: able(), hides: true}, wrong: "it did not find it in the workspace"},
		{name: "a skill that is not loaded", player: player{tools: able(), lame: map[string]string{"Skill": "ripgrep execution failed"}}, wrong: `its tool Skill gave "ripgrep execution failed"`},
		{name: "references that are not there", player: player{tools: able(), lame: map[string]string{"references/proof.md": "no such file"}}, wrong: `a reference of the skill was not read: its tool Shell gave "no such file"`},
		{name: "scripts that may not be run", player: player{tools: able(), lame: map[string]string{"scripts/proof.sh": "Permission denied"}}, wrong: `a script of the skill did not run: its tool Shell gave "Permission denied"`},
		{name: "commands that do not run", player: player{tools: able(), lame: map[string]string{"Shell": "denied"}}, wrong: `a command was not run: its tool Shell gave "denied"`},
		{name: "files that are not written", player: player{tools: able(), lame: map[string]string{"Create": ""}}, wrong: `a file was not written: its tool Create gave "nothing"`},
		{name: "other programs", player: player{tools: able()}, expect: proof.Expect{Path: "/usr/bin:/opt/bin:/bin"}, note: "do not look for programs in /opt/bin"},
		{name: "other tokens", player: player{tools: able()}, change: func(s *proof.Seen) { s.Usage.Output++ }, wrong: "it counts 810 tokens in"},
		{name: "no tokens", player: player{tools: able()}, change: func(s *proof.Seen) { s.Usage = nil }, wrong: "it does not report the tokens"},
		{name: "an end that did not come", player: player{tools: able()}, change: func(s *proof.Seen) { s.Failure = "deadline: not done" }, wrong: "it did not end: deadline"},
		{name: "another answer", player: player{tools: able()}, change: func(s *proof.Seen) { s.Answer = "hello" }, wrong: `its answer is "hello"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tc.expect.Skills, tc.expect.Usage, tc.expect.Folder = true, true, "/workspace"
			s := proof.NewScript(tc.expect)
			p := tc.player
			p.files = map[string]string{}
			seen := proof.Seen{Answer: p.play(t, s), Usage: &p.usage, Files: func(name string) (string, bool) { text, ok := p.files[name]; return text, ok }}
			if len(p.tools) == 0 {
				seen.LeftOut = []string{"item more_tools"}
			}
			if tc.change != nil {
				tc.change(&seen)
			}
			r := s.Judge(seen)
			if r.OK != (tc.wrong == "") || !strings.Contains(strings.Join(r.Wrong, "; "), tc.wrong) || !strings.Contains(strings.Join(r.Notes, "; "), tc.note) {
				t.Errorf("%+v", r)
			}
		})
	}
}

// What is not known here is no failure if it shows nothing, and one if it fails.
func TestUnprovable(t *testing.T) {
	t.Parallel()
	s := proof.NewScript(proof.Expect{Own: true})
	if r := s.Judge(proof.Seen{Answer: "hi"}); r.OK || r.Unprovable == "" {
		t.Errorf("without a request: %+v", r)
	}
	if r := s.Judge(proof.Seen{Failure: "truncated: it crashed"}); r.OK || r.Unprovable != "" || len(r.Wrong) == 0 {
		t.Errorf("that failed: %+v", r)
	}
	p := player{}
	if r := s.Judge(proof.Seen{Answer: p.play(t, s)}); r.OK || r.Unprovable == "" {
		t.Errorf("without tools: %+v", r)
	}
}

// A request that is sent again gets the same answer: agents try again.
func TestAgain(t *testing.T) {
	t.Parallel()
	s := proof.NewScript(proof.Expect{})
	req := model.Request{Tools: able(), Messages: []model.Message{{Role: model.User, Content: proof.Prompt}}}
	var calls []string
	for range 2 {
		resp, err := s.Generate(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		calls = append(calls, string(resp.Calls()[0].Arguments))
	}
	if calls[0] != calls[1] {
		t.Errorf("%q", calls)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Generate(ended, req); err == nil {
		t.Error("it answers after the end")
	}
}

func TestCache(t *testing.T) {
	t.Parallel()
	key, err := proof.Key([]string{"codex", "0.169.0"})
	other, otherErr := proof.Key([]string{"codex", "0.170.0"})
	if err != nil || otherErr != nil || key == other {
		t.Fatal(key, other, err, otherErr)
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c := proof.Cache{Dir: t.TempDir() + "/new"}
	for _, tc := range []struct {
		res  proof.Result
		kept bool
	}{{proof.Result{Wrong: []string{"x"}}, false}, {proof.Result{OK: true, Shown: []string{"x"}}, true}} {
		if err := c.Save(key, tc.res, at); err != nil {
			t.Fatal(err)
		}
		if k, ok := c.Load(key); ok != tc.kept || ok && !k.At.Equal(at) {
			t.Errorf("%+v: %+v, %v", tc.res, k, ok)
		}
	}
	if _, ok := c.Load(other); ok {
		t.Error("another one is kept")
	}
	if err := (proof.Cache{}).Save(key, proof.Result{OK: true}, at); err != nil {
		t.Error(err)
	}
}
