// Package hosttest runs coding agents as their users do: not confined, with a home folder, with what is installed there. Their
// model is one that a test brings, at an address of a gateway.
package hosttest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/model"
)

// Model is the name of the model that hosts ask.
const Model = "scripted"

// Host is a coding agent of a user.
type Host struct {
	Name    string // of the agent: claude, codex, copilot, gemini, opencode, pi, qwen
	Program string
	Path    string // a folder of further programs
	Home    string // a folder of its own
	Project string // where the user is
	URL     string // of the gateway, without /v1
	Key     string
}

// start is how a program is started.
type start struct {
	args, env []string
}

// Ask has the host answer a prompt, with all tools allowed, and returns what it wrote.
func (h Host) Ask(t *testing.T, prompt string) string {
	t.Helper()
	s := h.starts(t)[h.Name]
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, h.Program, s.args...)
	cmd.Dir, cmd.Env = h.Project, append(h.Environ(), s.env...)
	cmd.Stdin = strings.NewReader(prompt)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Logf("%s: %v", h.Name, err)
	}
	return string(out)
}

// Prepare writes what a user of the host has at home before anything is installed: that nothing is sent elsewhere, and of pi where its
// model is.
func (h Host) Prepare(t *testing.T) {
	t.Helper()
	private := map[string]any{"usageStatisticsEnabled": false}
	switch h.Name {
	case "pi":
		h.write(t, ".pi/agent/models.json", map[string]any{"providers": map[string]any{"t": map[string]any{
			"baseUrl": h.URL + "/v1", "api": "openai-completions", "apiKey": h.Key, "models": []any{map[string]any{"id": Model, "name": Model}},
		}}})
	case "gemini":
		h.write(t, ".gemini/settings.json", map[string]any{
			"security": map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}}, "privacy": private, "general": map[string]any{"enableAutoUpdate": false},
		})
	case "qwen":
		h.write(t, ".qwen/settings.json", map[string]any{"privacy": private, "telemetry": map[string]any{"enabled": false}, "general": map[string]any{"disableAutoUpdate": true}})
	}
}

// write writes a file of settings at home.
func (h Host) write(t *testing.T, name string, v any) {
	t.Helper()
	path := filepath.Join(h.Home, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(encode(t, v)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Environ returns what the programs of the user see.
func (h Host) Environ() []string {
	path := strings.Join([]string{h.Path, filepath.Dir(h.Program), os.Getenv("PATH")}, string(os.PathListSeparator))
	return []string{
		"PATH=" + path, "HOME=" + h.Home, "LANG=C.UTF-8", "TERM=dumb", "NO_COLOR=1", "TZ=UTC", "TMPDIR=" + os.TempDir(),
	}
}

// starts returns how each agent is started, with its model at the gateway.
func (h Host) starts(t *testing.T) map[string]start {
	t.Helper()
	openAI := h.URL + "/v1"
	return map[string]start{
		"claude": {
			args: []string{"-p", "--output-format", "stream-json", "--verbose", "--permission-mode", "bypassPermissions", "--model", Model},
			env: []string{
				"ANTHROPIC_BASE_URL=" + h.URL, "ANTHROPIC_API_KEY=" + h.Key, "IS_SANDBOX=1", "CLAUDE_CODE_MAX_RETRIES=1",
				"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
			},
		},
		"codex": {
			args: []string{
				"exec", "--json", "--skip-git-repo-check", "--color", "never", "--dangerously-bypass-approvals-and-sandbox",
				"-c", "model=" + strconv.Quote(Model), "-c", `model_provider="t"`, "-c", `model_providers.t.name="t"`, "-c", "model_providers.t.base_url=" + strconv.Quote(openAI),
				"-c", `model_providers.t.env_key="T_KEY"`, "-c", `model_providers.t.wire_api="responses"`, "-c", "model_providers.t.request_max_retries=1",
				"-c", "check_for_update_on_startup=false", "-c", "analytics.enabled=false", "-c", `web_search="disabled"`, "-",
			},
			env: []string{"T_KEY=" + h.Key},
		},
		"copilot": {
			args: []string{"--output-format", "json", "--stream", "off", "--no-color", "--log-level", "none", "--disable-builtin-mcps", "--allow-all-tools", "--allow-all-paths"},
			env: []string{
				"COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false", "COPILOT_PROVIDER_BASE_URL=" + openAI, "COPILOT_PROVIDER_TYPE=openai",
				"COPILOT_PROVIDER_WIRE_API=completions", "COPILOT_PROVIDER_API_KEY=" + h.Key, "COPILOT_MODEL=" + Model,
			},
		},
		"gemini": {
			args: []string{"--approval-mode", "yolo", "--output-format", "stream-json", "-m", Model},
			env:  []string{"GEMINI_CLI_TRUST_WORKSPACE=true", "GOOGLE_GEMINI_BASE_URL=" + h.URL, "GEMINI_API_KEY=" + h.Key},
		},
		"qwen": {
			args: []string{"-y", "--output-format", "stream-json", "--auth-type", "openai"},
			env:  []string{"OPENAI_BASE_URL=" + openAI, "OPENAI_API_KEY=" + h.Key, "OPENAI_MODEL=" + Model},
		},
		"opencode": {
			args: []string{"run", "--format", "json", "--title", "task", "-m", "t/" + Model},
			env: []string{
				"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1",
				"OPENCODE_CONFIG_CONTENT=" + encode(t, map[string]any{
					"autoupdate": false, "share": "disabled", "permission": map[string]string{"edit": "allow", "bash": "allow", "webfetch": "deny"},
					"provider": map[string]any{"t": map[string]any{
						"npm": "@ai-sdk/openai-compatible", "name": "t", "options": map[string]string{"baseURL": openAI, "apiKey": h.Key},
						"models": map[string]any{Model: map[string]any{"name": Model}},
					}},
				}),
			},
		},
		"pi": {
			args: []string{"--mode", "json", "--no-session", "-p", "--provider", "t", "--model", Model},
			env:  []string{"PI_SKIP_VERSION_CHECK=1", "PI_TELEMETRY=0", "PI_OFFLINE=1"},
		},
	}
}

// Script is a model that calls tools in order, one a turn, by the end of their names: hosts put something before it.
type Script struct {
	Calls []Call
	Then  string // what it says at the end

	mu       sync.Mutex
	offered  []string
	heard    string
	answered []Answer
}

// Call is one call.
type Call struct {
	Tool      string
	Arguments map[string]any
	Refused   string // what the answer says, where it is a refusal
}

// Answer is what a call was answered.
type Answer struct {
	Tool, Text string
	Failed     bool
}

// Answers returns the answers so far, in the order of calls.
func (s *Script) Answers() []Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.answered)
}

// Offered returns the names of the tools that the host has offered, as it calls them.
func (s *Script) Offered() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.offered)
}

