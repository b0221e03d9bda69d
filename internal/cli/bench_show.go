package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/benchmark"
	"github.com/seed-f4525e22/skillopt/internal/benchmark/folder"
	"github.com/seed-f4525e22/skillopt/task"
)

// benchView is what bench list reports of one benchmark.
type benchView struct {
	benchRow
	Sets      map[string]string    `json:"sets"`      // keys of the config with their values as JSON
	Published *benchmark.Published `json:"published"` // null: nothing is
}

// benchShow shows one benchmark.
func benchShow(ctx context.Context, a *app, name string) error {
	f, err := openBench(ctx, a, name)
	if err != nil {
		return err
	}
	row, err := rowOfBench(ctx, a, name)
	if err != nil {
		return err
	}
	view := benchView{benchRow: row, Sets: map[string]string{}}
	l, err := benchConfig(ctx, a, name)
	if err != nil {
		return err
	}
	for _, k := range l.Config.Keys() {
		if at := l.Origins[k.Path]; strings.HasPrefix(at, f.Where) || anyBelow(l.Origins, k.Path, f.Where) {
			view.Sets[k.Path] = k.Value
		}
	}
	if view.Published, err = benchmark.ReadPublished(f); err != nil {
		return usagef("%v", err)
	}
	if a.json {
		return printJSON(a.Out, view)
	}
	writeBench(a.results(), f, view)
	return nil
}

// anyBelow reports whether a part of a key comes from a place.
func anyBelow(origins map[string]string, key, where string) bool {
	for at, origin := range origins {
		if strings.HasPrefix(at, key+".") && strings.HasPrefix(origin, where) {
			return true
		}
	}
	return false
}

// benchConfig returns the config of a benchmark with nothing of the user's over it.
func benchConfig(ctx context.Context, a *app, name string) (*config.Loaded, error) {
	settings := []config.Setting{{Key: "bench.name", Value: name, Origin: "argument"}}
	return config.LoadContext(ctx, config.Options{Settings: settings, Dir: a.Dir, Lookup: a.lookup, Guard: a.guard})
}

// isJudged reports whether answers of a benchmark are judged by a model, by its default scoring.
func isJudged(ctx context.Context, a *app, f *folder.Folder) (bool, error) {
	name := f.Name
	if f.Path != "" {
		name = f.Path
	}
	l, err := benchConfig(ctx, a, name)
	if err != nil {
		return false, err
	}
	suite, err := check.Compile(toSpecs(l.Config.Tasks), check.Options{Judge: true, Workspace: true})
	if err != nil {
		return false, usagef("%s: tasks.checks: %v", f.Where, err)
	}
	return suite.Needs(task.Task{}).Judge, nil
}

// toSpecs returns checks as they are compiled; nil represents those that a set has without any.
func toSpecs(t config.Tasks) any {
	if len(t.Checks) == 0 {
		return nil
	}
	return t.Checks
}

// fetchedRows returns the folder of the fetched rows of a benchmark, "" if there is none.
func fetchedRows(a *app, f *folder.Folder) (string, error) {
	dir, err := benchData(a, f)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return dir, nil
}

// writeBench prints a benchmark.
func writeBench(out printer, f *folder.Folder, v benchView) {
	out.line(fmt.Sprintf("%s: %s", v.Name, v.Title))
	out.paragraph("licence: " + v.Licence)
	for _, s := range v.Source {
		out.line("from " + s)
	}
	switch {
	case v.Data != "":
		out.line("rows: " + out.path(v.Data))
	case len(f.Sources) == 0:
		out.line("rows: yours, with bench prepare --from DIR")
	default:
		out.line(fmt.Sprintf("rows: not downloaded yet; run `skillopt bench fetch %s`", v.Name))
	}
	out.line("splits: " + splitsText(f))
	if len(v.Scoring) > 0 {
		out.line(fmt.Sprintf("scoring: %s (of %s)", v.Scoring[0], strings.Join(v.Scoring, ", ")))
	}
	if v.Judge {
		out.line("judged: models.judge is needed")
	}
	out.line("beneath your config it sets:")
	for _, key := range slices.Sorted(maps.Keys(v.Sets)) {
		out.line(fmt.Sprintf("  %s: %s", key, shortenText(oneLine(v.Sets[key]), 100)))
	}
	writePublished(out, v.Published)
}

// splitsText says how tasks are divided.
func splitsText(f *folder.Folder) string {
	s := f.Splits
	switch {
	case s.IDs != "":
		return "by published ids"
	case s.Field != "":
		return "by the field " + s.Field + " of its rows"
	case s.Stratify != "":
		return fmt.Sprintf("%s for each %s, seed %d", s.Ratio, s.Stratify, s.Seed)
	case s.Ratio != "":
		return fmt.Sprintf("%s, seed %d", s.Ratio, s.Seed)
	}
	return "by split.ratio of your config"
}

// writePublished prints what others have published, and why it does not compare.
func writePublished(out printer, p *benchmark.Published) {
	if p == nil || len(p.Rows) == 0 {
		return
	}
	out.line(fmt.Sprintf("published (%s), %s:", p.Source, p.Metric))
	for _, row := range p.Rows {
		who := row.Method
		if row.Model != "" {
			who += ", " + row.Model
		}
		text := ""
		if row.Score != nil {
			text = fmt.Sprintf(" %.1f %%", *row.Score)
		}
		if row.Gain != nil {
			text += fmt.Sprintf(" %+.1f points over no skill", *row.Gain)
		}
		out.line("  " + who + ":" + text)
	}
	out.paragraph("not comparable with yours: " + strings.Join(p.Against, "; "))
}
