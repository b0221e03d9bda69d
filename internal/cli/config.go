package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/config"
)

func configCommand(a *app) *cobra.Command {
	c := group(&cobra.Command{Use: "config", Short: "Explain the configuration, print its schema, or import one of SkillOpt"})
	c.AddCommand(configExplainCommand(a), configSchemaCommand(a), configImportCommand(a))
	return c
}

// configExplainOptions are the flags of config explain.
type configExplainOptions struct{ sets []string }

func configExplainCommand(a *app) *cobra.Command {
	var o configExplainOptions
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
			return o.run(a, path)
		},
	}
	addSet(c, &o.sets)
	return c
}

// run explains a config, "" for the defaults.
func (o *configExplainOptions) run(a *app, path string) error {
	l, err := a.loadConfig(path, o.sets, nil)
	if err != nil {
		return err
	}
	if a.json {
		return printJSON(a.Out, l.Explain())
	}
	return config.WriteExplanations(a.Out, l.Explain())
}

func configSchemaCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON Schema of a config file, for editors",
		Example: "  skillopt config schema > config.schema.json",
		Args:    exactly(0, "no arguments"),
		RunE:    func(*cobra.Command, []string) error { return printSchema(a.Out) },
	}
}

// printSchema prints the JSON Schema of a config file.
func printSchema(out io.Writer) error {
	s, err := config.Schema()
	if err != nil {
		return err
	}
	if _, err := out.Write(s); err != nil {
		return fmt.Errorf("print schema: %w", err)
	}
	return nil
}
