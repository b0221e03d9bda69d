package openai

import (
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/seed-f4525e22/skillopt/model"
)

// reasoningDetails is the field of servers that give reasoning in pieces of
// their own, which go back as they came.
const reasoningDetails = "reasoning_details"

// partSize guesses the size of a part in a body.
func partSize(p model.Part) int {
	n := len(p.Text) + len(p.Text)/16 + 48
	switch {
	case p.Image != nil:
		n += imageSize(*p.Image)
	case p.Call != nil:
		n += len(p.Call.Arguments) + len(p.Call.Arguments)/4 + 128
	case p.Result != nil:
		n += len(p.Result.Content) + len(p.Result.Content)/16 + 96
		for _, i := range p.Result.Images {
			n += imageSize(i)
		}
	case p.Reasoning != nil:
		n += len(p.Reasoning.Text) + len(p.Reasoning.Opaque) + 64
	}
	return n
}

func imageSize(i model.Image) int { return base64.StdEncoding.EncodedLen(len(i.Data)) + 96 }

// appendParts appends a message with parts, or several where the protocol has
// one for each.
func (e *encoder) appendParts(b []byte, m model.Message) ([]byte, error) {
	switch m.Role {
	case model.ToolRole:
		return appendResults(b, m.Parts)
	case model.Assistant:
		return e.appendAssistant(b, m)
	}
	b = append(b, `{"role":`...)
	b = appendString(b, e.role(m.Role))
	b = append(b, `,"content":`...)
	b, err := appendContent(b, m.Parts)
	return append(b, '}'), err
}

// appendContent appends texts and images: one string if there are no images.
func appendContent(b []byte, parts []model.Part) ([]byte, error) {
	images := false
	for _, p := range parts {
		if p.Call != nil || p.Result != nil || p.Reasoning != nil {
			return b, errors.New("it may hold texts and images only")
		}
		images = images || p.Image != nil
	}
	if !images {
		return appendString(b, model.Message{Parts: parts}.Text()), nil
	}
	b = append(b, '[')
	for i, p := range parts {
		if i > 0 {
			b = append(b, ',')
		}
		if p.Image != nil {
			b = appendImage(b, *p.Image)
			continue
		}
		b = append(b, `{"type":"text","text":`...)
		b = append(appendString(b, p.Text), '}')
	}
	return append(b, ']'), nil
}

func appendImage(b []byte, i model.Image) []byte {
	b = append(b, `{"type":"image_url","image_url":{"url":`...)
	return append(appendDataURL(b, i), `}}`...)
}

// appendDataURL appends an image as a JSON string that is a URL.
func appendDataURL(b []byte, i model.Image) []byte {
	b = appendString(b, "data:"+i.MIME+";base64,")
	b = base64.StdEncoding.AppendEncode(b[:len(b)-1], i.Data)
	return append(b, '"')
}

// appendResults appends one message for each result. The images of all of them
// come after the last one, in a message of the user, since the protocol has no
// other place for them and allows nothing between results.
func appendResults(b []byte, parts []model.Part) ([]byte, error) {
	var pictures []model.Part
	for i, p := range parts {
		if p.Result == nil {
			return b, errors.New("it may hold results only")
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"role":"tool","tool_call_id":`...)
		b = appendString(b, p.Result.CallID)
		b = append(b, `,"content":`...)
		b = append(appendString(b, resultText(*p.Result)), '}')
		pictures = append(pictures, resultImages(*p.Result)...)
	}
	if len(pictures) == 0 {
		return b, nil
	}
	b = append(b, `,{"role":"user","content":`...)
	b, err := appendContent(b, pictures)
	return append(b, '}'), err
}

// resultText marks the result of a failed call in words, since the protocol has
// no other mark.
func resultText(r model.ToolResult) string {
	if r.IsError {
		return "Error: " + r.Content
	}
	return r.Content
}

func resultImages(r model.ToolResult) []model.Part {
	if len(r.Images) == 0 {
		return nil
	}
	parts := []model.Part{{Text: fmt.Sprintf("Images in the result of %s (%s):", r.Name, r.CallID)}}
	for i := range r.Images {
		parts = append(parts, model.Part{Image: &r.Images[i]})
	}
	return parts
}

// appendAssistant appends what the model said: its text, its calls, and its
// reasoning where the server wants it back.
func (e *encoder) appendAssistant(b []byte, m model.Message) ([]byte, error) {
	b = append(b, `{"role":"assistant"`...)
	b = e.appendReasoning(b, m.Parts)
	calls := 0
	for _, p := range m.Parts {
		if p.Image != nil || p.Result != nil {
			return b, errors.New("an answer holds neither images nor results")
		}
		if p.Call == nil {
			continue
		}
		if calls == 0 {
			b = append(b, `,"tool_calls":[`...)
		} else {
			b = append(b, ',')
		}
		calls++
		b = append(b, `{"type":"function","id":`...)
		b = appendString(b, p.Call.ID)
		b = append(b, `,"function":{"name":`...)
		b = appendString(b, p.Call.Name)
		b = append(b, `,"arguments":`...)
		b = append(appendString(b, arguments(p.Call.Arguments)), `}}`...)
	}
	if calls > 0 {
		b = append(b, ']')
	}
	b = append(b, `,"content":`...)
	if text := m.Text(); text != "" || calls == 0 {
		b = appendString(b, text)
	} else {
		b = append(b, "null"...)
	}
	return append(b, '}'), nil
}

func arguments(raw []byte) string {
	if len(raw) == 0 {
		return "{}"
	}
	return string(raw)
}

// appendReasoning appends this provider's reasoning under the name that the
// server has for it. What has come from Responses stays away.
func (e *encoder) appendReasoning(b []byte, parts []model.Part) []byte {
	field := e.quirks.ReasoningField
	if field == "" {
		return b
	}
	text, must := "", false
	for _, p := range parts {
		r := p.Reasoning
		must = must || p.Call != nil && e.quirks.ReasoningAlways
		if r == nil || r.Provider != provider {
			continue
		}
		if field == reasoningDetails && len(r.Opaque) > 0 && r.Opaque[0] == '[' {
			b = appendString(append(b, ','), field)
			return append(append(b, ':'), r.Opaque...)
		}
		if len(r.Opaque) == 0 || r.Opaque[0] == '[' {
			text += r.Text
		}
	}
	if text == "" && !must || field == reasoningDetails {
		return b
	}
	b = appendString(append(b, ','), field)
	return appendString(append(b, ':'), text)
}
