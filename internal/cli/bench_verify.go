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

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/benchmark"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/session"
	"github.com/seed-f4525e22/skillopt/internal/textgame"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

func benchVerifyCommand(a *app) *cobra.Command {
	against := ""
	c := &cobra.Command{
		Use:   "verify DIR --against FILE",
		Short: "Score recorded replies as a benchmark does, and compare with the grades that came with them",
		Long: `Score replies that somebody recorded, with the extraction and the checks of a benchmark that
bench prepare made a folder of, and compare with the grades in the same file. No model is
asked; answers that a judge has to decide are counted apart.

The file is JSONL, or a JSON list: {"id", "response", "hard" and "soft"} as SkillOpt's
results.jsonl has them. A grade may be missing; then ours is printed.

Of a benchmark of games (alfworld) the file is what tools/record_alfworld.py wrote of the
folder DIR/docs. The games are played again, and every answer, list of commands and score
is compared with that of the Python package.

` + exitHelp,
		Example: "  skillopt bench verify work --against results.jsonl\n  skillopt bench verify work --against results.jsonl --json",
		Args:    exactArgs(1, "a folder that bench prepare made"),
		RunE:    func(c *cobra.Command, args []string) error { return benchVerify(c.Context(), a, args[0], against) },
	}
	c.Flags().StringVar(&against, "against", "", "the file with recorded replies and grades")
	return c
}

// benchVerify scores recorded replies by the tasks and the config of a prepared folder.
func benchVerify(ctx context.Context, a *app, dir, against string) error {
	if against == "" {
		return usagef("bench verify needs --against with a file of recorded replies")
	}
	if was, err := preparedIn(ctx, a.absolute(dir)); err != nil {
		return err
	} else if was == nil {
		return usagef("%s: no benchmark is prepared there; `skillopt bench prepare NAME --out %s` makes it", dir, shellWord(dir))
	}
	l, err := config.LoadContext(ctx, config.Options{Path: a.absolute(dir), Dir: a.Dir, Lookup: a.lookup, Guard: a.guard})
	if err != nil {
		return err
	}
	if l.Config.Env.World == session.GameWorld {
		return verifyGames(ctx, a, filepath.Join(a.absolute(dir), config.FolderOfDocs), against)
	}
	report, err := benchmark.Verify(ctx, benchmark.Verification{Config: l.Config.Tasks, Dir: a.absolute(dir), Against: a.absolute(against)})
	if err != nil {
		return asBenchInput(err)
	}
	if a.json {
		if err := printJSON(a.Out, report); err != nil {
			return err
		}
	} else {
		writeVerified(a.results(), report, against)
	}
	if report.Differ > 0 {
		return &shownError{fmt.Errorf("%d of %d grades differ", report.Differ, report.Compared)}
	}
	return nil
}

// verifyGames plays the games of a recording, and compares.
func verifyGames(ctx context.Context, a *app, dir, against string) (err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fault.Input(err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	file, err := os.Open(a.absolute(against))
	if err != nil {
		return fault.Input(err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	found, err := textgame.Compare(ctx, root, file)
	if err != nil {
		return fault.Input(fmt.Errorf("%s: %w", against, err))
	}
	if a.json {
		err = printJSON(a.Out, found)
	} else {
		out := a.results()
		out.line(fmt.Sprintf("%s: %d games, %d runs, %d moments: %d runs differ; %d games were refused where they were recorded", against, found.Games, found.Runs, found.Moments, len(found.Differences), found.Refused))
		for _, d := range found.Differences[:min(len(found.Differences), maxGamesShown)] {
			out.line(wording.Plain(d.String()))
		}
	}
	if err == nil && len(found.Differences) > 0 {
		err = &shownError{fmt.Errorf("%d of %d runs differ", len(found.Differences), found.Runs)}
	}
	return err
}

// maxGamesShown is how many differences are printed.
const maxGamesShown = 20

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
		out.line(fmt.Sprintf("  %s: theirs hard %s soft %s, ours hard %g soft %.4f: %s", oneLine(d.ID), gradeText(d.Theirs.Hard), gradeText(d.Theirs.Soft), d.Hard, d.Soft, shortenText(oneLine(d.Why), 100)))
	}
}

// gradeText returns a grade, or a mark that there is none.
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
