package config

import (
	"fmt"
	"maps"
	"os"
	"slices"
)

// SetEnvironment replaces the variables of the process: what a timer has started sees
// what the shell did in which the timer was set. It is for the beginning of a program.
// It is for this program alone.
func SetEnvironment(vars map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if err := os.Setenv(name, vars[name]); err != nil {
			return fmt.Errorf("set the variable %q: %w", name, err)
		}
	}
	return nil
}

// Environment reads a variable of the process.
// It is for this program alone.
func Environment(name string) (string, bool) { return os.LookupEnv(name) }
