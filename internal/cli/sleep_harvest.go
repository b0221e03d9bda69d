package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/harvest"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// sleepHarvestOptions are the flags of sleep harvest.
type sleepHarvestOptions struct {
	since    string
	dryRun   bool
	headless bool
	outbound bool
}

func sleepHarvestCommand(a *app, at *sleepFlags) *cobra.Command {
	var o sleepHarvestOptions
	c := &cobra.Command{
		Use:   "harvest [SESSION]",
		Short: "Read what is new in the sessions of the allowed projects",
		Long: `Read the sessions of the projects under sleep.projects into the folder sleep.dir, without
secrets. Stores that have not changed since are not read again; nothing counts twice. A
store that cannot be read is named and does not stop the others.

With --show-outbound nothing is read: it prints byte for byte what a later night could send
of what is kept, of one session if its id, or how that begins, is given.`,
		Example: `  skillopt sleep harvest
  skillopt sleep harvest --since 72h
  skillopt sleep harvest --dry-run --json
  skillopt sleep harvest --show-outbound 01a2024d`,
		Args: atMost(1, "a session, with --show-outbound"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case o.outbound:
				return o.showOutbound(cmd.Context(), a, *at, strings.Join(args, ""))
			case len(args) > 0 || at.project != "":
				return usagef("a session and --project go with --show-outbound alone; harvest reads the projects under sleep.projects")
			}
			return o.run(cmd.Context(), a, *at)
		},
	}
	c.Flags().StringVar(&o.since, "since", "", "sessions that ended since a date (2026-01-31), a time (RFC 3339), or so long ago (72h, 7d); absent: all within sleep.keep")
	c.Flags().BoolVar(&o.dryRun, "dry-run", false, "say what would be read, and keep nothing")
	c.Flags().BoolVar(&o.headless, "headless", false, "take sessions too that a script drove; no task is made of them")
	c.Flags().BoolVar(&o.outbound, "show-outbound", false, "print byte for byte what a later night could send, and read nothing")
	return c
}

func (o *sleepHarvestOptions) run(ctx context.Context, a *app, at sleepFlags) (err error) {
	setup, err := a.sleepSetup(at)
	if err != nil {
		return err
	}
	now := time.Now()
	terms, err := o.terms(setup, now)
	if err != nil {
		return err
	}
	in := harvest.Inputs{Sources: setup.sources(), Places: setup.places, Clean: setup.loaded.Redactor(), Now: now, Workers: workers()}
	var b *bank.Bank
	if o.dryRun {
		if in.Temp, err = os.MkdirTemp("", "skillopt-harvest-"); err != nil {
			return fmt.Errorf("make a folder for copies: %w", err)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(in.Temp)) }()
	} else {
		if b, err = bank.Open(ctx, setup.dir); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, b.Close()) }()
	}
	sink, closeEvents, err := a.eventsTo(func(event.Event) {}, func() error { return nil })
	if err != nil {
		return err
	}
	in.Seen = func(s harvest.StoreReport) { sink(storeRead(s)) }
	report, err := harvestInto(ctx, a, b, setup, terms, in)
	if err != nil {
		return errors.Join(err, closeEvents())
	}
	sink(harvestDone(report))
	if err := closeEvents(); err != nil {
		return fmt.Errorf("close --events file: %w", err)
	}
	if a.json {
		return printJSON(a.Out, report)
	}
	out := a.stdoutPrinter()
	if a.events == "-" {
		out = a.results()
	}
	printHarvest(out, a.printer(a.Err), report)
	return nil
}

// harvestInto reads what is new, until a signal ends it.
func harvestInto(ctx context.Context, a *app, b *bank.Bank, setup sleepSetup, terms harvest.Terms, in harvest.Inputs) (harvest.Report, error) {
	ctx, release := a.signalContext(ctx)
	defer release()
	report, err := harvest.Run(ctx, b, terms, in)
	if err != nil && errors.Is(context.Cause(ctx), errInterrupted) {
		err = stopError("stopped: what was read is kept, and the next harvest continues")
	}
	report.Warnings = append(report.Warnings, setup.checkFolders()...)
	return report, err
}

