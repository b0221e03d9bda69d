package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/harvest"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
)

func sleepDoctorCommand(a *app, at *sleepFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check the profile, what is kept, and the sessions of each agent",
		Long: `Check the profile, the folder of what is kept, where texts would go, and for each agent the
stores that were found: how many can be read, the versions that wrote them, sessions, the
last entry, and what is not understood. Nothing is kept, and no text of a session is shown.

A store that cannot be read is a note: the others are read without it. An agent that has
none (marked with --) is no failure. A row that fails says how to fix it.`,
		Example: `  skillopt sleep doctor
  skillopt sleep doctor --json`,
		Args: exactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return runSleepDoctor(cmd.Context(), a, *at) },
	}
}

// sleepExamination is what sleep doctor found.
type sleepExamination struct {
	result.Examination

	Sources []harvest.Found `json:"sources"`
}

func runSleepDoctor(ctx context.Context, a *app, at sleepFlags) error {
	setup, bad := a.sleepSetup(at)
	if bad != nil && setup.folders.Home == "" {
		return bad
	}
	var x sleepExamination
	x.profile(setup, bad)
	if bad == nil {
		x.where(ctx, setup)
	}
	sources := transcript.Sources()
	if bad == nil {
		sources = setup.sources()
	}
	temp, err := os.MkdirTemp("", "skillopt-survey-")
	if err != nil {
		return fmt.Errorf("make a folder for copies: %w", err)
	}
	in := harvest.Inputs{Sources: sources, Places: setup.places, Clean: setup.loaded.Redactor(), Now: time.Now(), Workers: workers(), Temp: temp}
	x.Sources, err = interruptible(ctx, a.Signals, func(ctx context.Context) ([]harvest.Found, error) {
		_, found, err := harvest.Survey(ctx, in)
		return found, err
	})
	if err = errors.Join(err, os.RemoveAll(temp)); err != nil {
		return err
	}
	for _, f := range x.Sources {
		x.Rows = append(x.Rows, sourceRow(f))
	}
	return x.print(a)
}

func (x *sleepExamination) add(f result.Finding) { x.Rows = append(x.Rows, f) }

// profile examines the profile and the folders that it allows.
func (x *sleepExamination) profile(s sleepSetup, bad error) {
	switch {
	case bad != nil:
		message, help := ask.CutHelp(bad.Error())
		x.add(result.Finding{Name: "profile", Detail: message, Fix: help, Err: bad})
		return
	case !s.found:
		x.add(result.Finding{Name: "profile", Skipped: true, Detail: s.profile + " is not there: nothing is read; `skillopt sleep init` writes it"})
		return
	}
	x.add(result.Finding{Name: "profile", OK: true, Detail: s.profile})
	allowed, moved := s.allowedFolders(), s.checkFolders()
	row := result.Finding{Name: "projects", OK: true, Detail: wording.Plural(len(allowed), "folder", "folders") + " may be read"}
	if len(allowed) == 0 {
		row.Warning, row.Detail = true, "sleep.projects is empty: nothing is read"
	}
	if len(moved) > 0 {
		row.Warning, row.Detail = true, strings.Join(moved, "\n")
	}
	x.add(row)
}

// where examines what is kept and where it may go.
func (x *sleepExamination) where(ctx context.Context, s sleepSetup) {
	x.add(bankRow(ctx, s.dir))
	list, err := s.destinations()
	if err != nil {
		x.add(result.Finding{Name: "models", Detail: err.Error(), Fix: "correct it in " + s.profile, Err: err})
		return
	}
	var lines []string
	for _, d := range list {
		lines = append(lines, destinationText(d))
	}
	row := result.Finding{Name: "models", OK: true, Detail: strings.Join(lines, "\n")}
	if missing, err := findMissingConsents(ctx, s.dir, remote(list)); err == nil && len(missing) > 0 {
		row.Warning, row.Detail = true, row.Detail+"\nnot agreed to yet: nothing is sent before `skillopt sleep init` has asked"
	}
	x.add(row)
}

func bankRow(ctx context.Context, dir string) result.Finding {
	row := result.Finding{Name: "kept", OK: true, Detail: dir}
	kept, err := checkedBank(ctx, dir)
	switch {
	case errors.Is(err, bank.ErrNone):
		row.Detail += ": nothing is kept yet"
	case err != nil:
		row.OK, row.Err = false, err
		row.Detail, row.Fix = ask.CutHelp(err.Error())
	default:
		row.Detail += fmt.Sprintf(": whole, %s with %s", wording.Plural(kept.Sessions, "session", "sessions"), wording.Plural(kept.Turns, "turn", "turns"))
	}
	return row
}

func checkedBank(ctx context.Context, dir string) (t bank.Totals, err error) {
	b, err := bank.Look(ctx, dir)
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if err := b.Check(ctx); err != nil {
		return t, err
	}
	return b.Totals(ctx)
}

// sourceRow says what is there of one agent.
func sourceRow(f harvest.Found) result.Finding {
	row := result.Finding{Name: f.Name, OK: true}
	if f.Stores == 0 && len(f.Errors) == 0 {
		row.Skipped, row.Detail = true, "no stores found"
		return row
	}
	row.Detail = fmt.Sprintf("%s, %d readable, %s", wording.Plural(f.Stores, "store", "stores"), f.Readable, wording.Plural(f.Sessions, "session", "sessions"))
	if len(f.LeftOut) > 0 {
		row.Detail += ", of them " + leftOutText(f.LeftOut)
	}
	if !f.LastEntry.IsZero() {
		row.Detail += ", last entry " + f.LastEntry.Local().Format("2006-01-02 15:04")
	}
	if len(f.Versions) > 0 {
		row.Detail += "\nversions: " + oneLine(strings.Join(f.Versions, ", "))
	}
	if f.Untried {
		row.Detail += "\nthe reader of these sessions follows public descriptions of their format; it was not tried on real ones"
	}
	for _, text := range f.Errors {
		row.Detail += "\nnot readable: " + oneLine(text)
	}
	for _, p := range f.Problems {
		row.Detail += "\nnot understood: " + oneLine(p.String())
	}
	if f.More > 0 {
		row.Detail += fmt.Sprintf("\nand %d more", f.More)
	}
	row.Warning = f.Untried || len(f.Errors) > 0 || len(f.Problems) > 0
	return row
}

func (x sleepExamination) print(a *app) error {
	if a.json {
		if err := printJSON(a.Out, shareable(x)); err != nil {
			return err
		}
	} else {
		writeExamination(a.tablePrinter(), shareable(x.Examination))
	}
	if err := x.Err(); err != nil {
		return &shownError{err}
	}
	return nil
}
