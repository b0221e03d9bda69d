package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// replay reads recorded output as if a program had printed it and ended so.
func replay(t testing.TB, name string, output []byte, res sandbox.Result) Report {
	t.Helper()
	a, err := New(name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return judged(a, output, res, t.TempDir())
}

func judged(a *Agent, output []byte, res sandbox.Result, workspace string) Report {
	r, in := &record{shell: a.adapter.shell}, a.adapter.reader()
	events := newLines(func(text []byte, whole bool) { in.line(r, text, whole) })
	// In pieces, as a pipe gives them.
	reader := iotest.HalfReader(bytes.NewReader(output))
	buf := make([]byte, 1024)
	for {
		n, err := reader.Read(buf)
		if _, werr := events.Write(buf[:n]); werr != nil || err != nil {
			break
		}
	}
	events.end()
	if l, ok := in.(interface{ last(*record, sandbox.Result) }); ok {
		l.last(r, res)
	}
	if p, ok := in.(partial); ok && !r.known {
		r.usage = p.partial()
	}
	rep := Report{Result: res}
	rep.fill(r)
	a.judge(&rep, r, Job{Workspace: workspace, Endpoint: &Endpoint{URL: "http://127.0.0.1:8099", Key: "k"}})
	return rep
}

func fixture(t testing.TB, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func said(text string) trajectory.Turn {
	return trajectory.Turn{Role: model.Assistant, Content: text}
}

func did(action, observation string) trajectory.Turn {
	return trajectory.Turn{Kind: trajectory.ToolCall, Action: action, Observation: observation}
}

func exited(code int) sandbox.Result { return sandbox.Result{Reason: sandbox.Exited, Code: code} }

// gist is what of a report is compared.
type gist struct {
	Status  score.Status
	Code    model.Code
	HTTP    int
	Answer  string
	Turns   []trajectory.Turn
	Usage   trajectory.Usage
	Known   bool
	Calls   int
	Model   string
	Reason  string
	Written []string
}

func gistOf(r Report) gist {
	g := gist{Status: r.Status, Answer: r.Answer, Turns: r.Turns, Usage: r.Usage, Known: r.UsageKnown, Calls: r.Calls, Model: r.Model, Reason: r.Reason}
	if r.Failure != nil {
		g.Code, g.HTTP = r.Failure.Code, r.Failure.Status
	}
	return g
}

// TestFixtures reads the recorded output of the real programs.
func TestFixtures(t *testing.T) {
	t.Parallel()
	const now, answer = "Writing the file now.", "FAKE-ANSWER 42"
	tests := []struct {
		file string
		res  sandbox.Result
		want gist
	}{
		{"claude-tool", exited(0), gist{
			Status: score.OK, Answer: answer, Known: true, Calls: 1, Model: "claude-sonnet-4-6", // the recorded server gave both messages one id
			Usage: trajectory.Usage{Input: 200, Output: 14, Cached: 120},
			Turns: []trajectory.Turn{
				said(now), did(
					`Write {"file_path":"/workspace/out.txt","content":"written by tool\n"}`,
					"File created successfully at: /workspace/out.txt (file state is current in your context — no need to Read it back)",
				), said(answer),
			},
		}},
		{"claude-e401", exited(1), gist{
			Status: score.Unmeasured, Code: model.Auth, HTTP: 401, Answer: "Failed to authenticate. API Error: 401 invalid api key",
			Known: true, Reason: "auth: Failed to authenticate. API Error: 401 invalid api key",
		}},
		{"claude-e429", exited(1), gist{
			Status: score.Unmeasured, Code: model.RateLimit, HTTP: 429, Answer: "API Error: Request rejected (429) · rate limited",
			Known: true, Reason: "rate_limit: API Error: Request rejected (429) · rate limited",
		}},
		{"codex-tool", exited(0), gist{
			Status: score.OK, Answer: answer, Known: true,
			Usage: trajectory.Usage{Input: 200, Output: 14, Cached: 120, Reasoning: 4},
			Turns: []trajectory.Turn{said(now), did(`shell {"command":"/bin/bash -lc \"printf 'written by tool\\\\n' > out.txt\""}`, "completed"), said(answer)},
		}},
		{"codex-e401", exited(1), gist{
			Status: score.Unmeasured, Code: model.Auth, HTTP: 401,
			Reason: "auth: unexpected status 401 Unauthorized: invalid api key, url: http://127.0.0.1:8099/s/e401/codex-e401/v1/responses",
		}},
		{"copilot-tool", exited(0), gist{
			Status: score.OK, Answer: answer, Calls: 2, Model: "fake-model",
			Turns: []trajectory.Turn{
				said(now), did(`create {"file_text":"written by tool\n","path":"/workspace/out.txt"}`, "Created file /workspace/out.txt with 16 characters"), said(answer),
			},
		}},
		{"copilot-denied", exited(0), gist{
			Status: score.OK, Answer: answer, Calls: 2, Model: "fake-model",
			Turns: []trajectory.Turn{
				said(now), did(`create {"file_text":"written by tool\n","path":"/workspace/out.txt"}`,
					"error: denied: Permission denied because no interactive user response was available. Retry in an interactive session so the user can approve it, or try an alternative that does not require this permission."), said(answer),
			},
		}},
		{"copilot-e401", exited(1), gist{
			Status: score.Unmeasured, Code: model.Auth, HTTP: 401,
			Reason: "auth: authentication: Authentication failed with provider at http://127.0.0.1:8099/s/e401/copilot-e401/v1 (HTTP 401). Check your COPILOT_PROVIDER_API_KEY, COPILOT_PROVIDER_API_KEY_COMMAND, or COPILOT_PROVIDER_BEARER_TOKEN.",
		}},
		{"gemini-tool", exited(0), gist{
			Status: score.OK, Answer: answer, Known: true, Model: "gemini-2.5-flash",
			Usage: trajectory.Usage{Input: 200, Output: 18, Cached: 120, Reasoning: 4},
			Turns: []trajectory.Turn{said(now), did(`write_file {"content":"written by tool\n","file_path":"/workspace/out.txt"}`, "success"), said(answer)},
		}},
		{"gemini-e401", exited(145), gist{
			Status: score.Unmeasured, Code: model.Auth, HTTP: 401, Known: true, Model: "gemini-2.5-flash",
			Reason: `auth: {"error":{"code":401,"message":"invalid api key","status":"UNAUTHENTICATED"}}`,
		}},
		{"opencode-tool", exited(0), gist{
			Status: score.OK, Answer: answer, Known: true, Calls: 2,
			Usage: trajectory.Usage{Input: 200, Output: 14, Cached: 120, Reasoning: 4},
			Turns: []trajectory.Turn{
				said(now), did(`write {"content":"written by tool\n","filePath":"/workspace/out.txt","path":"/workspace/out.txt"}`, "Wrote file successfully."), said(answer),
			},
		}},
		{"opencode-e401", exited(1), gist{
			Status: score.Unmeasured, Code: model.Auth, HTTP: 401, Reason: "auth: APIError invalid api key",
		}},
		{"pi-tool", exited(0), gist{
			Status: score.OK, Answer: answer, Known: true, Calls: 2, Model: "fake-model",
			Usage: trajectory.Usage{Input: 200, Output: 14, Cached: 120},
			Turns: []trajectory.Turn{
				said(now), did(`write {"content":"written by tool\n","filePath":"/workspace/out.txt","path":"/workspace/out.txt"}`, "Successfully wrote 16 bytes to /workspace/out.txt"), said(answer),
			},
		}},
		{"qwen-tool", exited(0), gist{
			Status: score.OK, Answer: answer, Known: true, Calls: 2, Model: "fake-model",
			Usage: trajectory.Usage{Input: 200, Output: 14, Cached: 120},
			Turns: []trajectory.Turn{
				said(now), did(`write_file {"content":"written by tool\n","file_path":"/workspace/out.txt"}`, "Successfully created and wrote to new file: /workspace/out.txt."), said(answer),
			},
		}},
		{"qwen-e401", exited(0), gist{ // the exit code of a success
			Status: score.Unmeasured, Code: model.Auth, HTTP: 401, Answer: "[API Error: 401 invalid api key]", Known: true,
			Reason: "auth: 401 invalid api key",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			name, _, _ := strings.Cut(tt.file, "-")
			got := gistOf(replay(t, name, fixture(t, tt.file), tt.res))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("report (-want +got):\n%s", diff)
			}
		})
	}
}

// A shell that starts no command for a reason of its launcher leaves nothing to be scored. One
// that starts some does.
func TestShellThatStartsNothing(t *testing.T) {
	t.Parallel()
	lines := strings.SplitAfter(string(fixture(t, "qwen-forkpty")), "\n")
	head, call, failed, rest := lines[0], lines[1], lines[2], strings.Join(lines[3:], "")
	worked := strings.Replace(strings.Replace(failed, "forkpty(3) failed.", "done", 1), `"is_error":true`, `"is_error":false`, 1)
	again := strings.ReplaceAll(call+failed, "call_1_0", "call_2_0")
	for _, tt := range []struct {
		name, output string
		status       score.Status
	}{
		{"every command", head + call + failed + rest, score.Unmeasured},
		{"two commands", head + call + failed + again + rest, score.Unmeasured},
		{"one of two", head + call + worked + again + rest, score.OK},
		{"the other of two", head + again + call + worked + rest, score.OK},
		{"another tool", head + strings.Replace(call, "run_shell_command", "read_file", 1) + failed + rest, score.OK},
		{"no call", head + rest, score.OK},
	} {
		rep := replay(t, "qwen", []byte(tt.output), exited(0))
		if rep.Status != tt.status || tt.status == score.Unmeasured && !strings.Contains(rep.Reason, "run_shell_command could start no command here: forkpty(3) failed") {
			t.Errorf("%s: %s %q, want %s", tt.name, rep.Status, rep.Reason, tt.status)
		}
	}
}

// A login's launch has the same settings of tools as the one of a proof, which goes through the
// gateway: else the proof would say nothing of the launch.
func TestProofIsOfTheLaunch(t *testing.T) {
	t.Parallel()
	for _, a := range adapters() {
		tools := func(e *Endpoint) string {
			l := &launch{job: Job{Home: t.TempDir(), Workspace: t.TempDir(), Model: "m", Endpoint: e}, home: t.TempDir(), ask: func(...string) ([]byte, error) { return nil, nil }}
			if err := a.launch(l); err != nil {
				return err.Error()
			}
			found := ""
			for _, e := range l.env {
				_, path, _ := strings.Cut(e, "=")
				var settings struct{ Tools, Permission any }
				if text, err := os.ReadFile(path); err == nil && json.Unmarshal(text, &settings) == nil || json.Unmarshal([]byte(path), &settings) == nil {
					found += fmt.Sprint(settings)
				}
			}
			return found
		}
		led := tools(&Endpoint{URL: "http://127.0.0.1:1", Key: "k"})
		if own := tools(nil); own != led && led != ErrNoEndpoint.Error() {
			t.Errorf("%s: tools are set to %q with a login, and to %q in its proof", a.name, own, led)
		}
		if a.name == "qwen" && !strings.Contains(led, "enableInteractiveShell:false") {
			t.Errorf("qwen: tools are set to %q", led)
		}
	}
}

// TestCutOff leaves out ever more of the end of recorded runs: none of what is
// left may count as an answer.
func TestCutOff(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "*-tool.jsonl"))
	if err != nil || len(files) != 7 {
		t.Fatalf("%d recordings, %v", len(files), err)
	}
	for _, path := range files {
		file := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		name, _, _ := strings.Cut(file, "-")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := bytes.TrimSpace(fixture(t, file))
			lines := bytes.SplitAfter(data, []byte("\n"))
			for n := range lines { // without the last line at the most
				for _, res := range []sandbox.Result{exited(0), exited(1), {Reason: sandbox.Exited, Code: -1, Signal: "killed"}} {
					rep := replay(t, name, bytes.Join(lines[:n], nil), res)
					if rep.Status != score.Unmeasured || rep.Failure == nil {
						t.Errorf("after %d lines and %s: %s %s", n, describeEnding(res), rep.Status, rep.Reason)
					}
				}
			}
			half := data[:len(data)-10]
			if rep := replay(t, name, half, exited(0)); rep.Status != score.Unmeasured {
				t.Errorf("with half a last line: %s %s", rep.Status, rep.Reason)
			}
		})
	}
}

