package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// one shows the evaluations of a task.
func (o *runsTasksOptions) one(ctx context.Context, a *app, path, id string, r *record.Run) error {
	answer, err := ask.Task(ctx, r, a.absolute(path), path, id, ask.TaskQuestion{Step: o.step, Sample: -1, Prompt: o.prompt, Blind: a.guard != nil})
	if err != nil {
		return asFlag(err)
	}
	if answer.OfTest {
		noteLook(ctx, a, path, r, "runs tasks")
	}
	if a.json {
		return printAnswer(a.Out, answer)
	}
	return printTask(a.printer(a.Out), id, answer.Evaluations, o.prompt)
}

// printTask prints evaluations one after the other, with prompt also what the model was sent.
func printTask(out printer, id string, shown []ask.Evaluation, prompt bool) error {
	fmt.Fprintf(out, "task %s: asked %s\n", oneLine(id), wording.Plural(len(shown), "time", "times"))
	question, expected := "", ""
	for _, e := range shown {
		if e.Outcome != nil {
			question, expected = e.Outcome.Question, e.Outcome.Reference
		}
	}
	if question != "" && !prompt {
		block(out, "asked", question)
	}
	if expected != "" {
		block(out, "reference", expected)
	}
	for _, e := range shown {
		printEvaluation(out, e)
	}
	return nil
}

// printEvaluation prints what was answered once, and why it scored.
func printEvaluation(out printer, e ask.Evaluation) {
	fmt.Fprintf(out, "\n%s, sample %d: %s\n", oneLine(e.Where), e.Sample, scoredText(e.Outcome))
	if c := e.Conversation; c != nil {
		for _, m := range c.Messages {
			block(out, "sent, "+m.Role, m.Text)
		}
		if o := e.Outcome; o != nil && len(o.Trajectory) > 1 && len(c.Messages) == 0 { // of a dialogue in a world
			printTurns(out, o.Trajectory[:len(o.Trajectory)-1])
		}
		block(out, "reply", c.Reply.Text)
		if c.Limit != "" {
			block(out, "limit of the task", string(c.Limit)+": "+c.Message)
		}
	}
	if e.Open {
		fmt.Fprintln(out, "  no attempt at the episode has a result: it was killed, failed, or is at work")
	}
	for _, t := range e.Attempts {
		printTry(out, t)
	}
	if e.Outcome == nil {
		return
	}
	if e.Conversation == nil || e.Outcome.Extracted == check.NothingFound || strings.TrimSpace(e.Outcome.Answer) != strings.TrimSpace(e.Conversation.Reply.Text) {
		block(out, "answer that was scored"+foundBy(e.Outcome), e.Outcome.Answer)
	}
	if e.Outcome.FailReason != "" {
		block(out, "why", e.Outcome.FailReason)
	}
	printChecks(out, e.Outcome)
	switch {
	case e.Episode && !slices.ContainsFunc(e.Attempts, func(t record.Try) bool { return t.HasConversation() }):
		printTurns(out, e.Outcome.Trajectory)
	case e.Key == "":
		fmt.Fprintln(out, "  not asked here: an equal request had been answered elsewhere in the run")
	}
}

// maxTurn is how much of what a tool gave is printed, in bytes; --json has all.
const maxTurn = 2000

// printTurns prints what an agent did and said. What it asked its model in between is
// shown with --prompt.
func printTurns(out printer, turns []trajectory.Turn) {
	for _, t := range turns {
		if t.Action != "" {
			block(out, "did", t.Action)
		}
		if t.Observation != "" {
			block(out, "got", wording.Middle(t.Observation, maxTurn))
		}
		switch {
		case t.Content != "" && t.Role == model.User:
			block(out, "got", wording.Middle(t.Content, maxTurn))
		case t.Content != "":
			block(out, "said", t.Content)
		}
	}
}

// scoredText returns what an outcome scored.
func scoredText(o *trajectory.Outcome) string {
	switch {
	case o == nil:
		return "no score is written down"
	case !o.Status.Measured():
		return "not measured"
	case o.Soft != o.Hard:
		return fmt.Sprintf("scored %.3g (soft %.3g)", o.Hard, o.Soft)
	}
	return fmt.Sprintf("scored %.3g", o.Hard)
}

// block prints a text under a head, indented.
func block(out printer, head, text string) {
	fmt.Fprintf(out, "  %s:\n", head)
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		fmt.Fprintf(out, "    %s\n", printable(strings.TrimRight(line, "\r\n")))
	}
}

// openRecord opens a run for reading.
func openRecord(ctx context.Context, a *app, path string) (*record.Run, error) {
	return ask.Open(ctx, a.absolute(path), path)
}

// noteLook notes that answers to test tasks are looked at. A ledger that cannot be used is
// no reason to show nothing: then it is said.
func noteLook(ctx context.Context, a *app, path string, r *record.Run, command string) {
	text := "answers to test tasks are shown: what they show of a skill that is made now is no longer a test; it is noted"
	if err := ask.NoteLook(ctx, a.absolute(path), r, command, time.Now()); err != nil {
		text = fmt.Sprintf("answers to test tasks are shown, which could not be noted: %v; later runs will not count it", err)
	}
	fmt.Fprintln(a.Err, "warning: "+printable(text))
}
