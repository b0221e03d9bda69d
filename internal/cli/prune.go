package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/plural"
	"github.com/seed-f4525e22/skillopt/internal/run"
)

func (a *app) pruneCommand() *cobra.Command {
	var f pruneFlags
	c := &cobra.Command{
		Use:   "prune RUN | SKILL.md --config CONFIG [--to FILE]",
		Short: "Remove the rules of a skill that do not pull their weight",
		Long: `Remove rules that are useless or harmful, as ablate finds them: one after the
other, each removal measured against what the ones before have left. At the end the
result is compared with the whole skill on other tasks, with fresh answers. If that
certifies that it is not worse by the margin or more, it is written to --to, with a
report beside it. The skill itself is never changed.

` + exitHelp + `
Here 1 also says that the result could not be certified: --to is not written then.`,
		Example: `  skillopt prune runs/quickstart-1 --to pruned.md
  skillopt prune SKILL.md --config my-skill --to pruned.md --margin 0.02
  skillopt prune runs/quickstart-1-ablate-1 --to pruned.md    goes on from an ablation`,
		Args: exactly(1, "a run directory or a skill"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.prune(cmd.Context(), args[0], f) },
	}
	f.add(c)
	c.Flags().StringVar(&f.to, "to", "", "write the pruned skill to this file, which must not be there")
	c.Flags().StringVar(&f.certify, "certify", "", "split of the last comparison; default: train, or that of --split without one")
	return c
}

// uncertifiedError says that a pruned skill may be worse.
type uncertifiedError struct{ words string }

func (e *uncertifiedError) Error() string { return e.words }

func (a *app) prune(ctx context.Context, path string, f pruneFlags) error {
	to := a.absolute(f.to)
	if err := free(f.to, to); err != nil {
		return err
	}
	var out *skillopt.Pruned
	err := a.pruning(ctx, path, f, func(ctx context.Context, cfg skillopt.Config, o skillopt.PruneOptions, opts []skillopt.Option) (err error) {
		out, err = skillopt.Prune(ctx, cfg, o, opts...)
		return err
	})
	if err != nil {
		return goesOn(err)
	}
	certified := out.Certificate == nil || out.Certificate.Certified
	if certified && to != "" {
		if err := errors.Join(run.WriteExport(to, []byte(out.Text)), run.WriteExport(reportBeside(to), out.Markdown())); err != nil {
			return err
		}
	}
	out = shareable(out)
	if a.json {
		err = printJSON(a.Out, out)
	} else {
		a.writePruned(a.results(), out)
		if certified && to != "" {
			fmt.Fprintf(a.results(), "wrote %s and %s\n", f.to, a.relative(reportBeside(to)))
		}
	}
	if err == nil && !certified {
		err = &uncertifiedError{fmt.Sprintf("%s\nthe pruned skill is %s; more passes (--passes), more tasks or a wider --margin may certify it",
			out.Words(), a.relative(filepath.Join(out.RunDir, skillopt.PrunedFile)))}
	}
	return err
}

// free refuses to write over anything.
func free(name, to string) error {
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
func reportBeside(to string) string { return strings.TrimSuffix(to, filepath.Ext(to)) + ".report.md" }

// stays says why a rule was not removed.
func stays(s skillopt.Removal) string {
	found := fmt.Sprintf("%s (%s)", skillopt.PointsText(s.Difference, s.Low, s.High), s.Verdict)
	switch {
	case len(s.With) < 2:
		return fmt.Sprintf("rule %d stays: without it and what had gone before, %s", s.Rule, found)
	case s.Verdict == skillopt.RuleNeeded:
		return fmt.Sprintf("rule %d stays: tasks that are lost without %d rules come back with it; without all of them %s", s.Rule, len(s.With), found)
	}
	return fmt.Sprintf("rule %d stays: without it and %d others together, %s", s.Rule, len(s.With)-1, found)
}

func (a *app) writePruned(out io.Writer, p *skillopt.Pruned) {
	gone := map[int]bool{}
	for _, r := range p.Removed {
		gone[r.Number] = true
	}
	a.writeAblation(out, &p.Ablation, gone)
	fmt.Fprintln(out)
	last := map[int]int{} // of the attempts by rule
	for i, s := range p.Steps {
		last[s.Rule] = i
	}
	for i, s := range p.Steps {
		if !gone[s.Rule] && last[s.Rule] == i {
			a.fold(out, stays(s))
		}
	}
	a.fold(out, fmt.Sprintf("removed (x): %d of %s, %d bytes of %d", len(p.Removed), plural.Of(len(p.Rules), "rule", "rules"), p.Bytes[0]-p.Bytes[1], p.Bytes[0]))
	a.fold(out, p.Words())
	if c := p.Certificate; c != nil && len(c.Unmeasured) > 0 {
		a.fold(out, fmt.Sprintf("without %s: could not be measured", strings.Join(c.Unmeasured, ", ")))
	}
	fmt.Fprintf(out, "record: %s\n", a.relative(filepath.Join(p.RunDir, skillopt.PruningFile)))
}

// readPruning reads what an ablation or a pruning came to.
func (v *runView) readPruning() error {
	var a skillopt.Ablation
	var p skillopt.Pruned
	err := errors.Join(readJSON(filepath.Join(v.Dir, skillopt.AblationFile), &a), readJSON(filepath.Join(v.Dir, skillopt.PruningFile), &p))
	if a.RunDir, p.RunDir = v.Dir, v.Dir; len(a.Rules) > 0 {
		v.Ablation = &a
	}
	if len(p.Rules) > 0 {
		v.Pruning = &p
	}
	return err
}

// showPruning shows a run of ablate or prune.
func (a *app) showPruning(v runView) error {
	fmt.Fprintln(a.Out)
	switch {
	case v.Pruning != nil:
		a.writePruned(a.Out, v.Pruning)
	case v.Ablation != nil:
		a.writeAblation(a.Out, v.Ablation, nil)
	default:
		fmt.Fprintln(a.Out, "no result yet; the same command goes on")
	}
	return nil
}
