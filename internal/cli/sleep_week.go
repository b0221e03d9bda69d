package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/sleep/adopt"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/internal/sleep/week"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
)

// weekDays is how many days sleep status looks back.
const weekDays = 7

// mostAdoptions is how many adoptions and rollbacks one screen shows.
const mostAdoptions = 10

// nextRun returns when the next night of the profile comes by itself. It returns nil if none is scheduled, or if that is
// not known. A timer whose entry the scheduler does not have any more starts none.
func (s sleepSetup) nextRun(ctx context.Context, now time.Time) (*time.Time, error) {
	if s.blind {
		return nil, nil
	}
	list, err := s.timers(ctx)
	if err != nil {
		return nil, err
	}
	var next *time.Time
	for _, t := range list {
		if t.broken != nil || s.profile != t.profile.Profile {
			continue
		}
		at := t.profile.At.Next(now)
		if found, _ := s.wouldStart(ctx, t.profile); found && (next == nil || at.Before(*next)) {
			next = &at
		}
	}
	return next, nil
}

// findAdoptions opens what was adopted, if anything was; nil: nothing was.
func (s sleepSetup) findAdoptions(version string) (*adopt.Store, error) {
	if _, err := os.Lstat(filepath.Join(s.dir, adoptedDir)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return s.adoptions(version)
}

// week gathers the results of the nights of some days.
func (s sleepSetup) week(ctx context.Context, b *bank.Bank, version string, now time.Time) (*result.Week, error) {
	store, err := s.findAdoptions(version)
	if err != nil {
		return nil, err
	}
	next, err := s.nextRun(ctx, now)
	if err != nil {
		return nil, err
	}
	w, err := week.Of(ctx, week.Inputs{Bank: b, Store: store, Dir: s.dir, Now: now, Days: weekDays, Project: s.projectFilter(), Scheduled: next})
	if err != nil {
		return nil, err
	}
	for i := range w.Next {
		w.Next[i].Command = s.command(w.Next[i].Command)
	}
	return w, nil
}

// standingReader returns what reads the adoptions of a project's documents that hold, for its nights.
func (s sleepSetup) standingReader(project, version string) func(target, live string) ([]night.Standing, error) {
	return func(target, live string) ([]night.Standing, error) {
		store, err := s.findAdoptions(version)
		if store == nil || err != nil {
			return nil, err
		}
		list, err := store.ListAdopted(project, target)
		if err != nil {
			return nil, err
		}
		var out []night.Standing
		for _, r := range list {
			one := night.Standing{Number: r.N, Night: r.Night}
			if one.Without, one.Changed, err = store.Without(r, target, live); err != nil {
				one.Reason = "what the document would be without it is not known: " + err.Error()
			}
			out = append(out, one)
		}
		return out, nil
	}
}

// printWeek shows on a screen the results of the nights of some days.
func printWeek(out printer, w *result.Week) {
	out.line(fmt.Sprintf("nights of the last %s: %s", wording.Plural(w.Days, "day", "days"), nightCount(w)))
	several := severalProjects(w)
	for _, n := range w.Nights {
		printWeekNight(out, n, several)
	}
	if len(w.Adoptions) > 0 {
		out.line("")
		out.line("adopted:")
	}
	for i, a := range w.Adoptions {
		if i == mostAdoptions { // what fares worse is listed under next, however old it is
			out.line(fmt.Sprintf("  and %d older; skillopt sleep rollback lists them", len(w.Adoptions)-i))
			break
		}
		printWeekAdoption(out, a, several)
	}
	out.line("")
	out.line("waits: " + waitsText(w.Waits))
	out.line("spent: " + weekSpentText(w))
	if w.Scheduled != nil {
		out.line("next night: " + w.Scheduled.Local().Format("2006-01-02 15:04"))
	}
	for _, p := range w.Problems {
		out.line("problem: " + oneLine(p))
	}
	for _, s := range w.Next {
		out.line(fmt.Sprintf("next: %s", oneLine(s.Command)))
		out.line("  " + oneLine(s.Why))
	}
}

func nightCount(w *result.Week) string {
	if len(w.Nights) == 0 {
		return "none"
	}
	text := fmt.Sprint(len(w.Nights))
	if w.Simulated {
		text += " (simulated models: scores are those of a simulation)"
	}
	return text
}

// printWeekNight prints a night; with several projects of which it is.
func printWeekNight(out printer, n result.WeekNight, several bool) {
	text := fmt.Sprintf("  %s  night %s", n.Started.Local().Format("Mon 2006-01-02 15:04"), oneLine(n.Night))
	if several {
		text += " of " + oneLine(n.Project)
	}
	if n.Ended == nil {
		text += " (not over)"
	}
	out.line(text)
	for _, t := range n.Targets {
		name := oneLine(t.Target)
		if name == "" {
			name = "the night"
		}
		line := fmt.Sprintf("    %s: %s", name, cmp.Or(string(t.Outcome), "not begun"))
		if what := proposedText(t); what != "" {
			line += ", " + what
		}
		out.line(line)
	}
	if len(n.Targets) == 0 {
		out.line(fmt.Sprintf("    no document was worked on: %s, %s", wording.Plural(n.Sessions, "new session", "new sessions"), wording.Plural(n.NewTasks, "new independent task", "new independent tasks")))
	}
}

// severalProjects reports whether a week is about more than one.
func severalProjects(w *result.Week) bool {
	seen := map[string]bool{}
	for _, n := range w.Nights {
		seen[n.Project] = true
	}
	for _, a := range w.Adoptions {
		seen[a.Project] = true
	}
	return len(seen) > 1
}

// printWeekAdoption prints an adoption or a rollback; with several projects in which it is.
func printWeekAdoption(out printer, a result.WeekAdoption, several bool) {
	text := fmt.Sprintf("  number %d, %s: ", a.Number, a.At.Local().Format("2006-01-02 15:04"))
	if several {
		text = fmt.Sprintf("  number %d, %s, %s: ", a.Number, a.At.Local().Format("2006-01-02 15:04"), oneLine(a.Project))
	}
	if a.Kind != string(adopt.Adopted) {
		out.line(text + fmt.Sprintf("%s: number %d was taken back", oneLine(a.Target), a.Of))
		return
	}
	text += fmt.Sprintf("%s of night %s, %s, %s", oneLine(a.Target), oneLine(a.Night), oneLine(a.Claim), wording.Plural(len(a.Rules), "rule", "rules"))
	if a.BackBy > 0 {
		text += fmt.Sprintf("; taken back by number %d", a.BackBy)
	}
	out.line(text)
	out.line("    since: " + sinceText(a.Since))
}

// sinceText says how an adopted text fares.
func sinceText(s *result.NightAdopted) string {
	if s == nil {
		return "nothing is known of it yet"
	}
	text := oneLine(s.Reason)
	if s.Better != nil && s.Worse != nil {
		text += fmt.Sprintf(" (evidence %.3g that it is better, %.3g that it is worse; %.3g is needed)", *s.Better, *s.Worse, s.Needs)
	}
	return text
}

func waitsText(w result.WeekWaits) string {
	var parts []string
	if n := len(w.Proposals); n > 0 {
		parts = append(parts, wording.Plural(n, "proposal", "proposals"))
	}
	if w.Review > 0 {
		text := wording.Plural(w.Review, "task", "tasks") + " to review"
		if w.Held > 0 {
			text += fmt.Sprintf(" (%d not used before)", w.Held)
		}
		parts = append(parts, text)
	}
	if n := len(w.Nights); n > 0 {
		parts = append(parts, wording.Plural(n, "night that is not over", "nights that are not over"))
	}
	if n := len(w.Intents); n > 0 {
		parts = append(parts, wording.Plural(n, "adoption that has not ended", "adoptions that have not ended"))
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

func weekSpentText(w *result.Week) string {
	s := w.Spent
	text := fmt.Sprintf("%s, %s tokens", wording.Plural(int(s.Calls), "call", "calls"), count(s.Input+s.Output))
	switch {
	case s.CostUSD != nil:
		text += fmt.Sprintf(", $%.2f", *s.CostUSD)
	case s.KnownUSD > 0:
		text += fmt.Sprintf(", $%.2f and what %s cost, which is not known (no price known)", s.KnownUSD, wording.Plural(s.Unknown, "night", "nights"))
	case onlySimulatedNights(w):
		text += ", no cost"
	default:
		text += ", cost unknown (no price known)"
	}
	return text
}

// onlySimulatedNights reports whether all nights whose cost is not known have simulated models.
func onlySimulatedNights(w *result.Week) bool {
	return !slices.ContainsFunc(w.Nights, func(n result.WeekNight) bool { return n.Spent.Calls > 0 && n.Spent.CostUSD == nil && !n.Simulated })
}

// proposedText says what happened to what a night has staged; "": it has staged nothing.
func proposedText(t result.WeekTarget) string {
	switch t.Proposal {
	case result.ProposedWaits:
		return "waits to be adopted"
	case result.ProposedAdopted:
		return fmt.Sprintf("adopted as number %d", t.Number)
	case result.ProposedTakenBack:
		return fmt.Sprintf("adopted as number %d and taken back", t.Number)
	case result.ProposedOlder:
		return "not adopted, and a newer night proposes another text"
	case result.ProposedStale:
		return "not adopted, and refused by now: the document has changed"
	case result.ProposedGone:
		return "discarded"
	}
	return ""
}
