package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
)

func runsShowCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "show [RUN [STEP]]",
		Short: "Explain a run, or one of its steps: what was tried, what was decided, what it cost",
		Long: `Explain a run: what was tried, what was decided, what it cost. Without RUN it is the
newest one in the folder runs.

With STEP, all that this step proposed and decided: the scores and the verdict of its gate, and
each edit with its full text, the result of applying it, who asked for it and after which tasks,
and whether it is part of a skill that was taken. Edits that were proposed and not chosen, not
applied, or rejected with their candidate are among them.`,
		Example: "  skillopt runs show\n  skillopt runs show runs/quickstart-1\n  skillopt runs show runs/quickstart-1 3",
		Args:    rangeArgs(0, 2, "a run directory and the number of a step at most"),
		RunE: func(_ *cobra.Command, args []string) error {
			path, err := runOrNewest(a, args)
			if err != nil {
				return err
			}
			if len(args) == 2 {
				return showOneStep(a, path, args[1])
			}
			return printRun(a, path)
		},
	}
}

// printRun explains a run.
func printRun(a *app, path string) error {
	v, err := readRun(a.absolute(path), path)
	if err != nil {
		return err
	}
	if v = shareable(v); a.guard != nil {
		v = ask.HideTest(v)
	}
	if a.json {
		return printAnswer(a.Out, v)
	}
	return showRun(a.tablePrinter(), v)
}

// showRun explains a run by its kind.
func showRun(out printer, v ask.View) error {
	if err := showHead(out, v); err != nil {
		return err
	}
	switch v.Manifest.Kind {
	case result.ServeModel:
		return showGateway(out, v)
	case result.DraftTasks:
		return showDraft(out, v)
	case result.MineTasks, result.Reflect:
		_, err := fmt.Fprintf(out, "  the record of %s; it has no steps\n", kindWord(v.Manifest.Kind))
		return err
	case result.MeasureNoise:
		return showNoise(out, v)
	}
	if v.Files != nil {
		return showFiles(out, v)
	}
	if v.Summary == nil && v.Evaluation == nil && v.Comparison == nil && v.Exploratory() {
		fmt.Fprintln(out, "  "+exploratory(0))
	}
	switch v.Manifest.Kind {
	case result.Evaluate:
		return showEvaluation(out, v)
	case result.Compare:
		return showComparison(out, v)
	case result.Ablate, result.Prune:
		return showPruning(out, v)
	}
	return showTraining(out, v)
}

// showHead says which run it is, whose models it had and what its figures rest on.
func showHead(out printer, v ask.View) error {
	m := v.Manifest
	fmt.Fprintf(out, "run %s  %s\n", out.path(v.Dir), statusText(string(m.Status), v.Killed))
	if v.Killed {
		fmt.Fprintln(out, "  no process works on it; what it has paid for is recorded, and the same command continues")
	}
	fmt.Fprintf(out, "  begun %s with version %s\n", m.CreatedAt.Format("2006-01-02 15:04 MST"), m.Version)
	if err := showModels(out, v.Models); err != nil {
		return err
	}
	if m.Simulated {
		fmt.Fprintln(out, "  the models are simulated: the numbers show how training works, not what a model can do")
	}
	if from := m.Replays(); from != "" {
		fmt.Fprintf(out, "  answered from %s: nothing was asked or paid for\n", from)
	}
	if m.ForkedOf != "" {
		fmt.Fprintf(out, "  forked of %s\n", m.ForkedOf)
	}
	if words := m.TunedSource().Words(); words != "" {
		fmt.Fprintf(out, "  %s\n", oneLine(words))
	}
	showCeilings(out, m)
	return nil
}

// showGateway shows the ledger of a gateway.
func showGateway(out printer, v ask.View) error {
	_, err := fmt.Fprintf(out, "  the ledger of `skillopt gateway` (models.%s): %s\n  %s\n",
		v.Manifest.Identity["library.gateway"], wording.Plural(v.Gateway.TotalCalls, "call", "calls"), tokensText(v.Gateway.TotalTokens, v.Gateway.TotalUSD))
	return err
}

