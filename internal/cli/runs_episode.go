package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/exchange"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// Of a conversation inside an episode so much is printed, in bytes; --json has all.
const (
	maxSaid   = 6000 // of a message
	maxResult = 2000 // of what a tool gave
)

// printTry prints the calls of one attempt at an episode: each message once, where it was
// first sent or answered.
func printTry(out io.Writer, t record.Try) {
	fmt.Fprintf(out, "  attempt %d of the episode%s: %s\n", t.Attempt+1, tryFate(t), wording.Plural(int64(len(t.Calls)), "model call", "model calls"))
	if len(t.Calls) > 0 && !t.HasConversation() {
		fmt.Fprintln(out, "    what was said in them is not kept (record.episodes: usage, or a build that kept none)")
		return
	}
	p := tryPrinter{out: out, try: &t, shown: map[int]bool{}}
	for i := range t.Calls {
		p.call(i)
	}
}

// tryFate says what happened to an attempt at an episode.
func tryFate(t record.Try) string {
	switch {
	case t.Counts && t.Code == "":
		return ""
	case t.Counts:
		return " (" + t.Code + ")"
	case t.Code != "":
		return ", which gave no result (" + t.Code + ")"
	}
	return ", which has no result (killed, given up or at work)"
}

// tryPrinter prints an attempt at an episode.
type tryPrinter struct {
	out   io.Writer
	try   *record.Try
	shown map[int]bool // messages
	tools string       // that were reported last
}

// call prints what is new in a call.
func (p *tryPrinter) call(i int) {
	c := p.try.Calls[i]
	s := c.Said
	fate := ""
	if code := cmp.Or(c.Code, string(s.Limit)); code != "" {
		fate = ", " + code
	}
	fmt.Fprintf(p.out, "  call %d (%.2f s, %s in, %s out%s):\n", i+1, c.Seconds, tokenText(c.Call, c.Usage.Input), tokenText(c.Call, c.Usage.Output), printable(fate))
	if s.Damage != "" {
		p.block("damaged", s.Damage)
	}
	p.printTools(s)
	before := 0
	for _, span := range s.Sent {
		for n := span.First; n < span.First+span.Count; n++ {
			if p.shown[n] {
				before++
				continue
			}
			if before > 0 {
				p.asBefore(before)
				before = 0
			}
			p.message("sent, ", n)
		}
	}
	p.asBefore(before)
	if s.LeftOut > 0 {
		fmt.Fprintf(p.out, "    (%s in the middle are not kept)\n", wording.Plural(int64(s.LeftOut), "message", "messages"))
	}
	p.printEnd(s)
}

func (p *tryPrinter) asBefore(n int) {
	if n > 0 {
		fmt.Fprintf(p.out, "    (%s as before)\n", wording.Plural(int64(n), "message", "messages"))
	}
}

// printEnd prints how a call ended.
func (p *tryPrinter) printEnd(s exchange.Call) {
	if s.Reply != nil {
		if p.shown[*s.Reply] {
			fmt.Fprintln(p.out, "    reply: as before")
		}
		p.message("reply", *s.Reply)
	}
	for _, b := range []struct{ head, text string }{{"limit of the task", s.Message}, {"failed", s.Fault}, {"what had arrived of the answer", wording.Middle(s.Begun, maxResult)}} {
		if b.text != "" {
			p.block(b.head, b.text)
		}
	}
}

// printTools prints the names of the tools, if they are others than before.
func (p *tryPrinter) printTools(s exchange.Call) {
	var names []string
	for _, span := range s.Tools {
		for n := span.First; n < span.First+span.Count; n++ {
			names = append(names, oneLine(p.try.Tools[n].Name))
		}
	}
	list := strings.Join(names, ", ")
	if list != p.tools {
		fmt.Fprintf(p.out, "    tools: %s\n", cmp.Or(list, "none"))
		p.tools = list
	}
}

// message prints a message that was not printed before.
func (p *tryPrinter) message(head string, n int) {
	if p.shown[n] {
		return
	}
	p.shown[n] = true
	m := p.try.Messages[n]
	if head != "reply" {
		head += m.Role
	}
	for _, part := range m.Parts {
		switch part.Kind {
		case "":
			p.block(head, wording.Middle(part.Text, maxSaid))
		case "call":
			p.block(fmt.Sprintf("%s, call of %s", head, partName(part)), wording.Middle(part.Text, maxSaid))
		case "result":
			failed := ""
			if part.Failed {
				failed = ", failed"
			}
			p.block(fmt.Sprintf("%s, result of %s%s", head, partName(part), failed), wording.Middle(part.Text, maxResult))
		default:
			p.block(head+", "+part.Kind, wording.Middle(cmp.Or(part.Text, part.More), maxSaid))
		}
	}
}

// partName returns the name of a tool and the id of its call.
func partName(p exchange.Part) string {
	name := cmp.Or(p.Name, "a tool")
	if p.ID != "" {
		name += " (" + p.ID + ")"
	}
	return name
}

// block prints a text under a head, indented below a call.
func (p *tryPrinter) block(head, text string) {
	fmt.Fprintf(p.out, "    %s:\n", oneLine(head))
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		fmt.Fprintf(p.out, "      %s\n", printable(strings.TrimRight(line, "\r\n")))
	}
}
