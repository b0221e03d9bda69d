package gemini

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/model"
)

// provider is the name under which thoughts are kept.
const provider = "gemini"

// The roles of messages.
const (
	roleUser  = "user"
	roleModel = "model"
)

// content is a message in the protocol's form.
type content struct {
	Role  string `json:"role"`
	Parts []part `json:"parts"`
}

// part is one piece of a message, sent or received. The signature is kept as the
// text that it is on the wire.
type part struct {
	Text      *string         `json:"text,omitempty"`
	Thought   bool            `json:"thought,omitempty"`
	Data      *blob           `json:"inlineData,omitempty"`
	Call      *functionCall   `json:"functionCall,omitempty"`
	Result    *functionResult `json:"functionResponse,omitempty"`
	Signature json.RawMessage `json:"thoughtSignature,omitempty"`
}

type blob struct {
	MIME string `json:"mimeType"`
	Data []byte `json:"data"`
}

type functionCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

type functionResult struct {
	ID       string            `json:"id,omitempty"`
	Name     string            `json:"name"`
	Response map[string]string `json:"response"`
}

// opaque is what a Reasoning keeps of the protocol. With a text it was a part of
// its own; without one, the signature was on the part that follows.
type opaque struct {
	Text      *string         `json:"text,omitempty"`
	Thought   bool            `json:"thought,omitempty"`
	Signature json.RawMessage `json:"thoughtSignature,omitempty"`
}

// conversation divides messages into the system's texts and the rest.
func conversation(messages []model.Message) (system []part, rest []content, err error) {
	w := writer{names: map[string]string{}}
	for i, m := range messages {
		if m.Role == model.System && len(w.out) == 0 {
			if text := m.Text(); text != "" {
				system = append(system, part{Text: &text})
			}
			continue
		}
		if err := w.add(m); err != nil {
			return nil, nil, fmt.Errorf("message %d: %w", i, err)
		}
	}
	w.flush()
	if len(w.out) == 0 {
		return nil, nil, errNoMessages
	}
	return system, w.out, nil
}

// writer writes the messages of a conversation.
type writer struct {
	out     []content
	results []part            // of calls made at once: they belong into one message
	images  []part            // of results: the protocol has no place for them in a result
	names   map[string]string // of tools, by the ids of calls
}

func (w *writer) add(m model.Message) error {
	parts := m.Parts
	if len(parts) == 0 {
		parts = []model.Part{{Text: m.Content}}
	}
	if m.Role != model.ToolRole {
		w.flush()
	}
	var own []part
	var pending json.RawMessage // a signature that the next part gets
	for _, p := range parts {
		if p.Result != nil {
			if err := w.result(*p.Result); err != nil {
				return err
			}
			continue
		}
		out, err := w.part(p, &pending)
		if err != nil {
			return err
		}
		own = append(own, out...)
	}
	if pending != nil {
		own = append(own, newSignaturePart(pending))
	}
	w.message(m.Role, own)
	return nil
}

func (w *writer) message(role string, parts []part) {
	switch {
	case role == model.Assistant && len(parts) > 0:
		w.out = append(w.out, content{Role: roleModel, Parts: parts})
	case role == model.User || role == model.System || len(parts) > 0 && role != model.Assistant:
		if len(parts) == 0 { // the server says what it thinks of it
			empty := ""
			parts = []part{{Text: &empty}}
		}
		w.out = append(w.out, content{Role: roleUser, Parts: parts})
	}
}

// flush writes the results that have gathered.
func (w *writer) flush() {
	if len(w.results) > 0 {
		w.out = append(w.out, content{Role: roleUser, Parts: w.results})
	}
	if len(w.images) > 0 {
		w.out = append(w.out, content{Role: roleUser, Parts: w.images})
	}
	w.results, w.images = nil, nil
}

