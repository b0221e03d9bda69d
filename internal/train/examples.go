package train

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Worked examples are candidates that no model writes: the skill with a section of train
// tasks and their answers. In the first step a few draws are compared on train tasks that
// none of them contains, and the best one meets the gate before anything is rolled out: if
// it is accepted, that is the step. If it is rejected it meets the gate again, in the
// first step that gains nothing after the skill has changed.

// Examples says how worked examples are tried. The zero value: they are not.
type Examples struct {
	Sizes    []int // how many examples a draw holds, the most promising first
	Rollouts int   // of train tasks, by which draws are compared, at most
}

const (
	examplesPart = "examples" // of keys
	// ExamplesMark is in the keys of what worked examples take, and in no others.
	ExamplesMark = "/" + examplesPart + "/"
)

// exampleStage draws worked examples. It changes no skill.
type exampleStage struct {
	opts     Options
	data     Data
	rollouts *rollouts
	skills   *skills
	pacer    *pacer
	emit     event.Sink

	kinds    map[string]string
	answered map[string]trajectory.Outcome // the last of each train task
	compared bool                          // draws were, or there is nothing to compare
	rejected draw                          // that may meet the gate again
	against  skill.Skill                   // that it was compared with
}

func newExampleStage(o Options, d Deps, r *rollouts, s *skills, p *pacer) *exampleStage {
	return &exampleStage{
		opts: o, data: d.Data, rollouts: r, skills: s, pacer: p, emit: d.Events,
		kinds: taskKinds(slices.Concat(d.Data.Train, d.Data.Selection)), answered: map[string]trajectory.Outcome{},
	}
}

// applies reports whether worked examples are tried at all.
func (x *exampleStage) applies() bool {
	return len(x.opts.Examples.Sizes) > 0 && x.opts.Gate != gate.ModeOff && x.data.Example != nil
}

// saw keeps the outcomes of train tasks.
func (x *exampleStage) saw(outcomes []trajectory.Outcome) {
	for _, o := range outcomes {
		if x.applies() && o.Status.Measured() {
			x.answered[o.ID] = o
		}
	}
}

// waits reports whether a draw may still meet the gate.
func (x *exampleStage) waits() bool {
	return len(x.rejected.tasks) > 0 || x.applies() && !x.compared
}

// choose returns the draw that is to meet the gate in a step, nil if none is. The record says
// why. Where the first step has too few tasks with an answer, the second one has replies too.
func (x *exampleStage) choose(ctx context.Context, id stepID) (*result.ExamplesRecord, *draw, error) {
	if !x.applies() || x.compared {
		return nil, nil, nil
	}
	if x.compared = id.number > 1; !x.compared && !x.opts.Alone && x.seesRefusals() {
		return nil, nil, nil // a task that is refused would have each request refused that shows it
	}
	prefix := id.key() + "/" + examplesPart
	rollouts, err := x.pacer.examples(ctx, prefix, Unit{Name: UnitExamples, Step: id.number, Tasks: x.opts.Examples.Rollouts})
	if err != nil || rollouts == 0 {
		return nil, nil, err
	}
	held, pool, rounds := x.share(rollouts)
	if len(pool) < leastPool {
		return nil, nil, nil
	}
	x.compared = true
	draws := newDraws(pool, x.opts.Examples.Sizes, rounds[0].field, x.failureRates(), x.opts.Seed)
	r := &result.ExamplesRecord{}
	for _, d := range draws {
		r.Draws = append(r.Draws, result.ExampleDraw{Order: d.order, Tasks: d.ids()})
	}
	best, err := x.compare(ctx, prefix, r, draws, held, rounds)
	if err != nil {
		return r, nil, err
	}
	if r.Reason = x.doubt(r.Draws[best]); r.Reason != "" {
		return r, nil, nil
	}
	room, err := x.pacer.roomFor(ctx, prefix, Unit{Name: UnitExamplesGate, Step: id.number, Tasks: 1})
	if err != nil || !room {
		r.Reason = "no ceiling has room for the gate"
		return r, nil, err
	}
	r.Chosen = best + 1
	return r, &draws[best], nil
}

// seesRefusals reports whether the current skill left a selection task unanswered.
func (x *exampleStage) seesRefusals() bool {
	return slices.ContainsFunc(x.skills.current.outcomes, func(o trajectory.Outcome) bool { return o.Unanswered() != "" })
}

