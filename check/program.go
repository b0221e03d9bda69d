package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/wording"

	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/task"
)

// verdict is what one check says of one answer.
type verdict struct {
	score  float64 // 0..1
	pass   bool
	reason string // why it does not hold; empty if it does
	broken bool   // it could not be decided, so it fails whichever way it is asked
	cause  score.Cause
	detail string // more for analysts, of several lines
	saw    string // what was judged, where that is not the answer itself

	undecided string // why nothing was measured: it has no score
}

// judge decides a check by the answer alone, before negation.
type judge func(answer string, gold []string) verdict

// look decides a check by all that there is, before negation. id names the check
// within its suite. An error says that nothing was measured.
type look func(ctx context.Context, s *subject, id string) (verdict, error)

// maxSaw is how much of what a check judged is reported, in characters.
const maxSaw = 200

// node is a compiled check.
type node struct {
	name       string // as reports call it
	kind       string // its type, with not- if it is negated
	holds      string // what is the case when it holds, for the message of its negation
	negate     bool
	weight     float64
	required   bool
	feedback   string // the author's words for when it fails
	gold       bool   // it compares with the task's gold
	fit        func(gold string) error
	suits      func(t task.Task) error // nil: whatever fit allows
	needs      Needs
	commands   []Command // what it runs
	judgeCalls int       // that it puts to a judge
	judge      judge
	look       look   // instead of judge
	subject    string // what holds of it; "" = the answer
	inside     bool   // it looks for gold within the answer
	list       bool   // it may need all of gold at once
	mayBeEmpty bool   // its author says that an empty answer may pass

	form normalizer // in which it compares for equality with gold; nil: it does not

	place        int    // in its list, from 1
	when, unless string // the fields that a task must have, and must not have
	members      *program
	regroup      func(*program) (holds string, l look) // of a group, for the members that apply
}

// run decides a check. A verdict that is no pass has a cause.
func (n *node) run(ctx context.Context, s *subject, id string) (verdict, error) {
	v, err := n.verdict(ctx, s, id)
	if err == nil && !v.pass {
		v.cause = n.cause(v, s)
	}
	return v, err
}

// cause returns why a check failed: that there is no answer where it looks at one.
func (n *node) cause(v verdict, s *subject) score.Cause {
	looksAtAnswer := !n.negate && !n.needs.Workspace && !n.needs.Turns
	if n.members == nil && looksAtAnswer && (s.NotFound || strings.TrimSpace(s.Answer) == "") {
		return score.NoAnswer
	}
	return cmp.Or(v.cause, score.CheckFailed(n.kind))
}

func (n *node) verdict(ctx context.Context, s *subject, id string) (verdict, error) {
	v, err := n.decide(ctx, s, id)
	if err != nil {
		return verdict{}, err
	}
	if v.undecided != "" {
		return verdict{}, errors.New(v.undecided)
	}
	if v.broken {
		return verdict{broken: true, reason: v.reason, detail: v.detail, saw: v.saw}, nil
	}
	if !n.negate {
		return v, nil
	}
	v = verdict{score: 1 - v.score, pass: !v.pass, detail: v.detail, saw: v.saw}
	if !v.pass {
		v.reason = "must not be so: " + cmp.Or(n.subject, "the answer") + " " + n.holds
	}
	return v, nil
}

func (n *node) decide(ctx context.Context, s *subject, id string) (verdict, error) {
	if n.look == nil {
		return n.judge(s.Answer, s.task.Gold), nil
	}
	return n.look(ctx, s, id)
}

// program is a list of checks that score together.
type program struct {
	nodes  []node
	doubts []string // values that were meant otherwise

	conditional bool // some checks are not for every task, see of
}

func (p *program) needsGold() bool {
	for _, n := range p.nodes {
		if n.gold {
			return true
		}
	}
	return false
}

func (p *program) lintGold(gold []string) error {
	var errs []error
	for _, n := range p.nodes {
		if n.fit == nil {
			continue
		}
		for _, g := range gold {
			if err := n.fit(g); err != nil {
				errs = append(errs, fmt.Errorf("gold does not suit check %s: %w", n.name, err))
			}
		}
	}
	return errors.Join(errs...)
}

