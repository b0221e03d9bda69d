package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/result"
)

// doctorOptions are the flags of doctor.
type doctorOptions struct {
	sets                      []string
	agents, noise, yes, fresh bool
}

const doctorHelp = `Check all that a run needs: the config, the skill, the tasks and the run folder;
the program of an environment; the agent, its version and whether
programs can be confined here; and the models, with one small call per role, or to
each of its endpoints, and what they cost. A coding agent works once, confined as in
a run, for a scripted model that is part of this program and costs nothing: it must
load a skill, run a command, write a file and count its tokens rightly. What it has
shown is kept in your cache folder until agent, model, config or this program change;
--fresh shows it again. Somebody who answers by hand is not asked. Each row that fails says
how to fix it, and the first of them decides the exit code.

Three tasks that training may look at, none of the test split, are put through prompt,
model or environment, extraction and checks, and shown with what was asked, replied,
taken from the reply and scored: is that what you meant? None is put to an agent.

With --noise: instead of that, every selection task is asked twice with the same
skill. That shows how much scores change by chance, what difference a gate can see,
and what would help. The calls are recorded and paid for once.

With --agents, and no config: which coding agents are installed. One that is not
(marked with --) is no failure.

` + exitHelp

func doctorCommand(a *app) *cobra.Command {
	var o doctorOptions
	c := &cobra.Command{
		Use:   "doctor CONFIG_OR_DIR | --agents",
		Short: "Check that a config can run, with real calls",
		Long:  doctorHelp,
		Example: `  skillopt doctor my-skill
  skillopt doctor my-skill --set agent.name=codex --fresh
  skillopt doctor my-skill --set models.target.base_url=http://localhost:11434/v1
  skillopt doctor my-skill --noise
  skillopt doctor --agents`,
		Args: rangeArgs(0, 1, "a config or a directory"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, args) },
	}
	c.Flags().BoolVar(&o.agents, "agents", false, "look for installed coding agents instead of checking a config")
	c.Flags().BoolVar(&o.noise, "noise", false, "ask every selection task twice: how much do scores change by chance?")
	c.Flags().BoolVar(&o.yes, "yes", false, "with --noise: do not ask before spending")
	c.Flags().BoolVar(&o.fresh, "fresh", false, "have the agent show again what it can, whatever is kept of it")
	addSet(c, &o.sets)
	return c
}

// run checks what the flags and arguments choose.
func (o *doctorOptions) run(ctx context.Context, a *app, args []string) error {
	switch {
	case o.noise && len(args) == 1 && !o.agents:
		return o.measureNoise(ctx, a, args[0])
	case o.noise:
		return usagef("--noise takes a config or a directory, and nothing else")
	case o.fresh && o.agents:
		return usagef("--agents proves nothing: give --fresh a config or a directory")
	case o.agents && len(args) == 0 && len(o.sets) == 0:
		return examineAgents(ctx, a)
	case o.agents:
		return usagef("--agents looks at this machine and takes no config; leave one of them out")
	case len(args) == 0:
		return usagef("skillopt doctor takes a config or a directory, or --agents; `skillopt doctor --help` shows examples")
	}
	return o.examine(ctx, a, args[0])
}

// examine checks a config.
func (o *doctorOptions) examine(ctx context.Context, a *app, path string) error {
	l, err := a.loadConfig(path, o.sets, nil)
	if err != nil {
		return err
	}
	report, err := interruptible(ctx, a.Signals, func(ctx context.Context) (result.Examination, error) {
		return skillopt.Examine(ctx, l.Config, skillopt.WithLoaded(l), skillopt.WithClouds(a.Clouds), skillopt.WithUsed(a.used), skillopt.WithProofs(skillopt.Proofs{Dir: proofsDir(), Fresh: o.fresh})), nil
	})
	if err != nil {
		return err
	}
	return printExamination(a, report)
}

// proofsDir returns the folder where proofs of agents are kept. It returns "", which keeps none,
// for a user without a cache folder.
func proofsDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "skillopt", "proofs")
}

// examineAgents looks for coding agents.
func examineAgents(ctx context.Context, a *app) error {
	l, err := a.loadConfig("", nil, nil)
	if err != nil {
		return err
	}
	return printExamination(a, skillopt.ExamineAgents(ctx, skillopt.WithLoaded(l), skillopt.WithClouds(a.Clouds)))
}

// printExamination prints what was found; its first failure is the command's.
func printExamination(a *app, report result.Examination) error {
	report = shareable(report)
	if a.json {
		if err := printJSON(a.Out, report); err != nil {
			return err
		}
	} else {
		writeExamination(a.tablePrinter(), report)
	}
	if err := report.Err(); err != nil {
		return &shownError{err}
	}
	return nil
}

// writeExamination prints a row for each finding, folded on a narrow terminal.
func writeExamination(out printer, r result.Examination) {
	const state = 6
	name := 0
	for _, row := range r.Rows {
		name = max(name, utf8.RuneCountInString(row.Name))
	}
	indent := strings.Repeat(" ", state+name+2)
	for _, row := range r.Rows {
		mark := "ok"
		switch {
		case row.Skipped:
			mark = "--"
		case row.Warning:
			mark = "note"
		case !row.OK:
			mark = "FAIL"
		}
		text := row.Detail
		if row.Fix != "" {
			text += "\nto fix: " + row.Fix
		}
		fmt.Fprintf(out, "%-*s%-*s  %s\n", state, mark, name, row.Name, out.column(text, indent))
	}
}
