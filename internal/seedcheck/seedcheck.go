// Package seedcheck looks at the first scores of the seed skill for signs that the
// measurement is broken: an extraction that finds nothing, a right answer that scores 0,
// a score that never changes.
//
// It knows outcomes, gold and how a configuration scores. It knows nothing of training.
package seedcheck

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/session"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Bounds of what is taken for a sign.
const (
	fewReplies  = 3   // fewer are no sign of anything
	fewMissed   = 10  // of that many replies less than one is no sign
	fewEqual    = 5   // fewer scores may be alike by chance
	ShownTasks  = 3   // of those that are shown
	unextracted = 0.9 // share of replies in which no answer was found
	longAnswer  = 200 // bytes; a longer one is no part of a word
)

// AtStart returns what looks at the first scores of the seed skill of a run; nil where they have
// been looked at before, or are another run's.
func AtStart(s *session.Session) func([]trajectory.Outcome) error {
	_, err := os.Stat(filepath.Join(s.Run.Dir, filepath.FromSlash(train.BaselineFile)))
	if s.Start.AcceptSeed || s.Fork != "" || s.Replay != nil || !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return func(out []trajectory.Outcome) error {
		l := Look(s.Inputs, s.Data.Selection, out)
		if sign := l.sign(); sign != "" {
			return fault.Input(fmt.Errorf("%s\n%s\nmend what is named, or continue with --accept-seed: what was asked is not paid for again", sign, l.FormatTasks()))
		}
		if doubt := l.Doubt(); doubt != "" {
			s.Emit(event.Warning{Text: doubt + "\n" + l.FormatTasks()})
		}
		return nil
	}
}

// Scores are the first ones of the seed skill, task by task.
type Scores struct {
	in         *session.Inputs
	projection score.Projection
	tasks      map[string]task.Task
	measured   []trajectory.Outcome
	telling    []trajectory.Outcome // those that a sign rests on; nil: any
}

// Look sums up what some tasks scored.
func Look(in *session.Inputs, tasks []task.Task, out []trajectory.Outcome) *Scores {
	l := &Scores{in: in, projection: in.Projection(), tasks: map[string]task.Task{}}
	for _, t := range tasks {
		l.tasks[t.ID] = t
	}
	for _, o := range out {
		if o.Status != score.Unmeasured {
			l.measured = append(l.measured, o)
		}
	}
	return l
}

// sign says why the scores cannot be what was meant, "" if nothing says so.
func (l *Scores) sign() string {
	if len(l.measured) < fewReplies {
		return ""
	}
	for _, look := range []func() string{l.NotExtracted, l.FindMissed, l.allEqual} {
		if sign := look(); sign != "" {
			return sign
		}
	}
	return ""
}

// NotExtracted finds that tasks.extract finds nothing in most replies. What was refused is no reply.
func (l *Scores) NotExtracted() string {
	if l.in.OwnEnv() || l.in.Extract == nil {
		return ""
	}
	var without []trajectory.Outcome
	replies := len(l.measured)
	for _, o := range l.measured {
		switch reply := lastReply(o); {
		case reply == "" && o.Status == score.AgentError:
			replies--
		case reply != "" && !l.in.Extract.Finds(reply):
			without = append(without, o)
		}
	}
	if replies == 0 || float64(len(without)) < unextracted*float64(replies) {
		return ""
	}
	l.telling = without
	return fmt.Sprintf("tasks.extract finds no answer in %d of %s: it looks elsewhere than the replies have it, or the seed skill does not say where it has to be", len(without), wording.Plural(replies, "reply", "replies"))
}

// FindMissed finds accepted answers in replies that scored nothing. Where a workspace, a
// program or a judge is asked, the right words are not all that is wanted.
func (l *Scores) FindMissed() string {
	var with []trajectory.Outcome
	for _, o := range l.measured {
		t := l.tasks[o.ID]
		if !l.scoresZero(o) || scoredElsewhere(l.in, t) {
			continue
		}
		if slices.ContainsFunc(t.Gold, func(gold string) bool { return says(lastReply(o), gold) || says(o.Answer, gold) }) {
			with = append(with, o)
		}
	}
	if len(with) < max(fewReplies, len(l.measured)/fewMissed) {
		return ""
	}
	l.telling = with
	return fmt.Sprintf("%d replies hold an accepted answer word for word and score 0: %s", len(with), l.blame())
}

// scoresZero reports whether the score that the gate looks at is 0.
func (l *Scores) scoresZero(o trajectory.Outcome) bool {
	return l.projection.Of(score.Pair{Hard: o.Hard, Soft: o.Soft}, 0) == 0
}

// blame names what scores replies.
func (l *Scores) blame() string {
	switch {
	case l.in.RawGold():
		return "the environment compares with something else than gold as it is in the task"
	case l.in.OwnEnv():
		return "the environment compares with something else; it gets gold as a list of accepted answers"
	}
	return "tasks.extract takes another part of the reply than the answer, or tasks.checks want more than an accepted answer"
}

