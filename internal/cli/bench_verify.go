package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/benchmark"
)

// benchVerifyOptions are the flags of bench verify.
type benchVerifyOptions struct {
	benchPrepareOptions
	against, data string
}

func benchVerifyCommand(a *app) *cobra.Command {
	var o benchVerifyOptions
	c := &cobra.Command{
		Use:   "verify NAME_OR_DIR --against FILE",
		Short: "Score recorded replies as a benchmark does, and compare with the grades that came with them",
		Long: `Score replies that somebody recorded, with the extraction and the checks of a benchmark,
and compare with the grades in the same file. No model is asked; answers that a judge
has to decide are told apart.

The file is JSONL, or a JSON list: {"id", "response", "hard" and "soft"} as SkillOpt's
results.jsonl has them. A grade may be missing; then ours is told.

` + exitHelp,
		Example: `  skillopt bench verify searchqa --against results.jsonl
  skillopt bench verify docvqa --from ~/data/docvqa --against results.jsonl --scoring robust --json`,
		Args: exactly(1, "the name of a benchmark, or a folder"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(c.Context(), a, args[0]) },
	}
	o.addFlags(c)
	c.Flags().StringVar(&o.against, "against", "", "the file with recorded replies and grades")
	c.Flags().StringVar(&o.data, "data", "", "a folder that bench prepare made; absent: it is made for this")
	return c
}

func (o *benchVerifyOptions) run(ctx context.Context, a *app, name string) (err error) {
	if o.against == "" {
		return usagef("bench verify needs --against with a file of recorded replies")
	}
	f, err := openBench(ctx, a, name)
	if err != nil {
		return err
	}
	dir := a.absolute(o.data)
	if dir == "" {
		var temp string
		if temp, err = os.MkdirTemp("", "skillopt-verify-"); err != nil {
			return fmt.Errorf("make a folder for the tasks: %w", err)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
		o.out = filepath.Join(temp, "tasks")
		if _, err := o.prepare(ctx, a, f, name); err != nil {
			return err
		}
		dir = o.out
	}
	given := name
	if f.Path != "" {
		given = f.Path
	}
	l, err := benchConfig(ctx, a, given, o.scoring)
	if err != nil {
		return err
	}
	report, err := benchmark.Verify(ctx, benchmark.Verification{Config: l.Config.Tasks, Dir: dir, Against: a.absolute(o.against)})
	if err != nil {
		return asBenchInput(err)
	}
	if a.json {
		if err := printJSON(a.Out, report); err != nil {
			return err
		}
	} else {
		writeVerified(a.results(), report, o.against)
	}
	if report.Differ > 0 {
		return &shownError{fmt.Errorf("%d of %d grades differ", report.Differ, report.Compared)}
	}
	return nil
}

// writeVerified prints how grades compare.
func writeVerified(out printer, r benchmark.Verified, against string) {
	out.line(fmt.Sprintf("%s: %d replies, %d with a grade: %d the same, %d differ", against, r.Replies, r.Compared, r.Same, r.Differ))
	if r.Judged > 0 {
		out.line(fmt.Sprintf("  %d are decided by a judge, which is not asked here", r.Judged))
	}
	if r.Hard != nil {
		out.line(fmt.Sprintf("  our mean: hard %.4f, soft %.4f", *r.Hard, *r.Soft))
	}
	for _, d := range r.Differences {
		out.line(fmt.Sprintf("  %s: theirs hard %s soft %s, ours hard %g soft %.4f: %s", oneLine(d.ID), gradeText(d.Theirs.Hard), gradeText(d.Theirs.Soft), d.Hard, d.Soft, shortened(oneLine(d.Why), 100)))
	}
}

// gradeText is a grade, or a mark that there is none.
func gradeText(v *float64) string {
	if v == nil || math.IsNaN(*v) {
		return "-"
	}
	text, err := json.Marshal(*v)
	if err != nil {
		return "-"
	}
	return string(text)
}
