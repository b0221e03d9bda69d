package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/userfile"
	"github.com/seed-f4525e22/skillopt/task"
)

type evalFlags struct {
	skill, split, run, replay string
	sets                      []string
	repeat                    int
	yes                       bool
}

func (a *app) evalCommand() *cobra.Command {
	var f evalFlags
	c := &cobra.Command{
		Use:   "eval CONFIG_OR_DIR",
		Short: "Score one skill on a split",
		Long: `Score the skill of a config, or another one, on a split. Like training it is
recorded: the same command again pays for nothing twice.

With --repeat the tasks are asked several times with fresh samples: the score is then
the mean of all passes, with how much of it is chance, which tasks flip, and the
smallest difference between two skills that as many passes of each would show.

` + exitHelp,
		Example: `  skillopt eval my-skill
  skillopt eval my-skill --skill runs/my-skill-1/best_skill.md --split test
  skillopt eval my-skill --repeat 5
  skillopt eval my-skill --split all --json`,
		Args: exactly(1, "a config or a directory"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.eval(cmd.Context(), args[0], f) },
	}
	c.Flags().StringVar(&f.skill, "skill", "", "another skill than the config's: a Markdown file or a directory")
	c.Flags().StringVar(&f.split, "split", "test", "train, selection, test or all")
	c.Flags().IntVar(&f.repeat, "repeat", 1, "go over the tasks so often, with fresh samples")
	c.Flags().StringVar(&f.run, "run", "", "keep the record in this directory")
	addReplay(c, &f.replay)
	c.Flags().BoolVar(&f.yes, "yes", false, "do not ask before spending")
	addSet(c, &f.sets)
	return c
}

func (a *app) eval(ctx context.Context, path string, f evalFlags) error {
	if f.repeat < 1 {
		return usagef("--repeat %d: allowed: 1 or more", f.repeat)
	}
	var flags []config.Setting
	if f.skill != "" {
		flags = append(flags, config.Setting{Key: "skill", Value: f.skill, Origin: "--skill"})
	}
	l, err := a.loadConfig(path, f.sets, flags)
	if err != nil {
		return err
	}
	ctx, opts, end, err := a.session(ctx, l, sessionFlags{run: f.run, replay: f.replay, yes: f.yes})
	if err != nil {
		return err
	}
	result, err := skillopt.Evaluate(ctx, l.Config, f.split, append(opts, skillopt.WithPasses(f.repeat))...)
	if err := ended(err, end); err != nil {
		return err
	}
	result = shareable(result)
	if a.json {
		return printJSON(a.Out, result)
	}
	return a.writeEvaluation(a.results(), result)
}

// goesOn says what the record of an evaluation is good for that came to no end.
func goesOn(err error) error {
	switch exitCode(err) {
	case exitUnmeasured, exitStopped, exitEnvironment:
		return fmt.Errorf("%w\nnothing that was paid for is lost; the same command goes on", err)
	}
	if exitCode(err) == exitWaiting {
		return fmt.Errorf("%w\nnothing is scored before they are answered; then the same command goes on", err)
	}
	return err
}

func (a *app) writeEvaluation(out io.Writer, e *skillopt.Evaluation) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, split := range slices.Sorted(maps.Keys(e.Splits)) {
		s := e.Splits[split]
		fmt.Fprintf(w, "%s\t%s\n", split, interval(&s.Score))
		for _, name := range slices.Sorted(maps.Keys(s.ByType)) {
			t := s.ByType[name]
			fmt.Fprintf(w, "  %s\t%s\n", name, interval(&t))
		}
		for _, line := range repeatsText(s.Repeats) {
			a.say(w, "  "+line)
		}
		if len(s.Unmeasured) > 0 {
			fmt.Fprintf(w, "  without %s: could not be measured\t\n", strings.Join(s.Unmeasured, ", "))
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print result: %w", err)
	}
	a.say(out, scoreUnits)
	a.writeReadBefore(out, e.TestReadBefore)
	a.writeLeftOut(out, e.LeftOut)
	fmt.Fprintf(out, "outcomes: %s\n", a.relative(filepath.Join(e.RunDir, "outcomes.json")))
	if e.Simulated {
		fmt.Fprintln(out, "simulated models: the scores are those of a simulation")
	}
	if e.Exploratory {
		fmt.Fprintln(out, exploratory(0))
	}
	return nil
}

// isList reports whether a YAML file holds a list, as tasks do, by itself or
// under tasks, and not the mapping of a config.
func isList(path string) bool {
	f, err := userfile.Open(context.Background(), path, task.MaxFile)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // it was only read
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if line != "" && line != "---" && line != "tasks:" && !strings.HasPrefix(line, "#") {
			return line == "-" || strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "[")
		}
	}
	return false
}

// configOrTasks reads a config, or makes one of a task file alone.
func (a *app) configOrTasks(path string, sets []string) (*config.Loaded, error) {
	full := a.absolute(path)
	st, err := os.Stat(full)
	if err != nil {
		return nil, usagef("%s: %v; give a config, a directory with config.yaml, or a task file", path, reasonOf(err))
	}
	isTasks := false
	if st.IsDir() {
		_, err := os.Stat(filepath.Join(full, "config.yaml"))
		isTasks = err != nil
	} else if ext := strings.ToLower(filepath.Ext(full)); ext != ".yaml" && ext != ".yml" || isList(full) {
		isTasks = true
	}
	if !isTasks {
		return a.loadConfig(full, sets, nil)
	}
	return a.loadConfig("", sets, []config.Setting{{Key: "tasks.path", Value: full, Origin: "argument"}})
}
