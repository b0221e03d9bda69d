package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// This file lays out nights: what they would do, and their results.

// mostLines is how many rules of a target one screen shows.
const mostLines = 8

// printAhead says what a night would do, before anything is spent on training.
func printAhead(out printer, r *night.Report) {
	out.line(fmt.Sprintf("night of %s: %s", oneLine(r.Project), minedText(r)))
	for i := range r.Targets {
		t := &r.Targets[i]
		out.line(fmt.Sprintf("  %s: %s: %s", oneLine(t.Target), clustersText(t.Groups), doesText(r, t)))
		out.line("    " + canText(t.Can))
		if text := certifiesText(t); text != "" {
			out.line("    " + text)
		}
		if j := t.Judge; j != nil && j.Planned > 0 && t.Groups.Tonight > 0 {
			out.line(fmt.Sprintf("    models.judge is tried first on %s that sessions hold (%s)", wording.Plural(j.Planned, "pair of answers", "pairs of answers"), wording.Plural(j.Calls, "call", "calls")))
		}
	}
	printBundle(out, r.Joint)
	printSkipped(out, r)
	if len(r.Targets) == 0 && len(r.Skipped) == 0 {
		out.line("  there are no tasks yet: nothing is trained")
	}
}

func printSkipped(out printer, r *night.Report) {
	for _, s := range r.Skipped {
		out.line(fmt.Sprintf("  skipped: %s of %s: %s", wording.Plural(s.Groups, "independent task", "independent tasks"), cmp.Or(oneLine(s.Skill), "no skill"), oneLine(s.Reason)))
	}
}

// minedText says how sessions became tasks.
func minedText(r *night.Report) string {
	text := wording.Plural(r.Mined.Sessions, "new session", "new sessions")
	switch {
	case r.Tasks != "":
		text = "tasks of a file that count as reviewed"
	case r.DryRun:
		return text + " to be mined"
	}
	t := r.Mined.Taken
	text += fmt.Sprintf(", %s", wording.Plural(t.New, "new independent task", "new independent tasks"))
	for _, part := range []struct {
		n    int
		what string
	}{{t.Again, "shown again"}, {t.Held, "held for review"}, {t.Unfit, "not replayable"}} {
		if part.n > 0 {
			text += fmt.Sprintf(", %d %s", part.n, part.what)
		}
	}
	return text
}

func clustersText(c night.Clusters) string {
	text := fmt.Sprintf("%s open (%d tonight, %d recalled), %d fresh for the test", wording.Plural(c.Open, "independent task", "independent tasks"), c.Tonight, c.Recall, c.Fresh)
	if c.Waiting > 0 {
		text += fmt.Sprintf(", %d waiting", c.Waiting)
	}
	if c.Asleep > 0 {
		text += fmt.Sprintf(", %d asleep", c.Asleep)
	}
	return text
}

// doesText says what a night does with a target.
func doesText(r *night.Report, t *night.Target) string {
	text := t.Can.Does
	if t.Groups.Tonight == 0 && !(r.Explore && t.Groups.Recall > 0) {
		return "nothing is trained: no task of it is new"
	}
	if t.Groups.Unreviewed > 0 {
		text += fmt.Sprintf("; %s unreviewed, so that nothing is certified", wording.Plural(t.Groups.Unreviewed, "task is", "tasks are"))
	}
	return text
}

// canText says what a number of clusters can show.
func canText(c night.Can) string {
	text := fmt.Sprintf("a certificate needs %s, all won (level %.3g)", wording.Plural(c.Needed, "fresh independent task", "fresh independent tasks"), c.Level)
	if c.Needed == 0 {
		text = fmt.Sprintf("no number of tasks certifies at level %.3g", c.Level)
	}
	var power []string
	for _, p := range c.Power {
		power = append(power, fmt.Sprintf("%+.1f in %.0f %%", p.Gain, 100*p.Found))
	}
	return text + "; with those there are a gain is certified: " + strings.Join(power, ", ")
}

// testEvery is how many new clusters it takes until one more is put aside as test.
const testEvery = 5

