package cli

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/redact"
)

// cutError is an error that only another run can fix.
type cutError struct{}

func (cutError) Error() string         { return "answers were cut" }
func (cutError) ChangesIdentity() bool { return true }

func TestWhatGoesOn(t *testing.T) {
	t.Parallel()
	options := trainOptions{tasks: "my tasks.csv", target: "openai/m", optimizer: "openai/o", sets: []string{
		"limits.calls=300", "limits.concurrency=4", "models.target.headers.Authorization=Bearer hunter2hunter2", "extras.a=it's", "extras.b=hunter2hunter2",
	}}
	of := func(kind skillopt.ErrorKind, err error) error { return &skillopt.Error{Kind: kind, Err: err} }
	const (
		begin = "skillopt train 'a b/SKILL.md' --tasks 'my tasks.csv' --target openai/m --optimizer openai/o "
		end   = "--set limits.concurrency=4 --set 'models.target.headers.Authorization=[redacted]' --set 'extras.a=it'\\''s' --set 'extras.b=[redacted]' --run 'runs/a b-1'"
	)
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"stopped", of(skillopt.Stopped, errors.New("stopped")), "stopped\nnothing that was paid for is lost; continue with: " + begin + "--set limits.calls=300 " + end},
		{
			"a ceiling", of(skillopt.OverBudget, &caller.BudgetError{Limit: "limits.calls", Used: 300, Of: 300}),
			"nothing that was paid for is lost; raise limits.calls (--set limits.calls=...) and continue with: " + begin + end +
				"\nor add --finish to that: what there is is evaluated, on the test split too, and the run ends",
		},
		{"another run", of(skillopt.Unmeasurable, cutError{}), "answers were cut\nthat change makes it another run: train again to begin one; with --run 'runs/a b-1' --fork NEW_DIR it reuses what this one has paid for"},
		{"bad input", of(skillopt.BadInput, errors.New("wrong")), "wrong"},
	}
	for _, tc := range tests {
		a := &app{Streams: Streams{Dir: "/w"}}
		for range 20 { // flags come in one order
			c := command{path: "a b/SKILL.md", options: options, hide: redact.New("hunter2hunter2")}
			err := withResume(tc.err, a.relative("/w/runs/a b-1"), c)
			if !strings.HasSuffix(err.Error(), tc.want) || !errors.Is(err, tc.err) {
				t.Fatalf("%s: got\n%s\nwant\n%s", tc.name, err, tc.want)
			}
		}
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"a/b-1": "a/b-1", "": "''", "~": "'~'", "a#b": "'a#b'", "`x`": "'`x`'", "a\\b": `'a\b'`, "it's": `'it'\''s'`, "!": "'!'"} {
		if got := shellWord(in); got != want {
			t.Errorf("quote(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestSkillNameIsARunName(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"/a/my-skill/SKILL.md": "my-skill", "/a/.claude/SKILL.md": "claude", "/SKILL.md": "skill", "/a/con": "skill"} {
		if got := skillName(in); got != want {
			t.Errorf("skillName(%s) = %s, want %s", in, got, want)
		}
	}
}
