package mine

import (
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/draft"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
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

// Why a task falls, apart from the reasons of drafts.
const (
	NotSo       draft.Reason = "name turns that are not what they say"
	NobodyAsked draft.Reason = "ask for something that the user did not ask"
	NobodySaid  draft.Reason = "have an input or expected answer that the session does not hold"
	NoOutcome   draft.Reason = "have neither checks nor a rubric"
	OnlyFiles   draft.Reason = "wrote files, and what these held is not known"
	NotApart    draft.Reason = "have checks that score the corrected answer as the accepted one"
	CutAnswer   draft.Reason = "have a request or an answer that was not kept whole"
	NoWords     draft.Reason = "have a rubric that no words of a correction carry"
	Unrelated   draft.Reason = "take an answer about something else for the corrected one"
)

// maxExamples is how many examples of a reason are kept.
const maxExamples = 3

// funnel counts what happens to sessions and tasks.
type funnel struct{ result.MineFunnel }

func (f *funnel) leave(why draft.Reason, t *transcript.Transcript, detail string) {
	f.LeftOut = addCount(f.LeftOut, why, result.MineExample{Source: t.Source, Session: t.ID, Detail: excerpt(detail, 200)})
}

func (f *funnel) fall(why draft.Reason, t *transcript.Transcript, detail, prompt string) {
	f.Fell = addCount(f.Fell, why, result.MineExample{Source: t.Source, Session: t.ID, Prompt: excerpt(prompt, 120), Detail: excerpt(detail, 200)})
}

func addCount(list []result.MineCount, why draft.Reason, e result.MineExample) []result.MineCount {
	i := slices.IndexFunc(list, func(c result.MineCount) bool { return c.Reason == string(why) })
	if i < 0 {
		i = len(list)
		list = append(list, result.MineCount{Reason: string(why)})
	}
	list[i].N++
	if len(list[i].Examples) < maxExamples {
		list[i].Examples = append(list[i].Examples, e)
	}
	return list
}

// close counts what is kept, and puts the reasons in order.
func (f *funnel) close(tasks []wish.Task) {
	f.Kept = len(tasks)
	for i := range tasks {
		t := &tasks[i]
		if t.Held != "" {
			f.Held++
			f.HeldExamples = example(f.HeldExamples, t, t.Held)
		}
		if t.Unfit != "" {
			f.Unfit++
			f.UnfitExamples = example(f.UnfitExamples, t, t.Unfit)
		}
		if t.Held == "" && t.Unfit == "" {
			f.KeptExamples = example(f.KeptExamples, t, string(t.Trust))
		}
	}
	for _, list := range [][]result.MineCount{f.LeftOut, f.Fell} {
		slices.SortStableFunc(list, func(a, b result.MineCount) int { return b.N - a.N })
	}
}

func example(list []result.MineExample, t *wish.Task, detail string) []result.MineExample {
	if len(list) == maxExamples {
		return list
	}
	ref := t.Seen[len(t.Seen)-1]
	return append(list, result.MineExample{Source: ref.Source, Session: ref.Session, Prompt: excerpt(t.Task.Prompt, 120), Detail: excerpt(detail, 200)})
}

// excerpt returns the beginning of a text on one line.
func excerpt(text string, limit int) string {
	r := []rune(strings.Join(strings.Fields(wording.Plain(text)), " "))
	if len(r) > limit {
		return string(r[:limit-3]) + "..."
	}
	return string(r)
}
