package night

import (
	"context"
	"errors"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/result"
)

// Mine does the first part of a night alone: sessions become tasks of the bank. The night stays open, and the next
// Run continues it. Its report has what was mined. Where there is nothing to mine, no night is begun.
func Mine(ctx context.Context, o Options) (*Report, error) {
	o.DryRun = true
	n := newNight(o)
	err := n.begin(ctx)
	if err != nil || len(n.sessions) == 0 {
		if n.report != nil {
			n.report = n.blank(n.report.Started, n.report.Since)
		}
		return n.report, err
	}
	o.DryRun = false
	n = newNight(o)
	err = n.begin(ctx)
	if err == nil {
		n.report.Mined.Sessions = n.report.Mined.Noted + len(n.sessions)
		err = n.mine(ctx)
	}
	if other := otherSettings(err); other != nil {
		next, err2 := n.startAgain(ctx, other)
		if err2 != nil {
			return n.report, err2
		}
		n = next
		n.note(n.said)
		n.report.Mined.Sessions = n.report.Mined.Noted + len(n.sessions)
		err = n.mine(ctx)
	}
	if n.report == nil {
		return nil, err
	}
	over := err == nil && n.Found != nil && n.report.Mined.Taken == (result.NightTaken{}) // there is nothing to continue with
	return n.report, errors.Join(err, n.keep(context.WithoutCancel(ctx), over))
}

// Ceilings returns the ceilings of a night: what the limits say. If they say nothing of money, tokens and calls, it
// returns as many tokens as the night is forecast to need, but never more than a night takes by default. f may be nil.
func Ceilings(cfg config.Config, f *result.NightForecast) config.Limits {
	p := newPurse(cfg)
	p.expect(f)
	return p.limits
}
