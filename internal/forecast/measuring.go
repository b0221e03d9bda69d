package forecast

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/seed-f4525e22/skillopt/internal/session"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// Measuring is what an operation carries out that trains nothing: how often a task, of
// which kind, and with which skills.
type Measuring struct {
	Rollouts result.Interval // of tasks; equal ends where nothing is left to chance
	Tasks    []task.Task
	Skills   []skill.Skill // each about as often as the others
}

// askedAgain is which share of the rollouts may be asked again.
const askedAgain = 0.02

// mostPrompts is how many prompts are made to find their mean length.
const mostPrompts = 400

// Measure adds to a plan what the rollouts of an operation will take, as far as the plan
// does not say that no one knows. The length of prompts is found by writing them, that of
// replies from earlier runs with the same model.
func Measure(ctx context.Context, on *session.Session, p *result.Plan, m Measuring) error {
	s := &forecaster{Session: on, measuring: true}
	known, err := s.earlier(ctx)
	if err != nil {
		return err
	}
	one, n, err := s.sampleRollouts(ctx, m, false)
	if err != nil || n == 0 {
		return err
	}
	most := one
	if turns(on, m.Tasks) > 1 {
		if most, n, err = s.sampleRollouts(ctx, m, true); err != nil {
			return err
		}
	}
	times := func(rollouts float64) float64 { return rollouts / float64(n) }
	runs := []*dryRun{one.times(times(m.Rollouts.Expected)), one.times(times(m.Rollouts.Low)), most.times(times(math.Ceil(m.Rollouts.High * (1 + askedAgain))))}
	p.Forecast = s.sum(runs, known, false)
	p.Ceilings = short(on, p.Forecast)
	return nil
}

// sampleRollouts carries out some tasks with each skill, with placeholders, and returns what
// they were asked and how many there were; again: with pages, each is asked twice.
func (s *forecaster) sampleRollouts(ctx context.Context, m Measuring, again bool) (*dryRun, int, error) {
	r := &dryRun{session: s.Session, scenario: scenario{solved: priorSolved, again: again}, question: s.ChatPrompt(nil), tally: map[stageRole]tally{}, phase: map[stageRole]tally{}, all: true}
	step := 1 + len(m.Tasks)*len(m.Skills)/mostPrompts
	n := 0
	for _, skill := range m.Skills {
		for i := 0; i < len(m.Tasks); i += step {
			if _, err := r.Run(ctx, forecastPlace(n), m.Tasks[i], skill); err != nil {
				return nil, 0, fmt.Errorf("forecast: %w", err)
			}
			n++
		}
	}
	return r, n, nil
}

// times returns a dry run with that many times the calls.
func (r *dryRun) times(by float64) *dryRun {
	out := &dryRun{session: r.session, tally: map[stageRole]tally{}}
	n := func(v int) int { return int(math.Round(float64(v) * by)) }
	for k, t := range r.tally {
		out.tally[k] = tally{calls: n(t.calls), episodes: n(t.episodes), asked: n(t.asked), said: n(t.said), blind: n(t.blind)}
	}
	out.phases = []map[stageRole]tally{out.tally}
	return out
}

// short says which ceilings are below what is expected.
func short(s *session.Session, f *result.Forecast) []string {
	var out []string
	add := func(key string, limit float64, i *result.Interval) {
		if i == nil || limit >= i.High {
			return
		}
		text := "may not be enough"
		if limit < i.Expected {
			text = "is less than what is expected"
		}
		out = append(out, fmt.Sprintf("limits.%s = %v %s: it would end there unfinished, and continue from its record with a higher one", key, limit, text))
	}
	l, tokens := s.Config.Limits, plus(f.Input, f.Output)
	if l.Calls != nil {
		add("calls", float64(*l.Calls), &f.Calls)
	}
	if l.Tokens != nil {
		add("tokens", float64(*l.Tokens), &tokens)
	}
	if l.USD != nil {
		add("usd", *l.USD, f.USD)
	}
	return out
}

// NewInterval spans the results of dry runs: the middle of them, the least and the most, these two
// further by a share.
func NewInterval(found []int, spread float64) result.Interval {
	if len(found) == 0 {
		return result.Interval{}
	}
	found = slices.Sorted(slices.Values(found))
	return result.Interval{Expected: float64(found[len(found)/2]), Low: float64(found[0]) * (1 - spread), High: float64(found[len(found)-1]) * (1 + spread)}
}

// NewExactInterval returns the interval of a number that does not depend on chance.
func NewExactInterval(n int) result.Interval {
	return result.Interval{Expected: float64(n), Low: float64(n), High: float64(n)}
}
