package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/result"
)

// evalOptions are the flags of eval.
type evalOptions struct {
	sessionOptions
	config       string // "": the argument is it
	skill, split string
	tuned        string // RUN@VERSION that the skill was edited from by hand, "" = no one has
	junit        string // file of the report as JUnit XML, "" = none
	repeat       int
	only         skillopt.Only
	sets         []string
	beside       []config.Setting // of another command that has this one score
}

func evalCommand(a *app) *cobra.Command {
	var o evalOptions
	c := &cobra.Command{
		Use:   "eval CONFIG_OR_DIR | SKILL.md --config CONFIG",
		Short: "Score one skill on a split",
		Long: `Score the skill of a config, or another one, on a split: selection, so that looking around
spends no test. --split test is a reading of the test set: it is noted, and later runs count it.
Like training it is recorded: the same command again pays for nothing twice. Of a skill that a
training in run.dir chose by the tasks the score says so.

--task, --type and --limit score some tasks of the split alone; their result says
nothing of the others, and is marked.

With --repeat the tasks are asked several times with fresh samples: the score is then
the mean of all passes, with how much of it is chance, which tasks flip, and the
smallest difference between two skills that as many passes of each would show.

With --junit a file gets a case for each task, as servers of continuous integration read
them: failed with answer, expected and why, or skipped where it could not be measured.

With --tuned-from the skill is one that you have edited by hand, from that version of a run.
The record keeps its text, and says that its score is no proof; test tasks are refused.

Trigger tasks are measured apart from the scores: how often the agent loads the skill
by its description, on prompts that should load it and on those that should not.

` + exitHelp,
		Example: `  skillopt eval my-skill
  skillopt eval runs/my-skill-1/best_skill.md --config my-skill --split test
  skillopt eval my-skill --repeat 5
  skillopt eval my-skill --repeat 5 --plan      what that will take
  skillopt eval my-skill --split train --type total --limit 5
  skillopt eval my-skill --junit report.xml
  skillopt eval edited/ --config my-skill --tuned-from runs/my-skill-1@best --task total-07
  skillopt eval my-skill --split all --json`,
		Args: exactArgs(1, "a config or a directory, or a skill with --config"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := o.configPath(args[0])
			if err != nil {
				return err
			}
			return o.run(cmd.Context(), a, path)
		},
	}
	o.addConfig(c)
	c.Flags().StringVar(&o.split, "split", "selection", "train, selection, test or all; test is a reading of the test set")
	c.Flags().IntVar(&o.repeat, "repeat", 1, "this many passes over the tasks, with fresh samples")
	c.Flags().StringVar(&o.junit, "junit", "", "write a case for each task to this file, as JUnit XML for continuous integration")
	c.Flags().StringVar(&o.tuned, "tuned-from", "", "RUN@VERSION that the skill was edited from by hand: its result is marked, and is no proof")
	o.addOnly(c)
	c.Flags().IntVar(&o.only.Limit, "limit", 0, "the first N tasks of the split; 0: all")
	o.addFlags(c, recordUsage)
	o.addPlan(c)
	addSet(c, &o.sets)
	return c
}

// addConfig adds the flag that names a config, so that the argument is a skill.
func (o *evalOptions) addConfig(c *cobra.Command) {
	c.Flags().StringVar(&o.config, "config", "", "a config or a directory with config.yaml; the argument is then a skill, a Markdown file or a directory")
}

// configPath returns the config that the command line names, and keeps the skill.
func (o *evalOptions) configPath(arg string) (string, error) {
	if o.config != "" {
		o.skill = arg
		return o.config, nil
	}
	if strings.EqualFold(filepath.Ext(arg), ".md") {
		return "", usagef("%s is a skill: name the config whose tasks and models score it with --config", arg)
	}
	return arg, nil
}

// addOnly adds the flags that choose tasks.
func (o *evalOptions) addOnly(c *cobra.Command) {
	c.Flags().StringArrayVar(&o.only.IDs, "task", nil, "the task with this id alone; may be given more than once")
	c.Flags().StringVar(&o.only.Type, "type", "", "tasks of this type alone")
}

// run scores a skill, or resumes the evaluation.
func (o *evalOptions) run(ctx context.Context, a *app, path string) error {
	if o.repeat < 1 {
		return usagef("--repeat %d: allowed: 1 or more", o.repeat)
	}
	if o.junit != "" && o.tuned != "" {
		return usagef("--junit and --tuned-from: what continuous integration passes is no skill that was tuned by hand; leave one of them out")
	}
	if err := a.canHold("--junit", o.junit); err != nil {
		return err
	}
	if o.plan {
		return a.printPlan(ctx, func(ctx context.Context, plan skillopt.Option) error {
			_, err := o.evaluate(ctx, a, path, plan)
			return err
		})
	}
	evaluated, err := o.evaluate(ctx, a, path)
	if err != nil {
		return err
	}
	if o.junit != "" {
		if err := writeJUnit(ctx, a, o.junit, evaluated); err != nil {
			return err
		}
	}
	evaluated = shareable(evaluated)
	if a.json {
		return printJSON(a.Out, evaluated)
	}
	return writeEvaluation(a.results(), evaluated)
}

