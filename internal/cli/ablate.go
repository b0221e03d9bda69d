package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// ruleOptions are the flags that ablate and prune share.
type ruleOptions struct {
	sessionOptions
	config, split, record string
	margin                float64
	passes                int
	sets                  []string
}

func (o *ruleOptions) addFlags(c *cobra.Command) {
	c.Flags().StringVar(&o.config, "config", "", "the config with tasks and target; default: that of RUN")
	c.Flags().StringVar(&o.split, "split", "selection", "split on whose tasks rules are judged")
	c.Flags().Float64Var(&o.margin, "margin", 0.05, "largest loss of score that does not matter, 0 to 1")
	c.Flags().IntVar(&o.passes, "passes", 10, "evaluations of a task by a text at most, on average")
	c.Flags().StringVar(&o.record, "record", "", "take answers from the record of this run; default: RUN")
	o.sessionOptions.addFlags(c, recordUsage)
	o.addPlan(c)
	addSet(c, &o.sets)
}

// ablateOptions are the flags of ablate.
type ablateOptions struct{ ruleOptions }

func ablateCommand(a *app) *cobra.Command {
	var o ablateOptions
	c := &cobra.Command{
		Use:   "ablate RUN | SKILL.md --config CONFIG",
		Short: "Measure what each rule of a skill is worth",
		Long: `Leave each rule of a skill out, one at a time, and measure what that does to the
score. Rules are the items of lists and the paragraphs; headings, front matter and
protected regions are none. They are those of SKILL.md or, where edits.files names
more Markdown files, of all of these. Of a RUN it is the best skill, with the config of the
run, and what the run has measured already is not asked again.

A rule is needed (without it the score falls), useless (without it nothing is lost
that matters), harmful (without it the score rises) or unclear. It is recorded as
training is: the same command continues after an interruption, and prune can continue from
the run of ablate.

` + exitHelp,
		Example: `  skillopt ablate runs/quickstart-1
  skillopt ablate runs/quickstart-1 --plan      what that will take
  skillopt ablate SKILL.md --config my-skill
  skillopt ablate runs/my-skill-1 --split train --passes 5 --json`,
		Args: exactArgs(1, "a run directory or a skill"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, args[0]) },
	}
	o.addFlags(c)
	return c
}

// run measures what rules are worth, or resumes the measurement.
func (o *ablateOptions) run(ctx context.Context, a *app, path string) error {
	var ablation *result.Ablation
	err := o.measure(ctx, a, path, func(ctx context.Context, cfg config.Config, po skillopt.PruneOptions, opts []skillopt.Option) (err error) {
		ablation, err = skillopt.Ablate(ctx, cfg, po, opts...)
		return err
	})
	if err != nil || o.plan {
		return withSameCommand(err)
	}
	ablation = shareable(ablation)
	if a.json {
		return printJSON(a.Out, ablation)
	}
	out := a.results()
	writeAblation(out, ablation, nil)
	fmt.Fprintf(out, "record: %s\n", out.path(filepath.Join(ablation.RunDir, result.AblationFile)))
	return nil
}

// measure loads what a command line names and has work measure the rules.
func (o *ruleOptions) measure(ctx context.Context, a *app, path string, work func(context.Context, config.Config, skillopt.PruneOptions, []skillopt.Option) error) error {
	if err := checkMeasure(o.margin, o.passes); err != nil {
		return err
	}
	l, record, err := o.load(a, path)
	if err != nil {
		return err
	}
	seed, err := o.seed(a, path)
	if err != nil {
		return err
	}
	ctx, opts, end, err := a.session(ctx, l, o.sessionOptions)
	if err != nil {
		return err
	}
	po := skillopt.PruneOptions{Split: o.split, Margin: o.margin, Passes: o.passes, Record: record, Seed: seed}
	if o.plan {
		return errors.Join(a.printPlan(ctx, func(ctx context.Context, plan skillopt.Option) error {
			return work(ctx, l.Config, po, append(opts, plan))
		}), end())
	}
	return errors.Join(work(ctx, l.Config, po, opts), end())
}

