package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed-f4525e22/skillopt/model"
)

// provider is the name under which thoughts are kept.
const provider = "anthropic"

type wireMessage struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

// block is one piece of a message: of type text, image, tool_use, tool_result or,
// in raw, a thought in the form in which it came.
type block struct {
	Type         string          `json:"type"`
	Text         string          `json:"text,omitempty"`
	Source       *imageSource    `json:"source,omitempty"`
	ID           string          `json:"id,omitempty"`
	Name         string          `json:"name,omitempty"`
	Input        json.RawMessage `json:"input,omitempty"`
	ToolUseID    string          `json:"tool_use_id,omitempty"`
	Content      []block         `json:"content,omitempty"`
	IsError      bool            `json:"is_error,omitempty"`
	CacheControl *cacheControl   `json:"cache_control,omitempty"`

	raw json.RawMessage
}

type imageSource struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"`
}

// MarshalJSON writes a thought as it came.
func (b block) MarshalJSON() ([]byte, error) {
	if b.raw != nil {
		return b.raw, nil
	}
	type plain block
	return encode(plain(b))
}

// conversation divides messages into the system's texts and the rest.
func conversation(messages []model.Message) (system []block, rest []wireMessage, err error) {
	for i, m := range messages {
		if m.Role == model.System && len(rest) == 0 {
			if text := m.Text(); text != "" {
				system = append(system, block{Type: "text", Text: text})
			}
			continue
		}
		content, err := blocks(m)
		if err != nil {
			return nil, nil, fmt.Errorf("encode request: message %d: %w", i, err)
		}
		rest = appendMessage(rest, m.Role, content)
	}
	if len(rest) == 0 {
		return nil, nil, errNoMessages
	}
	return system, rest, nil
}

// appendMessage adds a message. The results of calls made at once belong into
// one message, before whatever the user adds to them.
func appendMessage(rest []wireMessage, role string, content []block) []wireMessage {
	if role == model.Assistant {
		if len(content) == 0 {
			return rest
		}
		return append(rest, wireMessage{Role: model.Assistant, Content: content})
	}
	if n := len(rest); n > 0 && rest[n-1].Role == model.User && onlyResults(rest[n-1].Content) {
		rest[n-1].Content = append(rest[n-1].Content, content...)
		return rest
	}
	if len(content) == 0 { // the server says what it thinks of it
		content = []block{{Type: "text"}}
	}
	return append(rest, wireMessage{Role: model.User, Content: content})
}

func onlyResults(content []block) bool {
	for _, b := range content {
		if b.Type != "tool_result" {
			return false
		}
	}
	return true
}

// blocks puts the parts of a message into the protocol's form. Empty texts are
// left out: the protocol refuses them.
func blocks(m model.Message) ([]block, error) {
	parts := m.Parts
	if len(parts) == 0 {
		parts = []model.Part{{Text: m.Content}}
	}
	var out []block
	for _, p := range parts {
		b, err := newBlock(p)
		if err != nil {
			return nil, err
		}
		if b.Type != "" || b.raw != nil {
			out = append(out, b)
		}
	}
	return out, nil
}

// newBlock returns a block without type for a part that is not sent.
func newBlock(p model.Part) (block, error) {
	switch {
	case p.Image != nil:
		return imageBlock(*p.Image)
	case p.Call != nil:
		return callBlock(*p.Call)
	case p.Result != nil:
		return resultBlock(*p.Result)
	case p.Reasoning != nil:
		if p.Reasoning.Provider != provider || len(p.Reasoning.Opaque) == 0 {
			return block{}, nil
		}
		return block{raw: p.Reasoning.Opaque}, nil
	case p.Text != "":
		return block{Type: "text", Text: p.Text}, nil
	}
	return block{}, nil
}

func imageBlock(i model.Image) (block, error) {
	if i.MIME == "" || len(i.Data) == 0 {
		return block{}, errors.New("an image without type or without data")
	}
	return block{Type: "image", Source: &imageSource{Type: "base64", MediaType: i.MIME, Data: i.Data}}, nil
}

func callBlock(c model.ToolCall) (block, error) {
	input := c.Arguments
	if len(input) == 0 {
		input = json.RawMessage(`{}`)
	}
	if !isObject(input) {
		return block{}, fmt.Errorf("the call %s of %s: its arguments are no JSON object", c.ID, c.Name)
	}
	return block{Type: "tool_use", ID: c.ID, Name: c.Name, Input: input}, nil
}

func resultBlock(r model.ToolResult) (block, error) {
	out := block{Type: "tool_result", ToolUseID: r.CallID, IsError: r.IsError}
	if r.Content == "" && r.IsError && len(r.Images) == 0 {
		r.Content = "error" // the protocol refuses an error without words
	}
	if r.Content != "" {
		out.Content = append(out.Content, block{Type: "text", Text: r.Content})
	}
	for _, i := range r.Images {
		b, err := imageBlock(i)
		if err != nil {
			return block{}, fmt.Errorf("the result of call %s: %w", r.CallID, err)
		}
		out.Content = append(out.Content, b)
	}
	return out, nil
}

// isObject reports whether raw is one JSON object.
func isObject(raw json.RawMessage) bool {
	var fields map[string]json.RawMessage
	return json.Unmarshal(raw, &fields) == nil && fields != nil
}
