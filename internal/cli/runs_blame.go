package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/provenance"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/skill"
)

// runsBlameOptions are the flags of runs blame.
type runsBlameOptions struct {
	at, file string
	line     int
}

func runsBlameCommand(a *app) *cobra.Command {
	var o runsBlameOptions
	c := &cobra.Command{
		Use:   "blame [RUN]",
		Short: "Explain each line of a trained skill: its step, edit, reasons and effect",
		Long: `Explain each line of the best skill of a run: which step and which edit wrote it,
which trajectories asked for it, and what the gate measured. Without RUN it is the
newest one in the folder runs.

The gate measures a step as a whole: the difference is that of all its edits.

--line explains one line to the ground: what the analysts replied that asked for it, and
each task that they had read, with what was answered, what was expected and why it failed.`,
		Example: `  skillopt runs blame runs/quickstart-1
  skillopt runs blame runs/quickstart-1 --at 3        the skill after step 3
  skillopt runs blame runs/quickstart-1 --line 14     which failures asked for line 14?
  skillopt runs blame runs/quickstart-1 --json`,
		Args: atMost(1, "at most one run directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := runOrNewest(a, args)
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("line") {
				return o.runLine(cmd.Context(), a, path)
			}
			return o.run(a, path)
		},
	}
	c.Flags().StringVar(&o.at, "at", "best", "a step, or best")
	c.Flags().IntVar(&o.line, "line", 0, "explain this line, from 1, with the tasks that asked for it")
	c.Flags().StringVar(&o.file, "file", skill.Main, "with --line: the file that it is in")
	return c
}

// run explains the lines of a skill.
func (o *runsBlameOptions) run(a *app, path string) error {
	b, err := readBlame(a, path, o.at)
	if err != nil {
		return err
	}
	if a.json {
		return printAnswer(a.Out, b)
	}
	out := a.printer(a.Out)
	if err := printBlame(out, b); err != nil {
		return err
	}
	return hintLine(out, b, path)
}

// readTraining reads the files of a run that trains.
func readTraining(a *app, dir string) (*record.Training, error) {
	return ask.ReadTraining(a.absolute(dir), filepath.ToSlash(a.relative(a.absolute(dir))))
}

// readBlame says of each line of a version of the skill who wrote it, without secrets.
func readBlame(a *app, dir, at string) (record.Blame, error) {
	return ask.Blame(a.absolute(dir), filepath.ToSlash(a.relative(a.absolute(dir))), at)
}

func printBlame(out printer, b record.Blame) error {
	name := run.BestFile
	if b.Version != "best" {
		name = "the skill after step " + b.Version
	}
	fmt.Fprintf(out, "%s of run %s\n", name, b.Run)
	if b.Simulated {
		fmt.Fprintln(out, "simulated models: the scores are those of a simulation")
	}
	printLines(out, b.Lines)
	for _, f := range b.Files {
		fmt.Fprintf(out, "\n%s\n", oneLine(f.Path))
		printLines(out, f.Lines)
	}
	printSources(out, b.Sources)
	for _, p := range b.Problems {
		fmt.Fprintf(out, "\nincomplete: %s\n", oneLine(p))
	}
	return nil
}

// printLines prints the lines of a file, each behind what wrote it.
func printLines(out printer, lines []provenance.Line) {
	fmt.Fprintln(out)
	gutter := 0
	for _, l := range lines {
		gutter = max(gutter, len(originLabel(l.Origin)))
	}
	for _, l := range lines {
		text := oneLine(l.Text)
		if strings.TrimSpace(text) == "" {
			fmt.Fprintf(out, "%*s  %4d\n", gutter, "", l.Number)
			continue
		}
		out.hang(fmt.Sprintf("%-*s  %4d  ", gutter, originLabel(l.Origin), l.Number), text)
	}
}

// originLabel names an origin in few columns.
func originLabel(o provenance.Origin) string {
	switch o.Kind {
	case provenance.Edit:
		return fmt.Sprintf("step %d.%d", o.Step, o.Edit)
	case provenance.SlowUpdate:
		return fmt.Sprintf("epoch %d", o.Epoch)
	case provenance.Seed, provenance.Outside:
		return record.Describe(o)
	}
	return fmt.Sprintf("step %d", o.Step)
}

// printSources prints a paragraph for each step and slow update that wrote a line.
func printSources(out printer, sources []record.Source) {
	for i, s := range sources {
		o := s.Origin
		if o.Kind == provenance.Seed || o.Kind == provenance.Outside {
			continue
		}
		if prev := max(0, i-1); i == 0 || sources[prev].Origin.Step != o.Step || sources[prev].Origin.Epoch != o.Epoch {
			head := fmt.Sprintf("step %d", o.Step)
			if o.Kind == provenance.SlowUpdate {
				head = record.Describe(o)
			}
			fmt.Fprintln(out)
			out.hang("", fmt.Sprintf("%s: %s", head, s.Gate))
		}
		printSource(out, s)
	}
}

func printSource(out printer, s record.Source) {
	if s.Edit != nil {
		what := oneLine(string(s.Edit.Op))
		if s.Edit.File != "" && s.Edit.File != skill.Main {
			what += ", " + oneLine(s.Edit.File)
		}
		out.hang("  ", fmt.Sprintf("edit %d, %s: %s", s.Origin.Edit, what, firstLine(s.Edit.Content, s.Edit.Target)))
	} else {
		out.hang("  ", fmt.Sprintf("%s: %s", strings.ReplaceAll(string(s.Origin.Kind), "_", " "), wording.Plural(s.CountLines(), "line", "lines")))
	}
	for _, line := range s.Summary {
		out.hang("    ", firstLine(line))
	}
	if s.Reason == nil {
		return
	}
	out.hang("    ", s.Reason.String())
	if len(s.Reason.Tasks) > 0 {
		out.hang("    ", "they read "+oneLine(firstNames(s.Reason.Tasks, 8)))
	}
	for _, p := range s.Reason.Patterns[:min(3, len(s.Reason.Patterns))] {
		out.hang("    ", "saw "+firstLine(p.String()))
	}
}

// firstNames lists the first n names and how many more there are.
func firstNames(names []string, n int) string {
	if len(names) <= n {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:n], ", "), len(names)-n)
}