// certifiesText says how many more corrections it takes until the test of a night can certify; "": tonight's can.
func certifiesText(t *night.Target) string {
	missing := t.Can.Needed - t.Groups.Fresh
	if t.Can.Needed == 0 || missing <= 0 {
		return ""
	}
	return fmt.Sprintf("the test cannot certify tonight: it takes about %s with reviewed tasks, since one in %d is put aside as test and %d of the %d that certify are there",
		wording.Plural(testEvery*missing, "more correction", "more corrections"), testEvery, t.Groups.Fresh, t.Can.Needed)
}

// printNight prints a night on one screen, with what to do next.
func printNight(out printer, s sleepSetup, r *night.Report) {
	printNightAlone(out, r)
	out.line("next: " + oneLine(s.command(nextCommand(r))))
}

func printNightAlone(out printer, r *night.Report) {
	state := ""
	if r.Ended.IsZero() {
		state = ", not over"
	}
	out.line(fmt.Sprintf("night %s of %s (%s%s)", oneLine(r.ID), oneLine(r.Project), r.Started.Local().Format("2006-01-02 15:04"), state))
	out.line(minedText(r))
	if r.Simulated {
		out.line("simulated models: the scores are those of a simulation")
	}
	if r.Exploratory {
		out.line("exploratory: tasks are drafts without a review (skillopt sleep review)")
	}
	for i := range r.Targets {
		printTarget(out, &r.Targets[i])
	}
	for i := range r.Adopted {
		out.line("")
		out.line(fmt.Sprintf("number %d, adopted into %s: %s", r.Adopted[i].Number, oneLine(r.Adopted[i].Target), r.Adopted[i].Verdict))
		out.line("  since: " + sinceText(&r.Adopted[i]))
	}
	printSkipped(out, r)
	if len(r.Targets) == 0 {
		cause, _ := nightCause(r)
		out.line(oneLine(cause))
	}
	for _, note := range r.Notes {
		out.line("note: " + oneLine(note))
	}
	out.line(spentText(r))
}

// printTarget says what happened to a document.
func printTarget(out printer, t *night.Target) {
	out.line("")
	out.line(fmt.Sprintf("%s: %s", cmp.Or(oneLine(t.Target), "the night"), cmp.Or(string(t.Outcome), "not begun")))
	if t.Reason != "" {
		out.line("  " + oneLine(t.Reason))
	}
	if t.Target == "" {
		return
	}
	out.line("  " + clustersText(t.Groups))
	if text := placesText(t.Places); text != "" {
		out.line("  " + text)
	}
	if t.Baseline != nil {
		text := "  live document: " + solvedText(t.Baseline)
		if t.Noise != nil {
			text += fmt.Sprintf(", one answer strays by %.3f", *t.Noise)
		}
		out.line(text)
	}
	if j := t.Judge; j != nil && j.Pairs > 0 {
		out.line(fmt.Sprintf("  models.judge: separated the accepted answer from the corrected one in %d of %s", j.Apart, wording.Plural(j.Pairs, "pair", "pairs")))
	}
	printLook(out, "fresh answers", t.Confirmed)
	printLook(out, "test", t.Test)
	if c := t.Continued; c != nil {
		text := fmt.Sprintf("  of night %s, %s: won %d and lost %d of %s", oneLine(c.Night), c.State, c.Wins, c.Losses, wording.Plural(c.Pairs, "new task", "new tasks"))
		if c.Evidence != nil {
			text += fmt.Sprintf("; evidence %.3g of %.3g", *c.Evidence, c.Needs)
		}
		out.line(text)
	}
	if text := certifiesText(t); text != "" && t.Outcome.Staged() && t.Outcome != night.Certified {
		out.line("  " + text)
	}
	printRules(out, t)
}

