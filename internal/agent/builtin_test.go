package agent

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// calls is a step of a scripted model that calls tools.
func calls(text string, pairs ...string) modeltest.Step {
	resp := model.Response{Text: text, Finish: model.FinishTools, Usage: trajectory.Usage{Input: 10, Output: 3}, Model: "m"}
	if text != "" {
		resp.Parts = append(resp.Parts, model.Part{Text: text})
	}
	for i := 0; i < len(pairs); i += 2 {
		resp.Parts = append(resp.Parts, model.Part{Call: &model.ToolCall{ID: string(rune('a' + i)), Name: pairs[i], Arguments: json.RawMessage(pairs[i+1])}})
	}
	return modeltest.Step{Response: resp}
}

func builtinAgent(t *testing.T) *Agent {
	t.Helper()
	a, err := New(BuiltinName, Options{Path: os.Getenv("PATH")})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func builtinJob(t *testing.T, steps ...modeltest.Step) (Job, *modeltest.Fake) {
	t.Helper()
	fake := modeltest.Script(steps...)
	return Job{Prompt: "write the file", Workspace: t.TempDir(), Home: t.TempDir(), Client: fake, Model: "m", Timeout: time.Minute}, fake
}

// TestBuiltin has a scripted model do a small piece of work with every tool.
func TestBuiltin(t *testing.T) {
	t.Parallel()
	j, fake := builtinJob(
		t,
		calls("Looking.", "read", `{"path":"in.txt"}`, "bash", `{"command":"ls && echo oops >&2 && exit 3"}`),
		calls("", "write", `{"path":"sub/out.txt","content":"one two two\n"}`, "edit", `{"path":"sub/out.txt","old":"two","new":"2"}`),
		calls("", "edit", `{"path":"sub/out.txt","old":"two two","new":"three"}`, "read", `{"path":"../../etc/passwd"}`, "fly", `{}`, "read", `[`),
		modeltest.Step{Response: model.Response{Text: "The file is there.", Finish: model.FinishStop, Usage: trajectory.Usage{Input: 20, Output: 4, Cached: 5}, Model: "m-1"}},
	)
	if err := os.WriteFile(filepath.Join(j.Workspace, "in.txt"), []byte("hello\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	rep := run(t, builtinAgent(t), j)
	if rep.Status != score.OK || rep.Answer != "The file is there." {
		t.Errorf("%s %q: %s", rep.Status, rep.Reason, rep.Answer)
	}
	if got := tree(t, j.Workspace)["sub/out.txt"]; got != "one three\n" {
		t.Errorf("the file holds %q", got)
	}
	want := []trajectory.Turn{
		said("Looking."),
		did(`read {"path":"in.txt"}`, "hello\n"),
		did(`bash {"command":"ls && echo oops >&2 && exit 3"}`, "error: in.txt\noops\nexit code 3"),
		did(`write {"path":"sub/out.txt","content":"one two two\n"}`, "wrote 12 bytes to sub/out.txt"),
		did(`edit {"path":"sub/out.txt","old":"two","new":"2"}`, "error: sub/out.txt holds that text 2 times: give more of what is around it"),
		did(`edit {"path":"sub/out.txt","old":"two two","new":"three"}`, "edited sub/out.txt"),
		did(`read {"path":"../../etc/passwd"}`, "error: ../../etc/passwd: path escapes from parent"),
		did(`fly`, "error: there is no tool fly: use read, write, edit or bash"),
		did(`read [`, "error: the arguments are not as described: unexpected end of JSON input"),
		said("The file is there."),
	}
	want[7].Action = "fly {}"
	if diff := cmp.Diff(want, rep.Turns); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
	if want := (trajectory.Usage{Input: 50, Output: 13, Cached: 5}); rep.Usage != want || !rep.UsageKnown || rep.Calls != 4 || rep.Model != "m-1" {
		t.Errorf("usage %+v, known %v, %d calls of %s", rep.Usage, rep.UsageKnown, rep.Calls, rep.Model)
	}
	last := fake.Calls()[3].Request.Messages
	results := last[len(last)-1]
	if results.Role != model.ToolRole || len(results.Parts) != 4 || !results.Parts[1].Result.IsError || results.Parts[1].Result.CallID != "c" {
		t.Errorf("the model gets %+v", results)
	}
}

func TestBuiltinEnds(t *testing.T) {
	t.Parallel()
	finish := func(f model.Finish, text string) modeltest.Step {
		return modeltest.Step{Response: model.Response{Text: text, Finish: f}}
	}
	loop := make([]modeltest.Step, 5)
	for i := range loop {
		loop[i] = calls("", "bash", `{"command":"true"}`)
	}
	tests := []struct {
		name   string
		steps  []modeltest.Step
		status score.Status
		code   model.Code
		reason string
	}{
		{"refusal", []modeltest.Step{finish(model.FinishRefusal, "no")}, score.AgentError, "", "refusal: "},
		{"length", []modeltest.Step{finish(model.FinishLength, "half")}, score.AgentError, "", "length: "},
		{"filter", []modeltest.Step{finish(model.FinishFilter, "")}, score.AgentError, "", "content_filter: "},
		{"empty", []modeltest.Step{finish(model.FinishStop, " ")}, score.AgentError, "", "empty: "},
		{"turns", loop, score.AgentError, "", "turns: not done after 4"},
		{"wrong key", []modeltest.Step{modeltest.Fails(model.Auth)}, score.Unmeasured, model.Auth, "auth: "},
		{"rate limit at work", []modeltest.Step{loop[0], modeltest.Fails(model.RateLimit)}, score.Unmeasured, model.RateLimit, "rate_limit: "},
		{"context", []modeltest.Step{loop[0], modeltest.Fails(model.ContextLength)}, score.AgentError, "", "context_length: "},
		{"deletes its workspace", []modeltest.Step{calls("", "bash", `{"command":"rm -rf \"$PWD\""}`), finish(model.FinishStop, "done")}, score.AgentError, "", "workspace: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			j, _ := builtinJob(t, tt.steps...)
			j.MaxTurns = 4
			rep := run(t, builtinAgent(t), j)
			code := model.Code("")
			if rep.Failure != nil {
				code = rep.Failure.Code
			}
			if rep.Status != tt.status || code != tt.code || !strings.HasPrefix(rep.Reason, tt.reason) {
				t.Errorf("%s %q %q, want %s %q %q", rep.Status, code, rep.Reason, tt.status, tt.code, tt.reason)
			}
		})
	}
}

// TestBuiltinDeadline tells the task's deadline from that of the caller.
func TestBuiltinDeadline(t *testing.T) {
	t.Parallel()
	never := make(chan struct{})
	waits := modeltest.Step{Wait: never}
	short := func(steps ...modeltest.Step) Job {
		j, _ := builtinJob(t, steps...)
		j.Timeout = 100 * time.Millisecond
		return j
	}
	if rep := run(t, builtinAgent(t), short(waits)); rep.Status != score.Unmeasured || rep.Failure.Code != model.Timeout {
		t.Errorf("without an answer: %s %s", rep.Status, rep.Reason)
	}
	if rep := run(t, builtinAgent(t), short(calls("", "bash", `{"command":"true"}`), waits)); rep.Status != score.AgentError || !strings.HasPrefix(rep.Reason, "deadline") {
		t.Errorf("after an answer: %s %s", rep.Status, rep.Reason)
	}
	if rep := run(t, builtinAgent(t), short(calls("", "bash", `{"command":"sleep 60"}`))); rep.Status != score.AgentError || !strings.HasPrefix(rep.Reason, "deadline") {
		t.Errorf("in a command: %s %s", rep.Status, rep.Reason)
	}
	ctx, stop := contextThatEnds(t)
	defer stop()
	j, _ := builtinJob(t, waits)
	if _, err := builtinAgent(t).Run(ctx, j); !errors.Is(err, errStopped) {
		t.Errorf("cancelled: %v", err)
	}
	j, _ = builtinJob(t, waits)
	over, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := builtinAgent(t).Run(over, j); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the caller's deadline: %v", err)
	}
}

// TestBuiltinSkill looks at what the model is told of the skill.
func TestBuiltinSkill(t *testing.T) {
	t.Parallel()
	s := skill.New("---\nname: kind\ndescription: how to be kind\n---\nSmile.\n")
	for _, tt := range []struct {
		mode         Mode
		skill        skill.Skill
		system, user bool
	}{{Native, s, true, false}, {Read, s, false, true}, {Native, skill.Skill{}, false, false}} {
		j, fake := builtinJob(t, modeltest.Text("ok"))
		j.Skill, j.Mode, j.Images = tt.skill, tt.mode, []model.Image{{MIME: "image/png", Data: []byte("x")}}
		run(t, builtinAgent(t), j)
		got := fake.Calls()[0].Request
		system := strings.Contains(got.Messages[0].Text(), "kind: how to be kind (in .agents/skills/kind/SKILL.md)")
		user := strings.Contains(got.Messages[1].Text(), "Open .agents/skills/kind/SKILL.md first")
		if system != tt.system || user != tt.user {
			t.Errorf("%s: in the system prompt %v, in the task %v", tt.mode, system, user)
		}
		if len(got.Messages[1].Parts) != 2 || len(got.Tools) != 4 {
			t.Errorf("%d parts, %d tools", len(got.Messages[1].Parts), len(got.Tools))
		}
		if strings.Contains(got.Messages[0].Text(), "Smile") {
			t.Error("the body of the skill is in the prompt")
		}
	}
}

func TestToolLimits(t *testing.T) {
	t.Parallel()
	j, _ := builtinJob(t)
	box, err := newToolbox(j, &Agent{opts: Options{Path: os.Getenv("PATH")}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := box.close(); err != nil {
			t.Error(err)
		}
	}()
	use := func(name, args string) (string, error) {
		return box.call(t.Context(), model.ToolCall{Name: name, Arguments: json.RawMessage(args)})
	}
	if out, err := use("bash", `{"command":"seq 200000"}`); err != nil || len(out) > maxRead+100 || !strings.HasPrefix(out, "1\n2\n") || !strings.HasSuffix(out, "200000") || !strings.Contains(out, "bytes left out") {
		t.Errorf("%d bytes, %v", len(out), err)
	}
	if out, err := use("bash", `{"command":"sleep 60","timeout":1}`); err == nil || !strings.Contains(err.Error(), "deadline") {
		t.Errorf("%q, %v", out, err)
	}
	if _, err := use("bash", `{"command":"env; true"}`); err != nil {
		t.Error(err)
	}
	if _, err := use("write", `{"path":"a.txt","content":"1\n2\n3\n4\n"}`); err != nil {
		t.Error(err)
	}
	if out, err := use("read", `{"path":"a.txt","offset":2,"limit":2}`); err != nil || out != "2\n3\n" {
		t.Errorf("%q, %v", out, err)
	}
	abs, err := json.Marshal(map[string]string{"path": filepath.Join(j.Workspace, "a.txt")})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := use("read", string(abs)); err != nil || out != "1\n2\n3\n4\n" {
		t.Errorf("an absolute path: %q, %v", out, err)
	}
	for _, bad := range [][2]string{
		{"read", `{}`},
		{"read", `{"path":"."}`},
		{"read", `{"path":"/etc/passwd"}`},
		{"read", `{"path":"none"}`},
		{"write", `{"path":"x"}`},
		{"write", `{"path":"a.txt/b","content":""}`},
		{"edit", `{"path":"a.txt","old":"zzz","new":""}`},
		{"edit", `{"path":"a.txt"}`},
		{"bash", `{"command":" "}`},
	} {
		if out, err := use(bad[0], bad[1]); err == nil {
			t.Errorf("%s %s gives %q", bad[0], bad[1], out)
		}
	}
}

// TestBuiltinConfined has the model try to leave the workspace.
func TestBuiltinConfined(t *testing.T) {
	t.Parallel()
	if s := sandbox.Supports(); s.Kind == "" {
		t.Skipf("programs cannot be confined here: %s", s.Why)
	}
	outside := filepath.Join(t.TempDir(), "out.txt")
	command, err := json.Marshal(map[string]string{"command": "echo in > in.txt; echo out > " + outside})
	if err != nil {
		t.Fatal(err)
	}
	j, _ := builtinJob(t, calls("", "bash", string(command)), modeltest.Text("tried"))
	j.Confine = true
	rep := run(t, builtinAgent(t), j)
	if rep.Status != score.OK || tree(t, j.Workspace)["in.txt"] != "in\n" {
		t.Errorf("%s %s: %+v", rep.Status, rep.Reason, rep.Turns)
	}
	if _, err := os.Stat(outside); err == nil {
		t.Error("a command wrote outside of the workspace")
	}
}
