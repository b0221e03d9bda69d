package cli

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
)

func runsCompareCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "compare RUN RUN...",
		Short: "Show runs next to each other: scores, cost, and the settings that differ",
		Long: `Show 2 to 8 runs next to each other: how they ended, their scores with intervals, what they
cost, and the keys of their configurations on which they differ, secrets masked. What a run
wrote down is read; nothing is asked or paid for.

Scores of two runs are no comparison of their skills: they may be of other tasks, and chance
moves both. skillopt compare asks models to carry out the same tasks with two skills until it
is certain which is better. skillopt runs diff RUN OTHER_RUN shows how the skills differ.`,
		Example: `  skillopt runs compare runs/my-skill-1 runs/my-skill-2
  skillopt runs compare runs/my-skill-* --json
  skillopt runs diff runs/my-skill-1 runs/my-skill-2                    the skills
  skillopt compare runs/my-skill-1/best_skill.md runs/my-skill-2/best_skill.md --config my-skill`,
		Args: rangeArgs(record.LeastCompared, record.MostCompared, "2 to 8 run directories"),
		RunE: func(cmd *cobra.Command, args []string) error { return compareRuns(cmd.Context(), a, args) },
	}
}

// compareRuns puts runs side by side.
func compareRuns(ctx context.Context, a *app, paths []string) error {
	dirs := make([]string, len(paths))
	for i, p := range paths {
		dirs[i] = a.absolute(p)
	}
	c, err := ask.Compare(ctx, dirs, paths)
	if err != nil {
		return err
	}
	if a.json {
		return printAnswer(a.Out, c)
	}
	out := a.tablePrinter()
	if err := printCompared(out, c); err != nil {
		return err
	}
	out.line(fmt.Sprintf("the skills: skillopt runs diff %s %s; whether one is better: skillopt compare", shellWord(paths[0]), shellWord(paths[1])))
	return nil
}

// longValue is how much of a value of a key is shown, in bytes; --json has all.
const longValue = 48

// printCompared prints a column a run.
func printCompared(out printer, c result.RunsCompared) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	line := func(head string, of func(r result.RunRow) string) {
		cells := make([]string, len(c.Runs))
		for i, r := range c.Runs {
			cells[i] = oneLine(of(r))
		}
		fmt.Fprintf(w, "%s\t%s\n", head, strings.Join(cells, "\t"))
	}
	line("RUN", func(r result.RunRow) string { return r.Name })
	line("kind", func(r result.RunRow) string { return string(r.Kind) })
	line("status", func(r result.RunRow) string { return r.Status })
	line("skill", func(r result.RunRow) string { return orDash(r.Skill) })
	line("models", func(r result.RunRow) string { return orDash(strings.Join(r.Models, ", ")) })
	line("score", rowScore)
	line("change", func(r result.RunRow) string { return signedText(r.Change) })
	line("certified", func(r result.RunRow) string {
		if r.Certified == nil {
			return "-"
		}
		return map[bool]string{true: "yes", false: "no"}[*r.Certified]
	})
	line("steps", func(r result.RunRow) string { return fmt.Sprint(r.Steps) })
	line("calls", func(r result.RunRow) string { return fmt.Sprint(r.Calls) })
	line("cost, USD", func(r result.RunRow) string { return usdText(r.CostUSD) })
	fmt.Fprintln(w)
	for _, class := range []string{"identity", "operational"} {
		for _, d := range c.Config {
			if d.Class != class {
				continue
			}
			cells := make([]string, len(d.Values))
			for i, v := range d.Values {
				if cells[i] = "-"; v != nil {
					cells[i] = wording.Middle(oneLine(*v), longValue)
				}
			}
			fmt.Fprintf(w, "%s\t%s\n", oneLine(d.Key), strings.Join(cells, "\t"))
		}
	}
	if len(c.Config) == 0 {
		fmt.Fprintln(w, "their configurations are the same")
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print runs: %w", err)
	}
	_, err := fmt.Fprintln(out)
	return err
}

// rowScore returns the score of a run with its interval and split.
func rowScore(r result.RunRow) string {
	text := splitScore(r.RunScore)
	if r.Low != nil && r.High != nil {
		text += fmt.Sprintf(" [%.3f, %.3f]", *r.Low, *r.High)
	}
	return r.After(text)
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func signedText(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%+.3f", *v)
}
