package agent

import (
	"bytes"
	"encoding/json"
	"path/filepath"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// pi returns the adapter of the pi coding agent, the smallest of them.
func pi() adapter {
	return adapter{
		name: "pi", program: "pi", version: []string{"--version"}, tested: "1.6.0",
		help:      "npm install -g @earendil-works/pi-coding-agent",
		abilities: Abilities{Wire: WireChat, Skills: true, Images: true, Usage: true, Chat: true},
		output:    1 << 30, // it repeats the whole message with every token
		state:     []string{".pi"},
		reads:     []string{"AGENTS.md", "CLAUDE.md"},
		hidden:    map[string][]string{"CLAUDE.md": {"AGENTS.md"}},
		plugins:   Plugins{User: Place{Folder: ".pi/agent", Own: "extensions/skillopt"}, Variable: "PI_CODING_AGENT_DIR", Project: Place{Folder: ".pi", Own: "extensions/skillopt"}},
		launch:    launchPi,
		reader:    func() reader { return &piReader{} },
	}
}

// piProvider is what the endpoint is called in pi's list of models.
const piProvider = "skillopt"

func launchPi(l *launch) error {
	l.arg("--mode", "json", "--no-session", "--no-prompt-templates", "--no-themes", "-p")
	if !l.job.WorkspaceTools || l.job.Chat != nil {
		l.arg("--no-extensions") // servers of tools are one
	}
	l.set("PI_SKIP_VERSION_CHECK", "1")
	l.set("PI_TELEMETRY", "0")
	if l.login() {
		if l.job.Model != "" {
			l.arg("--model", l.job.Model)
		}
		if l.job.Chat == nil { // whether its user trusts the folder or not
			l.arg("--skill", filepath.Join(l.workspace(), filepath.FromSlash(agentsSkills)))
		}
	} else {
		l.set("PI_OFFLINE", "1")
		if err := l.piModels(); err != nil {
			return err
		}
		l.arg("--provider", piProvider, "--model", l.job.Model)
	}
	if c := l.job.Chat; c != nil {
		l.arg("--no-tools", "--no-skills", "--no-context-files")
		path, err := l.file("system.md", c.System)
		if err != nil {
			return err
		}
		l.arg("--system-prompt", path)
		if c.Effort != "" {
			l.arg("--thinking", c.Effort)
		}
	}
	for _, path := range l.images {
		l.arg("@" + path)
	}
	return nil
}

// piModels writes where the model is, and that the workspace is trusted: from 0.81 on pi
// finds skills in trusted folders alone, and takes a key as it is.
func (l *launch) piModels() error {
	m := map[string]any{"id": l.job.Model, "name": l.job.Model, "input": []string{"text", "image"}}
	if l.job.Context > 0 {
		m["contextWindow"] = l.job.Context
	}
	_, err := l.settings(".pi/agent/models.json", map[string]any{"providers": map[string]any{piProvider: map[string]any{
		"baseUrl": l.job.Endpoint.base() + "/v1", "api": "openai-completions", "apiKey": l.job.Endpoint.Key,
		"models": []any{m},
	}}})
	if err != nil {
		return err
	}
	_, err = l.settings(".pi/agent/settings.json", map[string]any{"defaultProjectTrust": "always"})
	return err
}

// piReader reads the events of pi --mode json.
type piReader struct{}

type piEvent struct {
	Type    string    `json:"type"`
	Message piMessage `json:"message"`

	CallID  string          `json:"toolCallId"`
	Tool    string          `json:"toolName"`
	Args    json.RawMessage `json:"args"`
	IsError bool            `json:"isError"`
	Result  struct {
		Content json.RawMessage `json:"content"`
	} `json:"result"`

	Success    bool   `json:"success"`
	FinalError string `json:"finalError"`
	ErrorText  string `json:"errorMessage"`
}

type piMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	Model   string          `json:"model"`
	Usage   *struct {
		Input  int64 `json:"input"`
		Output int64 `json:"output"`
		Read   int64 `json:"cacheRead"`
		Write  int64 `json:"cacheWrite"`
	} `json:"usage"`
	StopReason string `json:"stopReason"`
	Error      string `json:"errorMessage"`
}

type piBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

var piEnd = pattern.New(`^\s*\{\s*"type"\s*:\s*"agent_end"`)

func (*piReader) line(r *record, text []byte, whole bool) {
	if !whole {
		// The last event repeats the whole conversation, which can be any length.
		r.ended = r.ended || piEnd.Regexp().Match(text)
		return
	}
	if bytes.HasPrefix(text, []byte(`{"type":"message_update"`)) {
		return
	}
	var e piEvent
	if !r.decode(text, &e) {
		return
	}
	switch e.Type {
	case "agent_start":
		r.ended = false
	case "agent_end":
		r.ended = true
	case "message_end":
		if e.Message.Role == "assistant" {
			e.Message.record(r)
		}
	case "tool_execution_start":
		if !r.hasOpenCall(e.CallID) {
			r.call(e.CallID, e.Tool, e.Args)
		}
	case "tool_execution_end":
		r.result(e.CallID, parseText(e.Result.Content), e.IsError)
	case "auto_retry_start":
		r.retry(0, e.ErrorText)
	case "auto_retry_end":
		if r.waiting = nil; !e.Success && e.FinalError != "" {
			r.fail(0, e.FinalError)
		}
	}
}

// record takes in a message of the model. A run that failed ends like any
// other: only the message says so.
func (m piMessage) record(r *record) {
	switch m.StopReason {
	case "error":
		r.fail(0, m.Error)
		return
	case "aborted": // it was asked to end
		return
	}
	r.fault, r.own = nil, ""
	if m.StopReason == "length" {
		r.own = "length: the answer was cut at the model's output limit"
	}
	r.model = m.Model
	r.calls++
	if u := m.Usage; u != nil {
		r.usage = r.usage.Add(trajectory.Usage{Input: u.Input + u.Read + u.Write, Output: u.Output, Cached: u.Read, CacheWrite: u.Write})
		r.known = true
	}
	r.answer = m.say(r)
}

func (m piMessage) say(r *record) (answer string) {
	var blocks []piBlock
	if json.Unmarshal(m.Content, &blocks) != nil {
		answer = parseText(m.Content)
		r.say(answer)
		return answer
	}
	for _, b := range blocks {
		switch b.Type {
		case "text":
			r.say(b.Text)
			answer += b.Text
		case "thinking":
			r.think(b.Thinking)
		case "toolCall":
			r.call(b.ID, b.Name, b.Arguments)
		}
	}
	return answer
}