// takeRejected returns the rejected draw, nil if it is not to meet the gate in this step. It is
// returned once.
func (x *exampleStage) takeRejected() *draw {
	if len(x.rejected.tasks) == 0 || x.against.Equal(x.skills.current.skill) {
		return nil
	}
	d := x.rejected
	x.rejected = draw{}
	return &d
}

// share parts the train tasks into those by which draws are compared and those from which
// they are drawn. What equals or resembles one of the first, or a task of another split, is
// in neither.
func (x *exampleStage) share(rollouts int) (held []task.Task, pool []shown, rounds []round) {
	mixed := slices.Clone(x.data.Train)
	random := rand.New(rand.NewPCG(uint64(x.opts.Seed), 1))
	random.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
	rounds = halvings(rollouts, max(0, min(len(mixed)/2, len(mixed)-leastPool)))
	if len(rounds) == 0 {
		return nil, nil, nil
	}
	n := 0
	for _, r := range rounds {
		n += r.tasks
	}
	held = mixed[:n]
	onlyAnswered := !x.opts.Alone && x.seesRefusals()
	short := map[string]shown{}
	for _, t := range mixed[n:] {
		if s, ok := x.show(t, onlyAnswered); ok {
			short[t.ID] = s
		}
	}
	if len(short) < leastPool {
		return held, nil, rounds
	}
	taken := newSimilarTasks(x.data.Example)
	for _, t := range slices.Concat(x.data.Selection, x.data.Test, held) {
		taken.add(t)
	}
	for _, t := range mixed[n:] {
		if s, ok := short[t.ID]; ok && !taken.has(t) {
			taken.add(t)
			pool = append(pool, s)
		}
	}
	return held, pool, rounds
}

// show returns a train task as an example: with its expected answer, else with a reply that
// solved it. ok is false if it has neither, is too long, or was refused or, with onlyAnswered,
// may be.
func (x *exampleStage) show(t task.Task, onlyAnswered bool) (s shown, ok bool) {
	e, ok := x.data.Example(t)
	last, known := x.answered[t.ID]
	if known && last.Unanswered() != "" || !known && onlyAnswered {
		return s, false
	}
	if solved := known && last.Hard >= 1; e.Answer == "" && solved && len(last.Trajectory) > 0 {
		e.Answer = last.Trajectory[len(last.Trajectory)-1].Content
	}
	s = shown{id: t.ID, kind: x.kinds[t.ID], failed: known && last.Hard < 1, example: e}
	return s, ok && e.Answer != "" && len(e.Task) <= longestExample && len(e.Text()) <= longestExample
}

// failureRates returns how often the current skill fails selection tasks, by kind.
func (x *exampleStage) failureRates() map[string]float64 {
	sum, n := map[string]float64{}, map[string]float64{}
	e := x.skills.entry(&x.skills.current)
	for i, t := range x.data.Selection {
		if p := e.Pooled[i]; p.N > 0 {
			kind := x.kinds[t.ID]
			sum[kind], n[kind] = sum[kind]+1-p.Mean(), n[kind]+1
		}
	}
	for kind := range sum {
		sum[kind] /= n[kind]
	}
	return sum
}

// compare asks draws the same train tasks, halves the field after each round, and returns
// the index of the last one.
func (x *exampleStage) compare(ctx context.Context, prefix string, r *result.ExamplesRecord, draws []draw, held []task.Task, rounds []round) (best int, err error) {
	field := make([]int, len(draws))
	for i := range field {
		field[i] = i
	}
	sums, n := make([]float64, len(draws)), 0.0
	for i, round := range rounds {
		scores, err := x.ask(ctx, fmt.Sprintf("%s/round%d", prefix, i+1), field, draws, held[:round.tasks])
		if err != nil {
			return 0, err
		}
		held = held[round.tasks:]
		for _, of := range scores {
			n++
			for k, score := range of {
				sums[field[k]] += score
			}
		}
		for _, d := range field {
			if n > 0 {
				mean := sums[d] / n
				r.Draws[d].Score, r.Draws[d].N = &mean, int(n)
			}
		}
		slices.SortStableFunc(field, func(a, b int) int { return compareMeans(sums[b], sums[a]) })
		field = slices.Clone(field[:(len(field)+1)/2])
	}
	return field[0], nil
}

