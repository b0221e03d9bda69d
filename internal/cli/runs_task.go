package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// runsTaskOptions are the flags of runs task.
type runsTaskOptions struct {
	step, arm string
	sample    int
	prompt    bool
}

func runsTaskCommand(a *app) *cobra.Command {
	o := runsTaskOptions{sample: -1}
	c := &cobra.Command{
		Use:   "task RUN ID",
		Short: "Show what was answered to a task, where in the run, and why it scored",
		Long: `Show all that a run recorded of one task: where it was asked, what was answered, what
was scored of that and why. With --step, --arm or --sample, of some of these places
alone; with --prompt what the model was sent as well. Of an agent or environment that is
the conversation inside, each message once, of every attempt.

Nothing is asked or paid for. What was answered to a test task is a reading of the
test set: it is noted, and later runs count it.`,
		Example: `  skillopt runs task runs/quickstart-1 total-07
  skillopt runs task runs/quickstart-1 total-07 --step 3 --prompt
  skillopt runs task runs/quickstart-1 total-07 --step best --arm candidate --json`,
		Args: exactly(2, "a run directory and the id of a task"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, args[0], args[1]) },
	}
	c.Flags().StringVar(&o.step, "step", "", "a step, or best")
	c.Flags().StringVar(&o.arm, "arm", "", "whose answers: current, candidate, seed, best or final")
	c.Flags().IntVar(&o.sample, "sample", o.sample, "of several passes this one, from 0")
	c.Flags().BoolVar(&o.prompt, "prompt", false, "show what the model was sent")
	return c
}

// run shows the evaluations of a task.
func (o *runsTaskOptions) run(ctx context.Context, a *app, path, id string) error {
	r, err := openRecord(ctx, a, path)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // it was only read
	answer, err := ask.Task(ctx, r, a.absolute(path), path, id, ask.TaskQuestion{Step: o.step, Arm: o.arm, Sample: o.sample, Prompt: o.prompt})
	if err != nil {
		return asFlag(err)
	}
	if answer.OfTest {
		noteLook(ctx, a, path, r, "runs task")
	}
	if a.json {
		return printAnswer(a.Out, answer)
	}
	return o.print(a.printer(a.Out), id, answer.Evaluations)
}

// print prints evaluations one after the other.
func (o *runsTaskOptions) print(out printer, id string, shown []ask.Evaluation) error {
	fmt.Fprintf(out, "task %s: asked %s\n", oneLine(id), wording.Plural(len(shown), "time", "times"))
	question, expected := "", ""
	for _, e := range shown {
		if e.Outcome != nil {
			question, expected = e.Outcome.Question, e.Outcome.Reference
		}
	}
	if question != "" && !o.prompt {
		block(out, "asked", question)
	}
	if expected != "" {
		block(out, "reference", expected)
	}
	for _, e := range shown {
		o.printOne(out, e)
	}
	return nil
}

func (o *runsTaskOptions) printOne(out printer, e ask.Evaluation) {
	fmt.Fprintf(out, "\n%s, sample %d: %s\n", oneLine(e.Where), e.Sample, scoredText(e.Outcome))
	if c := e.Conversation; c != nil {
		for _, m := range c.Messages {
			block(out, "sent, "+m.Role, m.Text)
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
	case e.Episode && !slices.ContainsFunc(e.Attempts, func(t record.Try) bool { return t.Kept() }):
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
		if t.Content != "" {
			block(out, "said", t.Content)
		}
	}
}

// scoredText is what an outcome scored.
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