// Heard returns the text of the first request with tools.
func (s *Script) Heard() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.heard
}

// Generate implements model.Client.
func (s *Script) Generate(_ context.Context, r model.Request) (said model.Response, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	said.Usage.Input, said.Usage.Output = 10, 5
	names := s.hear(r)
	answered := s.listAnswers(r.Messages)
	if len(answered) > len(s.answered) { // a side question of the host has none
		s.answered = answered
	}
	if len(names) == 0 || len(answered) >= len(s.Calls) {
		said.Text = s.Then
		return said, nil
	}
	c, err := s.choose(s.Calls[len(answered)], names, searches(r.Messages) <= len(answered))
	c.ID += strconv.Itoa(len(answered) + 1)
	said.Parts = []model.Part{{Call: &c}}
	return said, err
}

// hear notes the tools of a request, and returns their names.
func (s *Script) hear(r model.Request) (names []string) {
	for _, m := range r.Messages {
		if len(s.offered) == 0 {
			s.heard += m.Text() + "\n"
		}
	}
	for _, t := range r.Tools {
		names = append(names, t.Name)
		if !slices.Contains(s.offered, t.Name) {
			s.offered = append(s.offered, t.Name)
		}
	}
	return names
}

// choose returns the next call: of the tool, or of the tool by which the host shows, or calls, tools that it does not show at once.
func (s *Script) choose(next Call, names []string, search bool) (model.ToolCall, error) {
	if next.Arguments == nil {
		next.Arguments = map[string]any{}
	}
	name := find(names, next.Tool)
	shows := cmp.Or(find(names, "ToolSearch"), find(names, "tool_search"))
	var arguments any = next.Arguments
	id := "call_"
	switch bridge := find(names, "tool_call"); {
	case name != "":
	case shows != "" && search:
		id, name, arguments = "search_", shows, map[string]any{"query": "skillopt " + next.Tool}
	case bridge != "":
		name, arguments = bridge, map[string]any{"name": "mcp__skillopt__" + next.Tool, "arguments": next.Arguments}
	default:
		return model.ToolCall{}, fmt.Errorf("the host offers no tool %s, only %s", next.Tool, strings.Join(names, ", "))
	}
	data, err := json.Marshal(arguments)
	return model.ToolCall{ID: id, Name: name, Arguments: data}, err
}

// searches counts the searches for tools so far.
func searches(messages []model.Message) (n int) {
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.Call != nil && strings.HasPrefix(p.Call.ID, "search_") {
				n++
			}
		}
	}
	return n
}

// find returns the name by which a host offers a tool.
func find(names []string, tool string) string {
	for _, name := range names {
		if before, ok := strings.CutSuffix(name, tool); ok && (before == "" || strings.HasSuffix(before, "_") || strings.HasSuffix(before, "-") || strings.HasSuffix(before, ".")) {
			return name
		}
	}
	return ""
}

// listAnswers returns the answers to calls of the script.
func (s *Script) listAnswers(messages []model.Message) (all []Answer) {
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.Result != nil && strings.HasPrefix(p.Result.CallID, "call_") && len(all) < len(s.Calls) {
				all = append(all, Answer{Tool: s.Calls[len(all)].Tool, Text: p.Result.Content, Failed: p.Result.IsError})
			}
		}
	}
	return all
}

func encode(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
