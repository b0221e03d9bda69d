package gateway

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/model"
)

// conversation collects the messages of a request in the form that every
// adapter takes: the system prompt is one message at the front (the templates of
// some servers take no second one), the pieces of one answer are one message,
// and so are the results of its calls.
type conversation struct {
	front []model.Part    // the system prompt that is outside of the list
	done  []model.Message // nothing is added to these any more
	role  string          // of the message to which something may be added; "" if there is none
	parts []model.Part    // of that message
	calls []called
	left  remarks
}

// called names the tool of a call.
type called struct{ id, name string }

// system appends to the system prompt at the front.
func (c *conversation) system(s string) {
	if s != "" {
		c.front = append(c.front, text(s))
	}
}

// say appends what somebody says. Parts without anything in them are dropped.
func (c *conversation) say(role string, parts ...model.Part) {
	parts = dropEmpty(parts)
	if len(parts) == 0 {
		return
	}
	if c.role == role && c.joins(role) {
		c.parts = append(c.parts, parts...)
	} else {
		if c.role != "" {
			c.done = append(c.done, newMessage(c.role, c.parts))
		}
		c.role, c.parts = role, parts
	}
	for _, p := range parts {
		if p.Call != nil {
			c.calls = append(c.calls, called{p.Call.ID, p.Call.Name})
		}
	}
}

// joins reports whether what role says next belongs to the last message, which is
// of that role.
func (c *conversation) joins(role string) bool {
	return role == model.Assistant || role == model.ToolRole || role == model.System && len(c.done) == 0
}

// result appends the result of a call.
func (c *conversation) result(r model.ToolResult) {
	for i := len(c.calls) - 1; i >= 0 && r.Name == ""; i-- {
		if c.calls[i].id == r.CallID {
			r.Name = c.calls[i].name
		}
	}
	c.say(model.ToolRole, model.Part{Result: &r})
}

// finish returns the messages, in a list of the caller's own.
func (c *conversation) finish() []model.Message {
	list := make([]model.Message, 0, len(c.done)+2)
	if len(c.front) > 0 {
		list = append(list, newMessage(model.System, c.front))
	}
	list = append(list, c.done...)
	if c.role != "" {
		list = append(list, newMessage(c.role, c.parts))
	}
	if len(c.front) > 0 && len(list) > 1 && list[1].Role == model.System {
		parts := list[1].Parts
		if len(parts) == 0 {
			parts = one(text(list[1].Content))
		}
		list[1] = newMessage(model.System, slices.Concat(c.front, parts))
		return list[1:]
	}
	return list
}

// settle completes a request with its conversation and with what else was left out.
func (q *agentRequest) settle(c *conversation, left remarks) {
	left.all(c.left)
	q.req.Messages = c.finish()
	q.asked, q.leftOut = q.req.Model, left.list
}

// newMessage returns a message. One that is nothing but text has no Parts.
func newMessage(role string, parts []model.Part) model.Message {
	if text, ok := joinTexts(parts, separator(role)); ok {
		return model.Message{Role: role, Content: text}
	}
	return model.Message{Role: role, Parts: parts}
}

// separator returns what is put between texts that an agent sent as blocks of their own. An answer
// is one text, in however many pieces it came.
func separator(role string) string {
	if role == model.Assistant {
		return ""
	}
	return "\n\n"
}

// dropEmpty returns parts without those that have nothing in them. The result may be parts itself.
func dropEmpty(parts []model.Part) []model.Part {
	if !slices.Contains(parts, model.Part{}) {
		return parts
	}
	var out []model.Part
	for _, p := range parts {
		if p != (model.Part{}) {
			out = append(out, p)
		}
	}
	return out
}

// joinTexts returns the joined texts of parts that are nothing else.
func joinTexts(parts []model.Part, sep string) (string, bool) {
	if len(parts) == 1 {
		return parts[0].Text, parts[0].Text != ""
	}
	texts := make([]string, len(parts))
	for i, p := range parts {
		if p.Text == "" {
			return "", false
		}
		texts[i] = p.Text
	}
	return strings.Join(texts, sep), true
}

// cutAtStop returns text up to the first of the sequences, and that sequence, or all of text and
// "". The first of the list counts if several begin at one place.
func cutAtStop(text string, sequences []string) (head, sequence string) {
	at := -1
	for _, s := range sequences {
		if i := strings.Index(text, s); s != "" && i >= 0 && (at < 0 || i < at) {
			at, sequence = i, s
		}
	}
	if at < 0 {
		return text, ""
	}
	return text[:at], sequence
}

// text and call make parts.
func text(s string) model.Part { return model.Part{Text: s} }

func call(id, name string, arguments json.RawMessage) model.Part {
	return model.Part{Call: &model.ToolCall{ID: id, Name: name, Arguments: arguments}}
}

func one(p model.Part) []model.Part { return []model.Part{p} }

// newToolResult returns the result of a call from its pieces.
func newToolResult(id string, failed bool, parts []model.Part) model.ToolResult {
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

// pieces returns the parts of an answer, also of one that is text only.
func pieces(r model.Response) []model.Part {
	if len(r.Parts) > 0 {
		return dropEmpty(r.Parts)
	}
	return dropEmpty([]model.Part{text(r.Text)})
}
