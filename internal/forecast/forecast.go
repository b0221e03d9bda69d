// Package forecast says what a run will take before anything is spent: a bound, and a
// forecast by dry runs of the real loop with placeholders instead of the models.
//
// It knows sessions, the loop and what earlier runs have recorded. It sends nothing and
// writes nothing, and knows nothing of how the real models answer.
package forecast

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/session"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// forecaster makes the forecast of one session.
type forecaster struct {
	*session.Session
	measuring bool // of an operation that trains nothing

	speeds map[string]*session.Speed // by role, of models on this machine; nil: not measured
}

// basisAccuracy returns what bench/forecast.py found; docs/budgets.md has all of it.
func basisAccuracy(basis string) *result.Accuracy {
	switch basis {
	case result.Estimated:
		return &result.Accuracy{Tried: 40, Calls: 33, Input: 20, Output: 1}
	case result.LearnedBasis:
		return &result.Accuracy{Tried: 40, Calls: 32, Input: 21, Output: 27}
	}
	return nil
}

// How far what is not measured may be off: models that think before they answer
// write much more than their answer, and how often candidates survive and are asked
// again is chance. docs/budgets.md has the worlds in which they were found, and
// others in which it was tried.
const (
	fewestCalls  = 0.5
	mostCalls    = 1.8
	leastReply   = 0.5
	mostReply    = 4
	promptSpread = 0.15
	replySpread  = 0.1 // of what was measured
	// Of what was measured with the same model in another configuration.
	learnedSpread = 0.4
)

// The time of a call of which nothing was measured: until the first token, and a
// token after it.
const (
	priorStart = time.Second
	priorToken = 20 * time.Millisecond
	timeSpread = 2.5
)

// mostSimulated is the bound of rollouts up to which a run is played in dry runs before it begins: that
// takes about ten seconds and a gigabyte.
const mostSimulated = 300_000

// playedRollouts returns how many rollouts a dry run makes at most, with those that another run has
// paid for.
func playedRollouts(s *session.Session, o train.Options) int {
	o.Earlier = nil
	n := 0
	for _, st := range o.Plan(s.Data.Sizes()) {
		if st.Stage == model.StageRollout {
			n += st.Calls
		}
	}
	return n
}

// Foretell adds a forecast to the plan of a run that is about to begin, as Add does. The run does
// not depend on a forecast: Foretell warns if there is none.
func Foretell(ctx context.Context, s *session.Session, o train.Options, p *result.Plan) {
	if err := Add(ctx, s, o, p); err != nil {
		s.Warn(fmt.Sprintf("there is no forecast of this run: %v", err))
	}
}

// Add adds to a plan what the run will take and what its gate can see.
func Add(ctx context.Context, on *session.Session, o train.Options, p *result.Plan) error {
	s := &forecaster{Session: on}
	known, err := s.earlier(ctx)
	if err != nil {
		return err
	}
	if n := playedRollouts(s.Session, o); n > mostSimulated {
		p.NoForecast = fmt.Sprintf("up to %d rollouts are too many to rehearse (more than %d): the bound is all that is known", n, mostSimulated)
	} else if err = s.add(ctx, o, known, p); err != nil {
		return err
	}
	if o.Gate == gate.ModeOff {
		return nil
	}
	p.Selection, p.Folds = len(s.Data.Selection), s.Data.NumFolds()
	p.Noise, err = KnownNoise(s.Inputs)
	return err
}

// add adds the forecast, which a ceiling of calls holds.
func (s *forecaster) add(ctx context.Context, o train.Options, known measured, p *result.Plan) error {
	f, steps, err := s.forecast(ctx, o, known)
	if err != nil {
		return err
	}
	p.Forecast, p.Steps = f, o.Steps(s.Data.Drawable())
	if calls := s.Config.Limits.Calls; calls != nil && !s.Episodes() {
		capAt(f, float64(*calls))
		p.StepsFit = &steps
		if text := stepsWords(p, *calls); text != "" {
			p.Ceilings = append(p.Ceilings, text)
		}
	}
	return nil
}