// part returns what is sent for a part: nothing, one part, or one with the
// signature before it.
func (w *writer) part(p model.Part, pending *json.RawMessage) ([]part, error) {
	out := part{Signature: *pending}
	switch {
	case p.Reasoning != nil:
		return thought(*p.Reasoning, pending)
	case p.Image != nil:
		data, err := image(*p.Image)
		if err != nil {
			return nil, err
		}
		out.Data = data
	case p.Call != nil:
		call, err := w.call(*p.Call)
		if err != nil {
			return nil, err
		}
		out.Call = call
	case p.Text != "":
		out.Text = &p.Text
	default:
		return nil, nil
	}
	*pending = nil
	return []part{out}, nil
}

// thought gives back what the model thought, if it was this provider's.
func thought(r model.Reasoning, pending *json.RawMessage) ([]part, error) {
	if r.Provider != provider || len(r.Opaque) == 0 {
		return nil, nil
	}
	var o opaque
	if err := json.Unmarshal(r.Opaque, &o); err != nil {
		return nil, fmt.Errorf("reasoning: %w", err)
	}
	var out []part
	if *pending != nil { // two signatures in a row: the first had a part of its own
		out = append(out, newSignaturePart(*pending))
		*pending = nil
	}
	if o.Text != nil {
		return append(out, part{Text: o.Text, Thought: o.Thought, Signature: o.Signature}), nil
	}
	*pending = o.Signature
	return out, nil
}

// newSignaturePart returns a part that is nothing but a signature.
func newSignaturePart(signature json.RawMessage) part {
	empty := ""
	return part{Text: &empty, Signature: signature}
}

func image(i model.Image) (*blob, error) {
	if i.MIME == "" || len(i.Data) == 0 {
		return nil, errors.New("an image without type or without data")
	}
	return &blob{MIME: i.MIME, Data: i.Data}, nil
}

func (w *writer) call(c model.ToolCall) (*functionCall, error) {
	w.names[c.ID] = c.Name
	args := c.Arguments
	if len(args) == 0 {
		args = json.RawMessage(`{}`)
	}
	if !isObject(args) {
		return nil, fmt.Errorf("the call %s of %s: its arguments are no JSON object", c.ID, c.Name)
	}
	return &functionCall{ID: serverID(c.ID), Name: c.Name, Args: args}, nil
}

func (w *writer) result(r model.ToolResult) error {
	name := r.Name
	if name == "" {
		name = w.names[r.CallID]
	}
	if name == "" {
		return fmt.Errorf("the result of call %s: it names no tool, and there is no such call", r.CallID)
	}
	key := "output"
	if r.IsError {
		key = "error"
	}
	w.results = append(w.results, part{Result: &functionResult{ID: serverID(r.CallID), Name: name, Response: map[string]string{key: r.Content}}})
	for _, i := range r.Images {
		data, err := image(i)
		if err != nil {
			return fmt.Errorf("the result of call %s: %w", r.CallID, err)
		}
		w.images = append(w.images, part{Data: data})
	}
	return nil
}

// isObject reports whether raw is one JSON object.
func isObject(raw json.RawMessage) bool {
	var fields map[string]json.RawMessage
	return json.Unmarshal(raw, &fields) == nil && fields != nil
}

// made begins the ids that the adapter makes up for calls that come without one.
// They are unique within a conversation, and not sent: the server knows such
// calls by their order.
const made = "gemini_call_"

// serverID returns an id that came from a server.
func serverID(id string) string {
	if strings.HasPrefix(id, made) {
		return ""
	}
	return id
}

// ids gives the calls of an answer ids that no call before them has.
type ids struct {
	taken map[string]bool
	next  int
}

func newIDs(messages []model.Message) *ids {
	s := &ids{taken: map[string]bool{}}
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.Call != nil {
				s.taken[p.Call.ID] = true
			}
		}
	}
	return s
}

// id returns the server's id, or one made up if it gave none or one twice.
func (s *ids) id(server string) string {
	id := server
	for id == "" || s.taken[id] {
		s.next++
		id = made + strconv.Itoa(s.next)
	}
	s.taken[id] = true
	return id
}
