package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/benchmark"
	"github.com/seed-f4525e22/skillopt/internal/benchmark/folder"
	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// benchRunOptions are the flags of bench run.
type benchRunOptions struct {
	benchPrepareOptions
	sessionOptions
	config, eval string
	sets         []string
}

func benchRunCommand(a *app) *cobra.Command {
	var o benchRunOptions
	c := &cobra.Command{
		Use:   "run NAME_OR_DIR [--config models.yaml] [--eval SKILL] [--fixture]",
		Short: "Prepare a benchmark and train a skill on it, or score one on its test split",
		Long: `Prepare a benchmark, if that is not done yet, and train on it; with --eval score a skill
on its test split. The models are those of --config. The folder is --out, or
bench-NAME; bench prepare makes it of rows that you have, or with another seed. The same
command again continues, and pays for nothing twice.

What others have published is printed next to the scores, with why the two do not
compare. With --json the result is what train --json, or eval --json, prints.

` + exitHelp,
		Example: `  skillopt bench run searchqa --fixture                  simulated: no key, no network
  skillopt bench run searchqa --config models.yaml
  skillopt bench run docvqa --config models.yaml --eval runs/docvqa-1/best_skill.md
  skillopt bench run ./my-bench --config models.yaml --set train.epochs=2 --yes`,
		Args: exactArgs(1, "the name of a benchmark, or a folder"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(c.Context(), a, args[0]) },
	}
	c.Flags().BoolVar(&o.fixture, "fixture", false, "rows of our own, and simulated models")
	c.Flags().StringVar(&o.out, "out", "", "the folder of the tasks; absent: bench-NAME, with --fixture bench-NAME-fixture")
	c.Flags().StringVar(&o.config, "config", "", "a config with the models, and whatever else is to be other than the benchmark has it")
	c.Flags().StringVar(&o.eval, "eval", "", "score this skill on the test split instead of training")
	o.sessionOptions.addFlags(c, "keep the run in this directory; resumes it if it is there")
	addLimit(c, &o.sets)
	addSet(c, &o.sets)
	return c
}

func (o *benchRunOptions) run(ctx context.Context, a *app, name string) error {
	f, err := openBench(ctx, a, name)
	if err != nil {
		return err
	}
	if o.out == "" {
		if o.out = "bench-" + f.Name; o.fixture {
			o.out += "-fixture"
		}
	}
	if err := o.ready(ctx, a, f, name); err != nil {
		return err
	}
	path, settings, err := o.settings(a, f, name)
	if err != nil {
		return err
	}
	if o.eval != "" {
		e := evalOptions{sessionOptions: o.sessionOptions, skill: o.eval, split: "test", repeat: 1, sets: o.sets, beside: settings}
		err = e.run(ctx, a, path)
	} else {
		err = o.train(ctx, a, path, settings)
	}
	if err != nil || a.json {
		return err
	}
	if o.fixture {
		a.results().line(fmt.Sprintf("published figures of real models: skillopt bench list %s (a simulation does not compare)", shellWord(name)))
		return nil
	}
	p, err := benchmark.ReadPublished(f)
	if err != nil {
		return usagef("%v", err)
	}
	writePublished(a.results(), p)
	return nil
}

// train trains, and shows the test scores of each type if there are several.
func (o *benchRunOptions) train(ctx context.Context, a *app, path string, settings []config.Setting) error {
	t := trainOptions{sessionOptions: o.sessionOptions, sets: o.sets, beside: settings}
	if err := t.run(ctx, a, path); err != nil || a.json || t.summary == nil || len(t.summary.ByType) < 2 {
		return err
	}
	a.results().line("test scores by type, in brackets their 95 % intervals:")
	writeTypes(a.results(), t.summary)
	return nil
}

// ready prepares the benchmark, unless the folder holds it already.
func (o *benchRunOptions) ready(ctx context.Context, a *app, f *folder.Folder, name string) error {
	was, err := preparedIn(ctx, a.absolute(o.out))
	if err != nil {
		return err
	}
	if was == nil {
		report, err := o.prepare(ctx, a, f, name)
		if err != nil {
			return err
		}
		if !a.json {
			a.printer(a.Err).line(preparedText(report, o.out))
			writeVanished(a.printer(a.Err), report.Vanished)
		}
		return nil
	}
	switch {
	case was.Benchmark != f.Name:
		return usagef("%s holds the benchmark %s, and this is %s: name another folder with --out", o.out, was.Benchmark, f.Name)
	case was.Fixture != o.fixture:
		return usagef("%s holds %s, and this is %s: name another folder with --out", o.out, rowsText(was.Fixture), rowsText(o.fixture))
	}
	return nil
}

func rowsText(fixture bool) string {
	if fixture {
		return "rows of our own (--fixture)"
	}
	return "rows of the benchmark"
}

// preparedIn reads what a folder was prepared from; nil: it is none.
func preparedIn(ctx context.Context, dir string) (*benchmark.Source, error) {
	text, err := disk.Read(ctx, filepath.Join(dir, benchmark.FileSource), maxSourceFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what %s was prepared from: %w", dir, err)
	}
	var s benchmark.Source
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, usagef("%s: %s is damaged: %v; remove the folder, or name another with --out", dir, benchmark.FileSource, err)
	}
	if s.Format != benchmark.SourceFormat {
		return nil, usagef("%s: %s has format %d, and this program reads format %d: prepare it in another folder with --out", dir, benchmark.FileSource, s.Format, benchmark.SourceFormat)
	}
	return &s, nil
}

// maxSourceFile is the size of the largest source.json that is read, in bytes.
const maxSourceFile = 256 << 20

// settings returns the config of the user, or that of the prepared folder, and the settings that are laid over it.
func (o *benchRunOptions) settings(a *app, f *folder.Folder, name string) (path string, settings []config.Setting, err error) {
	out := a.absolute(o.out)
	if o.config == "" {
		return out, nil, nil
	}
	path = a.absolute(o.config)
	if _, err := os.Stat(path); err != nil {
		return "", nil, usagef("--config %s: %v", o.config, stripPath(err))
	}
	given := name
	if f.Path != "" {
		given = f.Path
	}
	settings = append(settings, config.Setting{Key: "bench.name", Value: given, Origin: "argument"}, config.Setting{Key: "bench.data", Value: out, Origin: "--out"})
	l, err := a.loadConfig(path, o.sets, settings)
	if err != nil {
		return "", nil, err
	}
	if l.Config.Skill == "" {
		settings = append(settings, config.Setting{Key: "skill", Value: filepath.Join(out, benchmark.FileSkill), Origin: "--out"})
	}
	return path, settings, nil
}
