package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/sleep/harvest"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
)

// sleepTryOptions are the flags of sleep try.
type sleepTryOptions struct {
	draftProfile

	sets []string
	yes  bool
}

func sleepTryCommand(a *app, at *sleepFlags) *cobra.Command {
	var o sleepTryOptions
	c := &cobra.Command{
		Use:   "try",
		Short: "From the sessions of this project to a proposal, in one command",
		Long: `Find the sessions of the project that you are in, or of --project, and say what would be read, to
which host text would go, and what it is expected to cost and costs at most. Once you have agreed,
read them, find tasks in what you corrected, train on them, and show what would change. Nothing is
written into the project.

Without a profile it writes one that allows this project alone. The models are those of the flags,
else one that is found on this machine: the program of the coding agent that has most of the sessions, with
your login, a server that runs, or a vendor whose key is there. skillopt sleep run continues from there.

` + exitHelp,
		Example: `  skillopt sleep try
  skillopt sleep try --project ~/src/shop --target openai/gpt-5-mini --optimizer openai/gpt-5
  skillopt sleep try --yes --set limits.tokens=200000`,
		Args: exactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), a, *at) },
	}
	o.addModels(c)
	c.Flags().BoolVar(&o.yes, "yes", false, "do not ask: you agree to what is said")
	addSet(c, &o.sets)
	return c
}

func (o *sleepTryOptions) run(ctx context.Context, a *app, at sleepFlags) error {
	setup, err := a.openProfile(at)
	if err != nil {
		return err
	}
	if setup.project == "" {
		setup.project = findProjectRoot(a.folder("."), harvest.NewProjects(filepath.VolumeName(a.Dir)+string(filepath.Separator)))
	}
	at.project = setup.project
	setup, d, err := o.prepare(ctx, a, at, setup)
	if err != nil {
		return err
	}
	list, err := setup.ready()
	if err != nil {
		return err
	}
	if err := o.ask(ctx, a, setup, d, list); err != nil {
		return err
	}
	if d != nil {
		if err := d.write(a, setup.profile); err != nil {
			return err
		}
	}
	if setup, err = a.sleepSetup(at, o.sets...); err != nil {
		return err
	}
	if err := setup.grant(ctx, remote(list)); err != nil {
		return err
	}
	return o.night(ctx, a, at, setup)
}

// prepare returns the setup of the night, with the profile that is to be written for it; nil: there is one.
func (o *sleepTryOptions) prepare(ctx context.Context, a *app, at sleepFlags, s sleepSetup) (sleepSetup, *draftProfile, error) {
	if s.found {
		if o.config+o.target+o.optimizer != "" {
			return s, nil, usagef("%s is there and stays as it is; write the models into it", s.profile)
		}
		if err := s.checkProject(harvest.NewProjects(s.allowedFolders()...)); err != nil {
			return s, nil, err
		}
		s, err := a.sleepSetup(at, o.sets...)
		return s, nil, err
	}
	var err error
	if o.projects, err = folders(a, []string{s.project}); err != nil {
		return s, nil, err
	}
	if o.config+o.target == "" {
		offer, err := s.likelyModel(ctx, a)
		if err != nil {
			return s, nil, err
		}
		o.target, o.optimizer = offer.Target, cmp.Or(o.optimizer, offer.Optimizer)
	}
	if err := o.check(a); err != nil {
		return s, nil, err
	}
	project := s.project
	s, err = o.setup(a, s.profile, o.sets...)
	s.project = project
	return s, &o.draftProfile, err
}

// likelyModel returns the login of the agent that has most sessions of the project, else the first model that is found.
func (s sleepSetup) likelyModel(ctx context.Context, a *app) (wiring.Offer, error) {
	offers := a.offers(ctx)
	if len(offers) == 0 {
		return wiring.Offer{}, usagef("there is no model to ask: no login of a coding agent, server that runs, or key of a vendor was found; name models by --target and --optimizer (docs/models.md)")
	}
	if len(offers) == 1 {
		return offers[0], nil
	}
	places, err := s.survey(ctx, a)
	if err != nil {
		return wiring.Offer{}, err
	}
	chosen, sessions := s.projectFilter(), map[string]int{}
	for _, p := range places {
		if chosen(p.Project) {
			sessions[p.Source+"-cli"] += p.Interactive
		}
	}
	return slices.MaxFunc(offers, func(a, b wiring.Offer) int { return sessions[a.Target] - sessions[b.Target] }), nil
}

// ask says what would be read, sent and spent, and has the user agree to it.
func (o *sleepTryOptions) ask(ctx context.Context, a *app, s sleepSetup, d *draftProfile, list []wiring.Destination) error {
	out := a.printer(a.Err)
	places, err := s.survey(ctx, a) // the models' config may name other stores
	if err != nil {
		return err
	}
	out.line("reads the sessions of " + oneLine(s.project))
	n, err := s.firstNight(ctx, a, out, places)
	if err != nil {
		return err
	}
	if n == 0 {
		return usagef("no session of %s is there that sleep.keep allows; `skillopt sleep doctor` says what is there, --project names another folder", s.project)
	}
	out.line("what is read stays in " + oneLine(s.dir) + ", without secrets; text of sessions and files of the project go to:")
	for _, dest := range list {
		out.line("  " + destinationText(dest))
	}
	if d != nil {
		out.line("writes " + oneLine(s.profile) + ", which allows this project alone")
	}
	switch {
	case o.yes:
		return nil
	case !a.Terminal:
		return usagef("there is no terminal to ask on: --yes agrees to this; nothing was written or sent")
	}
	return (&asking{in: bufio.NewReader(a.In), out: out}).agree("continue? [y/N] ")
}

// night carries the night out, as sleep run does, and shows what it proposes.
func (o *sleepTryOptions) night(ctx context.Context, a *app, at sleepFlags, s sleepSetup) error {
	w, err := openNightWork(ctx, a, s)
	if err != nil {
		return err
	}
	run := sleepRunOptions{yes: true}
	done, err := run.nights(ctx, a, s, w)
	switch {
	case done == nil:
		return err
	case a.json:
		return errors.Join(printJSON(a.Out, ask.Shareable(*done)), err)
	case len(done.Nights) == 0:
		return errors.Join(run.print(a, s, *done), err)
	}
	for _, r := range slices.Backward(done.Nights) {
		err = errors.Join(showNight(ctx, a, at, r.ID), err)
	}
	return err
}
