package agent

import (
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

const customYAML = `
argv: [myagent, --workdir, "{{workspace}}", --model, "{{model}}", --input, "{{prompt_file}}"]
env: {MY_URL: "{{base_url}}/v1", MY_KEY: "{{key}}"}
files: {.myagent/config.json: '{"url": "{{base_url}}"}'}
version: [--version]
format: jsonl
events:
  answer: {where: {type: message, from: agent}, text: body.parts.*.text}
  call:   {where: {type: call}, id: id, name: tool, args: input}
  result: {where: {type: result}, id: id, text: output}
  usage:  {where: {usage.in: "*"}, input: usage.in, output: usage.out, cached: usage.cached}
  retry:  {where: {type: retry}, text: why, status: code}
  error:  {where: {type: error}, text: why, status: code}
  end:    {where: {type: end}}
errors: ['^API Error']
`

func exampleCustom(t testing.TB) *Agent {
	t.Helper()
	var c Custom
	if err := yaml.Unmarshal([]byte(customYAML), &c); err != nil {
		t.Fatal(err)
	}
	a, err := New(CustomName, Options{Custom: &c})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestCustomEvents(t *testing.T) {
	t.Parallel()
	const run = `{"type":"message","from":"agent","body":{"parts":[{"text":"let me "},{"text":"look"}]},"usage":{"in":10,"out":2}}
{"type":"call","id":7,"tool":"cat","input":{"file":"a"}}
{"type":"result","id":7,"output":"hello"}
{"type":"message","from":"user","body":{"parts":[{"text":"not me"}]}}
{"type":"message","from":"agent","body":{"parts":[{"text":"42"}]},"usage":{"in":20,"out":3,"cached":5}}
`
	tests := []struct {
		name, output string
		code         int
		status       score.Status
		fault        model.Code
	}{
		{"good", run + `{"type":"end"}`, 0, score.OK, ""},
		{"no end", run, 0, score.Unmeasured, model.Truncated},
		{"bad exit code", run + `{"type":"end"}`, 3, score.Unmeasured, model.Truncated},
		{"error event", run + `{"type":"error","why":"slow down","code":429}` + "\n" + `{"type":"end"}`, 0, score.Unmeasured, model.RateLimit},
		{"error as the answer", run + `{"type":"message","from":"agent","body":{"parts":[{"text":"API Error: 401 bad key"}]}}` + "\n" + `{"type":"end"}`, 0, score.Unmeasured, model.Auth},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rep := judged(exampleCustom(t), []byte(tt.output), exited(tt.code), t.TempDir())
			got := model.Code("")
			if rep.Failure != nil {
				got = rep.Failure.Code
			}
			if rep.Status != tt.status || got != tt.fault {
				t.Errorf("%s %q (%s), want %s %q", rep.Status, got, rep.Reason, tt.status, tt.fault)
			}
			if rep.Answer != "42" {
				t.Errorf("answer %q", rep.Answer)
			}
			want := []trajectory.Turn{said("let me look"), did(`cat {"file":"a"}`, "hello"), said("42")}
			if diff := cmp.Diff(want, rep.Turns); diff != "" {
				t.Errorf("turns (-want +got):\n%s", diff)
			}
			if want := (trajectory.Usage{Input: 30, Output: 5, Cached: 5}); rep.Usage != want || rep.UsageKnown != (tt.status == score.OK || tt.fault == model.RateLimit || tt.fault == model.Auth) {
				t.Errorf("usage %+v, known %v", rep.Usage, rep.UsageKnown)
			}
		})
	}
}

func TestCustomText(t *testing.T) {
	t.Parallel()
	a, err := New(CustomName, Options{Custom: &Custom{Argv: []string{"x"}, Errors: []string{`^(API )?Error: \d+`}, Success: Success{Exit: []int{0, 2}}}})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, output string
		code         int
		status       score.Status
		answer       string
	}{
		{"answer", "\n two\nlines \n", 0, score.OK, "two\nlines"},
		{"another good code", "fine", 2, score.OK, "fine"},
		{"bad code", "fine", 1, score.Unmeasured, "fine"},
		{"an error, and 0", "Error: 401 no key", 0, score.Unmeasured, ""},
		{"nothing", "", 0, score.AgentError, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rep := judged(a, []byte(tt.output), exited(tt.code), t.TempDir())
			if rep.Status != tt.status || rep.Answer != tt.answer {
				t.Errorf("%s, %q (%s), want %s, %q", rep.Status, rep.Answer, rep.Reason, tt.status, tt.answer)
			}
		})
	}
}

