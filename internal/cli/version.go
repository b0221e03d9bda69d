package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

func versionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  skillopt version --json",
		Args:    exactly(0, "no arguments"),
		RunE:    func(*cobra.Command, []string) error { return printVersion(a) },
	}
}

func printVersion(a *app) error {
	if a.json {
		return printJSON(a.Out, map[string]string{"version": a.version, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH})
	}
	_, err := fmt.Fprintf(a.Out, "skillopt %s (%s, %s/%s)\n", a.version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
