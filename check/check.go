// Package check scores answers by rules that are data: lists of checks such as
// "equals the gold answer" or "is JSON of this schema", written in YAML or JSON
// next to the tasks. It also finds the answer within a longer reply.
//
// Most checks are pure: the same answer and task always give the same score, by
// Score. Those about what an agent leaves behind, files, changes, calls of tools,
// and those that run a command or ask a judge, need Assess, which gets the
// evidence and the means as values.
//
// It knows nothing about models, sandboxes, rollouts or journals. It reads the
// folder that it is handed, never outside of it, and runs nothing itself.
package check

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/task"
)

// MatchTimeout is how long one regular expression may search one answer.
// Ordinary patterns take microseconds; the limit ends catastrophic ones.
const MatchTimeout = time.Second

// Options are about a whole suite.
type Options struct {
	// Threshold is the soft score that an answer needs, in addition to passing every
	// required check, for a hard score of 1. 0 asks for none.
	Threshold float64
	// MatchTimeout replaces the default for regular expressions. 0 keeps it.
	MatchTimeout time.Duration

	// Workspace says that an agent leaves a folder behind, Judge that there is a
	// model that judges. Without them Check refuses what needs them.
	Workspace, Judge bool

	// Extract finds the answers in replies; Doubts puts accepted answers there.
	Extract *Extractor
}

// Suite scores answers. It holds the checks of a task set, and reads those of
// single tasks as they come. It is safe for concurrent use.
type Suite struct {
	options Options
	set     *program

	late atomic.Int32 // tasks whose gold could not be tried in time

	mu  sync.RWMutex
	own map[string]compiled // by the text of a task's checks
}

type compiled struct {
	program *program
	err     error
}

var _ task.Checker = (*Suite)(nil)

// Compile reads the checks of a task set: a list, or a single check, as a YAML
// or JSON decoder returns them. Nil represents Default. Errors name the check,
// the key and what is allowed; all of them are joined.
func Compile(specs any, o Options) (*Suite, error) {
	if o.Threshold < 0 || o.Threshold > 1 {
		return nil, fmt.Errorf("threshold %v is not within 0..1", o.Threshold)
	}
	if o.MatchTimeout == 0 {
		o.MatchTimeout = MatchTimeout
	}
	if specs == nil {
		specs = Default()
	}
	p, err := compile(specs, o, false)
	if err != nil {
		return nil, err
	}
	return &Suite{options: o, set: p, own: map[string]compiled{}}, nil
}

// Default returns the checks of a set that names none: hard is 1 if the answer
// equals a gold answer but for letter case, articles and punctuation (see
// normalize: text), soft is the F1 of their words.
func Default() []any {
	return []any{
		map[string]any{"type": "equals", "value": goldRef, "normalize": "text", "weight": 0.0, "required": true},
		map[string]any{"type": "f1", "value": goldRef, "normalize": "text", "threshold": 0.0, "required": false},
	}
}

// Check reports what is wrong with the checks that score t, as task.Checker
// asks: faults in checks of its own, a missing or unfit gold answer, checks that
// need what Options says is not there, and checks that an agent passes by doing
// nothing. Several faults are joined.
func (s *Suite) Check(t task.Task) error {
	p, err := s.selectProgram(t)
	if err != nil {
		return err
	}
	if !counts(p.nodes) {
		return errNoneApplies
	}
	if p.needsGold() && len(t.Gold) == 0 {
		if len(t.Checks) == 0 {
			return errors.New("no gold answer, which the checks compare with: give it gold, or checks of its own that do without" + meantAsGold(t))
		}
		return errors.New("its checks compare with gold, but it has none" + meantAsGold(t))
	}
	if err := errors.Join(p.lintGold(t.Gold), p.lintTask(t), s.lintNeeds(p.needs())); err != nil {
		return err
	}
	nothing, err := p.run(context.Background(), &subject{task: t, dry: true}, "check", s.options)
	if err != nil {
		return err
	}
	if nothing.Hard > 0 && !slices.ContainsFunc(p.nodes, func(n node) bool { return n.mayBeEmpty }) {
		return fmt.Errorf("its checks cannot fail: an empty answer%s passes %s", andFolder(p.needs()), p.names())
	}
	return nil
}

