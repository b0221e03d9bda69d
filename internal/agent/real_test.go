package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/internal/testing/agenttest"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// agentsDirVar names a folder into which real agents were installed by npm; see
// .ci/agents/install.sh.
const agentsDirVar = agenttest.DirVar

// realAgents returns the real programs that are there.
func realAgents(t *testing.T) []*Agent {
	t.Helper()
	dir := os.Getenv(agentsDirVar)
	if dir == "" {
		t.Skipf("%s is not set: real agents are not tested; .ci/agents/install.sh DIR installs them", agentsDirVar)
	}
	if why, err := os.ReadFile(filepath.Join(dir, "unavailable")); err == nil {
		t.Skipf("real agents are not tested: %s", bytes.TrimSpace(why))
	}
	path := filepath.Join(dir, "node_modules", ".bin") + string(os.PathListSeparator) + os.Getenv("PATH")
	var found []*Agent
	for _, name := range Names() {
		if name == BuiltinName || name == CustomName {
			continue
		}
		a, err := New(name, Options{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		if program, err := a.find(); err == nil && strings.HasPrefix(program, dir) {
			found = append(found, a)
		}
	}
	if len(found) == 0 {
		t.Fatalf("%s=%s holds no agent", agentsDirVar, dir)
	}
	return found
}

// realTime is the longest that a real agent may take on a busy machine.
const realTime = 3 * time.Minute

func realJob(t *testing.T, f *fakeModel) Job {
	t.Helper()
	return Job{
		Prompt: "Please do the task.", Workspace: t.TempDir(), Home: t.TempDir(), Model: "claude-sonnet-4-6",
		Endpoint: &Endpoint{URL: f.URL, Key: "sk-real-test-0123456789"}, Timeout: realTime,
	}
}

// each runs a test with every real agent. They run one after the other: side by
// side on a small machine they take ten times as long.
func each(t *testing.T, test func(t *testing.T, a *Agent)) {
	for _, a := range realAgents(t) {
		t.Run(a.Name(), func(t *testing.T) { test(t, a) })
	}
}

// notes has the file of results told how the test ends.
func notes(t *testing.T, a *Agent, behaviour string) {
	t.Helper()
	file := os.Getenv(agenttest.FileVar)
	if file == "" {
		return
	}
	info, err := a.Detect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := agenttest.Append(file, agenttest.Result{Agent: a.Name(), Version: info.Version, Behaviour: behaviour, OK: !t.Failed()}); err != nil {
			t.Error(err)
		}
	})
}

