// Package check scores answers by rules that are data: lists of checks such as
// "equals the gold answer" or "is JSON of this schema", written in YAML or JSON
// beside the tasks. It also finds the answer within a longer reply.
//
// It knows nothing about models, rollouts or files, and calls nothing outside
// the process: the same answer and task always give the same score.
package check

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/task"
)

// MatchTimeout is how long one regular expression may search one answer.
// Ordinary patterns take microseconds; the limit ends catastrophic ones.
const MatchTimeout = time.Second

// Options are about a whole suite.
type Options struct {
	// Threshold is the soft score that an answer needs, besides passing every
	// required check, for a hard score of 1. 0 asks for none.
	Threshold float64
	// MatchTimeout replaces the default for regular expressions. 0 keeps it.
	MatchTimeout time.Duration
}

// Suite scores answers. It holds the checks of a task set, and reads those of
// single tasks as they come. It is safe for concurrent use.
type Suite struct {
	options Options
	set     *program

	mu  sync.RWMutex
	own map[string]compiled // by the text of a task's checks
}

type compiled struct {
	program *program
	err     error
}

var _ task.Checker = (*Suite)(nil)

// Compile reads the checks of a task set: a list, or a single check, as a YAML
// or JSON decoder returns them. Nil stands for Default. Errors name the check,
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
	p, err := compile(specs, o)
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
// asks: faults in checks of its own, a missing or unfit gold answer, and checks
// that an empty answer passes. Several faults are joined.
func (s *Suite) Check(t task.Task) error {
	p, err := s.programOf(t)
	if err != nil {
		return err
	}
	if p.needsGold() && len(t.Gold) == 0 {
		if len(t.Checks) == 0 {
			return errors.New("no gold answer, which the checks compare with: give it gold, or checks of its own that do without")
		}
		return errors.New("its checks compare with gold, but it has none")
	}
	if err := p.lintGold(t.Gold); err != nil {
		return err
	}
	if p.run("", t.Gold, s.options).Hard > 0 {
		return fmt.Errorf("its checks cannot fail: an empty answer passes %s", p.names())
	}
	return nil
}

// Score scores an answer to t by the checks of t, or by those of the set if t
// has none. Checks of t that cannot be read score 0 with the reason; Check
// finds them beforehand.
func (s *Suite) Score(answer string, t task.Task) score.Score {
	p, err := s.programOf(t)
	if err != nil {
		return score.Score{Reason: "broken checks: " + oneLine(err.Error())}
	}
	return p.run(answer, t.Gold, s.options)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func (s *Suite) programOf(t task.Task) (*program, error) {
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
		c.program, err = compile(specs, s.options)
	}
	c.err = err
	s.mu.Lock()
	defer s.mu.Unlock()
	s.own[string(t.Checks)] = c
	return c.program, c.err
}
