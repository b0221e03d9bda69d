package ask

import (
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/result"
)

// This file leaves out of answers what test tasks say, for a reader who may learn scores of them alone: what it has
// read of them once can be in any skill that it writes later, and then nothing tests that.

// HideTest returns what the files of a run say without the texts of test tasks. Tasks that were drafted belong to no
// split yet.
func HideTest(v View) View {
	v.Summary = HideSummaryQuotes(v.Summary)
	v.Drafted = nil
	return v
}

// HideSummaryQuotes returns the result of a training without what is quoted of tasks; nil stays.
func HideSummaryQuotes(s *result.Summary) *result.Summary {
	if s == nil {
		return nil
	}
	out := *s
	out.Warnings, out.Reason = slices.Clone(s.Warnings), HideQuotes(s.Reason)
	for i, w := range out.Warnings {
		out.Warnings[i] = HideQuotes(w)
	}
	return &out
}

// HideTestReasons removes from what a report is made of why test tasks have no score.
func HideTestReasons(t *record.Training) {
	for arm, items := range t.Test {
		items = slices.Clone(items)
		for i := range items {
			items[i].FailReason = ""
		}
		t.Test[arm] = items
	}
}

// quotes are the parts of a message that repeat what a file holds.
var quotes = pattern.New("(?s)(?:task )?\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`")

// HideQuotes returns a message about tasks without what it quotes: a row that is wrong need not say its split. Commands
// that help, flags and names of tasks stay.
func HideQuotes(message string) string {
	return quotes.Regexp().ReplaceAllStringFunc(message, func(q string) string {
		if strings.HasPrefix(q, "`skillopt ") || strings.HasPrefix(q, "`--") || strings.HasPrefix(q, "task ") {
			return q
		}
		return q[:1] + "…" + q[len(q)-1:]
	})
}
