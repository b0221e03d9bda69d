package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/benchmark"
	"github.com/seed-f4525e22/skillopt/internal/benchmark/folder"
)

func benchCommand(a *app) *cobra.Command {
	c := group(&cobra.Command{
		Use:   "bench",
		Short: "Benchmarks as folders of tasks: list, fetch, prepare, run",
		Long: `A benchmark is a folder that says where rows come from, what a row becomes as a
task, how tasks are split, asked and scored. fetch gets the rows, prepare makes an
ordinary folder of tasks of them, which train, eval, compare, lint and try read, and
run does both and trains. The program brings no rows of any benchmark; it brings
rows of our own in their form, which run simulated with --fixture.

docs/import.md says how to make one.`,
		Example: `  skillopt bench run searchqa --fixture        rows of our own, simulated: no key, no network
  skillopt bench list
  skillopt bench fetch searchqa --accept-licence
  skillopt bench run searchqa --config models.yaml`,
	})
	c.AddCommand(benchListCommand(a), benchFetchCommand(a), benchPrepareCommand(a), benchRunCommand(a), benchVerifyCommand(a))
	return c
}

// openBench reads the folder of a benchmark that a command line names.
func openBench(ctx context.Context, a *app, name string) (*folder.Folder, error) {
	f, err := folder.Open(ctx, name, a.Dir)
	if err != nil {
		return nil, usagef("%v", err)
	}
	return f, nil
}

// asBenchInput makes an error about a benchmark or its rows one of the input, but for those of the
// disk and of an interrupt.
func asBenchInput(err error) error {
	var data *benchmark.DataError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &data):
		return usagef("%v", data)
	case errors.Is(err, context.Canceled), isEnvironment(err):
		return err
	}
	return usagef("%v", err)
}

// benchData returns the folder of the fetched rows of a benchmark, which is below the user's folder of this program's state.
func benchData(a *app, f *folder.Folder) (string, error) {
	folders, err := config.UserFolders()
	if err != nil {
		return "", fmt.Errorf("find the folder for benchmarks: %w", err)
	}
	return folders.BenchData(f.Name), nil
}
