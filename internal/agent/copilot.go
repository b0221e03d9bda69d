package agent

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
)

// copilot returns the adapter of GitHub Copilot CLI. Its events have no token counts.
func copilot() adapter {
	return adapter{
		name: "copilot", program: "copilot", version: []string{"--version"}, tested: "1.0.102",
		help:      "npm install -g @github/copilot",
		abilities: Abilities{Wire: WireChat, Skills: true, Chat: true, Tools: true},
		state:     []string{".copilot", ".cache/copilot"},
		reads:     []string{"AGENTS.md", "CLAUDE.md", "GEMINI.md", ".github/copilot-instructions.md"},
		clients:   []string{"copilot-cli"}, vendor: []string{"api.githubcopilot.com", "models.github.ai"},
		plugins: Plugins{User: Place{Folder: ".copilot", Settings: "mcp-config.json"}, Variable: "COPILOT_HOME", Project: Place{Folder: ".github", Settings: "mcp.json"}},
		launch:  launchCopilot,
		reader:  func() reader { return &copilotReader{} },
	}
}

func launchCopilot(l *launch) error {
	// Without -p the prompt is read from standard input.
	l.arg("--output-format", "json", "--stream", "off", "--no-color", "--log-level", "none", "-C", l.workspace(),
		"--disable-builtin-mcps")
	if l.job.Mode != File {
		l.arg("--no-custom-instructions") // what a workspace brings is its own affair
	}
	if l.job.Tools != nil {
		path, err := l.settings("mcp.json", map[string]any{"mcpServers": l.servers("url", map[string]any{"type": "http", "tools": []string{"*"}})})
		if err != nil {
			return err
		}
		l.arg("--additional-mcp-config", "@"+path)
	}
	l.set("COPILOT_AUTO_UPDATE", "false")
	l.set("COPILOT_HOME", filepath.Join(l.home, ".copilot"))
	if l.login() {
		if l.job.Model != "" {
			l.arg("--model", l.job.Model)
		}
	} else {
		l.set("COPILOT_OFFLINE", "true")
		l.set("COPILOT_PROVIDER_BASE_URL", l.job.Endpoint.base()+"/v1")
		l.set("COPILOT_PROVIDER_TYPE", "openai")
		l.set("COPILOT_PROVIDER_WIRE_API", "completions")
		l.set("COPILOT_PROVIDER_API_KEY", l.job.Endpoint.Key)
		l.set("COPILOT_MODEL", l.job.Model)
		if l.job.Context > 0 {
			l.set("COPILOT_PROVIDER_MAX_PROMPT_TOKENS", strconv.Itoa(l.job.Context))
		}
	}
	if l.job.Chat == nil {
		// Its own check of paths refuses temporary files and what a command only names.
		// What it may reach is bounded from outside, by the sandbox.
		l.arg("--allow-all-tools", "--allow-all-paths")
		return nil
	}
	// An empty list would offer all tools; a name that does not exist offers none.
	l.arg("--available-tools=none")
	if l.job.Chat.System != "" {
		l.prompt = l.job.Chat.System + "\n\n" + l.prompt
		l.stdin = l.prompt
	}
	return nil
}

// copilotReader reads the events of copilot --output-format json.
type copilotReader struct{}

type copilotEvent struct {
	Type     string `json:"type"`
	ExitCode *int   `json:"exitCode"`
	Data     struct {
		Content  string `json:"content"`
		Model    string `json:"model"`
		TurnID   string `json:"turnId"`
		Requests []struct {
			ID        string          `json:"toolCallId"`
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"toolRequests"`
		Reasoning string          `json:"reasoningText"`
		CallID    string          `json:"toolCallId"`
		Tool      string          `json:"toolName"`
		Args      json.RawMessage `json:"arguments"`
		Success   *bool           `json:"success"`
		Result    struct {
			Content string `json:"content"`
		} `json:"result"`
		Error struct {
			Message string `json:"message"`
			Code    string `json:"code"`
		} `json:"error"`
		Outcome   string `json:"outcome"`
		Reason    string `json:"reason"`
		ErrorType string `json:"errorType"`
		Message   string `json:"message"`
		Status    int    `json:"statusCode"`
		Failure   string `json:"errorMessage"`
	} `json:"data"`
}

func (c *copilotReader) line(r *record, text []byte, whole bool) {
	var e copilotEvent
	if !whole || !r.decode(text, &e) {
		return
	}
	d := e.Data
	switch e.Type {
	case "assistant.turn_start":
		r.ended = false
	case "model.call_finished":
		if d.Outcome == "success" {
			r.calls++
		}
	case "model.call_failure":
		r.retry(d.Status, d.Failure)
	case "assistant.message":
		c.message(r, e)
	case "tool.execution_start":
		if !r.hasOpenCall(d.CallID) {
			r.call(d.CallID, d.Tool, d.Args)
		}
	case "tool.execution_complete":
		failed := d.Success != nil && !*d.Success
		out := d.Result.Content
		if failed {
			out = strings.TrimSpace(d.Error.Code + ": " + d.Error.Message)
		}
		r.result(d.CallID, out, failed)
	case "session.error":
		r.fail(d.Status, d.ErrorType+": "+d.Message)
	case "result":
		r.ended = true
		if e.ExitCode != nil && *e.ExitCode != 0 && r.fault == nil {
			r.fail(0, "the agent ended with an error that it did not name")
		}
	}
}

// message takes in a message of the model. The last one is the answer: those
// before it announce what the agent is going to do.
func (c *copilotReader) message(r *record, e copilotEvent) {
	d := e.Data
	r.fault = nil
	r.model = d.Model
	r.think(d.Reasoning)
	r.say(d.Content)
	r.answer = d.Content
	for _, q := range d.Requests {
		r.call(q.ID, q.Name, q.Arguments)
	}
}
