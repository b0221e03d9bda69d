package agent

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/reach"
)

// launched returns how an agent with a login of its own is started.
func launched(t *testing.T, a adapter, j Job) *launch {
	t.Helper()
	j.Home, j.Workspace, j.LoginHome = t.TempDir(), t.TempDir(), t.TempDir()
	l := &launch{job: j, home: j.LoginHome}
	if err := a.launch(l); err != nil {
		t.Fatal(err)
	}
	return l
}

func TestCompanyGatewayOfCodex(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		env        []string
		want, none string
	}{
		{env: nil, none: "base_url"},
		{env: []string{"OPENAI_BASE_URL=https://gw.example/v1"}, want: `openai_base_url="https://gw.example/v1"`, none: "env_key"},
		{
			env:  []string{"OPENAI_BASE_URL=https://gw.example/v1", "OPENAI_API_KEY=sk-company-key"},
			want: `model_providers.company.env_key="OPENAI_API_KEY"`, none: "sk-company-key",
		},
	} {
		args := strings.Join(launched(t, codex(), Job{Env: tc.env}).argv, " ")
		if !strings.Contains(args, tc.want) || strings.Contains(args, tc.none) {
			t.Errorf("%q: %s", tc.env, args)
		}
	}
}

// A workspace must not lead claude away from the gateway that it was handed.
func TestCompanyGatewayOfClaude(t *testing.T) {
	t.Parallel()
	l := launched(t, claude(), Job{Env: []string{"ANTHROPIC_BASE_URL=https://gw.example", "ANTHROPIC_AUTH_TOKEN=tok-0123456789", "CLAUDE_CODE_USE_BEDROCK=1"}})
	text, err := os.ReadFile(filepath.Join(l.job.Home, "settings.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"ANTHROPIC_BASE_URL": "https://gw.example"`, `"CLAUDE_CODE_USE_BEDROCK": "1"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is missing in %s", want, text)
		}
	}
	if strings.Contains(string(text), "tok-0123456789") {
		t.Error("the token stands in the settings")
	}
}

// Files that variables name may be read, unless they are kept from agents.
func TestFilesOfVariables(t *testing.T) {
	t.Parallel()
	open, kept := t.TempDir(), t.TempDir()
	var files []string
	for _, dir := range []string{open, kept} {
		file := filepath.Join(dir, "ca.pem")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	guard := reach.Guard{Kept: []reach.Path{{Path: kept, Name: "run.dir"}}}
	a, err := New("claude", Options{Files: append(files, filepath.Join(open, "missing.pem")), Guard: guard})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := a.Reach()
	if err != nil || !slices.Contains(plan.Read, files[0]) || slices.Contains(plan.Read, files[1]) {
		t.Errorf("%q, %v", plan.Read, err)
	}
}

// The window of the model reaches the agents that have a setting for it.
func TestContextReachesAgents(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"codex": "model_context_window=54321", "claude": "CLAUDE_CODE_MAX_CONTEXT_TOKENS=54321", "copilot": "COPILOT_PROVIDER_MAX_PROMPT_TOKENS=54321",
		"opencode": `"context":54321`, "pi": `"contextWindow": 54321`, "qwen": `"contextWindowSize": 54321`,
	} {
		for _, a := range adapters() {
			if a.name != name {
				continue
			}
			l := launched(t, a, Job{Model: "m", Context: 54321, Endpoint: &Endpoint{URL: "http://127.0.0.1:1", Key: "k"}})
			all := strings.Join(append(l.argv, l.env...), " ")
			for file, text := range tree(t, l.job.Home) {
				all += file + " " + text
			}
			if !strings.Contains(all, want) {
				t.Errorf("%s: no %s in %s", name, want, all)
			}
		}
	}
}

