package gateway

import (
	"encoding/json"
	"strings"

	"github.com/seed-f4525e22/skillopt/model"
)

// conversation collects the messages of a request in the form that every
// adapter takes: the system prompt is one message at the front (the templates of
// some servers take no second one), the pieces of one answer are one message,
// and so are the results of its calls.
type conversation struct {
	messages []model.Message
	tools    map[string]string // name of the tool by the id of a call
}

// say appends what somebody says. Parts without anything in them are dropped.
func (c *conversation) say(role string, parts ...model.Part) {
	parts = filled(parts)
	if len(parts) == 0 {
		return
	}
	for _, p := range parts {
		if p.Call != nil {
			if c.tools == nil {
				c.tools = map[string]string{}
			}
			c.tools[p.Call.ID] = p.Call.Name
		}
	}
	if last := len(c.messages) - 1; last >= 0 && c.messages[last].Role == role && c.joins(role, last) {
		c.messages[last].Parts = append(c.messages[last].Parts, parts...)
		return
	}
	c.messages = append(c.messages, model.Message{Role: role, Parts: parts})
}

// joins reports whether what role says next belongs to the last message.
func (c *conversation) joins(role string, last int) bool {
	return role == model.Assistant || role == model.ToolRole || role == model.System && last == 0
}

// result appends the result of a call.
func (c *conversation) result(r model.ToolResult) {
	if r.Name == "" {
		r.Name = c.tools[r.CallID]
	}
	c.say(model.ToolRole, model.Part{Result: &r})
}

// finish returns the messages. Those that are nothing but text have no Parts.
func (c *conversation) finish() []model.Message {
	for i, m := range c.messages {
		if text, ok := joined(m.Parts, separator(m.Role)); ok {
			c.messages[i] = model.Message{Role: m.Role, Content: text}
		}
	}
	return c.messages
}

// separator stands between texts that an agent sent as blocks of their own. An
// answer is one text, in however many pieces it came.
func separator(role string) string {
	if role == model.Assistant {
		return ""
	}
	return "\n\n"
}

func filled(parts []model.Part) []model.Part {
	var out []model.Part
	for _, p := range parts {
		if p != (model.Part{}) {
			out = append(out, p)
		}
	}
	return out
}

// joined returns the texts of parts that are nothing else.
func joined(parts []model.Part, sep string) (string, bool) {
	texts := make([]string, len(parts))
	for i, p := range parts {
		if p.Text == "" {
			return "", false
		}
		texts[i] = p.Text
	}
	return strings.Join(texts, sep), true
}

// before returns text up to the first of the sequences, and whether there was
// one.
func before(text string, sequences []string) (string, bool) {
	at := -1
	for _, s := range sequences {
		if i := strings.Index(text, s); s != "" && i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	if at < 0 {
		return text, false
	}
	return text[:at], true
}

// text and call make parts.
func text(s string) model.Part { return model.Part{Text: s} }

func call(id, name string, arguments json.RawMessage) model.Part {
	return model.Part{Call: &model.ToolCall{ID: id, Name: name, Arguments: arguments}}
}

func one(p model.Part) []model.Part { return []model.Part{p} }

// resultOf is the result of a call from its pieces.
func resultOf(id string, failed bool, parts []model.Part) model.ToolResult {
	r := model.ToolResult{CallID: id, IsError: failed}
	for _, p := range parts {
		if p.Image != nil {
			r.Images = append(r.Images, *p.Image)
			continue
		}
		if r.Content != "" && p.Text != "" {
			r.Content += "\n\n"
		}
		r.Content += p.Text
	}
	return r
}

// pieces are the parts of an answer, also of one that is text only.
func pieces(r model.Response) []model.Part {
	if len(r.Parts) > 0 {
		return filled(r.Parts)
	}
	return filled([]model.Part{text(r.Text)})
}
