package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/skill"
)

func runsCommand(a *app) *cobra.Command {
	c := group(&cobra.Command{Use: "runs", Short: "List, show, compare, explain and export runs, and ask what was answered"})
	c.AddCommand(runsListCommand(a), runsShowCommand(a), runsWatchCommand(a), runsStopCommand(a), runsLimitCommand(a), runsTasksCommand(a), runsCallsCommand(a), runsSkillCommand(a), runsDiffCommand(a), runsBlameCommand(a), runsCompareCommand(a), runsNoteCommand(a), runsExportCommand(a), runsRmCommand(a), runsCheckCommand(a))
	return c
}

// readRun reads the files of the run in a folder; path is what messages call it.
func readRun(dir, path string) (ask.View, error) {
	v, err := ask.Run(dir, path)
	var none *run.MissingError
	var damaged *record.FileError
	if errors.As(err, &none) || errors.As(err, &damaged) {
		return v, usagef("%v", err)
	}
	return v, err
}

// runOrNewest returns the run that an argument names, or the newest one in the folder runs.
func runOrNewest(a *app, args []string) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	entries, err := record.List(a.absolute("runs"))
	if err != nil {
		return "", err
	}
	if len(entries) == 0 {
		return "", usagef("there is no folder runs with a run here; name one: skillopt runs show RUN")
	}
	return a.relative(entries[len(entries)-1].Dir), nil
}

// onRun returns a command on the run that its argument names, or on the newest one.
func onRun(a *app, do func(ctx context.Context, a *app, path string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		path, err := runOrNewest(a, args)
		if err != nil {
			return err
		}
		return do(cmd.Context(), a, path)
	}
}

// skillVersion reads the skill after a step, or the best one.
func skillVersion(a *app, path, version string) (skill.Skill, error) {
	s, err := ask.Skill(a.absolute(path), path, version)
	var none *run.MissingError
	var damaged *record.FileError
	if errors.As(err, &none) || errors.As(err, &damaged) {
		return s, usagef("%v", err)
	}
	return s, err
}
