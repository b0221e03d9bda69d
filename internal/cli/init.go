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
	return &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write a working example to change",
		Long: `Write a skill, tasks and a config that train as they are, with a simulated model
and without a key. Then change the tasks to yours and the provider to a real one.
Files that exist are never overwritten.`,
		Example: "  skillopt init my-skill && skillopt train my-skill",
		Args:    atMost(1, "at most one folder"),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			return a.init(dir)
		},
	}
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
