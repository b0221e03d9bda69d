package cli

import (
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// foundBy says which rule found an answer, as words behind its head.
func foundBy(o *trajectory.Outcome) string {
	switch o.Extracted {
	case "":
		return ""
	case check.NothingFound:
		return " (tasks.extract found nothing)"
	}
	return " (found by " + oneLine(o.Extracted) + ")"
}

// printChecks prints what each check said of an outcome.
func printChecks(out printer, o *trajectory.Outcome) {
	if len(o.Checks) == 0 {
		return
	}
	fmt.Fprintln(out, "  checks:")
	for _, v := range o.Checks {
		out.hang("    ", outcomeCheckText(v))
	}
}

// outcomeCheckText returns the verdict of a check on a line: passed equals: 1.
func outcomeCheckText(v trajectory.CheckVerdict) string {
	var b strings.Builder
	b.WriteString(strings.ReplaceAll(string(v.Verdict), "_", " ") + "  " + oneLine(v.Check))
	if v.Type != "" {
		b.WriteString(" (" + oneLine(v.Type) + ")")
	}
	var parts []string
	if v.Verdict != trajectory.NotRun {
		parts = append(parts, fmt.Sprintf("score %.3g", v.Score))
	}
	if v.Weight != 1 {
		parts = append(parts, fmt.Sprintf("weight %g", v.Weight))
	}
	if v.Optional {
		parts = append(parts, "not required")
	}
	if v.Saw != "" {
		parts = append(parts, "saw "+oneLine(v.Saw))
	}
	if len(parts) > 0 {
		b.WriteString(": " + strings.Join(parts, ", "))
	}
	if v.Why != "" {
		b.WriteString("; " + oneLine(v.Why))
	}
	return b.String()
}
