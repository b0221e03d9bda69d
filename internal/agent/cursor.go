package agent

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// cursor returns the adapter of Cursor's agent. It has a login of its own and no other endpoint.
// Its events are read as they are documented, not as they were measured.
func cursor() adapter {
	return adapter{
		name: "cursor", program: "cursor-agent", version: []string{"--version"},
		help:      "see https://cursor.com/cli",
		abilities: Abilities{},
		state:     []string{".cursor", ".config/cursor"},
		plugins:   Plugins{User: Place{Folder: ".cursor", Own: "plugins/local/skillopt"}, Project: Place{Folder: ".cursor", Settings: "mcp.json"}},
		launch:    launchCursor,
		reader:    func() reader { return &cursorReader{} },
	}
}

func launchCursor(l *launch) error {
	if !l.login() {
		return ErrNoEndpoint
	}
	l.arg("-p", "--output-format", "stream-json", "--trust", "--workspace", l.workspace(), "--force")
	if l.job.Confine {
		l.arg("--sandbox", "disabled") // ours is around it
	} else {
		l.arg("--sandbox", "enabled")
	}
	if l.job.Model != "" {
		l.arg("--model", l.job.Model)
	}
	return nil
}

// cursorReader reads the events of cursor-agent --output-format stream-json.
type cursorReader struct{}

type cursorEvent struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Model   string `json:"model"`
	Message struct {
		Content json.RawMessage `json:"content"`
	} `json:"message"`
	CallID string                     `json:"call_id"`
	Call   map[string]json.RawMessage `json:"tool_call"`

	IsError bool   `json:"is_error"`
	Result  string `json:"result"`
}

type cursorCall struct {
	Args   json.RawMessage `json:"args"`
	Result json.RawMessage `json:"result"`
}

func (c *cursorReader) line(r *record, text []byte, whole bool) {
	var e cursorEvent
	if !whole || !r.decode(text, &e) {
		return
	}
	switch e.Type {
	case "system":
		r.model = e.Model
	case "assistant":
		r.fault = nil
		claudeSay(r, claudeBlocks(e.Message.Content))
	case "thinking":
		r.heard, r.waiting = true, nil
	case "tool_call":
		c.tool(r, e)
	case "result":
		r.ended, r.answer = true, e.Result
		if e.IsError || strings.HasPrefix(e.Subtype, "error") {
			r.fail(0, e.Result)
		}
	}
}

// tool reads a call: an object of one key, which is the tool's name.
func (c *cursorReader) tool(r *record, e cursorEvent) {
	for _, name := range slices.Sorted(maps.Keys(e.Call)) {
		var call cursorCall
		if json.Unmarshal(e.Call[name], &call) != nil {
			continue
		}
		if !r.hasOpenCall(e.CallID) {
			r.call(e.CallID, strings.TrimSuffix(name, "ToolCall"), call.Args)
		}
		if e.Subtype == "completed" {
			var failed struct {
				Error json.RawMessage `json:"error"`
			}
			bad := json.Unmarshal(call.Result, &failed) == nil && len(failed.Error) > 0
			r.result(e.CallID, parseText(orNull(call.Result)), bad)
		}
		return
	}
}
