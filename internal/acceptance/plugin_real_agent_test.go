package acceptance_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-f4525e22/skillopt/internal/plugin"
)

// pluginServerVar names the file in which a server of tools that a plugin has started writes where it is.
const pluginServerVar = "SKILLOPT_TEST_PLUGIN_SERVER"

// servePlugin is what a host starts as skillopt: a server with one tool.
func servePlugin(log string, args []string) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	f, err := os.OpenFile(log, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s in %s\n", strings.Join(args, " "), dir)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "skillopt", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "skill_lint", Description: "Checks a skill."}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "no findings"}}}, nil, nil
	})
	return s.Run(context.Background(), &mcp.StdioTransport{})
}

// pluginHost is how a host is run once against a model server that refuses: it has loaded its plugins before.
type pluginHost struct {
	args  []string
	env   []string          // @URL is the server's
	files map[string]string // below the home folder, which has them before; @PROJECT is the folder that it works in
	shown []string          // what its first request says of the plugin
	ended bool              // it has a hook that touches a file when this ends
}

func pluginHosts() map[string]pluginHost {
	quiet := `{"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": false}, "telemetry": {"enabled": false}, "general": {"enableAutoUpdate": false}}`
	return map[string]pluginHost{
		"claude": {
			args:  []string{"-p", "--model", "claude-sonnet-4-6", "hi"},
			env:   []string{"ANTHROPIC_BASE_URL=@URL", "ANTHROPIC_API_KEY=x", "CLAUDE_CODE_MAX_RETRIES=0", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1"},
			files: map[string]string{".claude.json": `{"projects": {"@PROJECT": {"hasTrustDialogAccepted": true}}}`},
			shown: []string{"skillopt:skillopt-improve", "skillopt:train", "skill_lint"}, ended: true,
		},
		"codex": {
			args: []string{"exec", "--skip-git-repo-check", "hi"}, env: []string{"KEY=x"},
			files: map[string]string{".codex/config.toml": "# mine\nmodel = \"m\"\nmodel_provider = \"f\"\ncheck_for_update_on_startup = false\n\n[model_providers.f]\nname = \"f\"\nbase_url = \"@URL/v1\"\nenv_key = \"KEY\"\nrequest_max_retries = 0\nstream_max_retries = 0\n\n[features]\nplugins = false\n\n[projects.\"@PROJECT\"]\ntrust_level = \"trusted\"\n"},
			shown: []string{"skillopt-improve", "skillopt namespace"},
		},
		"copilot": {
			args:  []string{"-p", "hi", "--stream", "off", "--allow-all-tools", "--disable-builtin-mcps"},
			env:   []string{"COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false", "COPILOT_PROVIDER_BASE_URL=@URL/v1", "COPILOT_PROVIDER_TYPE=openai", "COPILOT_PROVIDER_API_KEY=x", "COPILOT_MODEL=m"},
			files: map[string]string{".copilot/mcp-config.json": "{\n  // mine\n  \"mcpServers\": {},\n}\n", ".copilot/config.json": `{"trustedFolders": ["@PROJECT"]}`},
			shown: []string{"skillopt-improve", "skill_lint"}, ended: true,
		},
		"gemini": {
			args: []string{"-m", "gemini-2.5-flash", "--approval-mode", "yolo", "-p", "hi"}, env: []string{"GOOGLE_GEMINI_BASE_URL=@URL", "GEMINI_API_KEY=x", "GEMINI_CLI_TRUST_WORKSPACE=true"},
			files: map[string]string{".gemini/settings.json": quiet},
			shown: []string{"skillopt-improve", "skill_lint"}, ended: true,
		},
		"opencode": {
			args: []string{"run", "--title", "t", "-m", "f/m", "hi"}, env: []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1"},
			files: map[string]string{".config/opencode/opencode.json": `{"autoupdate": false, "share": "disabled", "provider": {"f": {"npm": "@ai-sdk/openai-compatible", "name": "F", "options": {"baseURL": "@URL/v1", "apiKey": "x"}, "models": {"m": {"name": "M"}}}}}`},
			shown: []string{"skillopt-improve", "skill_lint"},
		},
		"pi": {
			args: []string{"--approve", "--provider", "f", "--model", "m", "--no-session", "-p", "hi"}, env: []string{"PI_OFFLINE=1", "PI_SKIP_VERSION_CHECK=1", "PI_TELEMETRY=0"},
			files: map[string]string{".pi/agent/models.json": `{"providers": {"f": {"baseUrl": "@URL/v1", "api": "openai-completions", "apiKey": "x", "models": [{"id": "m", "name": "M", "contextWindow": 100000, "maxTokens": 8000}]}}}`},
			shown: []string{"skillopt-improve"}, ended: true,
		},
		"qwen": {
			args: []string{"--auth-type", "openai", "-y", "-p", "hi"}, env: []string{"OPENAI_BASE_URL=@URL/v1", "OPENAI_API_KEY=x", "OPENAI_MODEL=m"},
			files: map[string]string{".qwen/settings.json": quiet},
			shown: []string{"skillopt-improve", "skill_lint"},
		},
	}
}

// TestRealPluginsAreFoundAndRemoved installs the plugin in each host, for the user and in a project, runs the
// real program once, and removes the plugin: the program has the skill, starts the server in the project,
// and nothing of the plugin is left.
func TestRealPluginsAreFoundAndRemoved(t *testing.T) {
	t.Parallel()
	dir := realAgents(t)
	for _, name := range slices.Sorted(maps.Keys(pluginHosts())) {
		t.Run(name, func(t *testing.T) {
			program, _ := realProgram(t, dir, name)
			for _, scope := range []string{"user", "project"} {
				t.Run(scope, func(t *testing.T) { tryPlugin(t, name, program, scope == "project") })
			}
		})
	}
}

func tryPlugin(t *testing.T, name, program string, project bool) {
	h := pluginHosts()[name]
	home, work, log := t.TempDir(), filepath.Join(t.TempDir(), "work"), filepath.Join(t.TempDir(), "started")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", work).CombinedOutput(); err != nil {
		t.Skipf("git: %v: %s", err, out)
	}
	work, _ = filepath.EvalSymlinks(work)
	model := newRefusal(t)
	fill := strings.NewReplacer("@URL", model.URL, "@PROJECT", filepath.ToSlash(work))
	for file, text := range h.files {
		putFile(t, filepath.Join(home, file), fill.Replace(text))
	}
	before := []map[string]string{files(t, home), files(t, work)}
	o := plugin.Options{Home: home, Lookup: func(string) string { return "" }, Version: "v1.2.3", Args: []string{"--allow-calls", "1"}}
	if project {
		o.Project = work
	}
	host := plugin.Hosts()[slices.IndexFunc(plugin.Hosts(), func(p plugin.Host) bool { return p.Name == name })]
	installed, err := host.Install(t.Context(), o)
	if err == nil {
		err = installed.Apply()
	}
	if err != nil {
		t.Fatal(err)
	}
	out := h.run(t, program, home, work, log, fill)
	started, err := os.ReadFile(log)
	if want := "mcp --allow-calls 1 in " + work + "\n"; !strings.Contains(string(started), want) {
		t.Errorf("started: %q (%v), want %q; it printed:\n%s", started, err, want, out)
	}
	for _, want := range h.shown {
		if project && strings.Contains(want, "train") {
			continue
		}
		if !strings.Contains(model.asked(), want) {
			t.Errorf("its model is not shown %q; it printed:\n%s", want, out)
		}
	}
	if ended := plugin.LastEnd(o); ended.IsZero() != (project || !h.ended) {
		t.Errorf("a session ended: %v", ended)
	}
	removed, err := host.Remove(t.Context(), o)
	if err == nil {
		err = removed.Apply()
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, dir := range []string{home, work} {
		after := files(t, dir)
		for file, text := range before[i] {
			if after[file] != text && !slices.Contains([]string{".claude.json", ".qwen/settings.json", ".copilot/config.json", ".config/opencode/opencode.json"}, file) { // which the host writes when it runs
				t.Errorf("%s was\n%s\nand is\n%s", file, text, after[file])
			}
		}
		for _, c := range installed.Changes {
			rel, err := filepath.Rel(dir, c.Path)
			if _, was := before[i][filepath.ToSlash(rel)]; err == nil && filepath.IsLocal(rel) && !was && c.Action != plugin.Keep {
				if _, err := os.Lstat(c.Path); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("left: %s (%v)", c.Path, err)
				}
			}
		}
	}
}

