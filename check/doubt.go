package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/task"
)

var _ task.Doubter = (*Suite)(nil)

// Doubts reports what can be scored but would measure nothing: an accepted answer of
// t that the checks of t do not pass, and in checks of its own a value that was meant
// as a reference and is text. Several are joined. The accepted answer is where the
// set's extraction would find it. Checks that need a model, a command or what an agent
// leaves are not asked. Where there is such a check, or one that looks for gold within
// an answer, the checks about the rest of the answer are not asked either.
func (s *Suite) Doubts(t task.Task) error {
	all, err := s.compileProgram(t)
	if err != nil {
		return nil // Check reports it
	}
	p := all.of(t)
	if len(p.doubts) > 0 {
		if len(t.Checks) == 0 {
			return nil // SetDoubts reports it, once
		}
		return joinDoubts(p.doubts)
	}
	if s.late.Load() >= maxLate {
		return nil
	}
	doubts, late := p.goldDoubts(t, s.options)
	doubts = append(doubts, all.conditionDoubts(t)...)
	if late {
		s.late.Add(1)
	}
	return joinDoubts(doubts)
}

// maxLate is after how many tasks whose patterns run out of time no gold is tried any more:
// each costs seconds, and a set may have thousands. What is late is reported when it is scored.
const maxLate = 3

// SetDoubts reports values in the checks of the set that were meant as references and
// are text.
func (s *Suite) SetDoubts() error { return joinDoubts(s.set.doubts) }

func joinDoubts(texts []string) error {
	var errs []error
	for _, text := range texts {
		errs = append(errs, errors.New(text))
	}
	return errors.Join(errs...)
}

// goldDoubts has every accepted answer scored. late reports that one could not be, which
// ends it.
func (p *program) goldDoubts(t task.Task, o Options) (doubts []string, late bool) {
	if !p.needsGold() && p.needs() != (Needs{}) {
		return nil, false // gold is for the model or the program that looks at the answer
	}
	nodes := slices.DeleteFunc(slices.Clone(p.nodes), func(n node) bool { return !n.required || n.needs != (Needs{}) })
	if p.allowsLongerAnswer() {
		nodes = slices.DeleteFunc(nodes, func(n node) bool { return !n.gold })
	}
	for i := range nodes {
		more, err := nodes[i].goldDoubt(t, o)
		if err != nil {
			return doubts, true
		}
		doubts = append(doubts, more...)
	}
	if o.Threshold > 0 && len(doubts) == 0 && p.needs() == (Needs{}) && !p.allowsLongerAnswer() {
		return p.thresholdDoubt(t, o), false
	}
	return doubts, false
}

// allowsLongerAnswer reports whether an accepted answer may be a part of a good answer.
func (p *program) allowsLongerAnswer() bool {
	exact := slices.ContainsFunc(p.nodes, func(n node) bool { return n.gold && n.required && !n.inside && n.needs == (Needs{}) })
	inside := slices.ContainsFunc(p.nodes, func(n node) bool { return n.gold && n.inside })
	return !exact && (inside || p.needs() != (Needs{}))
}

// goldDoubt says which accepted answers the check does not pass. One that needs them
// all is given all.
func (n *node) goldDoubt(t task.Task, o Options) (doubts []string, err error) {
	if n.list {
		if v, err := n.try(strings.Join(t.Gold, "\n"), t); err != nil || v.pass {
			return nil, err
		}
	}
	for _, gold := range t.Gold {
		answer := o.Extract.extractGold(gold)
		v, err := n.try(answer, t)
		if err != nil {
			return doubts, err
		}
		if v.pass || gold == "" {
			continue // empty gold is reported elsewhere
		}
		text := fmt.Sprintf("its own gold %s does not pass %s: %s; a right answer would score 0: fix the check or the gold", quote(gold), n.name, v.reason)
		if answer != strings.TrimSpace(gold) {
			text += fmt.Sprintf(" (tasks.extract would take %s of it)", quote(answer))
		}
		doubts = append(doubts, text)
	}
	return doubts, nil
}

// try has an answer looked at where there is nothing else.
func (n *node) try(answer string, t task.Task) (verdict, error) {
	return n.run(context.Background(), &subject{Evidence: Evidence{Answer: answer}, task: t, dry: true}, "check")
}

// thresholdDoubt says which accepted answers pass every check and yet not as a whole.
func (p *program) thresholdDoubt(t task.Task, o Options) []string {
	if slices.ContainsFunc(p.nodes, func(n node) bool { return n.list }) {
		return nil
	}
	var doubts []string
	for _, gold := range t.Gold {
		s, err := p.run(context.Background(), &subject{Evidence: Evidence{Answer: o.Extract.extractGold(gold)}, task: t, dry: true}, "check", o)
		if err == nil && s.Hard < 1 {
			doubts = append(doubts, fmt.Sprintf("its own gold %s does not pass: %s; lower tasks.threshold or fix the checks", quote(gold), s.Reason))
		}
	}
	return doubts
}

// extractGold returns what is found of an answer in a reply that has it in the right place. Where a
// pattern or a path finds it, that place cannot be made.
func (e *Extractor) extractGold(answer string) string {
	if e == nil || len(e.rules) == 0 || e.rules[0].place == nil {
		return strings.TrimSpace(answer)
	}
	found, err := e.Answer(e.rules[0].place(answer))
	if err != nil {
		return strings.TrimSpace(answer)
	}
	return found
}

// reference is a value that looks as if something else represented it: $ and a name, or a
// name in braces. $5, ^\d+$ and $$name are text.
var reference = pattern.New(`^(?:\$[\p{L}_]+|\{\{\s*[\p{L}_][\p{L}\p{N}_.]*\s*\}\})$`)

// references returns the doubts about the values of a check: nothing is filled in there but gold.
func (s *spec) references() []string {
	var doubts []string
	for _, key := range []string{"value", "values", "pattern", "regex"} {
		list, many := s.m[key].([]any)
		if !many {
			list = []any{s.m[key]}
		}
		for _, v := range list {
			text, ok := v.(string)
			if !ok || text == goldRef && !many || !reference.MatchString(text) {
				continue
			}
			doubts = append(doubts, fmt.Sprintf("%s: %q is compared as it is, nothing is filled in; write %s for the accepted answers of the task (only as a value of its own), or a regex for this very text",
				join(s.path, key), text, goldRef))
		}
	}
	return doubts
}
