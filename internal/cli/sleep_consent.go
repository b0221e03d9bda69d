package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/harvest"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/model"
)

// consent shows where text would go, asks for what the user has not agreed to, and notes it.
func (o *sleepInitOptions) consent(ctx context.Context, a *app, s sleepSetup, q *asking, places []harvest.Place) (err error) {
	list, err := s.destinations()
	if err != nil {
		return err
	}
	q.out.line("text of sessions and files of the projects would go in later nights to:")
	for _, d := range list {
		q.out.line("  " + destinationText(d))
	}
	if _, err := s.firstNight(ctx, a, q.out, places); err != nil {
		return err
	}
	missing, err := findMissingConsents(ctx, s.dir, remote(list))
	if err != nil || len(missing) == 0 {
		return tellConsent(q.out, list, err)
	}
	for _, d := range missing {
		q.out.line(fmt.Sprintf("not agreed to yet: %s as %s", oneLine(d.Host), d.Role))
	}
	if err := q.agree("may they be sent there? [y/N] "); err != nil {
		q.out.line("nothing is sent; harvest works without it, and `skillopt sleep init` asks again")
		return nil
	}
	if err := s.grant(ctx, missing); err != nil {
		return err
	}
	q.out.line("noted; `" + s.command("skillopt sleep init --revoke all") + "` takes it back")
	return nil
}

// grant notes that the user has agreed to destinations.
func (s sleepSetup) grant(ctx context.Context, list []bank.Destination) (err error) {
	if len(list) == 0 {
		return nil
	}
	b, err := bank.Open(ctx, s.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	for _, d := range list {
		if err := b.Grant(ctx, d.Role, d.Host, time.Now()); err != nil {
			return err
		}
	}
	return nil
}

func tellConsent(out printer, list []wiring.Destination, err error) error {
	if err == nil && len(remote(list)) > 0 {
		out.line("you have agreed to all of it; `skillopt sleep status` lists it")
	}
	return err
}

func consentText(c bank.Consent) string {
	text := fmt.Sprintf("%-9s  %s  given %s", oneLine(c.Role), oneLine(c.Host), c.Given.Local().Format("2006-01-02 15:04"))
	if !c.Revoked.IsZero() {
		text += ", taken back " + c.Revoked.Local().Format("2006-01-02 15:04")
	}
	return text
}

func revokeConsent(ctx context.Context, a *app, at sleepFlags, host string) error {
	return at.withBank(ctx, a, sleepSetup.open, func(_ sleepSetup, b *bank.Bank) error {
		one := host
		if host == "all" {
			one = ""
		}
		n, err := b.Revoke(ctx, one, time.Now())
		switch {
		case err != nil:
			return err
		case n == 0:
			return usagef("--revoke %s: no such consent holds; `skillopt sleep status` lists what was given", host)
		case a.json:
			return printJSON(a.Out, map[string]any{"revoked": n})
		}
		a.stdoutPrinter().line("taken back: " + wording.Plural(n, "consent", "consents") + "; nothing is sent there before you are asked again")
		return nil
	})
}

// destinations returns where text and files would go, by the profile: for target, optimizer and
// judge in this order.
func (s sleepSetup) destinations() ([]wiring.Destination, error) {
	var out []wiring.Destination
	for _, role := range []string{model.Target, model.Optimizer, model.Judge} {
		list, err := wiring.Destinations(role, s.loaded.Config)
		if err != nil {
			return nil, usagef("%s: %v", s.profile, err)
		}
		out = append(out, list...)
	}
	return out, nil
}

// clients fails if a model of the profile cannot be called as it is set up there, such as one whose key is missing, or a token that
// would go to another host: before anything is read, sent or paid for. Nothing is called.
func (s sleepSetup) clients() error {
	c := s.loaded.Config
	for _, role := range []string{model.Target, model.Optimizer, model.Judge} {
		m := c.Models.Of(role)
		if m.Provider == "" || role == model.Target && c.Agent.Name != "" && !c.Agent.Gateway {
			continue
		}
		b, err := wiring.Client(role, m, s.loaded.Lookup, s.clouds)
		if err == nil && b.Close != nil {
			err = b.Close()
		}
		if err != nil {
			return &skillopt.Error{Kind: skillopt.BadInput, Err: err}
		}
	}
	return nil
}

// remote returns the destinations that need consent.
func remote(list []wiring.Destination) []bank.Destination {
	out := []bank.Destination{}
	for _, d := range list {
		if d.Host != "" && !d.Local {
			out = append(out, bank.Destination{Role: d.Role, Host: d.Host})
		}
	}
	return out
}

func destinationText(d wiring.Destination) string {
	text := fmt.Sprintf("%-9s  ", d.Role)
	switch {
	case d.Host == "":
		return text + d.Why
	case d.Why != "":
		return text + oneLine(d.Host) + " (" + d.Why + ")"
	}
	return text + oneLine(d.Host)
}

// findMissingConsents returns the destinations that the user has not agreed to, by the bank in a folder.
func findMissingConsents(ctx context.Context, dir string, wanted []bank.Destination) (missing []bank.Destination, err error) {
	b, err := bank.Look(ctx, dir)
	if errors.Is(err, bank.ErrNone) {
		return wanted, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	return b.MissingConsents(ctx, wanted)
}
