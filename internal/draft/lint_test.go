package draft

import (
	"strings"
	"testing"
)

const handbook = `# Desk

## Dates
- Write every date of an invoice as four digits of the year, then month and day.
- Use capitals.

## Office
- Answer REFER TO DATA OFFICE when somebody asks for a home address.
`

func lintOne(t *testing.T, l *linter, c candidate) (Reason, string, candidate) {
	t.Helper()
	if c.line == 0 {
		c.line = 5
	}
	if c.prompt == "" {
		c.prompt = "The crate left on the 2nd of May 2026. When was that?"
	}
	if c.gold == nil {
		c.gold = []string{"2026-05-02"}
	}
	if c.checks == nil {
		c.checks = []map[string]any{{"type": "equals"}}
	}
	why, detail := l.lint(&c, 0)
	return why, detail, c
}

func handbookLinter(t *testing.T) *linter {
	t.Helper()
	m := material(handbook)
	l, err := newLinter(m, Sections(m))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLint(t *testing.T) {
	t.Parallel()
	type checks = []map[string]any
	tests := []struct {
		name   string
		c      candidate
		want   Reason
		detail string
	}{
		{"sound", candidate{}, "", ""},
		{"a line that is not there", candidate{line: 99}, NoSource, "line 99"},
		{"a negative line", candidate{line: -1}, NoSource, ""},
		{"a blank line", candidate{line: 6}, NoSource, ""},
		{"a heading above all parts", candidate{line: 1}, NoSource, ""},
		{"a check that cannot be read", candidate{checks: checks{{"type": "regex", "value": "("}}}, BadChecks, "checks[0].value"},
		{"a key that the check does not know", candidate{checks: checks{{"type": "equals", "tolerance": 1}}}, BadChecks, `unknown key "tolerance"`},
		{"a check that an empty answer passes", candidate{checks: checks{{"type": "not-contains", "value": "x"}}}, BadChecks, "cannot fail"},
		{"a check that does not suit the gold", candidate{checks: checks{{"type": "number"}}}, BadChecks, "number"},
		{"gold that fails a check", candidate{checks: checks{{"type": "equals"}, {"type": "contains", "value": "May"}}}, GoldFails, "May"},
		{"one gold of two that fails", candidate{gold: []string{"2026-05-02", "2 May"}, checks: checks{{"type": "contains", "value": "2026"}}}, GoldFails, ""},
		{
			"checks that the question itself passes",
			candidate{prompt: "Bonn or Rome?", gold: []string{"Bonn"}, checks: checks{{"type": "contains", "value": "Bonn"}}},
			Echo, "",
		},
		{
			"an answer that is given away",
			candidate{prompt: "Somebody asks for an address. Is it refer to data office, or not?", gold: []string{"REFER TO DATA OFFICE"}},
			Answered, "REFER TO DATA OFFICE",
		},
		{
			"most of the rule that it tests",
			candidate{line: 5, prompt: "Please do use capitals: what is in the crate of Mr Hull?", gold: []string{"FIGS"}},
			"", "", // two words are no rule
		},
		{
			"a good part of the rule that it tests",
			candidate{line: 8, prompt: "What do you say when somebody asks for a home address?", gold: []string{"REFER TO DATA OFFICE"}},
			Quotes, "somebody asks",
		},
		{
			"a long run of another rule",
			candidate{line: 5, prompt: "It says: date of an invoice as four digits of the year. When was it?", gold: []string{"X"}},
			Quotes, "date of an invoice",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			why, detail, _ := lintOne(t, handbookLinter(t), tt.c)
			if why != tt.want || !strings.Contains(detail, tt.detail) {
				t.Errorf("%q (%s), want %q (%s)", why, detail, tt.want, tt.detail)
			}
		})
	}
}

func TestLintFindsRepetitions(t *testing.T) {
	t.Parallel()
	l := handbookLinter(t)
	for i, tt := range []struct {
		prompt string
		want   Reason
	}{
		{"The crate with figs left the port of Hull on the 2nd of May. When was that, as the desk writes it?", ""},
		{"the crate with FIGS left the port of Hull on the 2nd of May! When was that, as the desk writes it", AlmostEqual},
		{"the crate with figs left the port of Hull on the 3rd of May. When was that, as the desk writes it?", AlmostEqual},
		{"Mrs Ito paid on the third Friday of March. Which day do you note?", ""},
	} {
		if why, _, _ := lintOne(t, l, candidate{prompt: tt.prompt}); why != tt.want {
			t.Errorf("task %d: %q, want %q", i+1, why, tt.want)
		}
	}
}

func TestLintDoubtsAnswersInTheTask(t *testing.T) {
	t.Parallel()
	_, _, c := lintOne(t, handbookLinter(t), candidate{prompt: "Carrier: Northline. Port: Hull. Which carrier is it?", gold: []string{"Northline"}})
	if len(c.doubts) != 1 || c.doubts[0] != doubtAnswer {
		t.Errorf("doubts: %q", c.doubts)
	}
	_, _, c = lintOne(t, handbookLinter(t), candidate{})
	if len(c.doubts) != 0 {
		t.Errorf("doubts about a sound task: %q", c.doubts)
	}
}
