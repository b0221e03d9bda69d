package seat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/seed-f4525e22/skillopt/internal/agent"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

const (
	stubVar = "SKILLOPT_STUB" // what the program prints as its answer
	noteVar = "SKILLOPT_NOTE" // where it writes down how it was called
)

// note is how a stub was called.
type note struct {
	Args  []string
	Home  string
	Dir   []string // what is in its working directory
	Stdin string
	Files map[string]string // arguments that are files
}

func TestMain(m *testing.M) {
	if kind := os.Getenv(stubVar); kind != "" {
		if err := stub(kind); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func stub(output string) error {
	stdin, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	n := note{Args: os.Args[1:], Home: os.Getenv("HOME"), Stdin: string(stdin), Files: map[string]string{}}
	entries, err := os.ReadDir(".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		n.Dir = append(n.Dir, e.Name())
	}
	for _, a := range n.Args {
		if data, err := os.ReadFile(a); err == nil && filepath.IsAbs(a) {
			n.Files[filepath.Base(a)] = string(data)
		}
	}
	data, err := json.Marshal(n)
	if err != nil {
		return err
	}
	if err := os.WriteFile(os.Getenv(noteVar), data, 0o600); err != nil {
		return err
	}
	if output == "hang" {
		<-time.After(time.Hour)
	}
	fmt.Println(output)
	return nil
}

// stubbed is a client whose program prints output. The note is read when the
// program has run.
func stubbed(t *testing.T, name, output string) (c *Client, home string, called func() note) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home = t.TempDir()
	file := filepath.Join(t.TempDir(), "note")
	c, err = New(Options{Agent: name, Program: program, Path: os.Getenv("PATH"), Home: home, Env: []string{stubVar + "=" + output, noteVar + "=" + file}})
	if err != nil {
		t.Fatal(err)
	}
	return c, home, func() note {
		var n note
		data, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(data, &n)
		}
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
}

const claudeFine = `{"type":"assistant","message":{"id":"1","model":"opus","content":[{"type":"text","text":"four"}],"usage":{"input_tokens":3}}}
{"type":"result","subtype":"success","is_error":false,"result":"four","usage":{"input_tokens":10,"cache_read_input_tokens":5,"output_tokens":2}}`

func ask(messages ...model.Message) model.Request {
	return model.Request{Model: "opus", Messages: messages}
}

func user(text string) model.Message { return model.Message{Role: model.User, Content: text} }

func TestClaude(t *testing.T) {
	t.Parallel()
	c, home, called := stubbed(t, "claude", claudeFine)
	req := ask(model.Message{Role: model.System, Content: "be brief"}, user("2+2?"))
	req.Schema = &model.Schema{Name: "n", JSON: json.RawMessage(`{"type":"object"}`)}
	req.ReasoningEffort = "minimal"
	got, err := c.Generate(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	want := model.Response{Text: "four", Finish: model.FinishStop, Model: "opus", Usage: trajectory.Usage{Input: 15, Output: 2, Cached: 5}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("response (-want +got):\n%s", diff)
	}
	n := called()
	if n.Home != home || len(n.Dir) > 0 || n.Stdin != "2+2?" || n.Files["system.md"] != "be brief" {
		t.Errorf("called as %+v", n)
	}
	for _, arg := range []string{"--tools=", "--setting-sources=", "--disable-slash-commands", `{"type":"object"}`, "low", "opus", "stream-json", "--no-session-persistence"} {
		if !slices.Contains(n.Args, arg) {
			t.Errorf("%q lacks %s", n.Args, arg)
		}
	}
	if entries, err := os.ReadDir(home); err != nil || len(entries) > 0 {
		t.Errorf("written into the user's home: %v, %v", entries, err)
	}
}

// TestNoTools pins what takes the tools away; that it does is tested with the
// real programs beside the adapters.
func TestNoTools(t *testing.T) {
	t.Parallel()
	const codexFine = `{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"four"}}
{"type":"turn.completed","usage":{"input_tokens":1}}`
	const copilotFine = `{"type":"assistant.message","data":{"content":"four"}}
{"type":"result","exitCode":0}`
	for name, tt := range map[string]struct {
		output, stdin string
		args          []string
	}{
		"codex":   {codexFine, "q", []string{"features.shell_tool=false", "features.unified_exec=false", "read-only", "--ephemeral", "--ignore-user-config"}},
		"copilot": {copilotFine, "s\n\nq", []string{"--available-tools=none", "--no-custom-instructions"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, home, called := stubbed(t, name, tt.output)
			got, err := c.Generate(t.Context(), ask(model.Message{Role: model.System, Content: "s"}, user("q")))
			if err != nil || got.Text != "four" {
				t.Fatalf("%+v, %v", got, err)
			}
			n := called()
			if n.Home != home || n.Stdin != tt.stdin || len(n.Dir) > 0 {
				t.Errorf("called as %+v", n)
			}
			for _, arg := range tt.args {
				if !slices.Contains(n.Args, arg) {
					t.Errorf("%q lacks %s", n.Args, arg)
				}
			}
			if tells := name != "copilot"; c.TellsUsage() != tells || got.Usage == (trajectory.Usage{}) == tells {
				t.Errorf("tells usage: %v, got %+v", c.TellsUsage(), got.Usage)
			}
			if slices.Contains(n.Args, "--allow-all-tools") {
				t.Error("all tools are allowed")
			}
		})
	}
}

func TestConversation(t *testing.T) {
	t.Parallel()
	pic := model.Image{MIME: "image/png", Data: []byte("x")}
	system, prompt, images := conversation([]model.Message{
		{Role: model.System, Content: "a"},
		{Role: model.System, Content: "b"},
		{Role: model.User, Parts: []model.Part{{Text: "look"}, {Image: &pic}}},
		{Role: model.Assistant, Content: "hm"},
		{Role: model.System, Content: "checked"},
		user("again"),
	})
	want := "Below is a conversation. Give the assistant's next message, and nothing else.\n\n<message from=\"user\">\nlook\n</message>\n\n" +
		"<message from=\"assistant\">\nhm\n</message>\n\n<message from=\"system\">\nchecked\n</message>\n\n<message from=\"user\">\nagain\n</message>\n"
	if diff := cmp.Diff(want, prompt); diff != "" || system != "a\n\nb" || len(images) != 1 {
		t.Errorf("system %q, %d images, prompt (-want +got):\n%s", system, len(images), diff)
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, output string
		code         model.Code
		finish       model.Finish
	}{
		{"wrong key", `{"type":"result","subtype":"success","is_error":true,"api_error_status":401,"result":"API Error: 401"}`, model.Auth, ""},
		{"slow down", `{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"API Error: 429"}`, model.RateLimit, ""},
		{"context", `{"type":"result","subtype":"success","is_error":true,"api_error_status":400,"result":"prompt is too long"}`, model.ContextLength, ""},
		{"cut off", `{"type":"system"}`, model.Truncated, ""},
		{"refusal", `{"type":"result","subtype":"success","stop_reason":"refusal","result":"no"}`, "", model.FinishRefusal},
		{"length", `{"type":"result","subtype":"success","stop_reason":"max_tokens","result":"half"}`, "", model.FinishLength},
		{"empty", `{"type":"result","subtype":"success","result":""}`, "", model.FinishStop},
		{"turns", `{"type":"result","subtype":"error_max_turns","result":""}`, model.Malformed, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, _, _ := stubbed(t, "claude", tt.output)
			got, err := c.Generate(t.Context(), ask(user("q")))
			if model.CodeOf(err) != tt.code || (err == nil) != (tt.code == "") || got.Finish != tt.finish {
				t.Errorf("%+v, %v; want code %q, finish %q", got, err, tt.code, tt.finish)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	c, _, _ := stubbed(t, "copilot", "x")
	req := ask(user("q"))
	req.Tools = []model.Tool{{Name: "t"}}
	if _, err := c.Generate(t.Context(), req); model.CodeOf(err) != model.BadRequest {
		t.Errorf("tools: %v", err)
	}
	req = ask(model.Message{Role: model.User, Parts: []model.Part{{Image: &model.Image{MIME: "image/png"}}}})
	if _, err := c.Generate(t.Context(), req); model.CodeOf(err) != model.BadRequest {
		t.Errorf("an image: %v", err)
	}
	missing, err := New(Options{Agent: "codex", Path: t.TempDir(), Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := missing.Generate(t.Context(), ask(user("q"))); model.CodeOf(err) != model.NotFound || !strings.Contains(err.Error(), "npm install") {
		t.Errorf("a missing program: %v", err)
	}
	for _, o := range []Options{{Agent: "gemini", Home: t.TempDir()}, {Agent: "claude"}} {
		if _, err := New(o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
	if _, err := New(Options{Agent: "pi", Endpoint: &agent.Endpoint{URL: "http://127.0.0.1:1", Key: "k"}}); err != nil {
		t.Errorf("an endpoint instead of a login: %v", err)
	}
	if diff := cmp.Diff([]string{"claude", "codex", "copilot", "pi"}, Names()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestContext(t *testing.T) {
	t.Parallel()
	c, _, _ := stubbed(t, "claude", "hang")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := c.Generate(ctx, ask(user("q"))); model.CodeOf(err) != model.Timeout || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("deadline: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	timer := time.AfterFunc(300*time.Millisecond, stop)
	defer timer.Stop()
	if _, err := c.Generate(ctx, ask(user("q"))); !errors.Is(err, context.Canceled) || model.CodeOf(err) != "" {
		t.Errorf("cancelled: %v", err)
	}
	c.opts.Timeout = 300 * time.Millisecond
	if _, err := c.Generate(t.Context(), ask(user("q"))); model.CodeOf(err) != model.Timeout {
		t.Errorf("its own deadline: %v", err)
	}
}
