package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/examples"
	"github.com/seed-f4525e22/skillopt/internal/run"
)

func (a *app) initCommand() *cobra.Command {
	var f initFlags
	c := &cobra.Command{
		Use:   "init [DIR] | init [DIR] --skill PATH --generate N",
		Short: "Write a working example to change, or draft tasks for a skill",
		Long: `Write a skill, tasks and a config that train as they are, with a simulated
model and without a key. Then change the tasks to yours and the provider to a
real one.

With --skill and --generate the optimizer drafts that many tasks from the skill
and its references instead: it writes them with expected answers and checks,
answers them once more without seeing these, and what is broken, given away,
repeated or answered otherwise is dropped. DIR gets tasks.jsonl, config.yaml,
and the record of the calls in draft/: the same command again pays for nothing
twice. Runs on drafted tasks are exploratory until they are accepted with
"skillopt tasks review".

Files that exist are never overwritten.`,
		Example: `  skillopt init my-skill && skillopt train my-skill
  skillopt init work --skill SKILL.md --generate 30 --optimizer openai/gpt-5
  skillopt init work --skill skills/pdf --generate 30 --config models.yaml`,
		Args: atMost(1, "at most one folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			generate, err := f.generated()
			if err != nil {
				return err
			}
			if generate {
				return a.generateTasks(cmd.Context(), dir, f)
			}
			return a.init(dir)
		},
	}
	c.Flags().StringVar(&f.skill, "skill", "", "the skill to draft tasks for: a folder or a SKILL.md")
	c.Flags().IntVar(&f.generate, "generate", 0, "how many tasks to draft, up to 500")
	c.Flags().StringVar(&f.optimizer, "optimizer", "", "PROVIDER/MODEL that drafts the tasks")
	c.Flags().StringVar(&f.target, "target", "", "PROVIDER/MODEL of the config; default: --optimizer")
	c.Flags().StringVar(&f.config, "config", "", "a config whose models are used and extended")
	c.Flags().Int64Var(&f.seed, "seed", 42, "seed of the draft")
	c.Flags().BoolVar(&f.yes, "yes", false, "do not ask before spending")
	return c
}

func (a *app) init(dir string) error {
	files, err := exampleFiles()
	if err != nil {
		return err
	}
	for _, name := range files {
		switch _, err := os.Lstat(filepath.Join(a.absolute(dir), name)); {
		case err == nil:
			return usagef("%s is there already; `skillopt init` overwrites nothing, choose another folder", filepath.Join(dir, name))
		case !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("look for files to keep: %w", err)
		}
	}
	if err := os.MkdirAll(a.absolute(dir), 0o755); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	for _, name := range files {
		data, err := examples.Quickstart.ReadFile("quickstart/" + name)
		if err != nil {
			return fmt.Errorf("read example: %w", err)
		}
		if err := run.WriteExport(filepath.Join(a.absolute(dir), name), data); err != nil {
			return err
		}
	}
	if a.json {
		return printJSON(a.Out, map[string]any{"dir": a.absolute(dir), "files": files})
	}
	for _, name := range files {
		fmt.Fprintf(a.Out, "wrote %s\n", filepath.Join(dir, name))
	}
	_, err = fmt.Fprintf(a.Out, "next: skillopt train %s\n", dir)
	return err
}

func exampleFiles() ([]string, error) {
	entries, err := examples.Quickstart.ReadDir("quickstart")
	if err != nil {
		return nil, fmt.Errorf("read example: %w", err)
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}