func TestCustomErrorsByThemselves(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		errors []string
		answer string
		status score.Status
	}{
		{nil, "API Error: 401 invalid x-api-key", score.Unmeasured},
		{nil, "error: 503 overloaded", score.Unmeasured},
		{nil, "Request error (status code: 429): slow down", score.Unmeasured},
		{nil, "The server says API Error: 401", score.OK},
		{nil, "Errors: 12", score.OK},
		{nil, "error: 4012 items", score.OK},
		{[]string{}, "API Error: 401 invalid x-api-key", score.OK},
		{[]string{"^Oh no"}, "Error: 401", score.OK},
		{[]string{"^Oh no"}, "Oh no", score.Unmeasured},
	} {
		a, err := New(CustomName, Options{Custom: &Custom{Argv: []string{"x"}, Errors: tt.errors}})
		if err != nil {
			t.Fatal(err)
		}
		if rep := judged(a, []byte(tt.answer), exited(0), t.TempDir()); rep.Status != tt.status {
			t.Errorf("%q with %q is %s, want %s", tt.answer, tt.errors, rep.Status, tt.status)
		}
	}
}

// The prompt may be an argument: never an option, and never longer than the system takes.
func TestCustomPromptIsAnArgument(t *testing.T) {
	t.Parallel()
	c := Custom{Argv: []string{"x", "-p", "{{prompt}}", "--ask={{prompt}}"}}
	a, err := c.adapter()
	if err != nil {
		t.Fatal(err)
	}
	for prompt, want := range map[string][]string{
		"do it\n$HOME":           {"-p", "do it\n$HOME", "--ask=do it\n$HOME"},
		"--version":              {"-p", " --version", "--ask=--version"},
		strings.Repeat("x", 1e6): nil,
	} {
		l := &launch{job: Job{Home: t.TempDir(), Workspace: t.TempDir()}, prompt: prompt}
		switch err := a.launch(l); {
		case want == nil && (err == nil || !strings.Contains(err.Error(), "{{prompt_file}}")):
			t.Errorf("a prompt of %d bytes: %v", len(prompt), err)
		case want != nil && (err != nil || !slices.Equal(l.argv, want)):
			t.Errorf("got %q, %v, want %q", l.argv, err, want)
		}
	}
}

func TestCustomFaults(t *testing.T) {
	t.Parallel()
	bad := Custom{
		Argv: []string{"x", "{{prompt}}", "{{key}}"}, Stdin: "{{promt}}", Format: "xml", Errors: []string{"("},
		Files: map[string]string{"../out": ""}, Env: map[string]string{"A": "{{nothing}}"},
	}
	err := bad.Validate()
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"argv[2]", "stdin", "prompt", "format", "errors[0]", "files.../out", "env.A"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nlacks %s", err, want)
		}
	}
	if err := (&Custom{Format: FormatJSONL}).Validate(); err == nil || !strings.Contains(err.Error(), "argv") || !strings.Contains(err.Error(), "events.answer") {
		t.Errorf("an empty description: %v", err)
	}
	if _, err := New(CustomName, Options{}); err == nil {
		t.Error("custom without a description")
	}
	if _, err := New("codx", Options{}); err == nil || !strings.Contains(err.Error(), "codex?") {
		t.Errorf("an unknown name: %v", err)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	var v any
	if err := yaml.Unmarshal([]byte(`{a: {b: [{c: x}, {c: y}, {d: 1}]}, n: 7, o: {p: 1}, z: null}`), &v); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"a.b.0.c": "x", "a.b.*.c": "xy", "a.b.9.c": "", "a.b.-1": "", "n": "7", "o": `{"p":1}`, "z": "", "": "", "a.x": "", "n.m": "", "a.b.c": "",
	} {
		if got := find(v, path); got != want {
			t.Errorf("find %q = %q, want %q", path, got, want)
		}
	}
}
