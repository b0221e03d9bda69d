package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/plural"
	"github.com/seed-f4525e22/skillopt/internal/run"
)

// pruneFlags are those of ablate and prune.
type pruneFlags struct {
	config, split, certify, record, run, replay, to string
	margin                                          float64
	passes                                          int
	sets                                            []string
	yes                                             bool
}

func (f *pruneFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.config, "config", "", "the config with tasks and target; default: that of RUN")
	c.Flags().StringVar(&f.split, "split", "selection", "split on whose tasks rules are judged")
	c.Flags().Float64Var(&f.margin, "margin", 0.05, "largest loss of score that does not matter, 0 to 1")
	c.Flags().IntVar(&f.passes, "passes", 10, "evaluations of a task by a text at most, on average")
	c.Flags().StringVar(&f.record, "record", "", "take answers from the record of this run; default: RUN")
	c.Flags().StringVar(&f.run, "run", "", "keep the record in this directory")
	addReplay(c, &f.replay)
	c.Flags().BoolVar(&f.yes, "yes", false, "do not ask before spending")
	addSet(c, &f.sets)
}

func (a *app) ablateCommand() *cobra.Command {
	var f pruneFlags
	c := &cobra.Command{
		Use:   "ablate RUN | SKILL.md --config CONFIG",
		Short: "Measure what each rule of a skill is worth",
		Long: `Leave each rule of a skill out, one at a time, and measure what that does to the
score. Rules are the items of lists and the paragraphs; headings, front matter and
protected regions are none. Of a RUN it is the best skill, with the config of the
run, and what the run has measured already is not asked again.

A rule is needed (without it the score falls), useless (without it nothing is lost
that matters), harmful (without it the score rises) or unclear. It is recorded as
training is: the same command goes on after an interruption, and prune can go on from
the run of ablate.

` + exitHelp,
		Example: `  skillopt ablate runs/quickstart-1
  skillopt ablate SKILL.md --config my-skill
  skillopt ablate runs/my-skill-1 --split train --passes 5 --json`,
		Args: exactly(1, "a run directory or a skill"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.ablate(cmd.Context(), args[0], f) },
	}
	f.add(c)
	return c
}

func (a *app) ablate(ctx context.Context, path string, f pruneFlags) error {
	var out *skillopt.Ablation
	err := a.pruning(ctx, path, f, func(ctx context.Context, cfg skillopt.Config, o skillopt.PruneOptions, opts []skillopt.Option) (err error) {
		out, err = skillopt.Ablate(ctx, cfg, o, opts...)
		return err
	})
	if err != nil {
		return goesOn(err)
	}
	out = shareable(out)
	if a.json {
		return printJSON(a.Out, out)
	}
	a.writeAblation(a.results(), out, nil)
	fmt.Fprintf(a.results(), "record: %s\n", a.relative(filepath.Join(out.RunDir, skillopt.AblationFile)))
	return nil
}

// pruning loads what a command line names and works on it.
func (a *app) pruning(ctx context.Context, path string, f pruneFlags, work func(context.Context, skillopt.Config, skillopt.PruneOptions, []skillopt.Option) error) error {
	l, record, err := a.pruneConfig(path, f)
	if err != nil {
		return err
	}
	if f.margin <= 0 || f.passes <= 0 {
		return usagef("--margin %v --passes %d: both are more than 0", f.margin, f.passes)
	}
	ctx, opts, end, err := a.session(ctx, l, sessionFlags{run: f.run, replay: f.replay, yes: f.yes})
	if err != nil {
		return err
	}
	o := skillopt.PruneOptions{Split: f.split, Certify: f.certify, Margin: f.margin, Passes: f.passes, Record: record}
	return errors.Join(work(ctx, l.Config, o, opts), end())
}

// pruneConfig finds the skill, its config, and the run whose record is used.
func (a *app) pruneConfig(path string, f pruneFlags) (l *config.Loaded, record string, err error) {
	skill, conf, record := a.absolute(path), f.config, a.absolute(f.record)
	if _, err := os.Stat(skill); err != nil {
		return nil, "", usagef("%s: %v; give a run directory, or a skill with --config", path, reasonOf(err))
	}
	if _, err := os.Stat(filepath.Join(skill, run.ManifestFile)); err == nil {
		record = cmp.Or(record, skill)
		conf = cmp.Or(conf, filepath.Join(skill, run.ConfigFile))
		if skill = a.skillOfRun(skill); skill == "" {
			return nil, "", usagef("%s: the run has no %s yet; `skillopt runs show %s` explains it", path, run.BestFile, path)
		}
	}
	if conf == "" {
		return nil, "", usagef("%s is a skill: --config names the config with its tasks and target", path)
	}
	l, err = a.loadConfig(conf, f.sets, []config.Setting{{Key: "skill", Value: skill, Origin: "argument"}})
	return l, record, err
}

// skillOfRun is the skill that a run has made, or looked at, "" if there is none.
func (a *app) skillOfRun(dir string) string {
	for _, name := range []string{run.BestFile, skillopt.WholeFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return filepath.Join(dir, name)
		}
	}
	return ""
}

// writeAblation prints a line for each rule; gone are those that were removed.
func (a *app) writeAblation(out io.Writer, e *skillopt.Ablation, gone map[int]bool) {
	width := 100
	if a.Terminal && a.Width > 0 {
		width = a.Width - 1
	}
	fmt.Fprintln(out, "rule  verdict    worth [interval]")
	for _, r := range e.Rules {
		worth := "not measured"
		if r.Worth != nil {
			worth = fmt.Sprintf("%+5.1f [%+5.1f, %+5.1f]", 100**r.Worth, 100**r.Low, 100**r.High)
		}
		mark := " "
		if gone[r.Number] {
			mark = "x"
		}
		fmt.Fprintf(out, "%s%3d  %-8s  %-21s  ", mark, r.Number, r.Verdict, worth)
		fmt.Fprintln(out, shortened(strings.Join(strings.Fields(printable(r.Text)), " "), max(16, width-39)))
		if len(r.Unmeasured) > 0 {
			a.fold(out, fmt.Sprintf("      without %s: could not be measured", strings.Join(r.Unmeasured, ", ")))
		}
	}
	how := fmt.Sprintf("worth: points of %s (0 to 100) on %d %s tasks that the rule brings, with a %.4g %% interval", e.Metric, e.Tasks, e.Split, 100*e.Level)
	if e.Alike {
		how += ", exact where answers come out alike every time, as they did here"
	}
	a.fold(out, how)
	if e.FromRecord > 0 {
		a.fold(out, fmt.Sprintf("%s from the record, %s new", plural.Of(e.FromRecord, "answer", "answers"), plural.Of(int(e.Calls.Total), "answer", "answers")))
	}
	if e.Simulated {
		fmt.Fprintln(out, "simulated models: the scores are those of a simulation")
	}
	if e.Exploratory {
		fmt.Fprintln(out, exploratory(0))
	}
	if e.TestRead {
		fmt.Fprintln(out, "tasks of the test split were read")
		a.writeReadBefore(out, e.TestReadBefore)
	}
}

// shortened cuts a text to some columns.
func shortened(text string, columns int) string {
	r := []rune(text)
	if len(r) <= columns {
		return text
	}
	return string(r[:columns-3]) + "..."
}
