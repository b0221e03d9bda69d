package agent

import (
	"encoding/json"
	"strings"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// gemini returns the adapter of Gemini CLI.
func gemini() adapter {
	return adapter{
		name: "gemini", program: "gemini", version: []string{"--version"}, tested: "0.61.0",
		help:      "npm install -g @google/gemini-cli",
		abilities: Abilities{Wire: WireGemini, Skills: true, Usage: true, Tools: true},
		state:     []string{".gemini"},
		reads:     []string{"GEMINI.md"},
		starts:    []string{".gemini/settings.json"}, // no setting of ours is stronger
		clients:   []string{"gemini-cli-mcp-client"}, vendor: []string{"generativelanguage.googleapis.com"},
		plugins: Plugins{User: Place{Folder: ".gemini", Own: "extensions/skillopt"}, Variable: "GEMINI_CLI_HOME", Below: ".gemini", Project: Place{Folder: ".gemini", Settings: "settings.json"}},
		launch:  launchGemini,
		reader:  func() reader { return &geminiReader{} },
	}
}

func launchGemini(l *launch) error {
	l.arg("--approval-mode", "yolo", "--output-format", "stream-json")
	if l.job.Model != "" {
		l.arg("-m", l.job.Model)
	}
	l.set("GEMINI_CLI_TRUST_WORKSPACE", "true") // or it neither finds skills nor writes
	if l.login() {
		return nil
	}
	l.set("GOOGLE_GEMINI_BASE_URL", l.job.Endpoint.base())
	l.set("GEMINI_API_KEY", l.job.Endpoint.Key)
	settings := map[string]any{
		"security":  map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}},
		"privacy":   map[string]any{"usageStatisticsEnabled": false},
		"general":   map[string]any{"enableAutoUpdate": false},
		"telemetry": map[string]any{"enabled": false},
	}
	if l.job.Tools != nil {
		settings["mcpServers"] = l.servers("httpUrl", map[string]any{"trust": true})
	}
	_, err := l.settings(".gemini/settings.json", settings)
	return err
}

// geminiReader reads the events of gemini --output-format stream-json.
type geminiReader struct {
	said strings.Builder // the message so far, which comes in pieces
}

type geminiEvent struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Content string          `json:"content"`
	Model   string          `json:"model"`
	Tool    string          `json:"tool_name"`
	ID      string          `json:"tool_id"`
	Args    json.RawMessage `json:"parameters"`
	Status  string          `json:"status"`
	Output  json.RawMessage `json:"output"`
	Message string          `json:"message"`
	Error   *struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
	Stats *struct {
		Total  int64 `json:"total_tokens"`
		Input  int64 `json:"input_tokens"`
		Output int64 `json:"output_tokens"`
		Cached int64 `json:"cached"`
	} `json:"stats"`
}

func (g *geminiReader) line(r *record, text []byte, whole bool) {
	var e geminiEvent
	if !whole || !r.decode(text, &e) {
		return
	}
	switch e.Type {
	case "init":
		r.model = e.Model
	case "message":
		if e.Role == model.Assistant {
			r.heard, r.waiting = true, nil
			g.said.WriteString(e.Content)
			r.answer = g.said.String()
		}
	case "tool_use":
		g.flush(r)
		r.call(e.ID, e.Tool, e.Args)
	case "tool_result":
		g.flush(r)
		g.recordToolResult(r, e)
	case "error":
		g.flush(r)
		if strings.Contains(e.Message, apiError) {
			r.retry(0, inAPIError(e.Message))
		}
	case "result":
		g.flush(r)
		g.result(r, e)
	}
}

// flush ends a message.
func (g *geminiReader) flush(r *record) {
	r.say(g.said.String())
	if g.said.Len() > 0 {
		r.answer = g.said.String()
	}
	g.said.Reset()
}

func (g *geminiReader) recordToolResult(r *record, e geminiEvent) {
	text := parseText(orNull(e.Output))
	if e.Error != nil {
		text = strings.TrimSpace(text + " " + e.Error.Message)
	}
	if text == "" {
		text = e.Status
	}
	r.answer = ""
	r.result(e.ID, text, e.Error != nil || e.Status == "error")
}

func (g *geminiReader) result(r *record, e geminiEvent) {
	r.ended = true
	if s := e.Stats; s != nil {
		thought := max(0, s.Total-s.Input-s.Output) // its output does not count what was thought
		r.usage = trajectory.Usage{Input: s.Input, Output: s.Output + thought, Cached: s.Cached, Reasoning: thought}
		r.known = true
	}
	if e.Status == "success" && !strings.HasPrefix(strings.TrimSpace(r.answer), apiError) {
		return
	}
	reason := r.answer
	kind := ""
	if e.Error != nil {
		reason, kind = e.Error.Message, e.Error.Type
	}
	if strings.Contains(kind, "MaxSessionTurns") {
		r.own = "turns: the agent's own limit of turns is reached"
		return
	}
	r.fail(0, inAPIError(reason))
}