// run runs the host once. That it fails is as it should be: its model refuses.
func (h pluginHost) run(t *testing.T, program, home, work, log string, fill *strings.Replacer) string {
	t.Helper()
	bin := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(bin, "skillopt")
	putFile(t, script, fmt.Sprintf("#!/bin/sh\n%s='%s' exec '%s' \"$@\"\n", pluginServerVar, log, self))
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, h.args...)
	cmd.Dir, cmd.WaitDelay = work, time.Second
	cmd.Env = []string{"HOME=" + home, "TERM=dumb", "LANG=C.UTF-8", "PATH=" + strings.Join([]string{bin, filepath.Dir(program), os.Getenv("PATH")}, string(os.PathListSeparator))}
	for _, v := range h.env {
		cmd.Env = append(cmd.Env, fill.Replace(v))
	}
	if runtime.GOOS == "linux" {
		cmd.Env = append(cmd.Env, "IS_SANDBOX=1")
	}
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// refusal is a model server that keeps what it is asked and refuses it.
type refusal struct {
	*httptest.Server
	mu   sync.Mutex
	text bytes.Buffer
}

func newRefusal(t *testing.T) *refusal {
	r := &refusal{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		_, _ = io.Copy(&r.text, req.Body)
		http.Error(w, `{"error": {"message": "refused", "code": 400, "type": "invalid_request_error"}}`, http.StatusBadRequest)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *refusal) asked() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

func putFile(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// files returns what is in the files of a folder.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.Contains(path, ".git"+string(filepath.Separator)) {
			return err
		}
		text, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		all[filepath.ToSlash(rel)] = string(text)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return all
}