// showTraining shows a run that trains.
func showTraining(out printer, v ask.View) error {
	showSteps(out, v.History)
	showEpochs(out, v.History)
	if v.Summary == nil {
		if v.Score.Score != nil {
			out.line("\nbest so far: " + runScoreText(v.Score))
		}
		fmt.Fprintf(out, "\nnot ended yet; the same train command continues, or: skillopt train CONFIG --run %s\n", out.path(v.Dir))
		return nil
	}
	fmt.Fprintln(out)
	return writeSummary(out, v.Summary)
}

// showEvaluation shows a run that has no steps.
func showEvaluation(out printer, v ask.View) error {
	if v.Evaluation == nil {
		_, err := fmt.Fprintln(out, "\nno result yet; the same `skillopt eval` command continues")
		return err
	}
	fmt.Fprintln(out)
	return writeEvaluation(out, v.Evaluation)
}

func showSteps(out printer, h result.History) {
	if len(h.Steps) == 0 {
		fmt.Fprintln(out, "  no step is done yet")
		return
	}
	fmt.Fprintln(out)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "STEP\tEPOCH\tTRAIN\tEDITS\tCANDIDATE\tCURRENT\tDECISION")
	for _, s := range h.Steps {
		edits := "-"
		if s.Step > 0 {
			edits = fmt.Sprint(s.Ranked)
			if s.Budget != nil {
				edits += fmt.Sprintf("/%d", *s.Budget)
			}
		}
		fmt.Fprintf(w, "%d\t%d\t%s\t%s\t%s\t%s\t%s\n", s.Step, s.Epoch, scoreText(s.RolloutHard), edits, partScore(s.Candidate, s.SelectionN, h.Steps[0].SelectionN), scoreText(s.Current), decisionText(s.Action, s.Difference, s.SelectionN)+unansweredText(s.RolloutUnanswered, s.SelectionUnanswered))
	}
	if err := w.Flush(); err != nil {
		return
	}
	for _, s := range h.Steps {
		showStep(out, s)
	}
}

// showStep lists what a step tried.
func showStep(out printer, s result.StepRecord) {
	if len(s.Edits) == 0 && s.Reason == "" && s.Examples == nil {
		return
	}
	fmt.Fprintf(out, "\nstep %d: %s", s.Step, s.Action)
	if s.Reason != "" {
		fmt.Fprintf(out, " (%s)", oneLine(s.Reason))
	}
	fmt.Fprintln(out)
	if s.Examples != nil {
		out.hang("  worked examples: ", s.Examples.Words())
	}
	if len(s.Failures) > 0 {
		out.hang("  failed: ", oneLine(s.Failures.Words()))
	}
	for _, e := range s.Edits {
		text := firstLine(e.Content, e.Target)
		if e.File != "" {
			text = oneLine(e.File) + ": " + text
		}
		fmt.Fprintf(out, "  %-34s %s\n", e.Status, text)
	}
	if len(s.Unmeasured) > 0 {
		fmt.Fprintf(out, "  without %s: could not be measured\n", oneLine(strings.Join(s.Unmeasured, ", ")))
	}
}

func showEpochs(out printer, h result.History) {
	for _, e := range h.Epochs {
		fmt.Fprintf(out, "\nend of epoch %d:", e.Epoch)
		if e.SlowUpdate != "" {
			fmt.Fprintf(out, " slow update %s", e.SlowUpdate)
			if e.Score != nil {
				fmt.Fprintf(out, " at %s", scoreText(e.Score))
			}
		}
		if len(e.Failures) > 0 {
			fmt.Fprintf(out, "; failed: %s", oneLine(e.Failures.Words()))
		}
		if e.MetaSkill != "" {
			fmt.Fprintf(out, "; meta skill: %s", firstLine(e.MetaSkill))
		}
		fmt.Fprintln(out)
	}
}
