package telemetry

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/model"
)

// maxText is how much of a text is sent, in bytes. A skill fits in most cases; a
// receiver refuses requests of many megabytes.
const maxText = 16 << 10

// message and part have the shape that the conventions give to
// gen_ai.input.messages and gen_ai.output.messages.
type message struct {
	Role   string `json:"role"`
	Parts  []part `json:"parts"`
	Finish string `json:"finish_reason,omitempty"`
}

type part struct {
	Type    string `json:"type"`
	Content string `json:"content,omitempty"`
	Name    string `json:"name,omitempty"`
}

// messages returns what a model was asked, scrubbed and cut.
func (t *Telemetry) messages(list []model.Message) string {
	out := make([]message, len(list))
	for i, m := range list {
		out[i] = message{Role: m.Role, Parts: t.parts(m.Content, m.Parts)}
	}
	return encode(out)
}

// answer returns what the model said, scrubbed and cut.
func (t *Telemetry) answer(r model.Response) string {
	return encode([]message{{Role: model.Assistant, Parts: t.parts(r.Text, r.Parts), Finish: finish(r.Finish)}})
}

// parts keeps texts and the names of tools that were called: pictures, reasoning
// and what goes to and comes from tools are left out.
func (t *Telemetry) parts(text string, parts []model.Part) []part {
	if len(parts) == 0 {
		return []part{{Type: "text", Content: t.scrub(text)}}
	}
	out := []part{}
	for _, p := range parts {
		switch {
		case p.Text != "":
			out = append(out, part{Type: "text", Content: t.scrub(p.Text)})
		case p.Call != nil:
			out = append(out, part{Type: "tool_call", Name: t.scrub(p.Call.Name)})
		}
	}
	return out
}

// scrub takes secrets out before it cuts: half a secret would not be found.
func (t *Telemetry) scrub(text string) string {
	text = strings.ToValidUTF8(t.o.Hide(text), "\uFFFD")
	if len(text) <= maxText {
		return text
	}
	end := maxText
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + " [cut]"
}

// encode returns a list of messages as JSON. It cannot fail: there is nothing but valid text in it.
func encode(list []message) string {
	b, err := json.Marshal(list)
	if err != nil {
		return ""
	}
	return string(b)
}