// evaluate scores what the flags name.
func (o *evalOptions) evaluate(ctx context.Context, a *app, path string, more ...skillopt.Option) (*result.Evaluation, error) {
	flags := o.beside
	if o.skill != "" {
		flags = append(flags, config.Setting{Key: "skill", Value: o.skill, Origin: "argument"})
	}
	l, err := a.loadConfig(path, o.sets, flags)
	if err != nil {
		return nil, err
	}
	ctx, opts, end, err := a.session(ctx, l, o.sessionOptions)
	if err != nil {
		return nil, err
	}
	opts = append(opts, more...)
	if o.tuned != "" {
		from, err := readTuned(a, o.tuned)
		if err != nil {
			return nil, errors.Join(err, end())
		}
		opts = append(opts, skillopt.WithTuned(from))
	}
	evaluated, err := skillopt.Evaluate(ctx, l.Config, o.split, append(opts, skillopt.WithPasses(o.repeat), skillopt.WithOnly(o.only))...)
	return evaluated, endSession(err, end)
}

// readTuned reads the version of a run that a skill was edited from.
func readTuned(a *app, text string) (from result.Tuned, err error) {
	i := strings.LastIndexByte(text, '@')
	dir, version := text[:max(i, 0)], text[i+1:]
	if dir == "" || version == "" {
		return from, usagef("--tuned-from %s: want RUN@VERSION, such as runs/my-skill-1@best or runs/my-skill-1@3", text)
	}
	if err := a.guard.Inside(a.absolute(dir)); err != nil {
		return from, err
	}
	if _, err := skillVersion(a, dir, version); err != nil {
		return from, err
	}
	v, err := readRun(a.absolute(dir), dir)
	return result.Tuned{Run: filepath.Base(v.Dir), RunID: v.Manifest.RunID, Version: version}, err
}

// writeEvaluation prints the scores by split and type of task.
func writeEvaluation(out printer, e *result.Evaluation) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, split := range slices.Sorted(maps.Keys(e.Splits)) {
		s := e.Splits[split]
		fmt.Fprintf(w, "%s\t%s%s\n", split, interval(&s.Score), trainedText(s.TrainedOn))
		for _, name := range slices.Sorted(maps.Keys(s.ByType)) {
			t := s.ByType[name]
			fmt.Fprintf(w, "  %s\t%s\n", name, interval(&t))
		}
		for _, line := range repeatsText(s.Repeats) {
			fmt.Fprintln(w, out.foldText("  "+line))
		}
		if len(s.Unmeasured) > 0 {
			some := ""
			if s.Repeats != nil {
				some = " in some passes"
			}
			fmt.Fprintf(w, "  without %s%s: could not be measured\t\n", strings.Join(s.Unmeasured, ", "), some)
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print result: %w", err)
	}
	if len(e.Splits) > 0 {
		out.line(scoreUnits)
	}
	for _, split := range slices.Sorted(maps.Keys(e.Some)) {
		out.paragraph(fmt.Sprintf("%d of %d %s tasks: chosen ones, which say nothing of the others", e.Some[split].Tasks, e.Some[split].Of, split))
	}
	if words := e.Tuned.Words(); words != "" {
		out.paragraph(words)
	}
	writeTriggers(out, e.Triggers)
	writeReadBefore(out, e.TestReadBefore)
	fmt.Fprintf(out, "outcomes: %s\n", out.path(filepath.Join(e.RunDir, "outcomes.json")))
	writeUsage(out, &result.Summary{Usage: e.Usage, Simulated: e.Simulated, LeftOut: e.LeftOut})
	writeCaveats(out, e.Simulated, e.Exploratory, e.Limit)
	return nil
}

// trainedText says behind a score what it is not, if the skill was chosen by these tasks.
func trainedText(t *result.TrainedOn) string {
	if words := t.Words(); words != "" {
		return "  " + oneLine(words)
	}
	return ""
}

// writeTriggers prints how often the agent loaded the skill, by split.
func writeTriggers(out printer, t *result.Triggers) {
	if t == nil {
		return
	}
	for _, split := range slices.Sorted(maps.Keys(t.Splits)) {
		r := t.Splits[split]
		fmt.Fprintf(out, "%s, skill loaded by %s\n", split, t.Agent)
		fmt.Fprintf(out, "  on prompts that should load it      %s\n", loadText(r.Should))
		fmt.Fprintf(out, "  on prompts that should not load it  %s\n", loadText(r.ShouldNot))
		switch {
		case r.Reason != "":
			out.line("  " + r.Reason)
		case len(r.Unmeasured) > 0:
			out.line("  without " + strings.Join(r.Unmeasured, ", ") + ": could not be measured")
		}
	}
}

// loadText returns a rate of loading in words.
func loadText(r *result.LoadRate) string {
	if r == nil {
		return "not measured"
	}
	return fmt.Sprintf("%.3f [%.3f, %.3f] (%d of %d)", r.Rate, r.Low, r.High, r.Loaded, r.Evaluations)
}