// TestDeadline tells an agent that was too slow from one that had no chance.
func TestDeadline(t *testing.T) {
	t.Parallel()
	late := sandbox.Result{Reason: sandbox.Deadline, Code: -1, Signal: "terminated"}
	first := func(file string, n int) []byte {
		return bytes.Join(bytes.SplitAfter(fixture(t, file), []byte("\n"))[:n], nil)
	}
	tests := []struct {
		name, agent string
		output      []byte
		status      score.Status
		code        model.Code
	}{
		{"at work", "pi", first("pi-tool", 8), score.AgentError, ""},
		{"no answer yet", "pi", first("pi-tool", 5), score.Unmeasured, model.Timeout},
		{"nothing at all", "gemini", nil, score.Unmeasured, model.Timeout},
		{"waiting to try again", "claude", first("claude-e429", 2), score.Unmeasured, model.RateLimit},
		{"reconnecting", "codex", first("codex-e401", 4), score.Unmeasured, model.Auth},
		{"done, but did not end", "claude", fixture(t, "claude-tool"), score.OK, ""},
		{"failed, and did not end", "claude", fixture(t, "claude-e401"), score.Unmeasured, model.Auth},
		{"a retry after work", "codex", append(first("codex-tool", 6), `{"type":"error","message":"Reconnecting... 1/5 (unexpected status 503 Service Unavailable)"}`...), score.Unmeasured, model.Overloaded},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rep := replay(t, tt.agent, tt.output, late)
			code := model.Code("")
			if rep.Failure != nil {
				code = rep.Failure.Code
			}
			if rep.Status != tt.status || code != tt.code {
				t.Errorf("%s, code %q (%s), want %s, %q", rep.Status, code, rep.Reason, tt.status, tt.code)
			}
			if rep.Status == score.AgentError && !strings.HasPrefix(rep.Reason, "deadline: ") {
				t.Errorf("reason %q", rep.Reason)
			}
			if rep.UsageKnown && rep.Status != score.OK && tt.agent == "pi" {
				t.Error("usage of a run that was cut off cannot be complete")
			}
		})
	}
}

