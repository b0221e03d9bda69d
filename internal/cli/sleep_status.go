package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/plugin"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
)

func sleepStatusCommand(a *app, at *sleepFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show the nights of the last week, what waits, what was adopted and how it fares, and what is kept",
		Long: `Show the nights of the last seven days with their results, what waits for you, what was
adopted and its effect since, what the nights have used, what to do next; and what is kept of
sessions, of which projects, where it may go, and what you have agreed to.`,
		Example: `  skillopt sleep status
  skillopt sleep status --json`,
		Args: exactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return runSleepStatus(cmd.Context(), a, *at) },
	}
}

// sleepStatus is what sleep status shows.
type sleepStatus struct {
	Profile  string             `json:"profile"`
	Found    bool               `json:"profile_found"`
	Dir      string             `json:"dir"`
	Projects []string           `json:"projects"` // that are allowed
	Kept     bank.Totals        `json:"kept"`
	Parts    []bank.Part        `json:"parts"`
	Bytes    int64              `json:"bytes"`
	Disk     int64              `json:"disk_bytes"` // sleep.disk
	Keep     string             `json:"keep"`
	LastRead *time.Time         `json:"last_read"` // null: never
	Ended    *time.Time         `json:"ended"`     // a session, as a plugin has noted it; null: none is known
	Sends    []sentTo           `json:"sends"`
	Missing  []bank.Destination `json:"consent_missing"`
	Agreed   []bank.Consent     `json:"consent"`
	Warnings []string           `json:"warnings"`
	Next     *time.Time         `json:"next_night"` // null: none comes by itself
	Week     *result.Week       `json:"week"`       // null: nothing is kept yet
}

// sentTo is where questions of a role would go.
type sentTo struct {
	Role  string `json:"role"`
	Host  string `json:"host,omitempty"`
	Local bool   `json:"local"`
	Note  string `json:"note,omitempty"`
}

func runSleepStatus(ctx context.Context, a *app, at sleepFlags) error {
	setup, err := a.sleepSetup(at)
	if err != nil {
		return err
	}
	sleep := setup.loaded.Config.Sleep
	s := sleepStatus{
		Profile: setup.profile, Found: setup.found, Dir: setup.dir, Projects: setup.allowedFolders(), Parts: []bank.Part{}, Sends: []sentTo{},
		Disk: sleep.Disk.Bytes(), Keep: sleep.Keep.String(), Missing: []bank.Destination{}, Agreed: []bank.Consent{}, Warnings: nonNil(setup.checkFolders()),
	}
	list, err := setup.destinations()
	if err != nil {
		return err
	}
	for _, d := range list {
		s.Sends = append(s.Sends, sentTo{Role: d.Role, Host: d.Host, Local: d.Local, Note: d.Why})
	}
	if s.Missing, err = findMissingConsents(ctx, setup.dir, remote(list)); err != nil {
		return err
	}
	now := time.Now()
	if s.Next, err = setup.nextRun(ctx, now); err != nil {
		return err
	}
	if err := s.read(ctx, setup, a.version, now); err != nil {
		return err
	}
	if ended := plugin.LastEnd(plugin.Options{Home: setup.folders.Home, Lookup: setup.folders.Lookup}); !ended.IsZero() {
		s.Ended = &ended
	}
	if a.json {
		return printJSON(a.Out, ask.Shareable(&s))
	}
	return s.print(a, list)
}

// read looks into the bank, if there is one.
func (s *sleepStatus) read(ctx context.Context, setup sleepSetup, version string, now time.Time) (err error) {
	b, err := bank.Look(ctx, s.Dir)
	if errors.Is(err, bank.ErrNone) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if s.Kept, err = b.Totals(ctx); err != nil {
		return err
	}
	if s.Parts, err = b.Parts(ctx); err != nil {
		return err
	}
	if s.Bytes, err = b.Size(); err != nil {
		return err
	}
	if s.Agreed, err = b.Consents(ctx); err != nil {
		return err
	}
	if s.Week, err = setup.week(ctx, b, version, now); err != nil {
		return err
	}
	last, err := b.LastRead(ctx)
	if err != nil {
		return err
	}
	if !last.IsZero() {
		s.LastRead = &last
	}
	if last.After(now.Add(time.Hour)) {
		s.Warnings = append(s.Warnings, fmt.Sprintf("the clock is at %s, before the last harvest at %s: was it set back?", now.UTC().Format(time.RFC3339), last.Format(time.RFC3339)))
	}
	return nil
}

func (s *sleepStatus) print(a *app, sends []wiring.Destination) error {
	out := a.stdoutPrinter()
	if s.Week != nil {
		printWeek(out, s.Week)
		out.line("")
	}
	if s.Found {
		out.line(fmt.Sprintf("profile: %s, which allows %s", oneLine(s.Profile), wording.Plural(len(s.Projects), "project", "projects")))
	} else {
		out.line("profile: none; `skillopt sleep init` writes " + oneLine(s.Profile))
	}
	out.line("kept in: " + oneLine(s.Dir))
	out.line(fmt.Sprintf("kept: %s with %s, %s of %s (sleep.disk)", wording.Plural(s.Kept.Sessions, "session", "sessions"), wording.Plural(s.Kept.Turns, "turn", "turns"), decimalText(s.Bytes), decimalText(s.Disk)))
	if !s.Kept.Oldest.IsZero() {
		out.line(fmt.Sprintf("oldest: %s; what ended more than %s ago goes with the next harvest (sleep.keep)", s.Kept.Oldest.Local().Format("2006-01-02"), s.Keep))
	}
	if s.LastRead != nil {
		out.line("last harvest: " + s.LastRead.Local().Format("2006-01-02 15:04"))
	} else {
		out.line("nothing was read yet")
	}
	if s.Ended != nil && (s.LastRead == nil || s.Ended.After(*s.LastRead)) {
		out.line(fmt.Sprintf("a session has ended since: %s; `skillopt sleep harvest` reads it", s.Ended.Local().Format("2006-01-02 15:04")))
	}
	if s.Week == nil && s.Next != nil {
		out.line("next night: " + s.Next.Local().Format("2006-01-02 15:04"))
	}
	if len(s.Parts) > 0 {
		w := tabwriter.NewWriter(a.tablePrinter(), 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "\nAGENT\tSESSIONS\tTURNS\tNEWEST\tPROJECT")
		for _, p := range s.Parts {
			fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%s\n", p.Source, p.Sessions, p.Turns, p.Newest.Local().Format("2006-01-02 15:04"), oneLine(p.Project))
		}
		if err := w.Flush(); err != nil {
			return err
		}
		out.line("")
	}
	out.line("text of sessions and files would go in later nights to:")
	for _, d := range sends {
		out.line("  " + destinationText(d))
	}
	for _, c := range s.Agreed {
		out.line("consent: " + consentText(c))
	}
	for _, d := range s.Missing {
		out.line(fmt.Sprintf("not agreed to: %s as %s; `skillopt sleep init` asks, and nothing is sent before", oneLine(d.Host), d.Role))
	}
	for _, w := range s.Warnings {
		a.printer(a.Err).line("warning: " + oneLine(w))
	}
	return nil
}

// decimalText returns a size in few digits, in the units in which sleep.disk is written.
func decimalText(n int64) string {
	for _, unit := range []struct {
		size int64
		name string
	}{{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}} {
		if n >= unit.size {
			return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/float64(unit.size)), ".0") + " " + unit.name
		}
	}
	return fmt.Sprintf("%d bytes", n)
}