// forecast makes three dry runs: as it may be expected to go, with an
// optimizer that helps nothing, and with one whose edits are long and all good. steps is how
// many the first one has made.
func (s *forecaster) forecast(ctx context.Context, o train.Options, known measured) (f *result.Forecast, steps int, err error) {
	solved, edit := priorSolved, priorEdit
	if known.solved != nil {
		solved = *known.solved
	}
	if len(o.Earlier) > 0 {
		solved = s.startScore(solved)
	}
	scenarios := []scenario{{solved: solved, helps: priorHelps, length: edit}, {solved: solved, length: edit}, {solved: solved, helps: 1, length: 2 * edit, again: true}}
	if known.learned.judged >= enoughSeen {
		for _, helps := range otherHelps() {
			scenarios = append(scenarios, scenario{solved: solved, helps: helps, length: edit})
		}
	}
	runs, err := s.dryRuns(ctx, o, scenarios...)
	if err != nil {
		return nil, 0, fmt.Errorf("rehearse the run: %w", err)
	}
	nearest := known.learned.helps(runs)
	runs[0], runs[nearest] = runs[nearest], runs[0]
	f = s.sum(runs, known, !known.whole)
	f.Accuracy = basisAccuracy(f.Basis)
	return f, runs[0].made, nil
}

// startScore returns the score of the skill that a run continues with, as far as its origin has it.
// From there a dry run begins: its edits help nothing in the part that was carried out.
func (s *forecaster) startScore(otherwise float64) float64 {
	h := historyIn(s.Continue.Dir)
	if h == nil || len(h.Steps) == 0 {
		return otherwise
	}
	if last := h.Steps[len(h.Steps)-1]; last.Current != nil {
		return min(1, max(0, *last.Current))
	}
	return otherwise
}

// sum puts dry runs, the first of them the expected one, into calls, tokens, money and time.
// loose: how many calls there are is less certain than they say.
func (s *forecaster) sum(runs []*dryRun, known measured, loose bool) *result.Forecast {
	f := &result.Forecast{Basis: result.Estimated, Learned: known.learned.toResult(runs[0])}
	switch {
	case len(known.stages) > 0:
		f.Basis = result.Measured
	case f.Learned != nil:
		f.Basis = result.LearnedBasis
	}
	keys := map[stageRole]bool{}
	for _, r := range runs {
		for k := range r.tally {
			keys[k] = true
		}
	}
	if known.whole { // it asked what no dryRun did
		for k := range known.stages {
			keys[k] = true
		}
	}
	total := result.Interval{}
	for _, k := range slices.SortedFunc(maps.Keys(keys), func(a, b stageRole) int {
		return cmp.Or(-strings.Compare(a.role, b.role), strings.Compare(a.stage, b.stage))
	}) {
		st := s.forecastStage(k, runs, known)
		if loose {
			spread(&st, fewestCalls, mostCalls)
		}
		f.Stages = append(f.Stages, st)
		f.Calls, f.Input, f.Output = plus(f.Calls, st.Calls), plus(f.Input, st.Input), plus(f.Output, st.Output)
		if st.USD == nil && !s.Simulated() && !slices.Contains(f.Unknown, k.role) {
			f.Unknown = append(f.Unknown, k.role)
		} else if st.USD != nil {
			total = plus(total, *st.USD)
		}
	}
	if len(f.Unknown) == 0 && !s.Simulated() {
		f.USD = &total
	}
	f.TimeS = s.forecastTime(runs[0], known, loose)
	return f
}

func plus(i, j result.Interval) result.Interval {
	return result.Interval{Expected: i.Expected + j.Expected, Low: i.Low + j.Low, High: i.High + j.High}
}

// of spans the results of three dry runs.
func of(runs []*dryRun, figure func(*dryRun) float64) result.Interval {
	out := result.Interval{Expected: figure(runs[0])}
	out.Low, out.High = out.Expected, out.Expected
	for _, r := range runs {
		out.Low, out.High = min(out.Low, figure(r)), max(out.High, figure(r))
	}
	return out
}

