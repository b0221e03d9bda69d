package transcript

import (
	"strings"

	"github.com/tidwall/gjson"
)

// event reads an event_msg: what the program reports to its screen.
func (x *codexSession) event(rec, p gjson.Result) {
	at := instant(rec.Get("timestamp"))
	switch p.Get("type").Str {
	case "task_started", "turn_started":
		x.begin(p.Get("turn_id").Str)
		x.said.reset()
		return
	case "user_message":
		if kind := p.Get("kind").Str; kind == "" || kind == "plain" {
			x.user(asOldEvent, "", p.Get("message").Str, rec.Get("timestamp"))
		}
		return
	case "agent_message":
		x.b.Agent(p.Get("message").Str, at)
	case "item_completed":
		x.completeItem(rec, p)
	case "exec_command_end":
		x.endCommand(p.Get("call_id").Str, p)
	case "patch_apply_end":
		x.noteChanges(p.Get("call_id").Str, p.Get("success").Bool(), p.Get("changes"))
	case "mcp_tool_call_end":
		result := p.Get("result.Ok")
		x.noteResult(p.Get("call_id").Str, result.Exists() && !result.Get("isError").Bool() && !result.Get("is_error").Bool())
	case "error":
		x.b.Fail(failure(p))
	case "task_complete", "turn_complete":
		if e := p.Get("error"); e.Exists() && e.Type != gjson.Null {
			x.b.Fail(failure(e))
		}
		x.said.reset()
	case "turn_aborted":
		x.noteAbort(p.Get("reason").Str)
	case "thread_rolled_back":
		x.b.Back(int(p.Get("num_turns").Int()))
		return
	default:
		return
	}
	x.b.Seen(at)
}

// noteAbort notes the end of a turn of the agent before its time.
func (x *codexSession) noteAbort(reason string) {
	switch {
	case reason == "review_ended":
	case strings.HasSuffix(reason, "limited"):
		x.b.Fail(reason)
	default:
		x.b.Interrupt()
	}
	x.said.reset()
}

// completeItem reads an item of a turn: a message, a command, a change of files, a call.
func (x *codexSession) completeItem(rec, p gjson.Result) {
	item := p.Get("item")
	id, done := item.Get("id").Str, item.Get("status").Str == "completed"
	switch item.Get("type").Str {
	case "UserMessage":
		at := p.Get("started_at_ms")
		if instant(at).IsZero() {
			at = rec.Get("timestamp")
		}
		x.user(asEvent, id, texts(item.Get("content"), "text"), at)
		x.noteSkills(item.Get("content"))
	case "AgentMessage":
		x.b.Agent(texts(item.Get("content"), "Text", "text"), instant(rec.Get("timestamp")))
	case "CommandExecution":
		x.endCommand(id, item)
	case "FileChange":
		x.noteRefusal(id, item)
		x.noteChanges(id, done, item.Get("changes"))
	case "McpToolCall":
		x.noteResult(id, done && !item.Get("result.isError").Bool())
	case "DynamicToolCall":
		x.noteResult(id, done && item.Get("success").Raw != "false")
	}
}

// noteSkills notes the skills that the user's input names.
func (x *codexSession) noteSkills(content gjson.Result) {
	content.ForEach(func(_, part gjson.Result) bool {
		if part.Get("type").Str == "skill" {
			x.b.Skill(part.Get("name").Str, ByRecord)
		}
		return true
	})
}

// endCommand notes that a command ended. One that a person ran by hand is no call.
func (x *codexSession) endCommand(id string, p gjson.Result) {
	x.noteRefusal(id, p)
	switch code, status := p.Get("exit_code"), p.Get("status").Str; {
	case code.Type == gjson.Number:
		if key, called := x.calls[id]; called {
			x.b.Exit(key, int(code.Int()))
			if code.Int() == 0 && looksAt(x.b, key) {
				text := ""
				if needsOutput(x.b, key) {
					text = p.Get("aggregated_output").Str
				}
				x.b.Output(key, text)
			}
		}
		x.noteResult(id, code.Int() == 0)
	case status == "completed":
		x.noteResult(id, true)
	case status == "failed" || status == "declined":
		x.noteResult(id, false)
	}
}

// noteRefusal notes that the user refused a call, where it is the user who is asked.
func (x *codexSession) noteRefusal(id string, p gjson.Result) {
	key, called := x.calls[id]
	if !called || p.Get("status").Str != "declined" {
		return
	}
	x.b.Refused(key)
	if x.asks {
		x.b.Interrupt()
	}
}

// noteChanges notes a change of files.
func (x *codexSession) noteChanges(id string, ok bool, changes gjson.Result) {
	x.noteResult(id, ok)
	if !ok {
		return
	}
	changes.ForEach(func(file, change gjson.Result) bool {
		x.b.Wrote(file.Str)
		x.b.Wrote(first(change.Get("move_path").Str, change.Get("update.move_path").Str))
		return true
	})
}

// failure returns the store's word for what went wrong.
func failure(e gjson.Result) string {
	info := e.Get("codex_error_info")
	word := info.Str
	if info.IsObject() {
		info.ForEach(func(key, about gjson.Result) bool {
			word = key.Str
			if status := about.Get("http_status_code"); status.Exists() {
				word += " " + status.Raw
			}
			return false
		})
	}
	return first(word, e.Get("message").Str, e.Str, "error")
}
