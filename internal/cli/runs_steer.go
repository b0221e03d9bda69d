package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/steer"
	"github.com/seed-f4525e22/skillopt/result"
)

func runsStopCommand(a *app) *cobra.Command {
	var now bool
	c := &cobra.Command{
		Use:   "stop [RUN]",
		Short: "Stop a run that is at work in another process, softly or at once",
		Long: `Ask the process that works on a run to end, through the run's directory: on any system,
from another terminal or another machine that shares the disk. Calls in flight are
finished and recorded, as after Ctrl-C; with --now the run ends at once, as after a
second one. The same command continues with the run later. Without RUN it is the newest
run at work in the folder runs.

It waits up to 5 seconds for the run to obey, which is not its end: skillopt runs watch
shows that. A run that no process works on is no error: there is nothing to stop. Exit code
6: the process that works on the run has not answered.`,
		Example: `  skillopt runs stop
  skillopt runs stop runs/my-skill-3
  skillopt runs stop runs/my-skill-3 --now`,
		Args: atMost(1, "at most one run directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := runAtWork(a, args)
			if err != nil {
				return err
			}
			what := steer.Stop
			if now {
				what = steer.StopNow
			}
			return steerRun(cmd.Context(), a, path, steer.Asking{What: what})
		},
	}
	c.Flags().BoolVar(&now, "now", false, "end at once: calls in flight are lost")
	return c
}

func runsLimitCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "limit [RUN] CEILING=VALUE...",
		Short: "Change the ceilings of a run while it is at work",
		Long: `Give a run other ceilings than its configuration has: usd, tokens, calls, and time of
the session. Above what is spent the run continues; at or below it the run ends, as at any
ceiling, with what is in flight finished and recorded. none takes a ceiling away. Without
RUN it is the newest run at work in the folder runs.

They stay in later sessions of the run, and each of those says so, until the key has
another value in the configuration or the command gives it (--set limits.usd=50). A run
that no process works on begins its next session with them; one that has ended
takes none. Forks do not take them over.

Exit code 2: the run has refused it, as a ceiling of money without prices. Exit code 6:
the process that works on the run has not answered.`,
		Example: `  skillopt runs limit usd=30
  skillopt runs limit runs/my-skill-3 usd=12.50 tokens=2M calls=500
  skillopt runs limit runs/my-skill-3 time=2h usd=none`,
		RunE: func(cmd *cobra.Command, args []string) error {
			var named []string
			if len(args) > 0 && (!strings.Contains(args[0], "=") || isFolder(a.absolute(args[0]))) {
				named, args = args[:1], args[1:]
			}
			limits, err := steer.ParseLimits(args)
			if err != nil {
				return usagef("%v", err)
			}
			path, err := runAtWork(a, named)
			if err != nil {
				return err
			}
			return steerRun(cmd.Context(), a, path, steer.Asking{What: steer.Limit, Limits: limits})
		},
	}
}

// runAtWork returns the run that an argument names, or the newest one in the folder runs that a
// process works on.
func runAtWork(a *app, args []string) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	entries, err := record.List(a.absolute("runs"))
	if err != nil {
		return "", err
	}
	for _, e := range slices.Backward(entries) {
		if works, err := run.InUse(e.Dir); err == nil && works {
			return a.relative(e.Dir), nil
		}
	}
	return "", usagef("no run in ./runs is at work; give the path of a run in another folder, `skillopt runs list` shows those of this one")
}

// steerRun asks a run for something and says what happened to it.
func steerRun(ctx context.Context, a *app, path string, asking steer.Asking) error {
	asking.From, asking.Now = "command", time.Now
	asking.Name = path
	got, err := interruptible(ctx, a.Signals, func(ctx context.Context) (result.Steered, error) {
		return steer.Ask(ctx, a.absolute(path), asking)
	})
	var none *run.MissingError
	if errors.As(err, &none) || errors.Is(err, fs.ErrNotExist) {
		return usagef("%s is no run directory: it has no %s; `skillopt runs list` shows runs", path, run.ManifestFile)
	}
	if fault.Of(err) == fault.BadInput {
		return usagef("%v", err)
	}
	if err != nil {
		return err
	}
	if a.json {
		err = printAnswer(a.Out, shareable(got))
	} else if got.State == result.SteerDone || got.State == result.SteerKept || got.State == result.SteerIdle {
		a.printer(a.Out).line(path + ": " + oneLine(got.Text))
	}
	return errors.Join(err, steerError(a, path, got))
}

// steerError returns the error of a request that was not carried out.
func steerError(a *app, path string, got result.Steered) error {
	var err error
	switch got.State {
	case result.SteerRefused:
		err = usagef("%s: %s", path, got.Text)
	case result.SteerUnanswered:
		err = &unheededError{path + ": " + got.Text}
	default:
		return nil
	}
	if a.json {
		return &shownError{err}
	}
	return err
}

// unheededError says that the process that has a run open has not heard what was asked.
type unheededError struct{ text string }

func (e *unheededError) Error() string { return e.text }

// showCeilings shows the ceilings of a run that replace the configuration's.
func showCeilings(out printer, m run.Manifest) {
	if m.Steering == nil {
		return
	}
	for _, name := range steer.Names() {
		if h, ok := m.Steering.Held["limits."+name]; ok {
			out.line(fmt.Sprintf("  limits.%s is %s, set from outside on %s; the configuration said %s",
				name, steer.Words(h.Value), h.Asked.Local().Format("2006-01-02 15:04"), steer.Words(h.Was)))
		}
	}
}
