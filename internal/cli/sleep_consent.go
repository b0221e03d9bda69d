package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/model"
)

// sleepConsentOptions are the flags of sleep consent.
type sleepConsentOptions struct{ revoke bool }

func sleepConsentCommand(a *app, profile *string) *cobra.Command {
	var o sleepConsentOptions
	c := &cobra.Command{
		Use:   "consent [HOST]",
		Short: "List where you said that texts may be sent to, or take it back",
		Long: `List the hosts that later nights may send text of sessions and files of the allowed
projects to, for each role, with what was taken back. skillopt sleep init asks for it.
With --revoke consent is taken back: for a host, or for all. Nothing is sent there any
more; what was sent before cannot be called back.`,
		Example: `  skillopt sleep consent
  skillopt sleep consent --revoke api.openai.com
  skillopt sleep consent --revoke`,
		Args: atMost(1, "at most one host"),
		RunE: func(cmd *cobra.Command, args []string) error {
			host := strings.Join(args, "")
			switch {
			case o.revoke:
				return revokeConsent(cmd.Context(), a, *profile, host)
			case host != "":
				return usagef("%s takes a host with --revoke alone; without arguments it lists all", cmd.CommandPath())
			}
			return listConsent(cmd.Context(), a, *profile)
		},
	}
	c.Flags().BoolVar(&o.revoke, "revoke", false, "take back what was given for HOST, or for all hosts")
	return c
}

func listConsent(ctx context.Context, a *app, profile string) error {
	setup, err := a.sleepSetup(profile)
	if err != nil {
		return err
	}
	list, err := consents(ctx, setup.dir)
	if err != nil {
		return err
	}
	if a.json {
		return printJSON(a.Out, list)
	}
	if len(list) == 0 {
		a.printer(a.Err).line("no consent was given: nothing of any session is sent anywhere")
	}
	for _, c := range list {
		a.shown().line(consentText(c))
	}
	return nil
}

// consents lists consent; without a bank there is none.
func consents(ctx context.Context, dir string) (list []bank.Consent, err error) {
	b, err := bank.Look(ctx, dir)
	if errors.Is(err, bank.ErrNone) {
		return []bank.Consent{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	return b.Consents(ctx)
}

func consentText(c bank.Consent) string {
	text := fmt.Sprintf("%-9s  %s  given %s", oneLine(c.Role), oneLine(c.Host), c.Given.Local().Format("2006-01-02 15:04"))
	if !c.Revoked.IsZero() {
		text += ", taken back " + c.Revoked.Local().Format("2006-01-02 15:04")
	}
	return text
}

func revokeConsent(ctx context.Context, a *app, profile, host string) (err error) {
	setup, err := a.sleepSetup(profile)
	if err != nil {
		return err
	}
	list, err := consents(ctx, setup.dir)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return usagef("no consent was given, so there is none to take back")
	}
	b, err := bank.Open(ctx, setup.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	n, err := b.Revoke(ctx, host, time.Now())
	switch {
	case err != nil:
		return err
	case n == 0 && host != "":
		return usagef("no consent for %s holds; `skillopt sleep consent` lists what was given", host)
	case a.json:
		return printJSON(a.Out, map[string]any{"revoked": n})
	}
	a.shown().line("taken back: " + wording.Plural(n, "consent", "consents") + "; nothing is sent there before you are asked again")
	return nil
}

// destinations are where text and files would go, by the profile: for target, optimizer and
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

// clients fails if a model of the profile cannot be called as it is there, such as one whose key is missing, or a token that
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

// remote are the destinations that need consent.
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

// unconsented are the destinations that the user has not agreed to, by the bank in a folder.
func unconsented(ctx context.Context, dir string, wanted []bank.Destination) (missing []bank.Destination, err error) {
	b, err := bank.Look(ctx, dir)
	if errors.Is(err, bank.ErrNone) {
		return wanted, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	return b.Missing(ctx, wanted)
}