// ask makes a round of rollouts under prefix. It returns the scores of the draws of the field on each
// task that could be measured with all of them.
func (x *exampleStage) ask(ctx context.Context, prefix string, field []int, draws []draw, tasks []task.Task) ([][]float64, error) {
	x.emit(event.StageStarted{Stage: "worked examples", Total: len(field) * len(tasks)})
	scores := make([][]float64, len(tasks))
	for _, d := range field {
		set := rolloutSet{
			rollout.Place{Prefix: fmt.Sprintf("%s/draw%d", prefix, d+1)}, tasks, x.apply(draws[d]),
		}
		out, err := x.rollouts.batch(ctx, examplesPart, set)
		if err != nil {
			return nil, err
		}
		if _, err := x.rollouts.giveUpMissing(ctx, set, out); err != nil {
			return nil, err
		}
		for i, o := range out {
			if o.Status.Measured() {
				scores[i] = append(scores[i], outcomeScore(x.opts.Projection, o))
			}
		}
	}
	return slices.DeleteFunc(scores, func(of []float64) bool { return len(of) < len(field) }), nil
}

// doubt returns why a draw does not meet the gate, "" if it does: its mean has to be two
// standard errors above that of the current skill on the selection tasks, since of several
// draws the best is above it by chance too often. Without an optimizer nothing else needs the
// calls of the gate, and any mean above it will do.
func (x *exampleStage) doubt(d result.ExampleDraw) string {
	before := x.skills.entry(&x.skills.current).metric()
	if d.Score == nil || before == nil {
		return "no draw could be measured"
	}
	if x.opts.Alone && *d.Score <= *before {
		return fmt.Sprintf("on %d train tasks the best draw scored %.3f, the skill without examples %.3f", d.N, *d.Score, *before)
	}
	n := float64(d.N)
	p := (*d.Score*n + 0.5) / (n + 1) // so that a mean of 0 or 1 has an error too
	if least := *before + 2*math.Sqrt(p*(1-p)/n); !x.opts.Alone && *d.Score < least {
		return fmt.Sprintf("on %d train tasks the best draw scored %.3f, and %.3f is needed: two standard errors above the skill without examples", d.N, *d.Score, least)
	}
	return ""
}

// apply returns the current skill with a draw.
func (x *exampleStage) apply(d draw) skill.Skill {
	return x.skills.current.skill.WithExamples(d.examples())
}

// similarTasks finds tasks that ask the same or almost the same.
type similarTasks struct {
	asked  func(task.Task) (skill.Example, bool)
	texts  map[string]bool
	groups map[string]bool
}

func newSimilarTasks(asked func(task.Task) (skill.Example, bool)) *similarTasks {
	return &similarTasks{asked: asked, texts: map[string]bool{}, groups: map[string]bool{}}
}

func (s *similarTasks) add(t task.Task) {
	if e, ok := s.asked(t); ok {
		s.texts[taskText(e)] = true
	}
	if t.Kin != nil && t.Kin.Group != "" {
		s.groups[t.Kin.Group] = true
	}
}

func (s *similarTasks) has(t task.Task) bool {
	e, ok := s.asked(t)
	return ok && s.texts[taskText(e)] || t.Kin != nil && s.groups[t.Kin.Group]
}

// taskText returns a task as an example has it, in which characters without a width are no
// difference.
func taskText(e skill.Example) string { return skill.Example{Task: e.Task}.Text() }

// ShownBy returns the ids of those tasks that a skill shows as worked examples.
func (d Data) ShownBy(s skill.Skill, tasks []task.Task) []string {
	kept := map[string]bool{}
	for _, t := range d.Unshown(tasks, s) {
		kept[t.ID] = true
	}
	return slices.DeleteFunc(taskIDs(tasks), func(id string) bool { return kept[id] })
}

// Unshown returns the tasks that a skill does not show as worked examples.
func (d Data) Unshown(tasks []task.Task, s skill.Skill) []task.Task {
	if d.Example == nil || skill.ExampleRanges(s.Text()) == nil {
		return tasks
	}
	shows := skill.Shows(s.Text())
	return slices.DeleteFunc(slices.Clone(tasks), func(t task.Task) bool {
		e, ok := d.Example(t)
		return ok && shows(e.Task)
	})
}

// examples asks for how many rollouts there is room to compare worked examples, and records it.
func (p *pacer) examples(ctx context.Context, prefix string, unit Unit) (int, error) {
	key := prefix + sizeSuffix
	data, err := p.record.Decision(ctx, key, func() ([]byte, error) {
		n, err := p.admit(unit)
		if err != nil {
			return nil, err
		}
		return json.Marshal(stepSize{n})
	})
	if err != nil {
		return 0, err
	}
	var size stepSize
	if err := json.Unmarshal(data, &size); err != nil {
		return 0, fmt.Errorf("read the recorded decision %s: %w", key, err)
	}
	return size.Tasks, nil
}