// From 0.81 on pi takes a key as it is, and finds skills in trusted folders alone.
func TestPiOfToday(t *testing.T) {
	t.Parallel()
	l := launched(t, pi(), Job{Model: "m", Endpoint: &Endpoint{URL: "http://127.0.0.1:1", Key: "the-very-key"}})
	files := tree(t, l.job.Home)
	for name, want := range map[string]string{
		".pi/agent/models.json": `"apiKey": "the-very-key"`, ".pi/agent/settings.json": `"defaultProjectTrust": "always"`,
	} {
		if !strings.Contains(files[name], want) {
			t.Errorf("%s lacks %s: %s", name, want, files[name])
		}
	}
	own := launched(t, pi(), Job{Model: "m"})
	if want := filepath.Join(own.job.Workspace, ".agents", "skills"); !slices.Contains(own.argv, want) {
		t.Errorf("with a login of its own it is not led to %s: %q", want, own.argv)
	}
}

// What a workspace brings to be started does not start unless it is asked for: each agent is
// told so, or does not see the file.
func TestWorkspaceToolsDoNotStart(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"claude": {"--strict-mcp-config", `"disableAllHooks": true`}, "pi": {"--no-extensions"},
		"qwen": {"--allowed-mcp-server-names", `"disableAllHooks": true`}, "opencode": {"OPENCODE_DISABLE_PROJECT_CONFIG=1", "OPENCODE_PURE=1", "/AGENTS.md"},
	} {
		for _, a := range adapters() {
			for _, allowed := range []bool{false, true} {
				if a.name != name {
					continue
				}
				l := &launch{job: Job{Model: "m", Home: t.TempDir(), Workspace: t.TempDir(), WorkspaceTools: allowed, Endpoint: &Endpoint{URL: "http://127.0.0.1:1", Key: "k"}}}
				if err := os.WriteFile(filepath.Join(l.job.Workspace, "AGENTS.md"), []byte("x"), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := a.launch(l); err != nil {
					t.Fatal(err)
				}
				all := strings.Join(append(l.argv, l.env...), " ")
				for _, text := range tree(t, l.job.Home) {
					all += text
				}
				for _, part := range want {
					if strings.Contains(all, part) == allowed {
						t.Errorf("%s, allowed %v, %s: %s", name, allowed, part, all)
					}
				}
			}
		}
	}
}

// Gemini lets no settings be stronger than those of its workspace.
func TestWorkspaceToolsAreTakenOut(t *testing.T) {
	t.Parallel()
	for _, allowed := range []bool{false, true} {
		j := Job{Home: t.TempDir(), Workspace: t.TempDir(), SkillName: "s", Mode: Native, WorkspaceTools: allowed}
		if err := os.MkdirAll(filepath.Join(j.Workspace, ".gemini"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(j.Workspace, ".gemini", "settings.json"), []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
		w, _, err := prepare(gemini(), j)
		if err != nil {
			t.Fatal(err)
		}
		_, there := tree(t, j.Workspace)[".gemini/settings.json"]
		if there != allowed || slices.Contains(w.written, ".gemini/settings.json") == allowed || strings.Contains(strings.Join(w.notes, " "), "taken out") == allowed {
			t.Errorf("allowed %v: it is there: %v, written %q, notes %q", allowed, there, w.written, w.notes)
		}
	}
}

// A tool of opencode that does not work here is nobody's failure at a task.
func TestBrokenRipgrepIsNoScore(t *testing.T) {
	t.Parallel()
	r, in := &record{}, opencode().reader()
	for _, line := range []string{
		`{"type":"step_start"}`,
		`{"type":"tool_use","part":{"tool":"skill","callID":"c","state":{"status":"error","input":{},"error":"ripgrep execution failed"}}}`,
		`{"type":"step_finish","part":{"reason":"tool-calls"}}`,
		`{"type":"step_start"}`, `{"type":"text","part":{"text":"I did it without the skill."}}`, `{"type":"step_finish","part":{"reason":"stop"}}`,
	} {
		in.line(r, []byte(line), true)
	}
	rep := &Report{}
	rep.fill(r)
	(&Agent{adapter: opencode()}).judge(rep, r, Job{Workspace: t.TempDir()})
	if rep.Failure == nil || !strings.Contains(rep.Reason, "ripgrep") {
		t.Errorf("%s %s", rep.Status, rep.Reason)
	}
}