// spread widens whatever grows with the number of calls.
func spread(st *result.StageForecast, below, above float64) {
	for _, i := range []*result.Interval{&st.Calls, &st.Input, &st.Output, st.USD} {
		if i != nil {
			*i = widenInterval(*i, below, above)
		}
	}
}

// widenInterval spreads an interval by shares below and above.
func widenInterval(i result.Interval, below, above float64) result.Interval {
	return result.Interval{Expected: i.Expected, Low: i.Low * below, High: i.High * above}
}

// forecastStage puts one stage of the dry runs into tokens and money.
func (s *forecaster) forecastStage(k stageRole, runs []*dryRun, known measured) result.StageForecast {
	calls := of(runs, func(r *dryRun) float64 { return float64(r.tally[k].calls) })
	if t := runs[0].tally[k]; t.episodes > 0 {
		return s.forecastEpisodes(k, runs, known)
	}
	st := result.StageForecast{Stage: k.stage, Role: k.role, Calls: calls}
	m, isKnown := known.stages[k]
	if runs[0].tally[k].blind > 0 && !isKnown {
		return st
	}
	in := func(t tally) float64 { return float64(t.asked) / bytesPerTok }
	out := 1.0 / bytesPerTok
	input := of(runs, func(r *dryRun) float64 { return in(r.tally[k]) })
	st.Input = widenInterval(input, 1-promptSpread, 1+promptSpread)
	st.Output = widenInterval(of(runs, func(r *dryRun) float64 { return out * float64(r.tally[k].said) }), leastReply, mostReply)
	if isKnown {
		if known.whole { // it is the best dryRun
			return s.repeatStage(st, m)
		}
		st.Input = widenInterval(of(runs, func(r *dryRun) float64 { return in(r.tally[k]) * m.ratio(runs[0].tally[k]) }), 1-replySpread, 1+replySpread)
		if runs[0].tally[k].blind > 0 {
			st.Input = widenInterval(of(runs, func(r *dryRun) float64 { return float64(r.tally[k].calls) * m.input }), 1-promptSpread, 1+promptSpread)
		}
		st.Output = widenInterval(of(runs, func(r *dryRun) float64 { return float64(r.tally[k].calls) * m.output }), 1-replySpread, 1+replySpread)
	}
	if each, ok := known.learned.replies[k]; ok && !isKnown && st.Output.High > 0 {
		st.Output = widenInterval(of(runs, func(r *dryRun) float64 { return float64(r.tally[k].calls) * each.output }), 1-learnedSpread, 1+learnedSpread)
	}
	st.USD = s.priceStage(k.role, st)
	return st
}

// repeatStage expects of a stage what it was in a run of the same configuration.
func (s *forecaster) repeatStage(st result.StageForecast, m stageMeasure) result.StageForecast {
	of := func(v float64) result.Interval {
		return result.Interval{Expected: v, Low: min(v, st.Calls.Low/max(1, st.Calls.Expected)*v), High: max(v, st.Calls.High/max(1, st.Calls.Expected)*v)}
	}
	st.Input, st.Output = widenInterval(of(m.calls*m.input), 1-replySpread, 1+replySpread), widenInterval(of(m.calls*m.output), 1-replySpread, 1+replySpread)
	st.Calls = of(m.calls)
	st.USD = s.priceStage(st.Role, st)
	return st
}

// forecastEpisodes relies on what episodes took before: nothing else says how many
// calls they make.
func (s *forecaster) forecastEpisodes(k stageRole, runs []*dryRun, known measured) result.StageForecast {
	n := of(runs, func(r *dryRun) float64 { return float64(r.tally[k].episodes) })
	st := result.StageForecast{Stage: k.stage, Role: k.role, Calls: n, Episodes: true}
	m, ok := known.stages[k]
	if !ok || m.episodes == 0 || m.calls == 0 && m.input+m.output == 0 {
		return st
	}
	times := func(each float64) result.Interval {
		return widenInterval(result.Interval{Expected: n.Expected * each, Low: n.Low * each, High: n.High * each}, 1-promptSpread, 1+promptSpread)
	}
	calls := max(1, m.calls) // that the tokens are means of: of episodes that report a sum, one
	st.Input, st.Output = times(m.input*calls/m.episodes), times(m.output*calls/m.episodes)
	if m.calls > 0 {
		st.Episodes, st.Calls = false, times(m.calls/m.episodes)
	}
	st.USD = s.priceStage(k.role, st)
	return st
}

