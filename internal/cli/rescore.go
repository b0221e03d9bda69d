package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
)

// rescoreOptions are the flags of rescore.
type rescoreOptions struct {
	skillopt.RescoreOptions
	config string
	sets   []string
}

func rescoreCommand(a *app) *cobra.Command {
	var o rescoreOptions
	c := &cobra.Command{
		Use:   "rescore RUN --config CONFIG_OR_DIR",
		Short: "Score the recorded answers of a run by other checks, without a call",
		Long: `Score the answers that a run has recorded by the checks, the extraction, the threshold
and the tasks of a config, and show what changes: the scores before and after, task by
task, and which decisions of the gate would have been other ones. No model is asked, and
nothing of the run is changed.

Tasks are matched by id. One that asks something else now, a check that looks at the
workspace of an agent, and a judge that was not asked the same before are not rescored:
they are counted and named, and never 0.

Decisions are made again on the candidates that the run made. After the first one that
is another, or that rests on answers the run never asked for, it is not known what would
have followed. To continue from recorded answers with other checks, fork the run:
skillopt train CONFIG --run RUN --fork NEW.

Answers to test tasks are left out unless --test is given, which is a reading of the test
set: it is noted, and later runs count it.`,
		Example: `  skillopt rescore runs/my-skill-1 --config my-skill
  skillopt rescore runs/my-skill-1 --config my-skill --step 3 --type total
  skillopt rescore runs/my-skill-eval-1 --config my-skill --set tasks.extract=last_line
  skillopt rescore runs/my-skill-1 --config my-skill --task total-07 --json`,
		Args: exactArgs(1, "a run directory"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, args[0]) },
	}
	c.Flags().StringVar(&o.config, "config", "", "the config with the checks, a file or its directory")
	c.Flags().StringVar(&o.Step, "step", "", "a step, or best; without it all of the run")
	c.Flags().StringArrayVar(&o.IDs, "task", nil, "the task with this id alone; may be given more than once")
	c.Flags().StringVar(&o.Type, "type", "", "tasks of this type alone")
	c.Flags().BoolVar(&o.Test, "test", false, "answers to test tasks as well")
	addSet(c, &o.sets)
	return c
}

// run rescores a run.
func (o *rescoreOptions) run(ctx context.Context, a *app, path string) error {
	if o.config == "" {
		return usagef("--config is missing: it names the config whose checks are to score, such as `skillopt rescore %s --config my-skill`", path)
	}
	r, err := openRecord(ctx, a, path)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // it was only read
	l, err := a.loadConfig(o.config, o.sets, nil)
	if err != nil {
		return err
	}
	rescored, err := skillopt.Rescore(ctx, l.Config, a.absolute(path), o.RescoreOptions, skillopt.WithLoaded(l), skillopt.WithVersion(a.version), skillopt.WithClouds(a.Clouds))
	if err != nil {
		return err
	}
	if slices.ContainsFunc(rescored.Sheets, func(s result.RescoredSheet) bool { return s.Split == "test" && s.Rescored > 0 }) {
		noteLook(ctx, a, path, r, "rescore")
	}
	rescored = shareable(rescored)
	if a.json {
		return printJSON(a.Out, rescored)
	}
	return o.print(a.printer(a.Out), path, rescored)
}

func (o *rescoreOptions) print(out printer, path string, r *result.Rescore) error {
	if err := printSheets(out, r.Sheets); err != nil {
		return err
	}
	for _, s := range o.selectSheets(r.Sheets) {
		printChanged(out, s)
	}
	if elsewhere := changes(r.Sheets) - changes(o.selectSheets(r.Sheets)); elsewhere > 0 {
		fmt.Fprintln(out)
		out.paragraph(wording.Plural(elsewhere, "answer changes", "answers change") + " elsewhere: --step N lists those of a step, --task ID those to a task, --json all")
	}
	printDecisions(out, r)
	for _, reason := range slices.Sorted(maps.Keys(r.NotRescored)) {
		out.paragraph(fmt.Sprintf("not rescored: %s: %s", wording.Plural(r.NotRescored[reason], "answer", "answers"), oneLine(reason)))
	}
	if r.TestLeftOut {
		out.paragraph("answers to test tasks are left out: --test rescores them, which is a reading of the test set")
	}
	writeCaveats(out, r.Simulated, false, 0)
	return nil
}

