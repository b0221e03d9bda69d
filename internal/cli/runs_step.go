package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// showOneStep shows what a step of a run proposed and decided.
func showOneStep(a *app, path, number string) error {
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 {
		return usagef("step %q: want a number, 0 or more", number)
	}
	d, err := ask.Step(a.absolute(path), path, n)
	if err != nil {
		return err
	}
	if a.json {
		return printAnswer(a.Out, d)
	}
	return printStep(a.tablePrinter(), d, path)
}

// printStep prints the result of a step, edit by edit.
func printStep(out printer, d result.StepDetail, path string) error {
	s := d.Record
	fmt.Fprintf(out, "step %d  epoch %d  %s\n", s.Step, s.Epoch, s.Action)
	if s.Reason != "" {
		out.hang("  why        ", oneLine(s.Reason))
	}
	if s.RolloutN > 0 {
		fmt.Fprintf(out, "  train      %s on %s\n", scoreText(s.RolloutHard), s.RolloutUnanswered.After(wording.Plural(s.RolloutN, "task", "tasks")))
	}
	if s.SelectionN > 0 {
		fmt.Fprintf(out, "  candidate  %s on %s; current %s, best %s afterwards\n", scoreText(s.SelectionHard), s.SelectionUnanswered.After(wording.Plural(s.SelectionN, "task", "tasks")), scoreText(s.Current), scoreText(s.Best))
	}
	if len(s.Unmeasured) > 0 {
		out.hang("  without    ", oneLine(strings.Join(s.Unmeasured, ", "))+": could not be measured")
	}
	if len(s.Failures) > 0 {
		out.hang("  failed     ", oneLine(s.Failures.Words()))
	}
	if len(s.Losses) > 0 {
		out.hang("  lost       ", lossesText(s.Losses))
	}
	for _, text := range d.Rewritten {
		out.hang("  rewritten  ", oneLine(text))
	}
	for _, e := range d.Edits {
		printEdit(out, e)
	}
	if len(d.Edits) == 0 && len(d.Rewritten) == 0 {
		fmt.Fprintln(out, "\nno edit was proposed")
	}
	if len(d.Lost) > 0 {
		out.paragraph("replies of the optimizer that could not be used: " + oneLine(strings.Join(d.Lost, ", ")))
	}
	for _, p := range d.Problems {
		out.paragraph("incomplete: " + oneLine(p))
	}
	if s.Step > 0 {
		_, err := fmt.Fprintf(out, "\nskillopt runs diff %s --from %d --to %d shows what the step changed\n", shellWord(path), s.Step-1, s.Step)
		return err
	}
	return nil
}

// lossesText says of tasks that the current skill wins and the candidate lost what fresh
// answers showed.
func lossesText(losses []gate.Loss) string {
	said := map[gate.LossState]string{
		gate.LossConfirmed: "lost", gate.LossDropped: "not confirmed", gate.LossUnknown: "not known: fresh answers are missing",
	}
	var out []string
	for _, l := range losses {
		out = append(out, fmt.Sprintf("%s %s (candidate %s, current skill %s)", oneLine(l.ID), said[l.State], l.Candidate, l.Current))
	}
	return strings.Join(out, "; ")
}

// printEdit prints an edit whole.
func printEdit(out printer, e result.EditDetail) {
	head := fmt.Sprintf("edit %d", e.Index)
	if e.Index == 0 {
		head = "not chosen"
	}
	if e.Candidate > 0 {
		head += fmt.Sprintf(" of candidate %d", e.Candidate)
	}
	fmt.Fprintf(out, "\n%s: %s", head, oneLine(e.Op))
	if e.File != "" {
		fmt.Fprintf(out, " %s", oneLine(e.File))
	}
	fmt.Fprintf(out, "  %s\n", fateOfEdit(e))
	if e.Target != "" {
		block(out, "target", e.Target)
	}
	if e.Content != "" {
		block(out, "text", e.Content)
	}
	if e.Detail != "" {
		out.hang("  detail     ", oneLine(e.Detail))
	}
	if len(e.Tasks) > 0 {
		one, many := "failure", "failures"
		if e.Source == string(skill.FromSuccess) {
			one, many = "success", "successes"
		}
		by := many
		if e.Trajectory > 0 {
			by = wording.Plural(e.Trajectory, one, many)
		}
		out.hang("  asked by   ", oneLine(fmt.Sprintf("%s (%s), by analysts of %s", by, e.Link, strings.Join(e.Tasks, ", "))))
	}
	for _, why := range e.Why {
		out.hang("  why        ", oneLine(why))
	}
}

// fateOfEdit returns what happened to an edit, in words.
func fateOfEdit(e result.EditDetail) string {
	switch {
	case e.Kept:
		return e.Status + ", kept"
	case e.Status == record.NotChosen:
		return "other edits were ranked before it"
	case strings.HasPrefix(e.Status, "applied_"):
		return e.Status + ", rejected with its candidate"
	}
	return e.Status
}