func harvestDone(r harvest.Report) event.HarvestDone {
	return event.HarvestDone{Stores: len(r.Stores), Sessions: r.Sessions, Turns: r.Turns, Bytes: r.Bytes, Kept: r.Kept.Sessions, DryRun: r.DryRun}
}

// storeRead returns what happened to a store, as an event. It names no file and no text: the result
// does.
func storeRead(s harvest.StoreReport) event.StoreRead {
	e := event.StoreRead{Source: s.Source, State: s.State, Sessions: s.Sessions, Turns: s.Turns, Bytes: s.Bytes, Problems: len(s.Problems)}
	for _, n := range s.LeftOut {
		e.LeftOut += n
	}
	return e
}

func (o *sleepHarvestOptions) terms(setup sleepSetup, now time.Time) (harvest.Terms, error) {
	projects, err := setup.projects()
	if err != nil {
		return harvest.Terms{}, err
	}
	since, err := parseSince(o.since, now)
	if err != nil {
		return harvest.Terms{}, err
	}
	c := setup.loaded.Config.Sleep
	return harvest.Terms{Projects: projects, Headless: o.headless, Since: since, Keep: c.Keep.Std(), Disk: c.Disk.Bytes()}, nil
}

// printHarvest prints the result of a harvest, and on errs what was left out of it.
func printHarvest(out, errs printer, r harvest.Report) {
	states, left := map[string]int{}, map[string]int{}
	for _, s := range r.Stores {
		states[s.State]++
		for why, n := range s.LeftOut {
			left[why] += n
		}
	}
	out.line(fmt.Sprintf("%s with %s read from %s (%d unchanged, %s)", wording.Plural(r.Sessions, "session", "sessions"), wording.Plural(r.Turns, "turn", "turns"),
		wording.Plural(states["new"]+states["changed"], "store", "stores"), states["unchanged"], bytesText(r.Bytes)))
	if len(left) > 0 {
		out.line("left out: " + leftOutText(left))
	}
	if r.DryRun {
		out.line("dry run: nothing was kept")
	} else {
		out.line(fmt.Sprintf("kept: %s with %s", wording.Plural(r.Kept.Sessions, "session", "sessions"), wording.Plural(r.Kept.Turns, "turn", "turns")))
	}
	for _, s := range r.Sources {
		if s.Untried && s.Stores > 0 {
			errs.line(fmt.Sprintf("note: %s: written from public descriptions, not tried on a real store", s.Name))
		}
		if s.Error != "" {
			errs.line("warning: " + s.Error)
		}
	}
	for _, s := range r.Stores {
		if s.Error != "" {
			errs.line("warning: " + oneLine(s.Error))
		}
		for _, p := range s.Problems {
			errs.line("warning: left out: " + oneLine(p.String()))
		}
	}
	for _, w := range r.Warnings {
		errs.line("warning: " + oneLine(w))
	}
}

// tooOldText says how many sessions a harvest has left out since sleep.keep keeps none so old; "": none.
func tooOldText(s sleepSetup, r *harvest.Report) string {
	n := 0
	if r != nil {
		for _, store := range r.Stores {
			n += store.LeftOut[harvest.TooOld]
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; %s older than sleep.keep (%s in %s)", wording.Plural(n, "session is", "sessions are"), s.loaded.Config.Sleep.Keep, s.profile)
}

// leftOutWords say why sessions are left out.
var leftOutWords = map[string]string{
	harvest.NotAllowed: "of projects that are not allowed", harvest.NoProject: "without a project", harvest.NoTime: "without a time", harvest.Headless: "driven by a script (--headless takes them)",
	harvest.Subagent: "of an agent's helper", harvest.Replay: "of this program's own agents", harvest.TooOld: "older than sleep.keep (or --since)",
}

func leftOutText(left map[string]int) string {
	var parts []string
	for _, why := range slices.Sorted(maps.Keys(left)) {
		parts = append(parts, fmt.Sprintf("%d %s", left[why], leftOutWords[why]))
	}
	return strings.Join(parts, ", ")
}
