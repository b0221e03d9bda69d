package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
)

func envCommand(a *app) *cobra.Command {
	c := group(&cobra.Command{
		Use:   "env",
		Short: "Programs of your own that play episodes: check one",
		Long: `A program of your own plays the episodes of tasks: env.command with env.protocol
episode. docs/worlds.md says how to write one.`,
		Example: `  skillopt env check -- python3 world.py`,
	})
	c.AddCommand(envCheckCommand(a))
	return c
}

// envCheckOptions are the flags of env check.
type envCheckOptions struct {
	tasks string
	sets  []string
}

func envCheckCommand(a *app) *cobra.Command {
	var o envCheckOptions
	c := &cobra.Command{
		Use:   "check CONFIG_OR_DIR | -- PROGRAM [ARGUMENTS]",
		Short: "Try out whether a program that plays episodes keeps to the protocol",
		Long: `Start the program and put to it what a run may: episodes at a time, odd commands,
unknown episodes, large texts, models that fail, the end. Each case is a row with
what was seen and what is wanted. It is given a task of the config or of --tasks, else
its own first one. No model is asked and nothing is recorded.

The exit code is 1 if a case fails.`,
		Example: `  skillopt env check -- python3 world.py
  skillopt env check --tasks tasks.jsonl -- node world.mjs
  skillopt env check my-world`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), a, args, cmd.ArgsLenAtDash())
		},
	}
	c.Flags().StringVar(&o.tasks, "tasks", "", "a file of tasks, whose first one the program is given")
	addSet(c, &o.sets)
	return c
}

// run checks the program behind the dash, or that of a config.
func (o *envCheckOptions) run(ctx context.Context, a *app, args []string, dash int) error {
	path, program := "", args
	if dash != 0 && len(args) > 0 {
		path, program = args[0], args[1:]
	}
	if len(args) == 0 || path != "" && len(program) > 0 && dash != 1 {
		return usagef("skillopt env check takes a config or a directory, or a program after --; `skillopt env check --help` shows examples")
	}
	flags := []config.Setting{{Key: "env.protocol", Value: config.ProtocolEpisode, Origin: "skillopt env check"}}
	if len(program) > 0 {
		command := make([]any, len(program))
		for i, word := range program {
			command[i] = word
		}
		flags = append(flags, config.Setting{Key: "env.command", Value: command, Origin: "argument"})
	}
	if o.tasks != "" {
		flags = append(flags, config.Setting{Key: "tasks.path", Value: a.absolute(o.tasks), Origin: "--tasks"})
	}
	l, err := a.loadConfig(path, o.sets, flags)
	if err != nil {
		return err
	}
	report, err := interruptible(ctx, a.Signals, func(ctx context.Context) (result.Examination, error) {
		return skillopt.CheckProgram(ctx, l.Config, skillopt.WithLoaded(l))
	})
	if err != nil {
		return err
	}
	return printCases(a, report)
}

// printCases prints a row for each case, and fails if one does.
func printCases(a *app, report result.Examination) error {
	failed := 0
	for _, row := range report.Rows {
		if !row.OK {
			failed++
		}
	}
	report = shareable(report)
	if a.json {
		if err := printJSON(a.Out, report); err != nil {
			return err
		}
	} else {
		out := a.tablePrinter()
		writeExamination(out, report)
		fmt.Fprintf(out, "%d of %s passed\n", len(report.Rows)-failed, wording.Plural(len(report.Rows), "case", "cases"))
	}
	if failed > 0 {
		return &shownError{fmt.Errorf("%s failed", wording.Plural(failed, "case", "cases"))}
	}
	return nil
}