// selectSheets returns the sheets whose answers are listed one by one: those of the step that is
// asked for, of an evaluation, or else the last one on selection tasks that changes.
func (o *rescoreOptions) selectSheets(all []result.RescoredSheet) []result.RescoredSheet {
	if o.Step != "" || len(o.IDs) > 0 || len(all) <= 2 {
		return all
	}
	last := -1
	for i, s := range all {
		if s.Split == "selection" && len(s.Changed) > 0 {
			last = i
		}
	}
	var out []result.RescoredSheet
	for i, s := range all {
		if s.Split == "test" || i == last {
			out = append(out, s)
		}
	}
	return out
}

// changes counts the answers of some sheets that change.
func changes(all []result.RescoredSheet) int {
	n := 0
	for _, s := range all {
		n += len(s.Changed)
	}
	return n
}

// printSheets prints the scores before and after.
func printSheets(out printer, all []result.RescoredSheet) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\tbefore\tafter\tanswers\tchanged\tnot rescored")
	for _, s := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%d\n", oneLine(s.Where), withError(s.Before), withError(s.After), s.Rescored, len(s.Changed), len(s.NotRescored))
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print result: %w", err)
	}
	out.line("hard scores from 0 to 1 over the same answers, with their standard errors over the tasks")
	return nil
}

// withError returns a hard score with its standard error, and the soft one where it differs.
func withError(s *result.RescoredScore) string {
	if s == nil {
		return "-"
	}
	text := fmt.Sprintf("%.3f", s.Hard)
	if s.HardSE != nil {
		text += fmt.Sprintf(" ±%.3f", *s.HardSE)
	}
	if s.Soft != s.Hard {
		text += fmt.Sprintf(" (soft %.3f)", s.Soft)
	}
	return text
}

// maxListed is how many answers are listed of a sheet; --json has all.
const maxListed = 30

func printChanged(out printer, s result.RescoredSheet) {
	if len(s.Changed) == 0 {
		return
	}
	fmt.Fprintf(out, "\n%s: %s\n", oneLine(s.Where), wording.Plural(len(s.Changed), "answer changes", "answers change"))
	for _, t := range s.Changed[:min(maxListed, len(s.Changed))] {
		kind := ""
		if t.Type != "" {
			kind = "  " + oneLine(t.Type)
		}
		if t.Sample > 0 {
			kind += fmt.Sprintf("  sample %d", t.Sample)
		}
		fmt.Fprintf(out, "\n%s%s  %s -> %s\n", oneLine(t.ID), kind, pairText(t.Before), pairText(t.After))
		if t.Before.Answer != t.After.Answer {
			out.hang("  answer was ", oneLine(t.Before.Answer))
		}
		out.hang("  answer     ", oneLine(t.After.Answer))
		out.hang("  reference  ", oneLine(t.Expected))
		for _, v := range t.After.Checks {
			out.hang("  ", outcomeCheckText(v))
		}
	}
	if n := len(s.Changed) - maxListed; n > 0 {
		fmt.Fprintf(out, "\nand %d more, which --json has\n", n)
	}
}

func pairText(s result.Scored) string {
	if s.Hard != s.Soft {
		return fmt.Sprintf("%.3g (soft %.3g)", s.Hard, s.Soft)
	}
	return fmt.Sprintf("%.3g", s.Hard)
}

// printDecisions prints the decisions of the gate, then and now.
func printDecisions(out printer, r *result.Rescore) {
	if r.Undecided != "" {
		fmt.Fprintln(out)
		out.paragraph("decisions of the gate are not made again: " + oneLine(r.Undecided))
		return
	}
	if len(r.Decisions) == 0 {
		return
	}
	fmt.Fprintln(out, "\ndecisions of the gate, on the candidates that the run made:")
	for _, d := range r.Decisions {
		now := "not known: " + oneLine(d.Unknown)
		switch {
		case d.Now != nil && d.Changed:
			now = actionWords(*d.Now) + ", instead of " + actionWords(d.Then) + ": " + oneLine(d.NowReason)
		case d.Now != nil && *d.Now != d.Then: // both accept, or both reject
			now = actionWords(*d.Now) + ", before " + actionWords(d.Then) + ": " + oneLine(d.NowReason)
		case d.Now != nil:
			now = actionWords(*d.Now) + ", as before: " + oneLine(d.NowReason)
		default:
			now = "then " + actionWords(d.Then) + ", now " + now
		}
		out.hang("  "+d.Where+"  ", now)
	}
}

// actionWords returns an action in words.
func actionWords(action string) string { return strings.ReplaceAll(action, "_", " ") }
