package exchange

import (
	"encoding/json"
	"fmt"

	"github.com/seed-f4525e22/skillopt/model"
)

// Form is a call as it is stored. It is read together with those of the same try that were
// made before it.
type Form struct {
	Body  []byte   // JSON
	Texts []string // long texts, by their place; a text may be in many forms
}

// Span is a run of numbers.
type Span struct {
	First int `json:"first"`
	Count int `json:"count"`
}

// body is the JSON of a form.
type body struct {
	First    int       `json:"first"` // number of the first of New
	New      []message `json:"new,omitempty"`
	Settings int       `json:"settings"` // number; messages, tools and settings are numbered together
	Sent     []int     `json:"sent,omitempty"`
	LeftOut  int       `json:"left_out,omitempty"`
	Tools    []int     `json:"tools,omitempty"`
	Reply    *int      `json:"reply,omitempty"`

	Finish  model.Finish `json:"finish,omitempty"`
	Served  string       `json:"served,omitempty"`
	Limit   model.Code   `json:"limit,omitempty"`
	Message string       `json:"message,omitempty"`
	Fault   string       `json:"fault,omitempty"`
	Begun   *text        `json:"begun,omitempty"`
}

// message is a message, the definition of a tool or the settings of a request.
type message struct {
	Role  string `json:"r"`
	Parts []part `json:"p,omitempty"`
}

// Kinds of parts; "" is text.
const (
	kindCall      = "call"
	kindResult    = "result"
	kindReasoning = "reasoning"
	kindImage     = "image"
	kindTool      = ":tool" // also the role of a definition; no message has such a role
)

// part is a piece of a message.
type part struct {
	Kind   string `json:"k,omitempty"`
	ID     string `json:"id,omitempty"`
	Name   string `json:"n,omitempty"` // of a tool, the type of an image, the provider of reasoning
	Failed bool   `json:"e,omitempty"`
	Text   text   `json:"x,omitzero"`
	More   text   `json:"m,omitzero"` // of the definition of a tool, its parameters
}

// text is a short text, or the places of its pieces among the texts of the form.
type text struct {
	pieces []string // before they have places
	short  string
	places []int
}

// IsZero reports whether the text is empty, for encoding/json.
func (t text) IsZero() bool { return t.short == "" && len(t.pieces) == 0 && len(t.places) == 0 }

// MarshalJSON implements json.Marshaler.
func (t text) MarshalJSON() ([]byte, error) {
	if len(t.places) > 0 {
		return json.Marshal(t.places)
	}
	return json.Marshal(t.short)
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *text) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &t.short)
	}
	if err := json.Unmarshal(b, &t.places); err != nil {
		return fmt.Errorf("decode a text: %w", err)
	}
	return nil
}

// spans appends a number to runs, which are written as first, count, first, count.
func spans(runs []int, n int) []int {
	if last := len(runs) - 2; last >= 0 && runs[last]+runs[last+1] == n {
		runs[last+1]++
		return runs
	}
	return append(runs, n, 1)
}

// short returns a text that is in the form itself.
func short(s string) text { return text{short: s} }
