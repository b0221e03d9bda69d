package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Bounds of a report. A long text keeps its start and its end: errors of
// commands are at the end, what a file is at the start.
const (
	maxText   = 6000 // bytes of a message or an argument list
	maxResult = 4000 // bytes of what a tool gave
	maxTurns  = 400  // turns; of more, the middle is left out
	maxRaw    = 8 << 10
)

// reader reads the events of one run. It must accept any line and any order.
type reader interface {
	// line reads one event. If whole is false only its start is there.
	line(r *record, text []byte, whole bool)
}

// record is what the events of a run have reported so far.
type record struct {
	turns  []trajectory.Turn
	left   int            // turns left out of the middle
	open   map[string]int // calls without a result: id to position among all turns
	answer string
	usage  trajectory.Usage
	known  bool // usage is complete
	calls  int
	model  string

	heard   bool   // a model has answered
	ended   bool   // the last event that says so: the run is over
	fault   *fault // what went wrong last, nil if it was fixed
	waiting *fault // the agent is about to try again
	own     string // "class: detail" of a failure that is the agent's own
	broken  string // a tool of the agent that does not work here: no task can be blamed for it
	odd     int    // lines that are no events

	shell     shell           // of the agent
	commands  map[string]bool // open calls of the shell, by id
	ran       int             // commands that were started
	unstarted string          // what the shell gave instead of one
}

// fault is a failure of what is under the agent, as its events report it.
type fault struct {
	code   model.Code
	status int
	text   string
}

// say records a message of the agent.
func (r *record) say(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	r.heard, r.waiting = true, nil
	r.add(trajectory.Turn{Role: model.Assistant, Content: shorten(text, maxText)})
}

// think records what the agent thought aloud.
func (r *record) think(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	r.heard, r.waiting = true, nil
	r.add(trajectory.Turn{Role: model.Assistant, Content: "(thinks) " + shorten(text, maxText)})
}

// call records that a tool was called. Without an id the next result is its.
func (r *record) call(id, name string, args json.RawMessage) {
	r.heard, r.waiting = true, nil
	if r.open == nil {
		r.open = map[string]int{}
	}
	r.open[id] = len(r.turns) + r.left
	if name != "" && name == r.shell.tool {
		if r.commands == nil {
			r.commands = map[string]bool{}
		}
		r.commands[id] = true
	}
	r.add(trajectory.Turn{Kind: trajectory.ToolCall, Action: shorten(action(name, args), maxText)})
}

// hasOpenCall reports whether a call of that id is open.
func (r *record) hasOpenCall(id string) bool {
	_, ok := r.open[id]
	return ok
}

// result records what a tool gave.
func (r *record) result(id, text string, failed bool) {
	if r.commands[id] {
		r.command(text)
		delete(r.commands, id)
	}
	if failed {
		text = "error: " + text
	}
	text = shorten(text, maxResult)
	at, ok := r.open[id]
	if !ok {
		r.add(trajectory.Turn{Kind: trajectory.ToolCall, Action: "(unknown call)", Observation: text})
		return
	}
	delete(r.open, id)
	if at >= maxTurns/2 {
		if at -= r.left; at < maxTurns/2 {
			return // the call was left out
		}
	}
	r.turns[at].Observation = text
}

// command notes what the shell gave for a command.
func (r *record) command(text string) {
	for _, said := range r.shell.unstarted {
		if strings.Contains(text, said) {
			r.unstarted = text
			return
		}
	}
	r.ran++
}

// settle says, when the run is over, whether the shell of the agent worked.
func (r *record) settle() {
	if r.unstarted != "" && r.ran == 0 && r.broken == "" {
		r.broken = "its tool " + r.shell.tool + " could start no command here: " + excerpt(r.unstarted)
	}
}

// add appends a turn. In the middle of many there is a gap.
func (r *record) add(t trajectory.Turn) {
	r.turns = append(r.turns, t)
	if len(r.turns) < 2*maxTurns {
		return
	}
	cut := len(r.turns) - maxTurns
	r.turns = append(r.turns[:maxTurns/2], r.turns[maxTurns/2+cut:]...)
	r.left += cut
}

// trace returns the turns with a note where some are missing.
func (r *record) trace() []trajectory.Turn {
	turns, left := r.turns, r.left
	if over := len(turns) - maxTurns; over > 0 {
		turns = append(turns[:maxTurns/2:maxTurns/2], turns[maxTurns/2+over:]...)
		left += over
	}
	if left == 0 {
		return turns
	}
	note := trajectory.Turn{Role: model.System, Content: fmt.Sprintf("[%d turns left out here]", left)}
	return append(append(turns[:maxTurns/2:maxTurns/2], note), turns[maxTurns/2:]...)
}

// fail records a failure that ends the run unless something comes after it.
func (r *record) fail(status int, text string) {
	r.fault = newFault(status, text)
}

// retry records that the agent tries again after a failure.
func (r *record) retry(status int, text string) {
	r.waiting = newFault(status, text)
}

func newFault(status int, text string) *fault {
	if status == 0 {
		status = statusIn(text)
	}
	return &fault{code: classify(status, text), status: status, text: excerpt(text)}
}

func action(name string, args json.RawMessage) string {
	if name == "" {
		name = "?"
	}
	args = bytes.TrimSpace(args)
	if len(args) == 0 || string(args) == "null" {
		return name
	}
	var b bytes.Buffer
	if json.Compact(&b, args) == nil {
		args = b.Bytes()
	}
	return name + " " + string(args)
}

// shorten keeps three quarters of the room for the start of a text and one for
// its end.
func shorten(s string, room int) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if len(s) <= room {
		return s
	}
	head, tail := room*3/4, len(s)-room/4
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return fmt.Sprintf("%s\n[%d bytes left out]\n%s", s[:head], tail-head, s[tail:])
}

// excerpt makes one short line of a text, for messages.
func excerpt(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\ufffd")), " ")
	if len(s) <= 300 {
		return s
	}
	at := 300
	for !utf8.RuneStart(s[at]) {
		at--
	}
	return s[:at] + "..."
}

// decode reads an event. What is none is counted and left out.
func (r *record) decode(text []byte, into any) bool {
	if json.Unmarshal(text, into) != nil {
		r.odd++
		return false
	}
	return true
}

// parseText returns the text of a value that is a text, or a list of parts with texts.
func parseText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts []struct {
		Text string `json:"text"`
		Type string `json:"type"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		if string(raw) == "null" {
			return ""
		}
		return string(raw)
	}
	var texts []string
	for _, p := range parts {
		switch {
		case p.Text != "":
			texts = append(texts, p.Text)
		case p.Type != "" && p.Type != "text":
			texts = append(texts, "["+p.Type+"]")
		}
	}
	return strings.Join(texts, "\n")
}
