package agent

import (
	"encoding/json"
	"strings"

	"github.com/seed-f4525e22/skillopt/trajectory"
)

// qwen returns the adapter of Qwen Code. Its events have the form of Claude Code's, but not their
// meaning everywhere.
func qwen() adapter {
	return adapter{
		name: "qwen", program: "qwen", version: []string{"--version"}, tested: "0.24.4",
		help:      "npm install -g @qwen-code/qwen-code",
		abilities: Abilities{Wire: WireChat, Skills: true, Usage: true, Tools: true},
		state:     []string{".qwen"},
		reads:     []string{"AGENTS.md", "QWEN.md"},
		shows:     []string{".qwen/QWEN.md", ".qwen/AGENTS.md", ".qwen/skills", ".agents/skills"},
		shell:     shell{tool: "run_shell_command", unstarted: []string{"forkpty(3) failed"}},
		clients:   []string{"qwen-cli-mcp-client"}, vendor: []string{"dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com"},
		plugins: Plugins{User: Place{Folder: ".qwen", Own: "extensions/skillopt"}, Variable: "QWEN_HOME", Project: Place{Folder: ".qwen", Settings: "settings.json"}},
		launch:  launchQwen,
		reader:  func() reader { return &qwenReader{} },
	}
}

func launchQwen(l *launch) error {
	l.arg("-y", "--output-format", "stream-json")
	settings := map[string]any{
		"general": map[string]any{"disableAutoUpdate": true},
		// A confined program gets no terminal for its commands.
		"tools": map[string]any{"shell": map[string]any{"enableInteractiveShell": false}},
	}
	if !l.job.WorkspaceTools {
		settings["disableAllHooks"] = true
		allowed := ""
		if l.job.Tools != nil {
			allowed = toolsName
		}
		l.arg("--allowed-mcp-server-names", allowed)
	}
	if l.job.Tools != nil {
		settings["mcpServers"] = l.servers("httpUrl", map[string]any{"trust": true, "alwaysLoadTools": true})
	}
	switch {
	case !l.login():
		l.arg("--auth-type", "openai")
		l.set("OPENAI_BASE_URL", l.job.Endpoint.base()+"/v1")
		l.set("OPENAI_API_KEY", l.job.Endpoint.Key)
		l.set("OPENAI_MODEL", l.job.Model)
		settings["privacy"], settings["telemetry"] = map[string]any{"usageStatisticsEnabled": false}, map[string]any{"enabled": false}
		if l.job.Context > 0 {
			settings["model"] = map[string]any{"generationConfig": map[string]any{"contextWindowSize": l.job.Context}}
		}
	case l.job.Model != "":
		l.arg("-m", l.job.Model)
	}
	// Not in the home folder, which is the user's own with a login: what holds for the tools
	// must hold there too, and a proof through the gateway proves both.
	path, err := l.settings("qwen/settings.json", settings)
	l.set("QWEN_CODE_SYSTEM_SETTINGS_PATH", path)
	return err
}

// qwenReader reads the events of qwen --output-format stream-json.
type qwenReader struct{ seen trajectory.Usage }

type qwenEvent struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Message struct {
		Model   string          `json:"model"`
		Content json.RawMessage `json:"content"`
		Usage   qwenUsage       `json:"usage"`
	} `json:"message"`
	IsError bool            `json:"is_error"`
	Result  string          `json:"result"`
	Error   json.RawMessage `json:"error"`
	Usage   *qwenUsage      `json:"usage"`
}

type qwenUsage struct {
	Input  int64 `json:"input_tokens"` // what was read from a cache is in it
	Output int64 `json:"output_tokens"`
	Cached int64 `json:"cache_read_input_tokens"`
}

func (u qwenUsage) total() trajectory.Usage {
	return trajectory.Usage{Input: u.Input, Output: u.Output, Cached: u.Cached}
}

// apiError begins what qwen and gemini print instead of an answer when the
// model server refused. No answer that starts so is worth a score.
const apiError = "[API Error: "

func (q *qwenReader) line(r *record, text []byte, whole bool) {
	var e qwenEvent
	if !whole || !r.decode(text, &e) {
		return
	}
	switch e.Type {
	case "assistant":
		q.assistant(r, e)
	case "user":
		for _, b := range claudeBlocks(e.Message.Content) {
			if b.Type == "tool_result" {
				r.result(b.ToolUseID, parseText(b.Content), b.IsError)
			}
		}
	case "result":
		q.result(r, e)
	}
}

func (q *qwenReader) assistant(r *record, e qwenEvent) {
	blocks := claudeBlocks(e.Message.Content)
	if len(blocks) > 0 && strings.HasPrefix(blocks[0].Text, apiError) {
		r.fail(0, inAPIError(blocks[0].Text))
		return
	}
	r.fault = nil
	r.model = e.Message.Model
	if e.Message.Usage != (qwenUsage{}) { // it comes with one of the blocks only
		r.calls++
		q.seen = q.seen.Add(e.Message.Usage.total())
	}
	claudeSay(r, blocks)
}

func (q *qwenReader) result(r *record, e qwenEvent) {
	r.ended, r.answer = true, e.Result
	if e.Usage != nil && (*e.Usage != (qwenUsage{}) || r.calls == 0) {
		r.usage, r.known = e.Usage.total(), true
	}
	switch {
	case strings.HasPrefix(e.Result, apiError):
		r.fail(0, inAPIError(e.Result))
	case e.Subtype == "error_max_turns":
		r.own = "turns: the agent's own limit of turns is reached"
	case e.IsError || strings.HasPrefix(e.Subtype, "error"):
		r.fail(0, e.Result+parseText(orNull(e.Error)))
	}
}

// partial implements partial.
func (q *qwenReader) partial() trajectory.Usage { return q.seen }

// inAPIError returns what the brackets hold.
func inAPIError(text string) string {
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(text), apiError), "]")
}
