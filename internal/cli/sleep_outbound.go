package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/outbound"
)

// showOutbound prints what later nights could send of what is kept and allowed, byte for byte,
// the newest session first.
func (o *sleepHarvestOptions) showOutbound(ctx context.Context, a *app, at sleepFlags, id string) (err error) {
	if o.dryRun || o.headless {
		return usagef("--show-outbound shows what is kept: leave --dry-run and --headless out")
	}
	setup, err := a.sleepSetup(at)
	if err != nil {
		return err
	}
	allowed, err := setup.projects()
	if err != nil {
		return err
	}
	chosen := setup.projectFilter()
	f := bank.Filter{ID: id, Project: func(dir string) bool { return allowed.Allow(dir) && chosen(dir) }}
	b, err := setup.look(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	clean, n := setup.loaded.Redactor(), 0
	err = b.Sessions(ctx, f, func(s bank.Session) error {
		n++
		lines, err := outbound.Render(s.Transcript, clean)
		if err != nil {
			return fmt.Errorf("show what could be sent: %w", err)
		}
		_, err = a.Out.Write(lines)
		return err
	})
	if err == nil && n == 0 {
		if id != "" {
			return usagef("no session %s of an allowed project is kept; `skillopt sleep sessions` lists them", id)
		}
		a.printer(a.Err).line("no session of an allowed project is kept: nothing could be sent")
	}
	return err
}