func realRun(t *testing.T, a *Agent, j Job) Report {
	t.Helper()
	began := time.Now()
	var rep Report
	if a.Name() == BuiltinName {
		rep = runBuiltin(t, a, j)
	} else {
		var err error
		if rep, err = a.Run(t.Context(), j); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%s %q in %.1f s", rep.Status, rep.Reason, time.Since(began).Seconds())
	if strings.Contains(fmt.Sprintf("%+v", rep), j.Endpoint.Key) {
		t.Error("the report holds the key")
	}
	if left, err := agenttest.Leftovers(j.Home); err != nil || len(left) > 0 {
		t.Errorf("left running: %q (%v)", left, err)
	}
	return rep
}

func TestRealVersion(t *testing.T) {
	each(t, func(t *testing.T, a *Agent) {
		info, err := a.Detect(t.Context())
		if err != nil || info.Problem != "" || info.Version == "" {
			t.Errorf("%+v, %v", info, err)
		}
		if info.Version != info.Tested {
			t.Logf("version %s, measured with %s", info.Version, info.Tested)
		}
	})
}

// checkUsage compares an agent's count with the server's. Where the protocol
// does not tell what was thought, or the agent does not pass it on, that part is
// left out.
func checkUsage(t *testing.T, a *Agent, rep Report, f *fakeModel) {
	t.Helper()
	_, answers, want, _ := f.Count()
	if rep.UsageKnown != a.Abilities().Usage {
		t.Errorf("usage known: %v, the adapter says %v", rep.UsageKnown, a.Abilities().Usage)
	}
	if rep.Calls != 0 && rep.Calls != answers && a.Name() != "qwen" { // qwen asks on the side
		t.Errorf("%d answers seen, the server gave %d", rep.Calls, answers)
	}
	if !rep.UsageKnown {
		return
	}
	if rep.Usage.Reasoning == 0 {
		want.Reasoning = 0
	}
	if rep.Usage != want {
		t.Errorf("usage %+v, the server counted %+v", rep.Usage, want)
	}
}

func TestRealText(t *testing.T) {
	each(t, func(t *testing.T, a *Agent) {
		f := newFakeModel(t, plotText)
		rep := realRun(t, a, realJob(t, f))
		if rep.Status != score.OK || rep.Answer != fakeAnswer {
			t.Errorf("%s %s: answer %q\n%s", rep.Status, rep.Reason, rep.Answer, rep.Raw)
		}
		checkUsage(t, a, rep, f)
	})
}

func TestRealTool(t *testing.T) { each(t, usesTool) }

func usesTool(t *testing.T, a *Agent) {
	t.Helper()
	notes(t, a, agenttest.Tool)
	f := newFakeModel(t, plotTool)
	j := realJob(t, f)
	rep := realRun(t, a, j)
	if rep.Status != score.OK || rep.Answer != fakeAnswer {
		t.Errorf("%s %s: answer %q\n%s", rep.Status, rep.Reason, rep.Answer, rep.Raw)
	}
	if got := tree(t, j.Workspace)[fakeFile]; got != fakeText {
		t.Errorf("the file holds %q", got)
	}
	at := slices.IndexFunc(rep.Turns, func(turn trajectory.Turn) bool { return turn.Kind == trajectory.ToolCall })
	if at < 0 || !strings.Contains(rep.Turns[at].Action, fakeFile) || rep.Turns[at].Observation == "" {
		t.Errorf("turns %+v", rep.Turns)
	}
	checkUsage(t, a, rep, f)
}

// TestRealParallel has agents get a thought and two calls in one answer.
func TestRealParallel(t *testing.T) { each(t, callsAtOnce) }

func callsAtOnce(t *testing.T, a *Agent) {
	t.Helper()
	notes(t, a, agenttest.Parallel)
	f := newFakeModel(t, plotBoth)
	j := realJob(t, f)
	rep := realRun(t, a, j)
	if rep.Status != score.OK || rep.Answer != fakeAnswer {
		t.Errorf("%s %s: answer %q\n%s", rep.Status, rep.Reason, rep.Answer, rep.Raw)
	}
	for _, name := range []string{fakeFile, "second-" + fakeFile} {
		if got := tree(t, j.Workspace)[name]; got != fakeText {
			t.Errorf("%s holds %q", name, got)
		}
	}
	checkUsage(t, a, rep, f)
}

func TestRealWrongKey(t *testing.T) { each(t, hasWrongKey) }

func hasWrongKey(t *testing.T, a *Agent) {
	t.Helper()
	notes(t, a, agenttest.Auth)
	f := newFakeModel(t, plotAuth)
	if rep := realRun(t, a, realJob(t, f)); rep.Status != score.Unmeasured || rep.Failure.Code != model.Auth {
		t.Errorf("wrong key: %s %s\n%s", rep.Status, rep.Reason, rep.Raw)
	}
}

// TestRealTwoFaults has agents try again after two kinds of failures. One that does
// not must leave the task unmeasured.
func TestRealTwoFaults(t *testing.T) { each(t, seesTwoFaults) }

func seesTwoFaults(t *testing.T, a *Agent) { recovers(t, a, agenttest.Retries, plotTwice) }

// recovers has an agent answer in the end, or the task stay unmeasured.
func recovers(t *testing.T, a *Agent, behaviour, plot string) {
	t.Helper()
	notes(t, a, behaviour)
	rep := realRun(t, a, realJob(t, newFakeModel(t, plot)))
	if rep.Status != score.Unmeasured && (rep.Status != score.OK || rep.Answer != fakeAnswer) {
		t.Errorf("%s %s: %q\n%s", rep.Status, rep.Reason, rep.Answer, rep.Raw)
	}
}

// TestRealCut ends the first answer in its middle: what there is of it is no answer.
func TestRealCut(t *testing.T) { each(t, isCutShort) }

func isCutShort(t *testing.T, a *Agent) { recovers(t, a, agenttest.CutShort, plotCut) }

// TestRealOverflow refuses every prompt as too long, which is the task's own failure.
func TestRealOverflow(t *testing.T) { each(t, overflows) }

func overflows(t *testing.T, a *Agent) {
	t.Helper()
	notes(t, a, agenttest.Overflow)
	rep := realRun(t, a, realJob(t, newFakeModel(t, plotFull)))
	if rep.Status != score.AgentError || !strings.HasPrefix(rep.Reason, string(model.ContextLength)) {
		t.Errorf("%s %s: %q\n%s", rep.Status, rep.Reason, rep.Answer, rep.Raw)
	}
}

func TestRealFaults(t *testing.T) {
	each(t, func(t *testing.T, a *Agent) {
		f := newFakeModel(t, plotOnce)
		rep := realRun(t, a, realJob(t, f))
		if rep.Status != score.OK || rep.Answer != fakeAnswer {
			t.Errorf("429 once: %s %s: %q\n%s", rep.Status, rep.Reason, rep.Answer, rep.Raw)
		}
		checkUsage(t, a, rep, f)
	})
}

// TestRealHang waits for deadlines, so all of it runs side by side.
func TestRealHang(t *testing.T) {
	t.Parallel()
	for _, a := range realAgents(t) {
		t.Run(a.Name()+" at once", func(t *testing.T) {
			t.Parallel()
			j := realJob(t, newFakeModel(t, plotHang))
			j.Timeout = 10 * time.Second
			if rep := realRun(t, a, j); rep.Status != score.Unmeasured || rep.Failure.Code != model.Timeout {
				t.Errorf("%s %s\n%s", rep.Status, rep.Reason, rep.Raw)
			}
		})
		t.Run(a.Name()+" at work", func(t *testing.T) {
			t.Parallel()
			hangsAtWork(t, a)
		})
	}
}

func hangsAtWork(t *testing.T, a *Agent) {
	t.Helper()
	notes(t, a, agenttest.Hang)
	j := realJob(t, newFakeModel(t, plotStall))
	j.Timeout = 45 * time.Second
	if a.Name() == BuiltinName { // it takes no time to begin
		j.Timeout = 2 * time.Second
	}
	if rep := realRun(t, a, j); rep.Status != score.AgentError || !strings.HasPrefix(rep.Reason, "deadline") {
		t.Errorf("%s %s\n%s", rep.Status, rep.Reason, rep.Raw)
	}
}

// TestRealSkill looks whether the skill reaches the model by itself.
func TestRealSkill(t *testing.T) {
	each(t, func(t *testing.T, a *Agent) {
		f := newFakeModel(t, plotText)
		j := realJob(t, f)
		j.Skill = skill.New("---\nname: tidy-desk\ndescription: MARKER-OF-THE-SKILL how desks are tidied\n---\nBODY-OF-THE-SKILL\n")
		if rep := realRun(t, a, j); rep.Status != score.OK || len(rep.Written) != 2 {
			t.Errorf("%s %s, written %q", rep.Status, rep.Reason, rep.Written)
		}
		if got := f.Seen("MARKER-OF-THE-SKILL"); got != a.Abilities().Skills {
			t.Errorf("the skill was discovered: %v, the adapter says %v", got, a.Abilities().Skills)
		}
	})
}

func TestRealImages(t *testing.T) {
	each(t, func(t *testing.T, a *Agent) {
		picture := image.NewRGBA(image.Rect(0, 0, 32, 32))
		picture.Set(3, 4, color.White)
		var data bytes.Buffer
		if err := png.Encode(&data, picture); err != nil {
			t.Fatal(err)
		}
		f := newFakeModel(t, plotText)
		j := realJob(t, f)
		j.Images = []model.Image{{MIME: "image/png", Data: data.Bytes()}}
		rep := realRun(t, a, j)
		if rep.Status != score.OK || rep.Answer != fakeAnswer {
			t.Errorf("%s %s: %q\n%s", rep.Status, rep.Reason, rep.Answer, rep.Raw)
		}
		if got := f.Seen("iVBORw0KGgo"); got != a.Abilities().Images {
			t.Errorf("the model got the image: %v, the adapter says %v", got, a.Abilities().Images)
		}
	})
}

func TestRealChat(t *testing.T) {
	each(t, func(t *testing.T, a *Agent) {
		if !a.Abilities().Chat {
			t.Skip("it cannot be used as a plain model")
		}
		f := newFakeModel(t, plotText)
		j := realJob(t, f)
		j.Chat = &Chat{System: "SYSTEM-OF-THE-CHAT is short."}
		rep := realRun(t, a, j)
		if rep.Status != score.OK || rep.Answer != fakeAnswer {
			t.Errorf("%s %s: %q\n%s", rep.Status, rep.Reason, rep.Answer, rep.Raw)
		}
		if !f.Seen("SYSTEM-OF-THE-CHAT") {
			t.Error("the instructions did not arrive")
		}
		requests, _, _, tools := f.Count()
		t.Logf("%d requests, %d bytes, tools %q", requests, len(f.Bodies()[0]), tools)
		if len(tools) > 0 {
			t.Errorf("the model is offered the tools %q", tools)
		}
	})
}

// Models that codex knows have tools by its list of them, some in a place of their
// own within the input. None of them is offered.
func TestRealChatOfKnownModels(t *testing.T) {
	each(t, func(t *testing.T, a *Agent) {
		if a.Name() != "codex" {
			t.Skip("it has no list of models with tools")
		}
		for _, name := range []string{"gpt-5.5", "gpt-5.6-sol", "gpt-6-astra"} {
			f := newFakeModel(t, plotText)
			j := realJob(t, f)
			j.Model, j.Chat = name, &Chat{System: "SYSTEM-OF-THE-CHAT is short."}
			rep := realRun(t, a, j)
			_, _, _, tools := f.Count()
			if rep.Answer != fakeAnswer || len(tools) > 0 || f.Seen("additional_tools") {
				t.Errorf("%s: %q, tools %q, in the input %v", name, rep.Answer, tools, f.Seen("additional_tools"))
			}
			if !f.Seen("SYSTEM-OF-THE-CHAT") || f.Seen("You are Codex") || f.Seen("multi_agent") {
				t.Errorf("%s: instructions of its own, or not ours: %s", name, f.Bodies()[0])
			}
		}
	})
}

func TestRealSchema(t *testing.T) {
	each(t, func(t *testing.T, a *Agent) {
		if a.Name() != "claude" && a.Name() != "codex" {
			t.Skip("it has no structured output")
		}
		f := newFakeModel(t, plotJSON)
		j := realJob(t, f)
		j.Chat = &Chat{
			System: "Be exact.", Effort: "low",
			Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer","description":"MARKER-OF-THE-SCHEMA"}},"required":["n"],"additionalProperties":false}`),
		}
		rep := realRun(t, a, j)
		var got struct{ N int }
		if rep.Status != score.OK || json.Unmarshal([]byte(rep.Answer), &got) != nil || got.N != 42 {
			t.Errorf("%s %s: %q\n%s", rep.Status, rep.Reason, rep.Answer, rep.Raw)
		}
		if !f.Seen("MARKER-OF-THE-SCHEMA") {
			t.Error("the schema did not arrive")
		}
		checkUsage(t, a, rep, f)
	})
}

// TestRealConfined has agents work in the confinement of the sandbox: they reach
// their workspace, their home and their model, and nothing else.
func TestRealConfined(t *testing.T) {
	if s := sandbox.Supports(); s.Kind == "" || !s.Network {
		t.Skipf("programs cannot be confined here: %s", s.Why)
	}
	each(t, func(t *testing.T, a *Agent) {
		f := newFakeModel(t, plotTool)
		j := realJob(t, f)
		j.Confine = true
		rep := realRun(t, a, j)
		if rep.Status != score.OK || tree(t, j.Workspace)[fakeFile] != fakeText {
			t.Errorf("%s %s: %q\n%s\n%s", rep.Status, rep.Reason, rep.Answer, rep.Raw, rep.Result.Stderr)
		}
		checkUsage(t, a, rep, f)
	})
}

// TestRealLoginRunsCommands has agents that use a login of their own run a command: it is
// started as in a proof, which goes through the gateway.
func TestRealLoginRunsCommands(t *testing.T) {
	if s := sandbox.Supports(); s.Kind == "" || !s.Network {
		t.Skipf("programs cannot be confined here: %s", s.Why)
	}
	each(t, func(t *testing.T, a *Agent) {
		if a.Name() != "qwen" {
			t.Skip("its login cannot be led to a server of the test by variables alone")
		}
		f := newFakeModel(t, plotShell)
		j := realJob(t, f)
		j.Env = []string{"OPENAI_BASE_URL=" + f.URL + "/v1", "OPENAI_API_KEY=" + j.Endpoint.Key, "OPENAI_MODEL=" + j.Model}
		j.Endpoint, j.LoginHome, j.Confine = nil, t.TempDir(), true
		if err := os.MkdirAll(filepath.Join(j.LoginHome, ".qwen"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(j.LoginHome, ".qwen", "settings.json"), []byte(`{"security":{"auth":{"selectedType":"openai"}}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		rep, err := a.Run(t.Context(), j)
		if err != nil {
			t.Fatal(err)
		}
		if rep.Status != score.OK || tree(t, j.Workspace)[fakeFile] != fakeText {
			t.Errorf("%s %s: %q\n%s\n%s", rep.Status, rep.Reason, rep.Answer, rep.Raw, rep.Result.Stderr)
		}
	})
}

// TestRealWorkspaceSettings has a workspace bring settings that run a command
// and lead to another server.
func TestRealWorkspaceSettings(t *testing.T) {
	each(t, func(t *testing.T, a *Agent) {
		f, other := newFakeModel(t, plotText), newFakeModel(t, plotText)
		j := realJob(t, f)
		hook := obj{"hooks": []obj{{"type": "command", "command": "touch hooked.txt"}}}
		env := fmt.Sprintf("GOOGLE_GEMINI_BASE_URL=%[1]s\nOPENAI_BASE_URL=%[1]s/v1\n", other.URL)
		for name, settings := range map[string]any{
			".claude/settings.json": obj{"hooks": obj{"UserPromptSubmit": []obj{hook}, "SessionStart": []obj{hook}}, "env": obj{"ANTHROPIC_BASE_URL": other.URL}},
			"opencode.json":         obj{"provider": obj{opencodeProvider: obj{"options": obj{"baseURL": other.URL + "/v1"}}}},
			".codex/config.toml":    fmt.Sprintf("[model_providers.skillopt]\nbase_url = %q\n", other.URL+"/v1"),
			".env":                  env, ".qwen/.env": env, ".gemini/.env": env,
			".pi/models.json": obj{"providers": obj{piProvider: obj{"baseUrl": other.URL + "/v1"}}},
		} {
			text, ok := settings.(string)
			if !ok {
				data, err := json.Marshal(settings)
				if err != nil {
					t.Fatal(err)
				}
				text = string(data)
			}
			path := filepath.Join(j.Workspace, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		rep := realRun(t, a, j)
		if n, _, _, _ := other.Count(); rep.Status != score.OK || n > 0 {
			t.Errorf("%s %s; %d requests went to the workspace's server", rep.Status, rep.Reason, n)
		}
		if _, ok := tree(t, j.Workspace)["hooked.txt"]; ok {
			t.Error("a command of the workspace ran before the agent did")
		}
		if len(rep.Notes) == 0 {
			t.Error("nobody is told of the workspace's settings")
		}
	})
}
