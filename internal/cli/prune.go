package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/report"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// pruneOptions are the flags of prune.
type pruneOptions struct {
	ruleOptions
	to, certify string
	seedLines   bool
}

func pruneCommand(a *app) *cobra.Command {
	var o pruneOptions
	c := &cobra.Command{
		Use:   "prune RUN | SKILL.md --config CONFIG [--to FILE]",
		Short: "Remove the rules of a skill that do not pull their weight",
		Long: `Remove rules that are useless or harmful, as ablate finds them: one after the
other, each removal measured against what the ones before have left. What is unclear stays, and
so do the lines of the seed skill, unless --seed-lines is given. At the end the
result is compared with the whole skill on other tasks, with fresh answers. If that
certifies that it is not worse by the margin or more, it is written to --to, with a
report next to it. The skill itself is never changed.

` + exitHelp + `
Here 1 also says that the result could not be certified: --to is not written then.`,
		Example: `  skillopt prune runs/quickstart-1 --to pruned.md
  skillopt prune runs/quickstart-1 --plan       what that will take
  skillopt prune SKILL.md --config my-skill --to pruned.md --margin 0.02
  skillopt prune runs/quickstart-1-ablate-1 --to pruned.md    continues from an ablation`,
		Args: exactArgs(1, "a run directory or a skill"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, args[0]) },
	}
	o.addFlags(c)
	c.Flags().StringVar(&o.to, "to", "", "write the pruned skill to this file, which must not be there; a skill with more than SKILL.md to a folder: DIR/")
	c.Flags().StringVar(&o.certify, "certify", "", "split of the last comparison; default: train, or that of --split without one")
	c.Flags().BoolVar(&o.seedLines, "seed-lines", false, "judge the lines that the seed skill had, too; else they stay")
	return c
}

// uncertifiedError says that a pruned skill may be worse.
type uncertifiedError struct{ words string }

func (e *uncertifiedError) Error() string { return e.words }

// run prunes a skill, or resumes the pruning.
func (o *pruneOptions) run(ctx context.Context, a *app, path string) error {
	to := a.absolute(o.to)
	if err := refuseToOverwrite(o.to, to); err != nil {
		return err
	}
	var pruned *result.Pruned
	err := o.measure(ctx, a, path, func(ctx context.Context, cfg config.Config, po skillopt.PruneOptions, opts []skillopt.Option) (err error) {
		po.Certify, po.SeedLines = o.certify, o.seedLines
		pruned, err = skillopt.Prune(ctx, cfg, po, opts...)
		return err
	})
	if err != nil || o.plan {
		return withSameCommand(err)
	}
	certified := pruned.Certificate == nil || pruned.Certificate.Certified
	written := certified && to != ""
	if written {
		if err := errors.Join(a.writeSkill(o.to, pruned.Left), run.WriteExport(reportBeside(to), report.FormatPruned(pruned))); err != nil {
			return err
		}
	}
	pruned = shareable(pruned)
	if err := o.print(a, pruned, written); err != nil {
		return err
	}
	if !certified {
		return &uncertifiedError{fmt.Sprintf("%s\nthe pruned skill is %s; more passes (--passes), more tasks or a wider --margin may certify it",
			pruned.Words(), a.relative(filepath.Join(pruned.RunDir, result.PrunedFile)))}
	}
	return nil
}

// writeSkill writes all files of a skill to a folder, or its SKILL.md to a file.
func (a *app) writeSkill(to string, s skill.Skill) error {
	path := a.absolute(to)
	switch {
	case !a.namesFolder(to, s):
		a.sayOthers(s)
		return run.WriteExport(path, []byte(s.Text()))
	case len(s.Others()) == 0:
		return run.WriteExport(filepath.Join(path, skill.Main), []byte(s.Text()))
	}
	return run.ExportFolder(path, s)
}

// print prints the result, and the files if they were written.
func (o *pruneOptions) print(a *app, pruned *result.Pruned, written bool) error {
	if a.json {
		return printJSON(a.Out, pruned)
	}
	out := a.results()
	writePruned(out, pruned)
	if written {
		fmt.Fprintf(out, "wrote %s and %s\n", o.to, out.path(reportBeside(a.absolute(o.to))))
	}
	return nil
}

// refuseToOverwrite returns an error if what --to names, or its report, is there.
func refuseToOverwrite(name, to string) error {
	if to == "" {
		return nil
	}
	for _, path := range []string{to, reportBeside(to)} {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return usagef("--to %s: %s is there already, and nothing is written over; choose another name", name, filepath.Base(path))
		}
	}
	return nil
}

// reportBeside names the report of a pruned skill.
func reportBeside(to string) string {
	to = filepath.Clean(to)
	return strings.TrimSuffix(to, filepath.Ext(to)) + ".report.md"
}

// keptText says why a rule was not removed.
func keptText(s result.Removal) string {
	found := fmt.Sprintf("%s (%s)", result.PointsText(s.Difference, s.Low, s.High), s.Verdict)
	switch {
	case len(s.With) < 2:
		return fmt.Sprintf("rule %d stays: without it and what had gone before, %s", s.Rule, found)
	case s.Verdict == result.RuleNeeded:
		return fmt.Sprintf("rule %d stays: tasks that are lost without %d rules come back with it; without all of them %s", s.Rule, len(s.With), found)
	}
	return fmt.Sprintf("rule %d stays: without it and %d others together, %s", s.Rule, len(s.With)-1, found)
}

func writePruned(out printer, p *result.Pruned) {
	removed := map[int]bool{}
	for _, r := range p.Removed {
		removed[r.Number] = true
	}
	writeAblation(out, &p.Ablation, removed)
	fmt.Fprintln(out)
	last := map[int]int{} // of the attempts by rule
	for i, s := range p.Steps {
		last[s.Rule] = i
	}
	for i, s := range p.Steps {
		if !removed[s.Rule] && last[s.Rule] == i {
			out.paragraph(keptText(s))
		}
	}
	out.paragraph(fmt.Sprintf("removed (x): %d of %s, %d bytes of %d", len(p.Removed), wording.Plural(len(p.Rules), "rule", "rules"), p.Bytes[0]-p.Bytes[1], p.Bytes[0]))
	if n := len(p.SeedRules); n > 0 {
		out.paragraph(fmt.Sprintf("%s of the seed skill stay%s: --seed-lines judges them, too", wording.Plural(n, "rule", "rules"), wording.PluralWord(n, "s", "")))
	}
	out.paragraph(p.Words())
	if c := p.Certificate; c != nil && len(c.Unmeasured) > 0 {
		out.paragraph(fmt.Sprintf("without %s: could not be measured", strings.Join(c.Unmeasured, ", ")))
	}
	fmt.Fprintf(out, "record: %s\n", out.path(filepath.Join(p.RunDir, result.PruningFile)))
}

// showPruning shows a run of ablate or prune.
func showPruning(out printer, v ask.View) error {
	fmt.Fprintln(out)
	switch {
	case v.Pruning != nil:
		writePruned(out, v.Pruning)
	case v.Ablation != nil:
		writeAblation(out, v.Ablation, nil)
	default:
		fmt.Fprintln(out, "no result yet; the same command continues")
	}
	return nil
}
