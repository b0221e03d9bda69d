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

	"github.com/seed-f4525e22/skillopt/examples"
	"github.com/seed-f4525e22/skillopt/internal/ask"
)

// demoNights is how many nights the example has.
const demoNights = 3

func sleepDemoCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "demo [DIR]",
		Short: "Carry out three simulated nights, without a key",
		Long: `Write the example of three nights into a folder, ./sleep-demo without DIR, and carry them out: what a
user corrected on three days becomes rules of a project's CLAUDE.md. Agent and models are simulated:
no key, no network, no cost. The README.md there says what to look at then.`,
		Example: `  skillopt sleep demo
  skillopt sleep demo nights`,
		Args: atMost(1, "at most one folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "sleep-demo"
			if len(args) == 1 {
				dir = args[0]
			}
			return runDemo(cmd.Context(), a, dir)
		},
	}
}

func runDemo(ctx context.Context, a *app, dir string) error {
	files, err := demoFiles()
	if err != nil {
		return err
	}
	folder := newFolder{dir: a.absolute(dir), name: dir, refusal: "`skillopt sleep demo` overwrites nothing, choose another folder"}
	if _, err := folder.write(files); err != nil {
		return err
	}
	at := sleepFlags{profile: filepath.Join(folder.dir, "sleep.yaml")}
	list := []nightsDone{}
	for day := 1; day <= demoNights; day++ {
		done, err := demoNight(ctx, a, at, folder.dir, files, day)
		if err != nil {
			return err
		}
		list = append(list, *done)
	}
	if a.json {
		return printJSON(a.Out, ask.Shareable(list))
	}
	setup, err := a.sleepSetup(at)
	if err != nil {
		return err
	}
	for i, done := range list {
		a.results().line(fmt.Sprintf("\nnight %d of %d, simulated", i+1, demoNights))
		for _, r := range done.Nights {
			printNightAlone(a.results(), r)
		}
	}
	a.results().line("")
	a.results().line("next: " + setup.command("skillopt sleep show"))
	return nil
}

// demoNight has the agent write down the sessions of a day, and carries out the night after it.
func demoNight(ctx context.Context, a *app, at sleepFlags, dir string, files map[string][]byte, day int) (*nightsDone, error) {
	store := filepath.Join(dir, "store")
	if err := os.MkdirAll(store, 0o755); err != nil {
		return nil, fmt.Errorf("make the store of sessions: %w", err)
	}
	of := fmt.Sprintf("day-%d", day)
	for name, data := range files {
		if filepath.Dir(name) != of {
			continue
		}
		if err := os.WriteFile(filepath.Join(store, filepath.Base(name)), data, 0o600); err != nil {
			return nil, fmt.Errorf("write a session: %w", err)
		}
	}
	setup, err := a.sleepSetup(at)
	if err != nil {
		return nil, err
	}
	w, err := openNightWork(ctx, a, setup)
	if err != nil {
		return nil, err
	}
	done, err := (&sleepRunOptions{yes: true}).nights(ctx, a, setup, w)
	if err == nil && done == nil {
		err = errors.New("the example has no night")
	}
	return done, err
}

// demoFiles returns the files of the example, by their names below its folder.
func demoFiles() (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(examples.Sleep, "sleep", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := examples.Sleep.ReadFile(path)
		files[filepath.FromSlash(strings.TrimPrefix(path, "sleep/"))] = data
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the example: %w", err)
	}
	return files, nil
}
