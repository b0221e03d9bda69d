package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/fit"
	"github.com/seed-f4525e22/skillopt/internal/plural"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/testset"
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

// shownEvaluation is an evaluation with what was said.
type shownEvaluation struct {
	record.Evaluation
	Conversation *caller.Conversation `json:"conversation,omitempty"`
	Attempts     []record.Try         `json:"attempts,omitempty"` // of an episode, with the calls that it made
}

// run shows the evaluations of a task.
func (o *runsTaskOptions) run(ctx context.Context, a *app, path, id string) error {
	if id == "" {
		return usagef("the id of a task is empty; `skillopt runs failures %s` names tasks", path)
	}
	r, err := openRecord(ctx, a, path)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // it was only read
	all, err := r.Task(ctx, id)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return usagef("run %s has never asked a task %q; `skillopt runs failures %s` names tasks of it", path, id, path)
	}
	chosen, err := o.chosen(r, all)
	if err != nil {
		return err
	}
	if len(chosen) == 0 {
		return usagef("the task was not asked there; it was asked at: %s", strings.Join(placesOf(all), "; "))
	}
	shown, err := o.shown(ctx, r, chosen)
	if err != nil {
		return err
	}
	for _, e := range chosen {
		if e.OfTest() {
			noteLook(ctx, a, path, r, "runs task")
			break
		}
	}
	shown = shareable(shown)
	if a.json {
		return printJSON(a.Out, struct {
			RunDir      string            `json:"run_dir"`
			Task        string            `json:"task"`
			Evaluations []shownEvaluation `json:"evaluations"`
		}{a.absolute(path), id, shown})
	}
	return o.print(a.printer(a.Out), id, shown)
}

// chosen are the evaluations that the flags name.
func (o *runsTaskOptions) chosen(r *record.Run, all []record.Evaluation) ([]record.Evaluation, error) {
	step := -1
	if o.step != "" {
		var err error
		if step, err = r.ParseStep(o.step); err != nil {
			return nil, usagef("--step: %v", err)
		}
	}
	var out []record.Evaluation
	for _, e := range all {
		if step >= 0 && (e.Step != step || step == 0 && e.Arm != "seed") || o.arm != "" && e.Arm != o.arm || o.sample >= 0 && e.Sample != o.sample {
			continue
		}
		out = append(out, e)
	}
	return out, nil
}

func placesOf(all []record.Evaluation) []string {
	var out []string
	for _, e := range all {
		out = append(out, e.Where)
	}
	return out
}

// shown reads what was said in evaluations, where calls are recorded one by one.
func (o *runsTaskOptions) shown(ctx context.Context, r *record.Run, chosen []record.Evaluation) ([]shownEvaluation, error) {
	out := make([]shownEvaluation, len(chosen))
	if err := o.attempts(ctx, r, chosen, out); err != nil {
		return nil, err
	}
	for i, e := range chosen {
		out[i].Evaluation = e
		if e.Key == "" || e.Episode {
			continue
		}
		c, err := r.Said(ctx, e)
		if errors.Is(err, record.ErrNoCall) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if !o.prompt {
			c.Messages, c.Tools, c.Schema = nil, nil, nil
		}
		out[i].Conversation = &c
	}
	return out, nil
}

// attempts reads the calls inside episodes.
func (o *runsTaskOptions) attempts(ctx context.Context, r *record.Run, chosen []record.Evaluation, out []shownEvaluation) error {
	var keys []string
	at := map[string]int{}
	for i, e := range chosen {
		if e.Episode && o.prompt {
			keys = append(keys, e.Key)
			at[e.Key] = i
		}
	}
	if len(keys) == 0 {
		return nil
	}
	tries, err := r.Tries(ctx, chosen[0].Task, keys...)
	for _, t := range tries {
		e := &out[at[t.Key]]
		e.Attempts = append(e.Attempts, t)
	}
	return err
}

// print prints evaluations one after the other.
func (o *runsTaskOptions) print(out printer, id string, shown []shownEvaluation) error {
	fmt.Fprintf(out, "task %s: asked %s\n", oneLine(id), plural.Of(len(shown), "time", "times"))
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

func (o *runsTaskOptions) printOne(out printer, e shownEvaluation) {
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
			block(out, "got", fit.Middle(t.Observation, maxTurn))
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
	r, err := record.Open(ctx, a.absolute(path))
	var none *run.MissingError
	if errors.As(err, &none) {
		return nil, usagef("%s is no run directory: it has no %s; `skillopt runs list` shows runs", path, run.ManifestFile)
	}
	return r, err
}

// lookedAt makes the id under which the ledger of test sets knows those who look at what a
// run has read.
const lookedAt = "/looked-at"

// noteLook notes that answers to test tasks are looked at. A ledger that cannot be used is
// no reason to show nothing: then it is said.
func noteLook(ctx context.Context, a *app, path string, r *record.Run, command string) {
	dir, m := a.absolute(path), r.Manifest
	err := testset.Again(ctx, filepath.Dir(dir), m.RunID, testset.Reading{RunID: m.RunID + lookedAt, Number: 1, Run: filepath.Base(dir) + " (looked at)", Command: command, At: time.Now()})
	text := "answers to test tasks are shown: what they show of a skill that is made now is no longer a test; it is noted"
	if err != nil {
		text = fmt.Sprintf("answers to test tasks are shown, which could not be noted: %v; later runs will not count it", err)
	}
	fmt.Fprintln(a.Err, "warning: "+printable(text))
}