// lintTask reports what of a task a check cannot be held against.
func (p *program) lintTask(t task.Task) error {
	var errs []error
	for _, n := range p.nodes {
		if n.suits == nil {
			continue
		}
		if err := n.suits(t); err != nil {
			errs = append(errs, fmt.Errorf("check %s: %w", n.name, err))
		}
	}
	return errors.Join(errs...)
}

func (p *program) names() string {
	names := make([]string, len(p.nodes))
	for i, n := range p.nodes {
		names[i] = n.name
	}
	return strings.Join(names, ", ")
}

func (p *program) needs() Needs {
	var all Needs
	for _, n := range p.nodes {
		all = all.or(n.needs)
	}
	return all
}

func (p *program) commands() []Command {
	var all []Command
	for _, n := range p.nodes {
		all = append(all, n.commands...)
	}
	return all
}

// judgeCallCount returns how many requests the checks put to a judge at most.
func (p *program) judgeCallCount() int {
	n := 0
	for _, c := range p.nodes {
		n += c.judgeCalls
	}
	return n
}

// run scores what was left. Soft is the weighted mean of the checks' scores; hard
// is 1 if every required check passes and soft reaches the threshold.
// A check's id is that of its list, and its place in it from 1, checks that do not apply counted. An error is
// an *UndecidedError.
func (p *program) run(ctx context.Context, what *subject, id string, o Options) (score.Score, error) {
	s := score.Score{Hard: 1, Components: p.unrun()}
	if !counts(p.nodes) {
		return score.Score{}, &UndecidedError{Err: errNoneApplies}
	}
	details := make([]string, len(p.nodes))
	var sum, weights float64
	for i := range p.nodes {
		n := &p.nodes[i]
		v, err := n.run(ctx, what, fmt.Sprint(id, n.place))
		if err != nil {
			s.Components[i].Reason = oneLine(err.Error())
			return score.Score{}, &UndecidedError{Components: s.Components, Err: fmt.Errorf("check %s: %w", n.name, err)}
		}
		details[i] = v.detail
		sum += float64(n.weight * v.score) // rounded, so that no processor adds it in one go with another result
		weights += n.weight
		s.Components[i] = n.component(v)
		if n.required && !v.pass {
			s.Hard = 0
			if s.Reason == "" {
				s.Reason, s.Cause = n.name+": "+v.reason, v.cause
			}
		}
	}
	s.Soft = sum / weights
	if s.Soft < o.Threshold && s.Hard == 1 {
		s.Hard = 0
		s.Cause = score.LowScore
		s.Reason = fmt.Sprintf("threshold: the weighted score is %.3g, %.3g is needed", s.Soft, o.Threshold)
	}
	s.Feedback = p.feedback(s, details)
	return s, nil
}

// unrun returns the components of checks none of which was run yet.
func (p *program) unrun() []score.Component {
	all := make([]score.Component, len(p.nodes))
	for i := range p.nodes {
		all[i] = p.nodes[i].component(verdict{})
		all[i].NotRun = true
	}
	return all
}

// component returns what a verdict of the check contributes to a score.
func (n *node) component(v verdict) score.Component {
	return score.Component{
		Check: n.name, Type: n.kind, Score: v.score, Weight: n.weight, Required: n.required, Pass: v.pass, Saw: v.saw, Reason: v.reason,
	}
}

// feedback reports to the analysts what each failed check expected. A check that
// passes, and one that is merely reported, says nothing.
func (p *program) feedback(s score.Score, details []string) string {
	var b strings.Builder
	for i, part := range s.Components {
		n := &p.nodes[i]
		if part.Pass || part.Reason == "" || !n.required && (n.weight == 0 || s.Hard == 1) {
			continue
		}
		line := n.name + ": " + part.Reason
		if n.feedback != "" {
			line += " - " + n.feedback
		}
		if details[i] != "" {
			line += "\n" + details[i]
		}
		if strings.Contains(b.String(), part.Reason) && n.feedback == "" && details[i] == "" {
			continue // another check has said the same of the same answer
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(line)
	}
	return wording.Cut(b.String(), score.MaxFeedback)
}
