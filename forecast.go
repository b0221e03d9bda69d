package skillopt

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/internal/userfile"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Interval is an expected number and what it will probably lie between.
type Interval struct {
	Expected float64 `json:"expected"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
}

// Forecast is what a whole run is expected to take, what is spent already included.
type Forecast struct {
	Calls  Interval        `json:"calls"`
	Input  Interval        `json:"input_tokens"`
	Output Interval        `json:"output_tokens"`
	USD    *Interval       `json:"cost_usd"` // null: unknown
	TimeS  *Interval       `json:"time_s"`   // at the configured limits; null: unknown, as long as no episode was made
	Stages []StageForecast `json:"stages"`   // sorted by role and stage

	// Unknown are the roles whose tokens (of and about episodes) or prices nobody knows. What
	// they take is in no sum: with one, Calls counts episodes as one call each.
	Unknown []string `json:"unknown,omitempty"`
	// Basis says what the figures rest on: "estimated" (prompts as they will be,
	// replies of a usual length), "learned" (the same, and what runs of other
	// configurations tell) or "measured" (the record of this run or an earlier one of the
	// same configuration).
	Basis   string   `json:"basis"`
	Learned *Learned `json:"learned,omitempty"` // of basis "learned" only
	// Accuracy is how forecasts with this basis did when they were tried; null: it was not.
	Accuracy *Accuracy `json:"accuracy"`
}

// Learned says what a forecast took from finished runs of other configurations in the same
// folder, all with the same models.
type Learned struct {
	Runs     []string `json:"runs"`               // that were read, the newest first
	Replies  []string `json:"replies"`            // role and stage whose tokens of a reply are theirs
	Judged   int      `json:"judged,omitempty"`   // candidates; with few of them nothing is taken of it
	Survived int      `json:"survived,omitempty"` // those that were accepted
}

// Accuracy is in how many of the simulated configurations in which forecasts were tried
// the expected number was within 20 % of what the run took. docs/budgets.md has the command.
type Accuracy struct {
	Tried  int `json:"tried"`
	Calls  int `json:"calls"`
	Input  int `json:"input_tokens"`
	Output int `json:"output_tokens"`
}

// StageForecast is the part of one stage and role.
type StageForecast struct {
	Stage    string    `json:"stage"`
	Role     string    `json:"role"`
	Calls    Interval  `json:"calls"`
	Episodes bool      `json:"episodes,omitempty"` // calls are episodes, whose model calls nobody knows
	Input    Interval  `json:"input_tokens"`
	Output   Interval  `json:"output_tokens"`
	USD      *Interval `json:"cost_usd"` // null: unknown
}

// Bases of a forecast.
const (
	Estimated    = "estimated"
	LearnedBasis = "learned"
	Measured     = "measured"
)

// accuracyOf is what bench/forecast.py found; docs/budgets.md has all of it.
func accuracyOf(basis string) *Accuracy {
	switch basis {
	case Estimated:
		return &Accuracy{Tried: 40, Calls: 33, Input: 20, Output: 1}
	case LearnedBasis:
		return &Accuracy{Tried: 40, Calls: 32, Input: 21, Output: 27}
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

// PlanTraining forecasts a training run. Nothing is sent, and no run is begun. The
// error is an *Error.
func PlanTraining(ctx context.Context, cfg Config, opts ...Option) (Plan, error) {
	s, err := prepare(ctx, cfg, opts, model.Target, model.Optimizer)
	if err == nil {
		err = errors.Join(s.doubts(s.fork != "" || s.runDir != "" && begun(s.runDir)), s.requireSplits())
	}
	if err != nil {
		return Plan{}, classify(err, "")
	}
	defer s.closeModels()
	begins := s.decideStart()
	s.start = &begins
	o := s.trainOptions()
	p := s.plan(o)
	if reads, err := s.testReads(ctx); o.Test && len(s.data.Test) > 0 {
		if err != nil {
			return Plan{}, classify(err, "")
		}
		p.TestReadBefore = &reads
		if reads.Unknown == "" {
			level := gate.LevelOf(o.Alpha, reads.Times+1)
			p.CertificateLevel = &level
		}
	}
	known, err := s.earlier(ctx)
	if err == nil {
		err = s.foresee(ctx, o, &p, known)
	}
	return p, classify(err, "")
}

// mostRehearsed is the bound of rollouts up to which a run is rehearsed before it begins: that
// takes about ten seconds and a gigabyte.
const mostRehearsed = 300_000

// rolloutsOf is how many a plan has at most.
func rolloutsOf(p *Plan) int {
	n := 0
	for _, st := range p.Stages {
		if st.Stage == model.StageRollout {
			n += st.Calls
		}
	}
	return n
}

// foretell is foresee for a run that is about to begin: it does not depend on a
// forecast, and says if there is none.
func (s *setup) foretell(ctx context.Context, o train.Options, p *Plan) {
	known, err := s.earlier(ctx)
	if err == nil {
		err = s.foresee(ctx, o, p, known)
	}
	if err != nil {
		s.warnings = append(s.warnings, fmt.Sprintf("there is no forecast of this run: %v", err))
	}
}

// foresee adds to a plan what the run will take and what its gate can see.
func (s *setup) foresee(ctx context.Context, o train.Options, p *Plan, known measured) (err error) {
	if n := rolloutsOf(p); n > mostRehearsed {
		p.NoForecast = fmt.Sprintf("up to %d rollouts are too many to rehearse (more than %d): the bound is all that is known", n, mostRehearsed)
	} else if p.Forecast, err = s.forecast(ctx, o, known); err != nil {
		return err
	}
	if o.Gate == "off" {
		return nil
	}
	p.Selection, p.Folds = len(s.data.Selection), s.data.NumFolds()
	p.Noise, err = s.knownNoise()
	return err
}

func (s *setup) closeModels() {
	for _, b := range s.models {
		if b.Close != nil {
			_ = b.Close() // nothing was asked of it
		}
	}
}

// plan is the upper bound of a run.
func (s *setup) plan(o train.Options) Plan {
	p := Plan{
		Stages:    o.Plan(s.data.Sizes()),
		Simulated: s.simulated(),
	}
	p.Unreviewed = s.set.Unreviewed()
	s.bound(&p, s.set.Tasks())
	return p
}

// bound completes the stages of a plan over tasks: the questions to judges, and the
// sums.
func (s *setup) bound(p *Plan, tasks []task.Task) {
	most := 0
	if s.scorer == nil && s.env == nil {
		for _, t := range tasks {
			most = max(most, s.suite.Questions(t))
		}
	}
	for _, st := range slices.Clone(p.Stages) {
		p.Total += st.Calls
		if st.Stage != model.StageRollout {
			continue
		}
		if s.episodes() {
			p.Episodes += st.Calls
		}
		if most > 0 {
			p.Total += most * st.Calls
			p.Stages = append(p.Stages, train.StageCalls{Stage: model.StageJudge, Calls: most * st.Calls})
		}
	}
}

// bounded is the plan of a number of rollouts over splits.
func (s *setup) bounded(rollouts int, splits ...task.Split) Plan {
	p := Plan{Simulated: s.simulated(), Unreviewed: s.unreviewed(splits), Stages: []train.StageCalls{{Stage: model.StageRollout, Calls: rollouts}}}
	var tasks []task.Task
	for _, split := range splits {
		tasks = append(tasks, s.set.Split(split)...)
	}
	s.bound(&p, tasks)
	return p
}

// forecast rehearses the run three times: as it may be expected to go, with an
// optimizer that helps nothing, and with one whose edits are long and all good.
func (s *setup) forecast(ctx context.Context, o train.Options, known measured) (*Forecast, error) {
	solved, edit := priorSolved, priorEdit
	if known.solved != nil {
		solved = *known.solved
	}
	stories := []story{{solved, priorHelps, edit}, {solved, 0, edit}, {solved, 1, 2 * edit}}
	if known.learned.judged >= enoughSeen {
		for _, helps := range otherHelps() {
			stories = append(stories, story{solved, helps, edit})
		}
	}
	runs, err := s.rehearsals(ctx, o, stories...)
	if err != nil {
		return nil, fmt.Errorf("rehearse the run: %w", err)
	}
	nearest := known.learned.helps(runs)
	runs[0], runs[nearest] = runs[nearest], runs[0]
	f := &Forecast{Basis: Estimated, Learned: known.learned.told(runs[0])}
	switch {
	case len(known.stages) > 0:
		f.Basis = Measured
	case f.Learned != nil:
		f.Basis = LearnedBasis
	}
	f.Accuracy = accuracyOf(f.Basis)
	keys := map[stageRole]bool{}
	for _, r := range runs {
		for k := range r.tally {
			keys[k] = true
		}
	}
	if known.whole { // it asked what no rehearsal did
		for k := range known.stages {
			keys[k] = true
		}
	}
	total := Interval{}
	for _, k := range slices.SortedFunc(maps.Keys(keys), func(a, b stageRole) int {
		return cmp.Or(-strings.Compare(a.role, b.role), strings.Compare(a.stage, b.stage))
	}) {
		st := s.forecastStage(k, runs, known)
		if !known.whole {
			st.spread(fewestCalls, mostCalls)
		}
		f.Stages = append(f.Stages, st)
		f.Calls, f.Input, f.Output = f.Calls.plus(st.Calls), f.Input.plus(st.Input), f.Output.plus(st.Output)
		if st.USD == nil && !s.simulated() && !slices.Contains(f.Unknown, k.role) {
			f.Unknown = append(f.Unknown, k.role)
		} else if st.USD != nil {
			total = total.plus(*st.USD)
		}
	}
	if len(f.Unknown) == 0 && !s.simulated() {
		f.USD = &total
	}
	f.TimeS = s.forecastTime(runs[0], known)
	return f, nil
}

func (i Interval) plus(j Interval) Interval {
	return Interval{i.Expected + j.Expected, i.Low + j.Low, i.High + j.High}
}

// of spans what three rehearsals came to.
func of(runs []*rehearsal, figure func(*rehearsal) float64) Interval {
	out := Interval{Expected: figure(runs[0])}
	out.Low, out.High = out.Expected, out.Expected
	for _, r := range runs {
		out.Low, out.High = min(out.Low, figure(r)), max(out.High, figure(r))
	}
	return out
}

// spread widens whatever grows with the number of calls.
func (st *StageForecast) spread(below, above float64) {
	for _, i := range []*Interval{&st.Calls, &st.Input, &st.Output, st.USD} {
		if i != nil {
			*i = i.widened(below, above)
		}
	}
}

// widened spreads an interval by shares below and above.
func (i Interval) widened(below, above float64) Interval {
	return Interval{i.Expected, i.Low * below, i.High * above}
}

// forecastStage puts one stage of the rehearsals into tokens and money.
func (s *setup) forecastStage(k stageRole, runs []*rehearsal, known measured) StageForecast {
	calls := of(runs, func(r *rehearsal) float64 { return float64(r.tally[k].calls) })
	if t := runs[0].tally[k]; t.episodes > 0 {
		return s.forecastEpisodes(k, runs, known)
	}
	st := StageForecast{Stage: k.stage, Role: k.role, Calls: calls}
	m, isKnown := known.stages[k]
	if runs[0].tally[k].blind > 0 && !isKnown {
		return st
	}
	in := func(t tally) float64 { return float64(t.asked) / bytesPerTok }
	out := 1.0 / bytesPerTok
	input := of(runs, func(r *rehearsal) float64 { return in(r.tally[k]) })
	st.Input = input.widened(1-promptSpread, 1+promptSpread)
	st.Output = of(runs, func(r *rehearsal) float64 { return out * float64(r.tally[k].said) }).widened(leastReply, mostReply)
	if isKnown {
		if known.whole { // it is the best rehearsal
			return s.repeated(st, m)
		}
		st.Input = of(runs, func(r *rehearsal) float64 { return in(r.tally[k]) * m.ratio(runs[0].tally[k]) }).widened(1-replySpread, 1+replySpread)
		if runs[0].tally[k].blind > 0 {
			st.Input = of(runs, func(r *rehearsal) float64 { return float64(r.tally[k].calls) * m.input }).widened(1-promptSpread, 1+promptSpread)
		}
		st.Output = of(runs, func(r *rehearsal) float64 { return float64(r.tally[k].calls) * m.output }).widened(1-replySpread, 1+replySpread)
	}
	if each, ok := known.learned.replies[k]; ok && !isKnown {
		st.Output = of(runs, func(r *rehearsal) float64 { return float64(r.tally[k].calls) * each.output }).widened(1-learnedSpread, 1+learnedSpread)
	}
	st.USD = s.priceOf(k.role, st)
	return st
}

// repeated expects of a stage what it was in a run of the same configuration.
func (s *setup) repeated(st StageForecast, m stageMeasure) StageForecast {
	of := func(v float64) Interval {
		return Interval{v, min(v, st.Calls.Low/max(1, st.Calls.Expected)*v), max(v, st.Calls.High/max(1, st.Calls.Expected)*v)}
	}
	st.Input, st.Output = of(m.calls*m.input).widened(1-replySpread, 1+replySpread), of(m.calls*m.output).widened(1-replySpread, 1+replySpread)
	st.Calls = of(m.calls)
	st.USD = s.priceOf(st.Role, st)
	return st
}

// forecastEpisodes goes by what episodes took before: nothing else tells how many
// calls they make.
func (s *setup) forecastEpisodes(k stageRole, runs []*rehearsal, known measured) StageForecast {
	n := of(runs, func(r *rehearsal) float64 { return float64(r.tally[k].episodes) })
	st := StageForecast{Stage: k.stage, Role: k.role, Calls: n, Episodes: true}
	m, ok := known.stages[k]
	if !ok || m.episodes == 0 || m.calls == 0 && m.input+m.output == 0 {
		return st
	}
	times := func(each float64) Interval {
		return Interval{n.Expected * each, n.Low * each, n.High * each}.widened(1-promptSpread, 1+promptSpread)
	}
	calls := max(1, m.calls) // that the tokens are means of: of episodes that report a sum, one
	st.Input, st.Output = times(m.input*calls/m.episodes), times(m.output*calls/m.episodes)
	if m.calls > 0 {
		st.Episodes, st.Calls = false, times(m.calls/m.episodes)
	}
	st.USD = s.priceOf(k.role, st)
	return st
}

// priceOf is what a stage costs; nil: nobody knows. A simulation costs nothing
// that could be known.
func (s *setup) priceOf(role string, st StageForecast) *Interval {
	b, ok := s.models[role]
	if !ok && role == model.Judge && s.loadModel(role) == nil {
		b, ok = s.models[role]
	}
	if !ok || b.Simulated {
		return nil
	}
	p := s.role(role, b).Price
	if p == nil || st.Episodes && p.UpTo > 0 {
		return nil // of a sum of tokens nobody knows how many stood in long prompts
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
	return &Interval{
		usd(st.Calls.Expected, st.Input.Expected, st.Output.Expected),
		usd(st.Calls.Low, st.Input.Low, st.Output.Low), usd(st.Calls.High, st.Input.High, st.Output.High),
	}
}

// forecastTime adds up the phases of a rehearsal: each takes as long as its calls
// do beside each other, and one call at least. Nil: nobody knows how long an episode
// takes before one was made.
func (s *setup) forecastTime(r *rehearsal, known measured) *Interval {
	total := time.Duration(0)
	slots := float64(s.cfg.Limits.Concurrency)
	spread := 1.0
	for _, phase := range r.phases {
		work, longest := time.Duration(0), time.Duration(0)
		for k, t := range phase {
			n := max(t.calls, t.episodes)
			each, off := priorStart+time.Duration(float64(t.said)/bytesPerTok/float64(max(1, n))*float64(priorToken)), timeSpread
			m, ok := known.stages[k]
			switch {
			case ok && t.episodes > 0 && m.calls > 0: // one call of it after the other
				each = time.Duration(float64(m.took) * m.calls / m.episodes)
			case t.episodes > 0:
				return nil
			case ok:
				each, off = m.took, 1+2*promptSpread
			}
			spread = max(spread, off)
			work += time.Duration(n) * each
			longest = max(longest, each)
		}
		total += max(longest, time.Duration(float64(work)/slots))
	}
	sec := total.Seconds()
	out := Interval{sec, sec / spread, sec * spread}
	if !known.whole {
		out = out.widened(fewestCalls, mostCalls)
	}
	return &out
}

// measured is what a record tells of calls to come.
type measured struct {
	stages map[stageRole]stageMeasure
	solved *float64 // share of the selection tasks that the seed skill solves
	whole  bool     // a run that came to its end, and paid for all of it

	learned learned // of other configurations, where nothing of this one is known
}

// stageMeasure are means by call, and the calls and episodes that they are of.
type stageMeasure struct {
	calls, episodes float64
	input, output   float64 // tokens a call
	seedInput       float64 // of prompts with the seed skill, 0 if there were none
	took            time.Duration
}

// ratio compares the prompts that were measured with those of a rehearsal. Where
// only those with the seed skill can be compared, they are.
func (m stageMeasure) ratio(t tally) float64 {
	switch {
	case m.seedInput > 0 && t.seed > 0:
		return m.seedInput / (float64(t.seedText) / float64(t.seed) / bytesPerTok)
	case m.input > 0 && t.calls > 0:
		return m.input / (float64(t.asked) / float64(t.calls) / bytesPerTok)
	}
	return 1
}

// measure reads what a record tells. The scores of the seed skill stand in the
// history of its run.
func measure(ctx context.Context, j *journal.Journal, h *train.History) (measured, error) {
	m := measured{stages: map[stageRole]stageMeasure{}}
	inherited := int64(0)
	for _, t := range j.Totals() {
		inherited += t.Inherited
		if t.Calls+t.Episodes == 0 {
			continue
		}
		n := float64(max(1, t.Calls))
		m.stages[stageRole{t.Stage, t.Role}] = stageMeasure{
			calls: float64(t.Calls), episodes: float64(t.Episodes), input: float64(t.Usage.Input) / n, output: float64(t.Usage.Output) / n,
			took: t.Took / time.Duration(max(1, t.Calls)),
		}
	}
	if err := m.seedPrompts(ctx, j); err != nil {
		return m, err
	}
	if h != nil && len(h.Steps) > 0 {
		m.solved = h.Steps[0].SelectionHard
		m.whole = h.Final != nil && !h.Final.EndedEarly && inherited == 0 // a fork paid for a part alone
	}
	return m, nil
}

func (m measured) seedPrompts(ctx context.Context, j *journal.Journal) error {
	n, sum := 0.0, 0.0
	for r, err := range j.Results(ctx, 0) {
		if err != nil {
			return err
		}
		if r.Kind == journal.Call && strings.HasPrefix(r.Key, seedPlace+"/") && r.Stage == model.StageRollout {
			n, sum = n+1, sum+float64(r.Usage.Input)
		}
	}
	k := stageRole{model.StageRollout, model.Target}
	if st, ok := m.stages[k]; ok && n > 0 {
		st.seedInput = sum / n
		m.stages[k] = st
	}
	return nil
}

// earlier is what the newest run of this configuration measured, if there is one, or else
// what runs of others tell.
func (s *setup) earlier(ctx context.Context) (measured, error) {
	id, err := s.identity()
	if err != nil {
		return measured{}, err
	}
	dir := s.cfg.Run.Dir
	if s.runDir != "" {
		dir = filepath.Dir(s.runDir)
	}
	entries, err := run.List(dir)
	if err != nil {
		return measured{}, err
	}
	for _, e := range slices.Backward(entries) {
		if e.Err == nil && len(config.Changes(e.Manifest.Identity, id)) == 0 {
			if m, err := measuredIn(ctx, e.Dir); err != nil || len(m.stages) > 0 {
				return m, err
			}
			break
		}
	}
	l, err := s.learn(ctx, dir, id)
	return measured{learned: l}, err
}

// measuredIn reads the record of a run beside whoever has it open. One that cannot
// be read tells nothing.
func measuredIn(ctx context.Context, dir string) (m measured, err error) {
	j, err := journal.Open(ctx, filepath.Join(dir, run.DBFile), journal.Options{ReadOnly: true})
	if err != nil {
		return measured{}, nil
	}
	if m, err = measure(ctx, j, historyIn(dir)); err != nil {
		m = measured{} // it tells nothing
	}
	return m, j.Close()
}

// maxProjection is how many bytes are read of a file that is written from a record.
const maxProjection = 1 << 30

// historyIn is what the run in dir has decided so far, nil if nothing is known.
func historyIn(dir string) *train.History {
	data, err := userfile.Read(context.Background(), filepath.Join(dir, run.HistoryFile), maxProjection)
	var h train.History
	if err != nil || json.Unmarshal(data, &h) != nil {
		return nil
	}
	return &h
}