// priceStage returns what a stage costs; nil: the price is not known. A simulation costs nothing
// that could be known.
func (s *forecaster) priceStage(role string, st result.StageForecast) *result.Interval {
	if !s.Models.Has(role) && (role != model.Judge || s.Models.Load(role) != nil) || s.Models.Of(role).Simulated {
		return nil
	}
	p := s.Models.Role(role).Price
	if p == nil || st.Episodes && p.UpTo > 0 {
		return nil // no one knows how many tokens of a sum were in long prompts
	}
	usd := func(calls, input, output float64) float64 {
		if calls == 0 {
			return 0
		}
		// Prices rise with the length of a prompt: that of the mean call counts.
		each, _ := p.USD(trajectory.Usage{Input: int64(math.Round(1000 * input / calls)), Output: int64(math.Round(1000 * output / calls))})
		if p.UpTo > 0 {
			each, _ = p.USD(trajectory.Usage{Input: int64(input / calls), Output: int64(output / calls)})
			return each * calls
		}
		return each * calls / 1000
	}
	return &result.Interval{
		Expected: usd(st.Calls.Expected, st.Input.Expected, st.Output.Expected),
		Low:      usd(st.Calls.Low, st.Input.Low, st.Output.Low), High: usd(st.Calls.High, st.Input.High, st.Output.High),
	}
}

// forecastTime adds up the phases of a dry run: each takes as long as its calls
// do in parallel, and one call at least. Nil: no one knows how long an episode
// takes before one was made, or how fast a model on this machine is.
func (s *forecaster) forecastTime(r *dryRun, known measured, loose bool) *result.Interval {
	total := time.Duration(0)
	slots := float64(s.Config.Limits.Concurrency)
	spread := 1.0
	for _, phase := range r.phases {
		work, longest, single := time.Duration(0), time.Duration(0), time.Duration(0)
		for k, t := range phase {
			c, ok := s.estimateCall(k, t, known)
			if !ok {
				return nil
			}
			all := time.Duration(max(t.calls, t.episodes)) * c.each
			if c.single {
				single += all
			} else {
				work += all
			}
			spread = max(spread, c.spread)
			longest = max(longest, c.each)
		}
		total += max(longest, single, time.Duration(float64(work)/slots))
	}
	sec := total.Seconds()
	out := result.Interval{Expected: sec, Low: sec / spread, High: sec * spread}
	if loose {
		out = widenInterval(out, fewestCalls, mostCalls)
	}
	return &out
}

// callTime is how long a call takes.
type callTime struct {
	each   time.Duration
	spread float64
	single bool // one is made after the other
}

// estimateCall returns how long a call of a stage takes, or an episode; false if no one knows.
func (s *forecaster) estimateCall(k stageRole, t tally, known measured) (callTime, bool) {
	n := float64(max(1, t.calls, t.episodes))
	said, asked := float64(t.said)/bytesPerTok/n, float64(t.asked)/bytesPerTok/n
	m, ok := known.stages[k]
	switch speed := s.speeds[k.role]; {
	case ok && t.episodes > 0 && m.calls > 0: // one call of it after the other
		return callTime{each: time.Duration(float64(m.took) * m.calls / m.episodes), spread: timeSpread}, true
	case t.episodes > 0:
		return callTime{}, false
	case ok:
		return callTime{each: m.took, spread: 1 + 2*promptSpread}, true
	case known.learned.replies[k].took > 0:
		return callTime{each: known.learned.replies[k].took, spread: 1 + learnedSpread}, true
	case speed != nil:
		return callTime{each: time.Duration((asked/speed.Input + said/speed.Output) * float64(time.Second)), spread: timeSpread, single: true}, true
	case s.Models.Of(k.role).Local:
		return callTime{}, false
	}
	return callTime{each: priorStart + time.Duration(said*float64(priorToken)), spread: timeSpread}, true
}
