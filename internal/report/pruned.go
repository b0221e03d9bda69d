package report

import (
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/result"
)

// FormatPruned returns the report on a pruned skill, for a pull request. What it has of the skill
// and of tasks is escaped.
func FormatPruned(p *result.Pruned) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# Pruned skill\n\n%d of %d rules removed, %d bytes instead of %d. The result is %s.\n", len(p.Removed), len(p.Rules), p.Bytes[1], p.Bytes[0], p.Words())
	if p.Simulated {
		b.WriteString("\nThe models are **simulated**: the numbers say nothing about a real model.\n")
	}
	if p.Exploratory {
		b.WriteString("\nExploratory: tasks are drafts without a review.\n")
	}
	if p.TestRead {
		b.WriteString("\nTasks of the test split were read: what they show of this skill afterwards is no longer a test.\n")
	}
	gone := map[int]bool{}
	for _, r := range p.Removed {
		gone[r.Number] = true
	}
	fmt.Fprintf(&b, "\nWorth is the score with the rule minus that without it, in points, with a %.4g %% interval, on %d %s tasks.\n", 100*p.Level, p.Tasks, p.Split)
	b.WriteString("\n| rule | lines | verdict | worth | pairs | | text |\n|---|---|---|---|---|---|---|\n")
	for _, r := range p.Rules {
		lines, fate := fmt.Sprint(r.Line), "kept"
		if r.LastLine != r.Line {
			lines = fmt.Sprintf("%d-%d", r.Line, r.LastLine)
		}
		if r.File != "" {
			lines = Plain(r.File) + " " + lines
		}
		if gone[r.Number] {
			fate = "removed"
		}
		fmt.Fprintf(&b, "| %d | %s | %s | %s | %d | %s | %s |\n", r.Number, lines, r.Verdict, result.PointsText(r.Worth, r.Low, r.High), r.Pairs, fate, shortenText(r.Text))
	}
	if names := lostTasks(p); len(names) > 0 {
		fmt.Fprintf(&b, "\nLeft out, because they could not be measured at some point: %s.\n", Plain(strings.Join(names, ", ")))
	}
	return []byte(b.String())
}

// lostTasks names the tasks that some comparison went without, each once.
func lostTasks(p *result.Pruned) []string {
	var all []string
	seen := map[string]bool{}
	add := func(ids []string) {
		for _, id := range ids {
			if !seen[id] {
				seen[id] = true
				all = append(all, id)
			}
		}
	}
	for _, r := range p.Rules {
		add(r.Unmeasured)
	}
	for _, s := range p.Steps {
		add(s.Unmeasured)
	}
	if p.Certificate != nil {
		add(p.Certificate.Unmeasured)
	}
	return all
}

// shortenText fits a text into a cell of a table.
func shortenText(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > 120 {
		text = string(r[:117]) + "..."
	}
	return Plain(text)
}
