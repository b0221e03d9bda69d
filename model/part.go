package model

import "encoding/json"

// Part is one piece of a message. Exactly one of its fields is set; a Part with
// none is an empty text.
type Part struct {
	Text      string      `json:"text,omitempty"`
	Image     *Image      `json:"image,omitempty"`     // in a user's message
	Call      *ToolCall   `json:"call,omitempty"`      // in an assistant's message
	Result    *ToolResult `json:"result,omitempty"`    // in a tool message
	Reasoning *Reasoning  `json:"reasoning,omitempty"` // in an assistant's message
}

// Image is a picture.
type Image struct {
	MIME string `json:"mime"` // image/png, image/jpeg, image/gif or image/webp
	Data []byte `json:"data"`
}

// Tool is what a model may call.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"` // JSON Schema of an object
}

// Choices of tools. Any other value of Request.ToolChoice is the name of the
// tool that the model must call.
const (
	ToolChoiceAuto     = "auto"
	ToolChoiceNone     = "none"
	ToolChoiceRequired = "required"
)

// ToolCall is a model's wish to call a tool. Arguments is one JSON object; an
// adapter that got none writes {}, and one that got text which is no JSON fails
// with Malformed.
type ToolCall struct {
	ID        string          `json:"id"` // unique within a conversation; an adapter makes one up where the protocol has none
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// ToolResult is what a call gave.
type ToolResult struct {
	CallID  string  `json:"call_id"`
	Name    string  `json:"name,omitempty"` // of the tool; protocols without ids need it
	Content string  `json:"content"`
	IsError bool    `json:"is_error,omitempty"`
	Images  []Image `json:"images,omitempty"` // an adapter whose protocol has no place for them sends them in a user's message
}

// Reasoning is what a model thought before it answered. It goes back to the
// provider that wrote it, unchanged, and is left out for any other.
type Reasoning struct {
	Provider string          `json:"provider"`         // openai, anthropic, gemini
	Text     string          `json:"text,omitempty"`   // what of it is readable
	Opaque   json.RawMessage `json:"opaque,omitempty"` // in the provider's form: signature, encrypted content
}

// Calls returns the calls of tools in an answer, in order.
func (r Response) Calls() []ToolCall {
	var calls []ToolCall
	for _, p := range r.Parts {
		if p.Call != nil {
			calls = append(calls, *p.Call)
		}
	}
	return calls
}

// Message returns the answer as the message that a conversation continues with.
func (r Response) Message() Message {
	if len(r.Parts) > 0 {
		return Message{Role: Assistant, Parts: r.Parts}
	}
	return Message{Role: Assistant, Content: r.Text}
}

// Text returns the text of a message, without what is not text.
func (m Message) Text() string {
	if len(m.Parts) == 0 {
		return m.Content
	}
	var text string
	for _, p := range m.Parts {
		text += p.Text
	}
	return text
}