// load finds the skill, its config, and the run whose record is used.
func (o *ruleOptions) load(a *app, path string) (l *config.Loaded, record string, err error) {
	document, conf, record := a.absolute(path), o.config, a.absolute(o.record)
	if _, err := os.Stat(document); err != nil {
		return nil, "", usagef("%s: %v; give a run directory, or a skill with --config", path, stripPath(err))
	}
	if _, err := os.Stat(filepath.Join(document, run.ManifestFile)); err == nil {
		record = cmp.Or(record, document)
		conf = cmp.Or(conf, filepath.Join(document, run.ConfigFile))
		if document = skillOfRun(document); document == "" {
			return nil, "", usagef("%s: the run has no %s yet; `skillopt runs show %s` explains it", path, run.BestFile, path)
		}
	}
	if conf == "" {
		return nil, "", usagef("%s is a skill: --config names the config with its tasks and target", path)
	}
	l, err = a.loadConfig(conf, o.sets, []config.Setting{{Key: "skill", Value: document, Origin: "argument"}})
	return l, record, err
}

// seed returns the skill that training began with, or "" if that is the one that is judged. It is
// the first version of a run, or of the run that the skill is of, or else the skill of the config.
func (o *ruleOptions) seed(a *app, path string) (string, error) {
	document := a.absolute(path)
	conf := cmp.Or(o.config, filepath.Join(document, run.ConfigFile))
	if first := firstVersion(document); first != "" {
		return first, nil
	}
	l, err := a.loadConfig(conf, o.sets, nil)
	if err != nil || l.Config.Skill == "" || filepath.Clean(l.Config.Skill) == document {
		return "", err
	}
	for _, dir := range []string{filepath.Dir(document), filepath.Dir(l.Config.Skill)} {
		if first := firstVersion(dir); first != "" {
			return first, nil
		}
	}
	return l.Config.Skill, nil
}

// firstVersion returns the seed skill of a run in dir, "" if none is there.
func firstVersion(dir string) string {
	for _, name := range []string{"skill_v0000.md", filepath.Join("skill_v0000", skill.Main)} {
		if path := filepath.Join(dir, "skills", name); exists(path) {
			return path
		}
	}
	return ""
}

// skillOfRun returns the skill that a run has made, or looked at, "" if there is none.
func skillOfRun(dir string) string {
	for _, name := range []string{run.BestFile, filepath.Join(result.WholeFolder, skill.Main), result.WholeFile} {
		if exists(filepath.Join(dir, name)) {
			return filepath.Join(dir, name)
		}
	}
	return ""
}

// writeAblation prints a line for each rule; removed says which are out of the skill.
func writeAblation(out printer, e *result.Ablation, removed map[int]bool) {
	width := 100 // where there is no terminal
	if out.columns > 0 {
		width = out.columns - 1
	}
	fmt.Fprintln(out, "rule  verdict    worth [interval]")
	for _, r := range e.Rules {
		mark := " "
		if removed[r.Number] {
			mark = "x"
		}
		fmt.Fprintf(out, "%s%3d  %-8s  %-21s  ", mark, r.Number, r.Verdict, worthText(r))
		fmt.Fprintln(out, shortenText(strings.Join(strings.Fields(printable(ruleText(r.Rule))), " "), max(16, width-39)))
		if words := r.Unanswered.Words("with it", "without it"); words != "" {
			out.paragraph("      not all answered: " + words)
		}
		if len(r.Unmeasured) > 0 {
			out.paragraph(fmt.Sprintf("      without %s: could not be measured", strings.Join(r.Unmeasured, ", ")))
		}
	}
	how := fmt.Sprintf("worth: points of %s (0 to 100) on %d %s tasks that the rule brings, with a %.4g %% interval", e.Metric, e.Tasks, e.Split, 100*e.Level)
	if e.Deterministic {
		how += ", exact where answers are the same every time, as they did here"
	}
	out.paragraph(how)
	if e.FromRecord > 0 {
		out.paragraph(fmt.Sprintf("%s from the record, %s new", wording.Plural(e.FromRecord, "answer", "answers"), wording.Plural(int(e.Calls.Total), "answer", "answers")))
	}
	if n := e.Calls.FromRuns; n > 0 {
		out.paragraph(fmt.Sprintf("%s taken from other runs, which had paid", wording.Plural(n, "answer", "answers")))
	}
	writeCaveats(out, e.Simulated, e.Exploratory, 0)
	if e.TestRead {
		fmt.Fprintln(out, "tasks of the test split were read")
		writeReadBefore(out, e.TestReadBefore)
	}
}

// ruleText returns a rule, after the file that it is in unless that is SKILL.md.
func ruleText(r result.Rule) string {
	if r.File == "" {
		return r.Text
	}
	return r.File + ": " + r.Text
}

// worthText returns what a rule is worth in points, with its interval.
func worthText(r result.RuleWorth) string {
	if r.Worth == nil {
		return "not measured"
	}
	return fmt.Sprintf("%+5.1f [%+5.1f, %+5.1f]", 100**r.Worth, 100**r.Low, 100**r.High)
}