// scoredElsewhere reports whether a task is scored by more than the words of its answer.
func scoredElsewhere(s *session.Inputs, t task.Task) bool {
	return !s.OwnEnv() && s.Scorer == nil && s.Suite.Needs(t) != (check.Needs{})
}

// allEqual finds that every task has the same score, which is not 0.
func (l *Scores) allEqual() string {
	if len(l.measured) < fewEqual {
		return ""
	}
	first := l.measured[0]
	for _, o := range l.measured {
		if o.Hard != first.Hard || o.Soft != first.Soft {
			return ""
		}
	}
	switch n := len(l.measured); {
	case first.Hard == 1:
		text := fmt.Sprintf("each of %d replies scores 1: there is nothing to learn from these tasks, or the scoring cannot fail", n)
		if l.in.Config.Agent.Name != "" {
			text += "; train with a weaker target and ship to this one (skillopt compare shows its turns and tokens there), or with more tasks"
		}
		return text
	case l.in.OwnEnv() && (first.Hard != 0 || first.Soft != 0):
		return fmt.Sprintf("the environment gives each of %d tasks the score %v, whatever was answered: it does not look at the answers", n, first.Hard)
	}
	return ""
}

// Doubt says what may be sound and is worth a look, "" if there is nothing.
func (l *Scores) Doubt() string {
	if len(l.measured) < fewReplies {
		return ""
	}
	if !slices.ContainsFunc(l.measured, func(o trajectory.Outcome) bool { return !l.scoresZero(o) }) {
		return fmt.Sprintf("each of %d replies of the seed skill scores 0. Training continues: a skill can begin there. If a reply below is right, the scoring is wrong", len(l.measured))
	}
	answer := l.measured[0].Answer
	if answer != "" && !slices.ContainsFunc(l.measured, func(o trajectory.Outcome) bool { return o.Answer != answer }) {
		return fmt.Sprintf("the answer is the same for each of %d tasks: %q", len(l.measured), session.Excerpt(l.in.Loaded.Redactor().Text(answer)))
	}
	return ""
}

// FormatTasks returns a few tasks as they were asked, answered and scored, without what looks like
// a secret: messages and events go further than the run directory.
func (l *Scores) FormatTasks() string {
	which := l.telling
	if which == nil {
		which = l.measured
	}
	hide := l.in.Loaded.Redactor()
	var b strings.Builder
	for _, o := range which[:min(len(which), ShownTasks)] {
		fmt.Fprintf(&b, "task %s:\n", o.ID)
		for _, line := range []struct{ name, text string }{
			{"prompt", o.Question}, {"reply", lastReply(o)}, {"answer taken", o.Answer}, {"accepted", strings.Join(l.tasks[o.ID].Gold, " | ")}, {"checks", scoreReason(o)},
		} {
			fmt.Fprintf(&b, "  %s: %q\n", line.name, session.Excerpt(hide.Text(line.text)))
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func scoreReason(o trajectory.Outcome) string {
	switch {
	case o.FailReason != "":
		return o.FailReason
	case o.Feedback != "":
		return o.Feedback
	}
	return fmt.Sprintf("hard %v, soft %v", o.Hard, o.Soft)
}

// lastReply returns what the target said last.
func lastReply(o trajectory.Outcome) string {
	for _, turn := range slices.Backward(o.Trajectory) {
		if turn.Role == model.Assistant && turn.Content != "" {
			return turn.Content
		}
	}
	return ""
}

// says reports whether an answer occurs in a text, not as a part of a word or number: in
// 187.30, 1,870 and 18-70 neither part is a number. One letter alone is none that could be
// distinguished from a word.
func says(text, answer string) bool {
	answer = strings.TrimSpace(answer)
	if r, size := utf8.DecodeRuneInString(answer); size == len(answer) && !unicode.IsDigit(r) {
		return false
	}
	if !strings.Contains(text, answer) || len(answer) > longAnswer {
		return strings.Contains(text, answer)
	}
	const before, after = `(?:^|[^\pL\pN_.,:/-]|(?:^|\PN)[.,:/-])`, `(?:$|[^\pL\pN_.,:/-]|[.,:/-](?:$|\PN))`
	whole, err := regexp.Compile(before + regexp.QuoteMeta(strings.ToValidUTF8(answer, "\uFFFD")) + after)
	return err == nil && whole.MatchString(text) // err is nil: what is quoted is a pattern
}

// Outcome sums up what tasks scored.
func (l *Scores) Outcome() string {
	scores := make([]string, len(l.measured))
	for i, o := range l.measured {
		scores[i] = fmt.Sprintf("%s %v", o.ID, o.Hard)
	}
	return fmt.Sprintf("%s carried out with the seed skill, hard scores: %s", wording.Plural(len(l.measured), "task", "tasks"), strings.Join(scores, ", "))
}
