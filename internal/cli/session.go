package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
)

// sessionFlags are those of every command that carries out tasks.
type sessionFlags struct {
	run    string // directory of the run, "" = chosen
	replay string // cassette that answers, "" = models do
	yes    bool   // do not ask before spending
}

// session is what such commands share: how it is asked before anything is spent,
// where events go, and how an interrupt stops them. end must be called when the
// work is over.
func (a *app) session(ctx context.Context, l *config.Loaded, f sessionFlags) (_ context.Context, opts []skillopt.Option, end func() error, err error) {
	asking, err := a.asking(f.replay, f.yes)
	if err != nil {
		return nil, nil, nil, err
	}
	sink, closeEvents, err := a.eventSinks()
	if err != nil {
		return nil, nil, nil, err
	}
	ctx, stop, release := a.signals(ctx)
	opts = append(asking, skillopt.WithLoaded(l), skillopt.WithEvents(sink), skillopt.WithStop(stop), skillopt.WithVersion(a.version),
		skillopt.WithRunDir(a.absolute(f.run)), skillopt.WithTestLedger(l.Config.Run.Dir))
	return ctx, opts, func() error {
		release()
		if err := closeEvents(); err != nil {
			return fmt.Errorf("close --events file: %w", err)
		}
		return nil
	}, nil
}

// ended joins how the work ended with the end of its session, and says what the
// record of it is good for.
func ended(err error, end func() error) error { return goesOn(errors.Join(err, end())) }