// Vanished returns the accepted answers of t of which nothing is left in the form in which a check compares them, and
// whether an answer of which nothing is left passes for them.
func (s *Suite) Vanished(t task.Task) (gold []string, pass bool, err error) {
	p, err := s.selectProgram(t)
	if err != nil {
		return nil, false, err
	}
	for _, g := range t.Gold {
		by := p.vanishingChecks(g)
		if len(by) > 0 {
			gold = append(gold, g)
		}
		pass = pass || slices.ContainsFunc(by, func(n *node) bool { return n.mayBeEmpty })
	}
	return gold, pass, nil
}

// vanishingChecks returns the checks in whose form nothing of an accepted answer is left.
func (p *program) vanishingChecks(gold string) (out []*node) {
	for i := range p.nodes {
		n := &p.nodes[i]
		if n.members != nil {
			out = append(out, n.members.vanishingChecks(gold)...)
		}
		if n.gold && n.form != nil && n.form(gold) == "" {
			out = append(out, n)
		}
	}
	return out
}

// meantAsGold names the field of a task without gold that was probably meant as it: one
// that begins so, or has a name that other tools give it.
func meantAsGold(t task.Task) string {
	others := []string{"expected", "expected_output", "ground_truth", "label", "reference", "solution", "target"}
	for _, name := range slices.Sorted(maps.Keys(t.Data)) {
		if lower := strings.ToLower(name); strings.HasPrefix(lower, "gold") || slices.Contains(others, lower) {
			return fmt.Sprintf("; its field %q is not read as one: was gold meant?", name)
		}
	}
	return ""
}

func (s *Suite) lintNeeds(n Needs) error {
	var errs []error
	if n.Workspace && !s.options.Workspace {
		errs = append(errs, errors.New("its checks look at the files that an agent leaves, but there is no agent with a workspace: use an agent as the target, or checks of the answer"))
	}
	if n.Judge && !s.options.Judge {
		errs = append(errs, errors.New("its checks ask a judge, but no model has that role: name one as models.judge"))
	}
	return errors.Join(errs...)
}

func andFolder(n Needs) string {
	if n.Workspace {
		return " with an empty workspace"
	}
	return ""
}

// Score scores an answer to t by the checks of t, or by those of the set if t
// has none. Checks of t that cannot be read score 0 with the reason, and so do
// those that need Assess, and a pattern that runs out of time; Check and Needs report
// the first two beforehand. Assess has an error instead of such a score.
func (s *Suite) Score(answer string, t task.Task) score.Score {
	p, err := s.selectProgram(t)
	if err != nil {
		return brokenScore(err)
	}
	if p.needs() != (Needs{}) {
		return brokenScore(errors.New("they need more than the answer"))
	}
	result, err := p.run(context.Background(), &subject{Evidence: Evidence{Answer: answer}, task: t}, "check", s.options)
	if err != nil {
		return brokenScore(err)
	}
	return result
}

func brokenScore(err error) score.Score {
	return score.Score{Reason: "broken checks: " + oneLine(err.Error())}
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// selectProgram returns the checks that apply to t.
func (s *Suite) selectProgram(t task.Task) (*program, error) {
	p, err := s.compileProgram(t)
	if err != nil {
		return nil, err
	}
	return p.of(t), nil
}

// compileProgram returns the checks of t, or of the set if it has none.
func (s *Suite) compileProgram(t task.Task) (*program, error) {
	if len(t.Checks) == 0 {
		return s.set, nil
	}
	s.mu.RLock()
	c, known := s.own[string(t.Checks)]
	s.mu.RUnlock()
	if known {
		return c.program, c.err
	}
	specs, err := decodeJSON(string(t.Checks))
	if err == nil {
		c.program, err = compile(specs, s.options, true)
	}
	c.err = err
	s.mu.Lock()
	defer s.mu.Unlock()
	s.own[string(t.Checks)] = c
	return c.program, c.err
}
