package exchange

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/model"
)

// Message is a message of a conversation as it was kept.
type Message struct {
	Role  string `json:"role"`
	Parts []Part `json:"parts"`
}

// Part is a piece of a message.
type Part struct {
	Kind   string `json:"kind,omitempty"` // call, result, reasoning or image; "": text
	ID     string `json:"id,omitempty"`   // of a call, and of its result
	Name   string `json:"name,omitempty"` // of the tool; the type of an image; the provider of reasoning
	Failed bool   `json:"failed,omitempty"`
	Text   string `json:"text"`           // arguments of a call are JSON; of an image length and hash
	More   string `json:"more,omitempty"` // of reasoning: length and hash of what cannot be read
}

// Tool is the definition of a tool.
type Tool struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Parameters  string `json:"parameters"` // JSON
}

// Conversation is what was said in the calls of one try of an episode. Each message is in
// it once.
type Conversation struct {
	Messages []Message `json:"messages"` // in the order in which they were first written
	Tools    []Tool    `json:"tools,omitempty"`
	Calls    []Call    `json:"calls"`
}

// Call is one call of a conversation.
type Call struct {
	Settings Settings   `json:"settings"`
	Schema   string     `json:"schema,omitempty"` // of the reply, JSON
	Sent     []Span     `json:"sent"`             // messages, by their place
	LeftOut  int        `json:"left_out,omitempty"`
	Tools    []Span     `json:"tools,omitempty"` // by their place
	Reply    *int       `json:"reply"`           // the place of the message; null: there was none
	Finish   string     `json:"finish,omitempty"`
	Served   string     `json:"served,omitempty"` // the model, as the server named it
	Limit    model.Code `json:"limit,omitempty"`  // of the task, that it ran into
	Message  string     `json:"message,omitempty"`
	Fault    string     `json:"fault,omitempty"` // what an attempt failed with
	Begun    string     `json:"begun,omitempty"` // the beginning of an answer that broke off, as it came
	// Damage says why nothing else is known of the call, or not all of it.
	Damage string `json:"damage,omitempty"`
}

// Stored is a form as it was found.
type Stored struct {
	Form
	Damage error // it, or one of its texts, is not what was written; nil: it is whole
	None   bool  // none was written
}

// errNone is the damage of a call of which no form was written.
var errNone = errors.New("what was said is not kept")

// Read reads the forms of a try in the order in which they were written. What is damaged
// is named in its place; the rest is read.
func Read(stored []Stored) Conversation {
	r := reader{of: make(map[int]place)}
	for i := range stored {
		r.read(&stored[i])
	}
	for i := range r.out.Calls {
		r.resolve(&r.out.Calls[i], r.bodies[i])
	}
	return r.out
}

// reader reads a conversation.
type reader struct {
	out    Conversation
	bodies []*body // by call; nil: damaged
	of     map[int]place
	sets   []setting
}

// place is where something with a number is.
type place struct {
	role string // kindTool, kindSettings, or that of a message
	at   int
}

type setting struct {
	settings Settings
	schema   string
}

// read takes in a form.
func (r *reader) read(s *Stored) {
	c, b := Call{}, new(body)
	switch err := json.Unmarshal(s.Body, b); {
	case s.None:
		c.Damage, b = errNone.Error(), nil
	case len(s.Body) == 0 && s.Damage != nil:
		c.Damage, b = s.Damage.Error(), nil
	case err != nil:
		c.Damage, b = fmt.Sprintf("what was said is not what was written: %v", err), nil
	case s.Damage != nil:
		c.Damage = s.Damage.Error()
	}
	if b != nil {
		for i, m := range b.New {
			r.take(b.First+i, m, s.Texts)
		}
		if b.Begun != nil {
			c.Begun = b.Begun.of(s.Texts)
		}
	}
	r.out.Calls, r.bodies = append(r.out.Calls, c), append(r.bodies, b)
}

// take takes in what has a number.
func (r *reader) take(number int, m message, texts []string) {
	if _, there := r.of[number]; there {
		return
	}
	switch m.Role {
	case kindTool:
		r.of[number] = place{kindTool, len(r.out.Tools)}
		t := Tool{}
		for _, p := range m.Parts {
			t = Tool{Name: p.Name, Description: p.Text.of(texts), Parameters: p.More.of(texts)}
		}
		r.out.Tools = append(r.out.Tools, t)
	case kindSettings:
		r.of[number] = place{kindSettings, len(r.sets)}
		set := setting{}
		for _, p := range m.Parts {
			_ = json.Unmarshal([]byte(p.Text.of(texts)), &set.settings) // what cannot be read is not known
			set.schema = p.More.of(texts)
		}
		r.sets = append(r.sets, set)
	default:
		r.message(number, m, texts)
	}
}

func (r *reader) message(number int, m message, texts []string) {
	r.of[number] = place{m.Role, len(r.out.Messages)}
	out := Message{Role: m.Role, Parts: []Part{}}
	for _, p := range m.Parts {
		out.Parts = append(out.Parts, Part{Kind: p.Kind, ID: p.ID, Name: p.Name, Failed: p.Failed, Text: p.Text.of(texts), More: p.More.of(texts)})
	}
	r.out.Messages = append(r.out.Messages, out)
}

// of returns a text whose pieces are among texts.
func (t text) of(texts []string) string {
	if len(t.places) == 0 {
		return t.short
	}
	var b strings.Builder
	for _, at := range t.places {
		if at < 0 || at >= len(texts) {
			b.WriteString("[damaged: a piece of this text is missing]")
			continue
		}
		b.WriteString(texts[at])
	}
	return b.String()
}

// resolve finds what a call was sent. What the numbers of a damaged form represented is a
// message that says so.
func (r *reader) resolve(c *Call, b *body) {
	if b == nil {
		return
	}
	if p, ok := r.of[b.Settings]; ok && p.role == kindSettings {
		c.Settings, c.Schema = r.sets[p.at].settings, r.sets[p.at].schema
	}
	c.LeftOut, c.Finish, c.Served, c.Limit, c.Message, c.Fault = b.LeftOut, string(b.Finish), b.Served, b.Limit, b.Message, b.Fault
	c.Sent, c.Tools = r.spans(b.Sent, model.User), r.spans(b.Tools, kindTool)
	if b.Reply != nil {
		at := r.spans([]int{*b.Reply, 1}, model.Assistant)
		c.Reply = &at[0].First
	}
}

// spans turns runs of numbers, of tools or of messages, into runs of places.
func (r *reader) spans(runs []int, role string) []Span {
	var out []Span
	for i := 0; i+1 < len(runs); i += 2 {
		for n := runs[i]; n < runs[i]+min(runs[i+1], maxMessages); n++ {
			p, ok := r.of[n]
			if !ok || (p.role == kindTool) != (role == kindTool) || p.role == kindSettings {
				p = r.addMissing(n, role)
			}
			if last := len(out) - 1; last >= 0 && out[last].First+out[last].Count == p.at {
				out[last].Count++
				continue
			}
			out = append(out, Span{First: p.at, Count: 1})
		}
	}
	return out
}

// addMissing adds a message that says that another one is missing, and returns its place.
func (r *reader) addMissing(number int, role string) place {
	const words = "[damaged: it is missing in what was kept]"
	m := message{Role: role, Parts: []part{{Text: short(words)}}}
	delete(r.of, number)
	r.take(number, m, nil)
	return r.of[number]
}