// TestEvents has events that the recordings lack.
func TestEvents(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, agent, output string
		res                 sandbox.Result
		status              score.Status
		reason              string
		turns               int
	}{
		{"codex declined", "codex", `{"type":"item.completed","item":{"id":"1","type":"file_change","changes":[{"path":"a"}],"status":"declined"}}
{"type":"item.completed","item":{"id":"2","type":"mcp_tool_call","server":"s","tool":"t","arguments":{"a":1},"result":{"content":[{"type":"text","text":"r"}]},"status":"completed"}}
{"type":"item.completed","item":{"id":"3","type":"reasoning","text":"hm"}}
{"type":"item.completed","item":{"id":"4","type":"agent_message","text":"done"}}
{"type":"turn.completed","usage":{"input_tokens":1}}`, exited(0), score.OK, "", 4},
		{"codex failed without a reason", "codex", `{"type":"turn.failed"}`, exited(1), score.Unmeasured, "server: ", 0},
		{"codex with no last word", "codex", `{"type":"turn.completed","usage":{"input_tokens":1}}`, exited(0), score.AgentError, "empty: ", 0},
		{"claude out of turns", "claude", `{"type":"assistant","message":{"id":"1","model":"m","content":[{"type":"thinking","thinking":"hm"}],"usage":{"input_tokens":3}}}
{"type":"result","subtype":"error_max_turns","is_error":true}`, exited(1), score.AgentError, "turns: ", 1},
		{"claude not logged in", "claude", `{"type":"assistant","message":{"id":"1","model":"<synthetic>","content":[{"type":"text","text":"Not logged in · Please run /login"}]},"error":"authentication_failed"}
{"type":"result","subtype":"success","is_error":true,"api_error_status":null,"result":"Not logged in · Please run /login"}`, exited(1), score.Unmeasured, "auth: ", 0},
		{"claude context", "claude", `{"type":"result","subtype":"success","is_error":true,"api_error_status":400,"result":"API Error: 400 prompt is too long: 210000 tokens > 200000 maximum"}`, exited(1), score.AgentError, "context_length: ", 0},
		{"claude refusal", "claude", `{"type":"result","subtype":"success","is_error":false,"stop_reason":"refusal","result":"I will not"}`, exited(0), score.AgentError, "refusal: ", 0},
		{"claude budget", "claude", `{"type":"result","subtype":"error_max_budget_usd","is_error":true}`, exited(1), score.Unmeasured, "budget: ", 0},
		{"pi failed with exit code 0", "pi", `{"type":"agent_start"}
{"type":"message_end","message":{"role":"assistant","content":[],"usage":{"input":0},"stopReason":"error","errorMessage":"401 invalid api key"}}
{"type":"agent_end","messages":[]}`, exited(0), score.Unmeasured, "auth: ", 0},
		{"pi gave up after retries", "pi", `{"type":"agent_start"}
{"type":"message_end","message":{"role":"assistant","content":[],"stopReason":"error","errorMessage":"429 rate limited"}}
{"type":"agent_end","messages":[]}
{"type":"auto_retry_start","attempt":1,"errorMessage":"429 rate limited"}
{"type":"agent_start"}
{"type":"message_end","message":{"role":"assistant","content":[],"stopReason":"error","errorMessage":"429 rate limited"}}
{"type":"agent_end","messages":[]}
{"type":"auto_retry_end","success":false,"attempt":1,"finalError":"429 rate limited"}`, exited(0), score.Unmeasured, "rate_limit: ", 0},
		{"pi mended by a retry", "pi", `{"type":"agent_start"}
{"type":"message_end","message":{"role":"assistant","content":[],"stopReason":"error","errorMessage":"429 rate limited"}}
{"type":"agent_end","messages":[]}
{"type":"auto_retry_start","attempt":1,"errorMessage":"429 rate limited"}
{"type":"agent_start"}
{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"fine"}],"usage":{"input":1,"output":1},"stopReason":"stop"}}
{"type":"auto_retry_end","success":true,"attempt":1}
{"type":"agent_end","messages":[]}`, exited(0), score.OK, "", 1},
		{"pi cut at the limit", "pi", `{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"fin"}],"stopReason":"length"}}
{"type":"agent_end"}`, exited(0), score.AgentError, "length: ", 1},
		{"opencode with a bad end", "opencode", string(fixture(t, "opencode-tool")), exited(1), score.Unmeasured, "truncated: ", 3},
		{"opencode length", "opencode", `{"type":"step_finish","part":{"reason":"length"}}`, exited(0), score.AgentError, "length: ", 0},
		{"gemini without a login", "gemini", "", sandbox.Result{Reason: sandbox.Exited, Code: 41, Stderr: "Please set an Auth method in your settings.json or specify GEMINI_API_KEY: no auth"}, score.Unmeasured, "auth: ", 0},
		{"gemini error as its answer", "gemini", `{"type":"message","role":"assistant","content":"[API Error: 503 overloaded]","delta":true}
{"type":"result","status":"success","stats":{}}`, exited(0), score.Unmeasured, "overloaded: ", 1},
		{"cursor", "cursor", `{"type":"system","subtype":"init","model":"m"}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"reading"}]}}
{"type":"tool_call","subtype":"started","call_id":"1","tool_call":{"readToolCall":{"args":{"path":"a"}}}}
{"type":"tool_call","subtype":"completed","call_id":"1","tool_call":{"readToolCall":{"args":{"path":"a"},"result":{"success":{"content":"x"}}}}}
{"type":"result","subtype":"success","is_error":false,"result":"done"}`, exited(0), score.OK, "", 2},
		{"cursor failed", "cursor", `{"type":"result","subtype":"error","is_error":true,"result":"rate limit reached"}`, exited(0), score.Unmeasured, "rate_limit: ", 0},
		{"qwen failed", "qwen", `{"type":"result","subtype":"error_during_execution","is_error":true,"error":{"message":"fetch failed"}}`, exited(1), score.Unmeasured, "network: ", 0},
		{"copilot failed without a reason", "copilot", `{"type":"result","exitCode":1}`, exited(1), score.Unmeasured, "server: ", 0},
		{"flooded", "codex", `{"type":"turn.started"}`, sandbox.Result{Reason: sandbox.Flooded, Code: -1}, score.AgentError, "output: ", 0},
		{"garbage", "claude", "Segmentation fault\n{\n[1,2]\n\"x\"\nnull\n{\"type\":7}\n", exited(0), score.Unmeasured, "truncated: ", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rep := replay(t, tt.agent, []byte(tt.output), tt.res)
			if rep.Status != tt.status || !strings.HasPrefix(rep.Reason, tt.reason) || tt.reason == "" && rep.Reason != "" {
				t.Errorf("%s %q, want %s %q", rep.Status, rep.Reason, tt.status, tt.reason)
			}
			if len(rep.Turns) != tt.turns {
				t.Errorf("%d turns, want %d: %+v", len(rep.Turns), tt.turns, rep.Turns)
			}
			if (rep.Failure != nil) != (rep.Status == score.Unmeasured) {
				t.Errorf("failure %v with %s", rep.Failure, rep.Status)
			}
		})
	}
}

// FuzzReaders feeds any bytes to every reader: they may make nothing of it, but
// must neither panic nor score what broke off.
func FuzzReaders(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.jsonl"))
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"type":"tool_call","tool_call":{"x":null}}`))
	f.Add([]byte(`{"type":"assistant","message":{"content":[{"type":"tool_use"}]}}{"type":"user"}`))
	var agents []*Agent
	for _, name := range Names() {
		if name == BuiltinName || name == CustomName {
			continue
		}
		a, err := New(name, Options{})
		if err != nil {
			f.Fatal(err)
		}
		agents = append(agents, a)
	}
	agents = append(agents, exampleCustom(f))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, a := range agents {
			for _, res := range []sandbox.Result{exited(0), exited(1), {Reason: sandbox.Deadline}} {
				rep := judged(a, data, res, dir)
				if rep.Status == "" || (rep.Status == score.OK) != (rep.Reason == "") || (rep.Failure != nil) != (rep.Status == score.Unmeasured) {
					t.Fatalf("%s: %+v", a.Name(), rep)
				}
			}
		}
	})
}
