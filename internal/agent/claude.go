package agent

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// claude returns the adapter of Claude Code.
func claude() adapter {
	return adapter{
		name: "claude", program: "claude", version: []string{"--version"}, tested: "2.1.332",
		help:      "npm install -g @anthropic-ai/claude-code",
		abilities: Abilities{Wire: WireMessages, Skills: true, Images: true, Usage: true, Chat: true, Tools: true},
		state:     []string{".claude", ".claude.json"},
		reads:     []string{"CLAUDE.md", ".claude/CLAUDE.md"},
		clients:   []string{"claude-code"}, vendor: []string{"api.anthropic.com"},
		plugins: Plugins{User: Place{Folder: ".claude", Own: "skills/skillopt"}, Variable: "CLAUDE_CONFIG_DIR", Project: Place{Folder: ".claude", Own: "skills/skillopt"}},
		launch:  launchClaude,
		reader:  func() reader { return &claudeReader{seen: map[string]trajectory.Usage{}} },
	}
}

func launchClaude(l *launch) error {
	l.arg("-p", "--output-format", "stream-json", "--verbose", "--no-session-persistence")
	if !l.job.WorkspaceTools || l.job.Chat != nil {
		l.arg("--strict-mcp-config")
	}
	if l.job.Tools != nil {
		path, err := l.settings("mcp.json", map[string]any{"mcpServers": l.servers("url", map[string]any{"type": "http", "alwaysLoad": true})})
		if err != nil {
			return err
		}
		l.arg("--mcp-config", path)
	}
	if l.job.Model != "" {
		l.arg("--model", l.job.Model)
	}
	if c := l.job.Chat; c != nil {
		if err := l.claudeChat(c); err != nil {
			return err
		}
	} else {
		// Without the project's settings it would not find the skill. But a task's
		// workspace may bring some, with commands to run or another server: those
		// that we set are stronger.
		settings, err := l.claudeSettings()
		if err != nil {
			return err
		}
		l.arg("--permission-mode", "bypassPermissions", "--setting-sources", "project", "--settings", settings)
		l.set("IS_SANDBOX", "1") // or it refuses to go without questions as root
	}
	if len(l.job.Images) > 0 {
		l.arg("--input-format", "stream-json")
		text, err := l.blocks()
		if err != nil {
			return err
		}
		l.stdin = text
	}
	for _, name := range []string{"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING"} {
		l.set(name, "1")
	}
	if !l.login() {
		l.set("ANTHROPIC_BASE_URL", l.job.Endpoint.base())
		l.set("ANTHROPIC_API_KEY", l.job.Endpoint.Key)
		l.set("CLAUDE_CODE_MAX_RETRIES", "2") // ten otherwise, for more than two minutes
	}
	if n := l.job.Context; n > 0 { // the first is for models of others, the second for those that it knows
		l.set("CLAUDE_CODE_MAX_CONTEXT_TOKENS", strconv.Itoa(n))
		l.set("CLAUDE_CODE_AUTO_COMPACT_WINDOW", strconv.Itoa(n))
	}
	return nil
}

func (l *launch) claudeSettings() (path string, err error) {
	settings := map[string]any{"disableAllHooks": !l.job.WorkspaceTools, "enableAllProjectMcpServers": l.job.WorkspaceTools}
	if route := l.claudeRoute(); len(route) > 0 {
		settings["env"] = route
	}
	return l.settings("settings.json", settings)
}

func (l *launch) claudeChat(c *Chat) error {
	// An empty list of tools takes all away; settings, skills and commands would
	// come back as text in the prompt.
	l.arg("--tools=", "--setting-sources=", "--disable-slash-commands")
	path, err := l.file("system.md", c.System)
	if err != nil {
		return err
	}
	if c.System != "" {
		l.arg("--system-prompt-file", path)
	} else {
		l.arg("--system-prompt", "Answer the user.")
	}
	if c.Schema != nil {
		l.arg("--json-schema", string(c.Schema))
	}
	if c.Effort != "" {
		l.arg("--effort", c.Effort)
	}
	return nil
}

// claudeReader reads the events of Claude Code. It writes one event for each
// block of a message and repeats the message's usage in all of them.
type claudeReader struct {
	seen map[string]trajectory.Usage // of a message, by its id
}

type claudeEvent struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Message struct {
		ID      string          `json:"id"`
		Model   string          `json:"model"`
		Content json.RawMessage `json:"content"`
		Usage   *claudeUsage    `json:"usage"`
	} `json:"message"`
	Error       json.RawMessage        `json:"error"`
	ErrorStatus *int                   `json:"error_status"`
	IsError     bool                   `json:"is_error"`
	APIStatus   *int                   `json:"api_error_status"`
	Result      string                 `json:"result"`
	Structured  json.RawMessage        `json:"structured_output"`
	StopReason  string                 `json:"stop_reason"`
	Usage       *claudeUsage           `json:"usage"`
	Models      map[string]claudeTotal `json:"modelUsage"`
}

