package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/sleep/timer"
)

// sleepUnscheduleOptions are the flags of sleep unschedule.
type sleepUnscheduleOptions struct {
	project string
	all     bool
}

func sleepUnscheduleCommand(a *app, profile *string) *cobra.Command {
	var o sleepUnscheduleOptions
	c := &cobra.Command{
		Use:   "unschedule",
		Short: "Take back what sleep schedule has set",
		Long: `Take the timer of a project, or the one of all allowed projects, out of its scheduler, and
delete what was written for it: files, links, lines of the crontab, what nights were started
with, its log. With --all every timer of yours that skillopt has set. A night that is at
work goes on.`,
		Example: `  skillopt sleep unschedule
  skillopt sleep unschedule --project ~/src/shop
  skillopt sleep unschedule --all`,
		Args: exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), a, *profile) },
	}
	c.Flags().StringVar(&o.project, "project", "", "that of this project alone")
	c.Flags().BoolVar(&o.all, "all", false, "all timers, those of other folders of sleep too")
	return c
}

func (o *sleepUnscheduleOptions) run(ctx context.Context, a *app, profile string) error {
	if o.all && o.project != "" {
		return usagef("--all and --project exclude each other")
	}
	setup, err := a.sleepSetup(profile)
	if err != nil {
		return err
	}
	project := ""
	switch {
	case o.project != "":
		project = a.folder(o.project)
	case setup.timer != nil:
		project = setup.timer.flags.Project
	}
	ids := []string{timerID(setup.dir, project)}
	if o.all {
		if ids, err = setup.allTimers(ctx); err != nil {
			return err
		}
	}
	gone := map[string][]timer.Kind{}
	for _, id := range ids {
		_, none := os.Lstat(setup.timerFile(id, timerProfile))
		kinds, err := setup.unschedule(ctx, id)
		if err != nil {
			return err
		}
		if len(kinds) > 0 || none == nil {
			gone[id] = append([]timer.Kind{}, kinds...)
		}
	}
	return printUnscheduled(a, gone)
}

// allTimers are the IDs of all entries of the user, and of all profiles below sleep.dir.
func (s sleepSetup) allTimers(ctx context.Context) ([]string, error) {
	var ids []string
	add := func(id string) {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	list, err := s.timers(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range list {
		add(t.profile.ID)
	}
	host := s.host()
	for _, kind := range timer.On(host.OS) {
		scheduler, err := timer.Open(kind, host)
		if err != nil {
			return nil, err
		}
		found, err := scheduler.List(ctx)
		var program *timer.ProgramError
		if errors.As(err, &program) && program.Missing {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			add(f.ID)
			// Of another folder of sleep what it is started with goes too.
			if p, ok, err := timer.ReadProfile(ctx, f.Profile); err == nil && ok && p.ID == f.ID && strings.HasSuffix(f.Profile, f.ID+timerProfile) {
				for _, ending := range timerFiles() {
					if err := removed(strings.TrimSuffix(f.Profile, timerProfile) + ending); err != nil {
						return nil, err
					}
				}
			}
		}
	}
	return ids, nil
}

func printUnscheduled(a *app, gone map[string][]timer.Kind) error {
	if a.json {
		return printJSON(a.Out, map[string]any{"gone": gone})
	}
	if len(gone) == 0 {
		a.printer(a.Err).line("there was no timer of it; `skillopt sleep schedule --list` lists them")
		return nil
	}
	var ids []string
	for id := range gone {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		by := "no scheduler had it any more"
		if kinds := gone[id]; len(kinds) > 0 {
			by = strings.Trim(fmt.Sprint(kinds), "[]")
		}
		a.shown().line(fmt.Sprintf("the timer %s is gone (%s), with all that was written for it", id, by))
	}
	return nil
}
