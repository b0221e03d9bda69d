package cli

import "github.com/spf13/cobra"

func (a *app) labCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "lab",
		Short: "Measure methods in simulated worlds whose truth is known",
		Long: `Measure methods in simulated worlds whose truth is known. No model is called
and nothing is paid. What the lab says is about methods, never about a real model.`,
	}
	group(c)
	c.AddCommand(a.labGatesCommand(), a.labWorldsCommand(), a.labBaselinesCommand(), a.labCurriculumCommand())
	return c
}