// placesText says where an agent carries the tasks of a document out, and which are not; "": a model answers all of them.
func placesText(places []night.Placed) string {
	in, commits, unfit, why := map[string]int{}, map[string]bool{}, 0, ""
	for _, p := range places {
		in[p.In]++
		if p.In == night.InCommit {
			commits[p.Commit] = true
		}
		if p.Unfit != "" {
			unfit++
			why = cmp.Or(why, p.Unfit)
		}
	}
	var parts []string
	if n := in[night.InCommit]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d in the files of %s", n, wording.Plural(len(commits), "commit", "commits")))
	}
	if n := in[night.InEmpty]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d in an empty folder", n))
	}
	if n := in[night.InChat]; n > 0 && unfit > 0 {
		parts = append(parts, fmt.Sprintf("%d by a model that answers", n))
	}
	if unfit > 0 {
		parts = append(parts, fmt.Sprintf("%d not replayable, such as: %s", unfit, oneLine(why)))
	}
	if len(parts) == 0 {
		return ""
	}
	return "carried out: " + strings.Join(parts, ", ")
}

// solvedText returns a score over tasks in words, with what was refused.
func solvedText(m *night.Measured) string {
	return m.After(fmt.Sprintf("%.3f of %s solved", m.Hard, wording.Plural(m.N, "task", "tasks")))
}

func printLook(out printer, what string, l *night.Look) {
	if l == nil {
		return
	}
	text := fmt.Sprintf("  %s: won %d, lost %d, %d alike of %d", what, l.Wins, l.Losses, l.Ties, l.N)
	if l.Difference != nil {
		text += fmt.Sprintf("; difference %+.3f", *l.Difference)
	}
	if l.AtLeast != nil {
		text += fmt.Sprintf(", at least %+.3f (level %.3g)", *l.AtLeast, l.Level)
	}
	out.line(text)
	if words := l.Unanswered.Words("live", "proposed"); words != "" {
		out.line("    not all answered: " + words)
	}
}

// printRules lists what a proposal adds, what it would take away, and what waits for a person.
func printRules(out printer, t *night.Target) {
	for i, rule := range t.Rules {
		if i == mostLines {
			out.line(fmt.Sprintf("  and %d more", len(t.Rules)-i))
			break
		}
		text := "  + " + oneLine(rule.Text)
		if rule.Difference != nil {
			text += fmt.Sprintf("  (its step: %+.3f)", *rule.Difference)
		}
		if len(rule.Tasks) > 0 {
			text += "  (asked for by " + wording.Plural(len(rule.Tasks), "failure", "failures")
			if len(rule.Won) > 0 {
				text += fmt.Sprintf(", %d of them won now", len(rule.Won))
			}
			text += ")"
		}
		out.line(text)
	}
	for i, line := range t.Remove {
		why := ""
		if i < len(t.RemoveWhy) {
			why = ": " + oneLine(t.RemoveWhy[i])
		}
		out.line("  - " + oneLine(line) + "  (proposed for removal" + why + ")")
	}
	for _, h := range t.Held {
		out.line(fmt.Sprintf("  held: %s: %s", oneLine(h.Reason), oneLine(h.Text)))
	}
}

// spentText says what a night took.
func spentText(r *night.Report) string {
	s := r.Spent
	text := fmt.Sprintf("spent: %s, %s tokens in (%s cached), %s out", wording.Plural(int(s.Calls), "call", "calls"), count(s.Input), count(s.Cached), count(s.Output))
	switch {
	case r.Simulated:
		return text + ", no cost"
	case s.CostUSD != nil:
		return text + fmt.Sprintf(", $%.4f", *s.CostUSD)
	case s.Calls == 0:
		return text
	}
	return text + ", cost unknown (no price known)"
}

// nextCommand returns the one command that helps to continue.
func nextCommand(r *night.Report) string {
	for i := range r.Adopted {
		if h := r.Adopted[i].Help; h != "" {
			return h
		}
	}
	for i := range r.Targets {
		if t := &r.Targets[i]; t.Proposal != "" {
			return "skillopt sleep show " + r.ID
		}
	}
	for i := range r.Targets {
		if h := r.Targets[i].Help; h != "" {
			return h
		}
	}
	switch {
	case r.Ended.IsZero():
		return "skillopt sleep run"
	case r.Mined.Taken.Held > 0:
		return "skillopt sleep review"
	}
	return "skillopt sleep show --why " + r.ID
}
