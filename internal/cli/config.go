package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/config"
)

func (a *app) configCommand() *cobra.Command {
	c := group(&cobra.Command{Use: "config", Short: "Explain the configuration, print its schema, or import one of SkillOpt"})
	c.AddCommand(a.configExplain(), a.configSchema(), a.configImport())
	return c
}

func (a *app) configExplain() *cobra.Command {
	var sets []string
	c := &cobra.Command{
		Use:   "explain [CONFIG_OR_DIR]",
		Short: "Show each key's value, class and origin",
		Long: `Show each key's value, its class and where the value came from. An operational key
may change when a run is resumed; an identity key is part of what the run is.`,
		Example: `  skillopt config explain
  skillopt config explain examples/quickstart --set train.epochs=2`,
		Args: atMost(1, "at most one config"),
		RunE: func(_ *cobra.Command, args []string) error {
			path := ""
			if len(args) == 1 {
				path = args[0]
			}
			l, err := a.loadConfig(path, sets, nil)
			if err != nil {
				return err
			}
			if a.json {
				return printJSON(a.Out, l.Explain())
			}
			return config.WriteExplanations(a.Out, l.Explain())
		},
	}
	addSet(c, &sets)
	return c
}

func (a *app) configSchema() *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON Schema of a config file, for editors",
		Example: "  skillopt config schema > config.schema.json",
		Args:    exactly(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			s, err := config.Schema()
			if err != nil {
				return err
			}
			if _, err := a.Out.Write(s); err != nil {
				return fmt.Errorf("print schema: %w", err)
			}
			return nil
		},
	}
}

func addSet(c *cobra.Command, sets *[]string) {
	c.Flags().StringArrayVar(sets, "set", nil, "override a key: a.b=value (may be given more than once)")
}

// loadConfig reads a config with the settings of the command line over it.
func (a *app) loadConfig(path string, sets []string, flags []config.Setting) (*config.Loaded, error) {
	settings := flags
	for _, text := range sets {
		s, err := config.ParseSetting(text)
		if err != nil {
			return nil, err
		}
		settings = append(settings, s)
	}
	return reading(context.Background(), a.Signals, func(ctx context.Context) (*config.Loaded, error) {
		return config.LoadContext(ctx, config.Options{Path: path, Settings: settings, Dir: a.Dir})
	})
}
