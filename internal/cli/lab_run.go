package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/session"
	"github.com/seed-f4525e22/skillopt/result"
)

// labResult is what a study comes to, as its run keeps it.
type labResult interface{ Document() result.Study }

// addRunFlag adds the flag for the run that keeps a study.
func addRunFlag(c *cobra.Command, f *labFiles) {
	c.Flags().StringVar(&f.run, "run", "", "keep the tables in this run directory")
}

// studied carries a study out until the first signal, and keeps what it comes to in a run
// directory if one is named. command is the one that makes the same figures again: a run
// that was stopped goes on with it, from the beginning.
func studied[R labResult](ctx context.Context, a *app, f labFiles, command string, study func(context.Context) (R, error)) (out R, err error) {
	if f.run == "" {
		return interruptible(ctx, a.Signals, study)
	}
	r, err := openStudy(ctx, a, f.run, command)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	out, err = interruptible(ctx, a.Signals, study)
	if err != nil {
		status := result.Failed
		if errors.Is(err, errInterrupted) {
			status = result.Stopped
		}
		return out, errors.Join(err, r.SetStatus(status))
	}
	doc := out.Document()
	doc.RunDir, doc.Command = ".", command // a run directory can be moved
	if err := r.WriteJSON(result.StudyFile, doc); err != nil {
		return out, err
	}
	return out, r.SetStatus(result.Completed)
}

// openStudy opens the run that keeps a study.
func openStudy(ctx context.Context, a *app, path, command string) (*run.Run, error) {
	r, err := run.Open(ctx, run.OpenOptions{
		Dir: a.absolute(path), Name: filepath.Base(path), Kind: result.RunStudy, Version: a.version, Identity: map[string]string{"library.lab": command},
		Simulated: true, Now: time.Now, Compare: session.DescribeChanges, Warn: func(err error) { fmt.Fprintf(a.Err, "warning: %v\n", err) },
	})
	var other *run.IdentityError
	if errors.As(err, &other) {
		return nil, usagef("%s holds another run, or a study with other settings:\n  %s\nchoose another directory with --run", path, other.Changes[0])
	}
	return r, err
}
