package mine

import (
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/draft"
	"github.com/seed-f4525e22/skillopt/internal/plain"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
)

// Why a session is not sent to a model, or brings nothing.
const (
	NotInteractive  draft.Reason = "were not driven by a person"
	NoAnswer        draft.Reason = "have no answer: each turn failed or was stopped"
	NothingShown    draft.Reason = "show no outcome: nothing was corrected, and no command failed and later passed"
	NeverAccepted   draft.Reason = "were corrected, and end without an answer that was accepted"
	TooMany         draft.Reason = "were more than are looked at in one night"
	Lost            draft.Reason = "got no usable reply"
	NothingProposed draft.Reason = "hold no task, says the model"
)

// Why a task falls, besides the reasons of drafts.
const (
	NotSo       draft.Reason = "name turns that are not what they say"
	NobodyAsked draft.Reason = "ask for something that the user did not ask"
	NobodySaid  draft.Reason = "have an input or expected answer that the session does not hold"
	NoOutcome   draft.Reason = "have neither checks nor a rubric"
	OnlyFiles   draft.Reason = "came out in files, and what these held is not known"
	NotApart    draft.Reason = "have checks that do not tell the corrected answer from the accepted one"
	CutAnswer   draft.Reason = "have an answer that was not kept whole"
	NoWords     draft.Reason = "have a rubric that no words of a correction carry"
	Unrelated   draft.Reason = "take an answer about something else for the corrected one"
)

// maxExamples is how many examples of a reason are kept.
const maxExamples = 3

// Funnel counts what became of sessions and of the tasks that were proposed of them.
type Funnel struct {
	Sessions   int     `json:"sessions"`
	LeftOut    []Count `json:"left_out,omitempty"` // sessions without tasks, by reason, the most frequent first
	Candidates int     `json:"candidates"`         // that show an outcome
	Asked      int     `json:"asked"`              // a model about
	Proposed   int     `json:"proposed"`           // tasks
	Fell       []Count `json:"fell,omitempty"`     // tasks, by reason
	Merged     int     `json:"merged"`             // tasks, into one that was shown before
	Held       int     `json:"held"`               // tasks that are kept, for a person to look at first
	Unfit      int     `json:"unfit"`              // tasks that are kept, and cannot be carried out again
	Kept       int     `json:"kept"`               // tasks, held and unfit ones included
}

// Count is how often a reason was met.
type Count struct {
	Reason   string    `json:"reason"` // goes on after "sessions that" or "tasks that"
	N        int       `json:"n"`
	Examples []Example `json:"examples,omitempty"` // at most three, the first ones
}

// Example is a session, or a task that was proposed of one.
type Example struct {
	Source  string `json:"source"`
	Session string `json:"session"`
	Prompt  string `json:"prompt,omitempty"` // of the task, its beginning
	Detail  string `json:"detail,omitempty"`
}

func (f *Funnel) leave(why draft.Reason, t *transcript.Transcript, detail string) {
	f.LeftOut = counted(f.LeftOut, why, Example{Source: t.Source, Session: t.ID, Detail: excerpt(detail, 200)})
}

func (f *Funnel) fall(why draft.Reason, t *transcript.Transcript, detail, prompt string) {
	f.Fell = counted(f.Fell, why, Example{Source: t.Source, Session: t.ID, Prompt: excerpt(prompt, 120), Detail: excerpt(detail, 200)})
}

func counted(list []Count, why draft.Reason, e Example) []Count {
	i := slices.IndexFunc(list, func(c Count) bool { return c.Reason == string(why) })
	if i < 0 {
		i = len(list)
		list = append(list, Count{Reason: string(why)})
	}
	list[i].N++
	if len(list[i].Examples) < maxExamples {
		list[i].Examples = append(list[i].Examples, e)
	}
	return list
}

// close counts what is kept, and puts the reasons in order.
func (f *Funnel) close(tasks []wish.Task) {
	f.Kept = len(tasks)
	for _, t := range tasks {
		if t.Held != "" {
			f.Held++
		}
		if t.Unfit != "" {
			f.Unfit++
		}
	}
	for _, list := range [][]Count{f.LeftOut, f.Fell} {
		slices.SortStableFunc(list, func(a, b Count) int { return b.N - a.N })
	}
}

// excerpt is the beginning of a text on one line.
func excerpt(text string, limit int) string {
	r := []rune(strings.Join(strings.Fields(plain.Text(text)), " "))
	if len(r) > limit {
		return string(r[:limit-3]) + "..."
	}
	return string(r)
}