type claudeUsage struct {
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
	Read   int64 `json:"cache_read_input_tokens"`
	Write  int64 `json:"cache_creation_input_tokens"`
}

type claudeTotal struct {
	Input  int64 `json:"inputTokens"`
	Output int64 `json:"outputTokens"`
	Read   int64 `json:"cacheReadInputTokens"`
	Write  int64 `json:"cacheCreationInputTokens"`
}

// total returns a usage as this product counts: what was read from a cache and written to it is
// input too.
func (u claudeUsage) total() trajectory.Usage {
	return trajectory.Usage{Input: u.Input + u.Read + u.Write, Output: u.Output, Cached: u.Read, CacheWrite: u.Write}
}

type claudeBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
}

// synthetic is the model of messages that the program writes itself.
const synthetic = "<synthetic>"

func (c *claudeReader) line(r *record, text []byte, whole bool) {
	var e claudeEvent
	if !whole || !r.decode(text, &e) {
		return
	}
	switch e.Type {
	case "system":
		if e.Subtype == "api_retry" {
			r.retry(deref(e.ErrorStatus), parseText(e.Error))
		}
	case "assistant":
		c.assistant(r, e)
	case "user":
		for _, b := range claudeBlocks(e.Message.Content) {
			if b.Type == "tool_result" {
				r.result(b.ToolUseID, parseText(b.Content), b.IsError)
			}
		}
	case "result":
		c.result(r, e)
	}
}

func (c *claudeReader) assistant(r *record, e claudeEvent) {
	if e.Message.Model == synthetic {
		if len(e.Error) > 0 {
			r.fail(0, parseText(e.Message.Content))
		}
		return
	}
	r.fault = nil
	r.model = e.Message.Model
	if u := e.Message.Usage; u != nil {
		if _, ok := c.seen[e.Message.ID]; !ok {
			r.calls++
		}
		c.seen[e.Message.ID] = u.total()
	}
	claudeSay(r, claudeBlocks(e.Message.Content))
}

func claudeSay(r *record, blocks []claudeBlock) {
	for _, b := range blocks {
		switch b.Type {
		case "text":
			r.say(b.Text)
			r.answer = b.Text
		case "thinking":
			r.think(b.Thinking)
		case "tool_use":
			r.call(b.ID, b.Name, b.Input)
		}
	}
}

// result reads the last event. Its subtype says success of errors too.
func (c *claudeReader) result(r *record, e claudeEvent) {
	r.ended = true
	r.usage, r.known = c.usage(e)
	r.answer = e.Result
	if len(e.Structured) > 0 && string(e.Structured) != "null" {
		r.answer = string(e.Structured)
	}
	switch {
	case e.Subtype == "error_max_turns":
		r.own = "turns: the agent's own limit of turns is reached"
	case e.Subtype == "error_max_budget_usd":
		r.fault = &fault{code: model.Budget, text: "the agent's own limit of costs is reached"}
	case e.IsError || strings.HasPrefix(e.Subtype, "error"):
		status := deref(e.APIStatus)
		r.fail(status, e.Result)
	case e.StopReason == "refusal":
		r.own = "refusal: the model declined"
	case e.StopReason == "max_tokens":
		r.own = "length: the answer was cut at the model's output limit"
	}
}

// usage prefers the sums by model, which count helpers of the agent as well.
func (c *claudeReader) usage(e claudeEvent) (trajectory.Usage, bool) {
	var sum trajectory.Usage
	for _, m := range e.Models {
		sum = sum.Add(claudeUsage(m).total())
	}
	switch {
	case len(e.Models) > 0:
		return sum, true
	case e.Usage != nil:
		return e.Usage.total(), true
	}
	return c.sum(), false
}

// sum adds up what the messages reported.
func (c *claudeReader) sum() trajectory.Usage {
	var sum trajectory.Usage
	for _, u := range c.seen {
		sum = sum.Add(u)
	}
	return sum
}

// partial implements partial.
func (c *claudeReader) partial() trajectory.Usage { return c.sum() }

func claudeBlocks(raw json.RawMessage) []claudeBlock {
	var blocks []claudeBlock
	if json.Unmarshal(raw, &blocks) != nil {
		if text := parseText(raw); text != "" {
			return []claudeBlock{{Type: "text", Text: text}}
		}
	}
	return blocks
}

func deref(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}
