package draft

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/internal/similar"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/task"
)

// Reason is why a task fell.
type Reason string

const (
	NotWritten  Reason = "were not written by the model"
	NotWhole    Reason = "lack a part, or are too long"
	NoSource    Reason = "name no line of the skill"
	BadChecks   Reason = "have checks that cannot be used, or that an empty answer passes"
	GoldFails   Reason = "have an expected answer that fails their own checks"
	Echo        Reason = "are passed by an answer that repeats the question"
	Answered    Reason = "hold their own answer"
	Quotes      Reason = "quote the rule that they test"
	AlmostEqual Reason = "are almost the same as another"
	Disagreed   Reason = "were answered otherwise by their own author, who did not see the expected answer"
	Surplus     Reason = "were more than asked for"
)

// Doubts about a task that is kept.
const (
	doubtAnswer  = "its answer is in the task: to be found or chosen there, or given away?"
	doubtSecond  = "its author answered otherwise at first: %q"
	doubtNothing = "its author gave no usable answer to it"
)

// Rules hold tasks that a model wrote to the rules that need no text of a skill, one task after
// the other. They are for one goroutine.
type Rules struct {
	suite *check.Suite
	kept  [][]uint32 // words of the prompts so far
}

// NewRules returns rules for tasks whose checks may need what the options say is there.
func NewRules(o check.Options) (*Rules, error) {
	suite, err := check.Compile(nil, o)
	if err != nil {
		return nil, fmt.Errorf("set up checks: %w", err)
	}
	return &Rules{suite: suite}, nil
}

// Unusable returns why a task cannot distinguish a right answer from others, with the detail; "" if it
// can: its checks can be used, an empty answer does not pass them, every expected answer does,
// the prompt itself does not, and none of them is in the prompt word by word. The cheap
// reasons come first. A check that needs more than an answer is read and not asked.
func (r *Rules) Unusable(t task.Task) (Reason, string) {
	if err := r.suite.Check(t); err != nil {
		return BadChecks, err.Error()
	}
	for _, g := range t.Gold {
		if s := r.suite.Score(g, t); s.Hard < 1 {
			return GoldFails, s.Reason
		}
	}
	if r.suite.Score(t.Prompt, t).Hard > 0 {
		return Echo, ""
	}
	if g, given := findAnswer(words(t.Prompt), t.Gold); given {
		return Answered, g
	}
	return "", ""
}

// Score scores an answer by the checks of a task.
func (r *Rules) Score(answer string, t task.Task) score.Score { return r.suite.Score(answer, t) }

// Similar reports whether a prompt is almost the same as one before it. One that is not is
// remembered.
func (r *Rules) Similar(prompt string) bool {
	asked := similar.Words(prompt)
	if slices.ContainsFunc(r.kept, func(other []uint32) bool { return similar.Near(asked, other) }) {
		return true
	}
	r.kept = append(r.kept, asked)
	return false
}

// linter decides which proposals become tasks, one after the other.
type linter struct {
	*Rules

	material Material
	parts    []Section
	runs     map[string]bool // runs of more than QuotedWords words in the rules of SKILL.md
}

func newLinter(m Material, parts []Section) (*linter, error) {
	rules, err := NewRules(check.Options{})
	if err != nil {
		return nil, err
	}
	l := &linter{Rules: rules, material: m, parts: parts, runs: map[string]bool{}}
	for n, kind := range statements(m.Files[0]) {
		if kind.rule {
			for _, run := range wordRuns(words(m.Files[0].Lines[n]), QuotedWords+1) {
				l.runs[run] = true
			}
		}
	}
	return l, nil
}

// lint returns why a candidate, drafted for parts of the file, is no task; "" if
// it is one. It fills in the part and the doubts. The cheap reasons come first.
func (l *linter) lint(c *candidate, file int) (Reason, string) {
	if !l.place(c, file) {
		return NoSource, fmt.Sprintf("line %d", c.line)
	}
	t, err := c.task()
	if err != nil {
		return BadChecks, err.Error()
	}
	if why, detail := l.Unusable(t); why != "" {
		return why, detail
	}
	prompt := words(c.prompt)
	if line, quoted := l.quotes(prompt, c); quoted {
		return Quotes, line
	}
	if l.Similar(c.prompt) {
		return AlmostEqual, ""
	}
	for _, g := range c.gold {
		if holds(prompt, words(g)) {
			c.doubts = append(c.doubts, doubtAnswer)
			break
		}
	}
	return "", ""
}

// place finds the part in which the line of a candidate lies. The line must be
// there and state something.
func (l *linter) place(c *candidate, file int) bool {
	f := l.material.Files[file]
	if c.line < 1 || c.line > len(f.Lines) || strings.TrimSpace(f.Lines[c.line-1]) == "" {
		return false
	}
	for i, p := range l.parts {
		if p.File == file && c.line >= p.From && c.line <= p.To {
			c.part = i
			return true
		}
	}
	return false
}

// findAnswer returns an expected answer that is in the prompt and is too long to be there by
// chance.
func findAnswer(prompt, gold []string) (string, bool) {
	for _, g := range gold {
		w := words(g)
		if (len(w) >= answerWords || utf8.RuneCountInString(g) >= answerRunes) && holds(prompt, w) {
			return g, true
		}
	}
	return "", false
}

// quotes returns the line of the skill that a prompt repeats.
func (l *linter) quotes(prompt []string, c *candidate) (string, bool) {
	own := words(l.material.Files[l.parts[c.part].File].Lines[c.line-1])
	if quotesRule(prompt, own) {
		return strings.Join(own, " "), true
	}
	for _, run := range wordRuns(prompt, QuotedWords+1) {
		if l.runs[run] {
			return run, true
		}
	}
	return "", false
}

// Repeats reports whether a prompt quotes a rule: more than QuotedWords words of it in a row, or
// half of it and no fewer than four words.
func Repeats(prompt, rule string) bool { return quotesRule(words(prompt), words(rule)) }

func quotesRule(prompt, rule []string) bool {
	run := longestRun(prompt, rule)
	return run > QuotedWords || run >= minQuote && float64(run) >= quotedShare*float64(len(rule))
}

// task returns a candidate as a task that can be scored.
func (c *candidate) task() (task.Task, error) {
	text, err := encode(c.checks)
	if err != nil {
		return task.Task{}, err
	}
	return task.Task{ID: c.id, Prompt: c.prompt, Gold: c.gold, Checks: text, Unreviewed: true}, nil
}