// firstExamples has the gate judge worked examples before anything else of the first step.
// Nil: there are none. Without a verdict the result holds the record alone.
func (s *stepper) firstExamples(ctx context.Context, id stepID) (*proposal, error) {
	record, d, err := s.examples.choose(ctx, id)
	if err != nil || record == nil {
		return nil, err
	}
	p := s.newShown(id, id.key()+"/"+examplesPart, d)
	p.record.Examples = record
	if d == nil {
		return p, nil
	}
	next := s.prefetch.next
	s.prefetch.next = nil // if it is rejected the step continues
	err = s.judgeShown(ctx, id, p)
	s.prefetch.next = next
	if !p.isAccepted() {
		s.examples.rejected, s.examples.against = *d, s.skills.current.skill
		return p, err
	}
	s.skills.adopt(p.judged, p.verdict)
	return s.closeShown(id, p), err
}

// closeShown makes a candidate with worked examples the only one of its step. Nil: there was
// none.
func (s *stepper) closeShown(id stepID, p *proposal) *proposal {
	if p == nil {
		p = s.newShown(id, id.key(), nil)
		p.skip(result.ActionNoPatches, fmt.Sprintf("fewer than %d train tasks can be worked examples", leastPool))
	}
	r := &p.record
	r.Step, r.Epoch, r.StepInEpoch, r.Metric = id.number, id.epoch, id.inEpoch, string(s.opts.Projection.Metric)
	if r.Action == "" {
		p.skip(result.ActionNoGain, r.Examples.Reason)
	}
	if p.weighed {
		c := *p
		c.files = nil
		p.prefix = id.key()
		p.include(&c, p.isAccepted())
	}
	return p
}

// newShown returns the candidate with a draw.
func (s *stepper) newShown(id stepID, prefix string, d *draw) *proposal {
	p := &proposal{index: 1, prefix: prefix, label: ", worked examples", files: map[string]any{}}
	if d != nil {
		p.shown, p.candidate = len(d.tasks), s.examples.apply(*d)
	}
	return p
}

// judgeShown has the gate judge a candidate with worked examples.
func (s *stepper) judgeShown(ctx context.Context, id stepID, p *proposal) error {
	if len(p.candidate.Text()) > skill.MaxBytes {
		p.skip(result.ActionRefused, "the skill would be too long")
		return nil
	}
	if err := s.candidates(id, stepResult{&batch{step: id}, p}).weigh(ctx, p); err != nil {
		return err
	}
	p.record.Reason = fmt.Sprintf("with %s: %s", wording.Plural(p.shown, "worked example", "worked examples"), p.record.Reason)
	s.emit(event.CandidateJudged{
		Epoch: id.epoch, Step: id.number, Candidate: p.index, Action: p.record.Action, Score: p.record.Candidate, Difference: p.record.Difference,
	})
	return nil
}

// join adds a candidate with worked examples to those of the step.
func (r stepResult) join(made *candidates, shown *proposal) {
	if shown.record.Action == "" {
		return
	}
	if len(r.record.Candidates) == 0 && r.weighed {
		r.include(made.firstTry(), r.isAccepted())
	}
	shown.index = len(r.record.Candidates) + 1
	r.include(shown, false)
}

// examplesAgain has the gate judge the rejected draw again, in a step that has gained
// nothing though the skill has changed since.
func (s *stepper) examplesAgain(ctx context.Context, id stepID, r stepResult) (stepResult, error) {
	if gate.Action(r.record.Action).Accepted() || len(r.record.Notes) > 0 {
		return r, nil
	}
	d := s.examples.takeRejected()
	if d == nil {
		return r, nil
	}
	p := s.newShown(id, r.prefix+"/"+examplesPart+"/again", d)
	room, err := s.pacer.roomFor(ctx, p.prefix, Unit{Name: UnitSecondTry, Step: id.number, Tasks: 1})
	if err != nil || !room {
		return r, err
	}
	p.record = r.begun
	if err := s.judgeShown(ctx, id, p); err != nil {
		return r, err
	}
	made := s.candidates(id, r)
	if !p.isAccepted() {
		r.join(made, p)
		return r, nil
	}
	s.skills.adopt(p.judged, p.verdict)
	all := []*proposal{p}
	if p.record.Candidates = r.record.Candidates; len(p.record.Candidates) == 0 && r.weighed {
		all = []*proposal{made.firstTry(), p}
	}
	p.index = len(p.record.Candidates) + len(all)
	made.takeOver(p, all)
	return stepResult{r.batch, made.step}, nil
}
