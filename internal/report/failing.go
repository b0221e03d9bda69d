package report

import (
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Transcripts is how many transcripts a page shows at most.
const Transcripts = 20

// Bounds of a text of a transcript, and of all of them.
const (
	messageBytes     = 6000
	referenceBytes   = 2000
	transcriptsBytes = 400 << 10
)

// failing is the section of what fails with the best skill.
type failing struct {
	Lead  string
	Tasks []transcript
	More  string // what is left out, and the command that shows it; "" if nothing is
}

// transcript is one failing task.
type transcript struct {
	ID, Type, Score string
	Blocks          []block
	Command         string
}

// block is a text under a head.
type block struct{ Head, Text string }

// failingTasks returns the part of the page on failing tasks, nil where nothing is known of them.
func (r *Run) failingTasks() *failing {
	f := r.Failing
	if f == nil {
		return nil
	}
	out := &failing{Lead: fmt.Sprintf("%s: %d of %s fail%s.", f.Where, len(f.List), wording.Plural(f.Tasks, "task", "tasks"), f.Over())}
	dir, system, size := quotePath(line(r.Name, reasonLength)), "", 0
	for i, t := range f.Transcripts {
		shown := newTranscript(t, &system)
		if task := f.List[i]; task.Draws > 1 {
			shown.Score += fmt.Sprintf(", fails in %d of %d answers", task.Failures, task.Draws)
		}
		for _, b := range shown.Blocks {
			size += len(b.Text)
		}
		if size > transcriptsBytes && len(out.Tasks) > 0 {
			break
		}
		shown.Command = fmt.Sprintf("skillopt runs tasks %s %s --prompt", dir, quotePath(line(t.Outcome.ID, idLength)))
		out.Tasks = append(out.Tasks, shown)
	}
	if more := len(f.List) - len(out.Tasks); more > 0 {
		out.More = fmt.Sprintf("%s left out here; `skillopt runs tasks %s --failing` lists all.", wording.Plural(more, "more task is", "more tasks are"), dir)
	}
	return out
}

// newTranscript lays a transcript out. The system message, which holds the skill, is shown
// once.
func newTranscript(t record.Transcript, system *string) transcript {
	o := t.Outcome
	out := transcript{ID: line(o.ID, idLength), Type: line(o.Type, idLength), Score: fmt.Sprintf("%.3g", o.Hard)}
	add := func(head, text string, most int) {
		if strings.TrimSpace(text) != "" {
			out.Blocks = append(out.Blocks, block{head, middle(text, most)})
		}
	}
	said := ""
	if c := t.Conversation; c != nil {
		for _, m := range c.Messages {
			text := m.Text
			if m.Role == "system" && text == *system {
				text = "(the same as of the first task above)"
			} else if m.Role == "system" && *system == "" {
				*system = text
			}
			add("sent, "+line(m.Role, idLength), text, messageBytes)
		}
		said = c.Reply.Text
		add("reply", said, messageBytes)
		if c.Limit != "" {
			add("limit of the task", string(c.Limit)+": "+c.Message, referenceBytes)
		}
	} else {
		add("asked", o.Question, messageBytes)
		add("what was done", trajectory.Format(o.Trajectory), messageBytes)
	}
	if strings.TrimSpace(o.Answer) != strings.TrimSpace(said) {
		add("answer that was scored", o.Answer, referenceBytes)
	}
	add("reference", o.Reference, referenceBytes)
	add("why", o.FailReason, referenceBytes)
	return out
}

// middle returns clean text. It leaves out the middle of a text that is too long: what is asked and
// what is answered are at the ends. It looks for secrets only in a part of a very long text: those
// that reach into what is shown begin near it.
func middle(text string, most int) string {
	text = clean(wording.Middle(text, 16*most), 16*most)
	if len(text) <= most {
		return text
	}
	return wording.Middle(text, most)
}
