package cli

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/benchmark"
	"github.com/seed-f4525e22/skillopt/internal/benchmark/folder"
	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/task"
)

// benchPrepareOptions are the flags of bench prepare.
type benchPrepareOptions struct {
	from, out, scoring string
	fixture, plain     bool
	seed               int64
}

func benchPrepareCommand(a *app) *cobra.Command {
	var o benchPrepareOptions
	c := &cobra.Command{
		Use:   "prepare NAME_OR_DIR --out OUT [--from DIR | --fixture]",
		Short: "Make an ordinary folder of tasks of a benchmark's rows",
		Long: `Make a folder that train, eval, compare, tasks lint and try read: tasks by split,
pictures, config.yaml, SKILL.md, and source.json with the sha256 of every row and file.
The rows are those that bench fetch got, those of --from (the files as they are
published, or the splits of SkillOpt), or with --fixture rows of our own with a
simulated world. Nothing half made is left.

` + exitHelp,
		Example: `  skillopt bench prepare searchqa --fixture --out try-it
  skillopt bench prepare docvqa --from ~/data/docvqa --out docvqa
  skillopt bench prepare ./my-bench --from rows --out work --scoring robust`,
		Args: exactArgs(1, "the name of a benchmark, or a folder"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(c.Context(), a, args[0]) },
	}
	c.Flags().StringVar(&o.out, "out", "", "the folder to make; it does not exist, or is empty")
	c.Flags().StringVar(&o.from, "from", "", "the folder with the rows; absent: what bench fetch got")
	c.Flags().BoolVar(&o.fixture, "fixture", false, "rows of our own, and simulated models")
	c.Flags().Int64Var(&o.seed, "seed", 0, "of a split by a ratio, and of the order of choices; 0: the benchmark's")
	c.Flags().StringVar(&o.scoring, "scoring", "", "reference (as by the program whose figures are published) or robust; absent: the benchmark's default")
	c.Flags().BoolVar(&o.plain, "plain", false, "a config.yaml that says by itself what the benchmark says beneath it, to be changed")
	return c
}

func (o *benchPrepareOptions) run(ctx context.Context, a *app, name string) error {
	if o.out == "" {
		return usagef("bench prepare needs --out with the folder to make: skillopt bench prepare %s --out %s", name, filepath.Base(name))
	}
	f, err := openBench(ctx, a, name)
	if err != nil {
		return err
	}
	report, err := o.prepare(ctx, a, f, name)
	if err == nil && o.plain {
		err = writePlain(ctx, a.absolute(o.out))
	}
	if err != nil {
		return err
	}
	if a.json {
		return printJSON(a.Out, report)
	}
	writePrepared(a.results(), report, o.out)
	return nil
}

// prepare makes the folder.
func (o *benchPrepareOptions) prepare(ctx context.Context, a *app, f *folder.Folder, name string) (benchmark.Report, error) {
	if o.fixture && o.from != "" {
		return benchmark.Report{}, usagef("--fixture has rows of its own, and --from names others: give one of them")
	}
	from := a.absolute(o.from)
	if from == "" && !o.fixture {
		var err error
		if from, err = fetchedRows(a, f); err != nil {
			return benchmark.Report{}, err
		}
	}
	options := benchmark.Options{Folder: f, From: from, Fixture: o.fixture, Out: a.absolute(o.out), Scoring: o.scoring, Seed: o.seed}
	if f.Path != "" {
		options.Name = nameFrom(options.Out, f.Path)
	}
	report, err := interruptible(ctx, a.Signals, func(ctx context.Context) (benchmark.Report, error) {
		return benchmark.Prepare(ctx, options)
	})
	return report, asBenchInput(err)
}

// writePlain writes the config of a prepared folder so that it needs no benchmark.
func writePlain(ctx context.Context, dir string) error {
	l, err := config.LoadContext(ctx, config.Options{Path: dir, Dir: dir})
	if err != nil {
		return err
	}
	c := l.Config
	c.Bench = config.Bench{}
	for _, path := range []*string{&c.Skill, &c.Tasks.Path, &c.Env.Docs, &c.Models.Target.World, &c.Models.Optimizer.World, &c.Models.Judge.World} {
		if *path != "" {
			*path = from(dir, *path)
		}
	}
	if pictures := filepath.Join(dir, "images"); isFolder(pictures) { // without a benchmark they are next to the tasks
		if err := os.Rename(pictures, filepath.Join(dir, config.FolderOfTasks, "images")); err != nil {
			return fmt.Errorf("move the pictures: %w", err)
		}
	}
	text, err := c.YAML(true)
	if err != nil {
		return err
	}
	return disk.Replace(filepath.Join(dir, workConfig), text, 0o644)
}

// nameFrom names the folder of a benchmark as a config in out does.
func nameFrom(out, path string) string {
	rel, err := filepath.Rel(out, path)
	if err != nil {
		return path
	}
	if rel = filepath.ToSlash(rel); !folder.IsPath(rel) {
		rel = "./" + rel
	}
	return rel
}

// preparedText says what was made.
func preparedText(r benchmark.Report, dir string) string {
	var parts []string
	for _, split := range []task.Split{task.Train, task.Selection, task.Test, ""} {
		if n := r.Tasks[string(split)]; n > 0 {
			parts = append(parts, strings.TrimSpace(fmt.Sprintf("%d %s", n, split)))
		}
	}
	return fmt.Sprintf("%s: %s tasks, %s in %s", r.Benchmark, strings.Join(parts, ", "), wording.Plural(r.Pictures, "picture", "pictures"), dir)
}

// mostVanished is how many tasks are named at most.
const mostVanished = 20

// writeVanished names the tasks with accepted answers of which nothing is left as they are compared.
func writeVanished(out printer, list []benchmark.Vanished) {
	if len(list) == 0 {
		return
	}
	means := "an empty answer does not pass for them"
	if list[0].EmptyPasses {
		means = "an answer of which nothing is left either is right, as for the program whose figures are published"
	}
	out.line(fmt.Sprintf("  %s accepted answers of which nothing is left in the form in which they are compared; %s:", wording.Plural(len(list), "task has", "tasks have"), means))
	for _, v := range list[:min(len(list), mostVanished)] {
		out.line(oneLine(fmt.Sprintf("    %s: %q", v.ID, v.Gold)))
	}
	if more := len(list) - mostVanished; more > 0 {
		out.line(fmt.Sprintf("    and %d more, which --json lists", more))
	}
}

// writePrepared prints what was made, and what comes next.
func writePrepared(out printer, r benchmark.Report, dir string) {
	out.line(preparedText(r, dir))
	for _, why := range slices.Sorted(maps.Keys(r.LeftOut)) {
		out.line(fmt.Sprintf("  left out: %s: %s", wording.Plural(r.LeftOut[why], "row", "rows"), why))
	}
	writeVanished(out, r.Vanished)
	if r.Fixture {
		out.line("simulated: rows of our own and a simulated world; scores say nothing of any model")
		out.line(fmt.Sprintf("next: skillopt train %s", shellWord(dir)))
		return
	}
	out.line(fmt.Sprintf("next: name models in %s, then skillopt doctor %s", filepath.Join(dir, benchmark.FileConfig), shellWord(dir)))
}
