package train

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/schedule"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Run trains a skill. On an error the result holds what was decided until then.
func Run(ctx context.Context, o Options, d Deps) (*Result, error) {
	unwatched := d.Events == nil
	if unwatched {
		d.Events = func(event.Event) {}
	}
	t, err := newTrainer(o, d)
	if err != nil {
		return nil, err
	}
	t.judge.unwatched = unwatched
	err = t.run(ctx)
	t.rollouts.prefetched.abandon(err)
	return t.result(), err
}

// trainer is the order of things: it has the stages carried out one after the other and
// keeps what they return. Only the goroutine that called Run changes it.
type trainer struct {
	opts Options
	data Data
	seed skill.Skill
	emit event.Sink

	rollouts *rollouts
	sampler  *sampler
	skills   *skills
	memory   *memory
	judge    *judge
	pacer    *pacer
	prefetch *prefetcher
	output   *output
	loads    *loads

	baseliner *baseliner
	stepper   *stepper
	ender     *epochEnder
	early
	testSplit *testSplit

	history    result.History // but for drifts, which the judge notes
	units      int            // of the loop that are done
	epochStart skill.Skill
	counts     counts

	baseline baseline
	fresh    []trajectory.Outcome // of the best skill, in a pass that nothing was decided by
	tested   tested
}

// early is what ends the loop before its last step.
type early struct {
	fruitless *fruitless
	stopper   *stopper
}

// counts are how many steps ended how, and how many replies had no usable answer.
type counts struct{ accepted, rejected, skipped, lost int }

func newTrainer(o Options, d Deps) (*trainer, error) {
	t := &trainer{opts: o, data: d.Data, seed: d.Skill, emit: d.Events, memory: newMemory(o), skills: newSkills(o, d.Data, d.Scope)}
	t.history.Steps, t.history.Epochs = []result.StepRecord{}, []result.EpochRecord{}
	proposer, err := newOptimizer(o, d, t.memory)
	if err != nil {
		return nil, err
	}
	if t.sampler, err = newSampler(o, d.Data); err != nil {
		return nil, err
	}
	t.rollouts = &rollouts{roller: d.Roller, record: d.Record, emit: t.emit, usage: d.Usage, health: d.Health, prefetched: prefetched{ahead: d.Ahead}}
	t.pacer = &pacer{opts: o, data: d.Data, skills: t.skills, record: d.Record, emit: t.emit, ask: d.Pace}
	t.prefetch = &prefetcher{
		opts: o, data: d.Data, on: d.Overlap != nil && !d.Data.InFolds() && !d.Scope.DescriptionAlone(), overlap: d.Overlap, sampler: t.sampler, rollouts: t.rollouts, skills: t.skills,
	}
	t.judge = &judge{
		opts: o, selection: d.Data.Selection, skills: t.skills, rollouts: t.rollouts, emit: t.emit, atOnce: d.AtOnce,
		judging: d.Data.selectionItems(1), foresee: t.prefetch.watch,
	}
	t.loads = newLoads(d.Data, t.rollouts, t.emit)
	proposer.loads = t.loads
	t.output = &output{files: d.Files, skills: t.skills, ship: d.Ship}
	t.stages(d, proposer)
	return t, nil
}

// stages puts the stages together.
func (t *trainer) stages(d Deps, proposer *optimizer) {
	o := t.opts
	examples := newExampleStage(o, d, t.rollouts, t.skills, t.pacer)
	t.prefetch.examples = examples
	t.baseliner = &baseliner{opts: o, judge: t.judge, skills: t.skills, prefetch: t.prefetch, emit: t.emit, look: d.Look}
	t.stepper = &stepper{
		opts: o, data: d.Data, sampler: t.sampler, optimizer: proposer, judge: t.judge, skills: t.skills, memory: t.memory,
		pacer: t.pacer, prefetch: t.prefetch, emit: t.emit, verify: d.Verify, loads: t.loads, examples: examples,
		batcher: &batcher{
			opts: o, data: d.Data, sampler: t.sampler, rollouts: t.rollouts, skills: t.skills, optimizer: proposer, memory: t.memory,
			pacer: t.pacer, emit: t.emit,
		},
	}
	t.fruitless = newFruitless(o, d)
	t.ender = &epochEnder{
		opts: o, data: d.Data, rollouts: t.rollouts, optimizer: proposer, judge: t.judge, skills: t.skills, memory: t.memory, emit: t.emit,
	}
	t.testSplit = newTestSplit(o, d, t.rollouts)
	t.stopper = &stopper{
		opts: o, data: d.Data, judge: t.judge, skills: t.skills, loads: t.loads, pacer: t.pacer, rollouts: t.rollouts, emit: t.emit,
	}
	t.prefetch.stopper = t.stopper
}

func (t *trainer) run(ctx context.Context) error {
	if !t.stepper.examples.applies() { // else it is not certain what the first step begins with
		t.prefetch.next = &nextUnit{epoch: 1}
	}
	if err := t.begin(ctx); err != nil {
		return fmt.Errorf("score the seed skill: %w", err)
	}
	if err := t.loop(ctx); err != nil && !errors.Is(err, ErrEnded) {
		return err
	}
	_, err := t.pacer.admit(Unit{Name: UnitFinal})
	if err == nil {
		err = t.finish(ctx)
	}
	if err != nil {
		return fmt.Errorf("final evaluation: %w", err)
	}
	return nil
}

// begin scores the seed skill: step 0.
func (t *trainer) begin(ctx context.Context) (err error) {
	t.baseline, err = t.baseliner.run(ctx, t.seed)
	t.history.Noise = t.baseline.noise
	if err != nil {
		return err
	}
	t.epochStart = t.seed
	r := t.baseline.record(t.opts.Projection.Metric, t.skills.hash(t.seed))
	t.history.Steps = append(t.history.Steps, r)
	t.emit(event.StepDone{Action: r.Action, Current: r.Current, Best: r.Best, SelectionUnanswered: r.SelectionUnanswered})
	t.stopper.updateBest() // what comes is compared with it
	if err := t.output.step(0, t.baseline.files()); err != nil {
		return err
	}
	return t.output.state(0, t.soFar())
}

// loop runs the epochs.
func (t *trainer) loop(ctx context.Context) error {
	if err := t.stops(ctx, stopPlace{key: stopKey("seed")}, true); err != nil {
		return err
	}
	for epoch := 1; epoch <= t.opts.Epochs; epoch++ {
		batches, err := t.sampler.epoch(epoch)
		if err != nil {
			return err
		}
		t.memory.beginEpoch()
		perEpoch := t.sampler.stepsPerEpoch()
		for i := range perEpoch {
			id := stepID{epoch: epoch, number: (epoch-1)*perEpoch + i + 1, inEpoch: i + 1}
			if err := t.step(ctx, id, t.sampler.step(epoch, i, batches)); err != nil {
				return fmt.Errorf("epoch %d, step %d: %w", epoch, id.number, err)
			}
			t.units++
			if err := t.stops(ctx, stopPlace{key: stopKey(id.key()), epoch: epoch, step: id.number}, t.remains(epoch, id.inEpoch)); err != nil {
				return err
			}
		}
		if err := t.endEpoch(ctx, epoch); err != nil {
			return fmt.Errorf("end of epoch %d: %w", epoch, err)
		}
		t.units++
		if err := t.stops(ctx, stopPlace{key: stopKey(fmt.Sprintf("e%d/end", epoch)), epoch: epoch, step: t.lastStep()}, epoch < t.opts.Epochs); err != nil {
			return err
		}
	}
	return nil
}

// step carries out a step, if it may begin.
func (t *trainer) step(ctx context.Context, id stepID, batches []schedule.Batch) error {
	t.judge.judging = t.data.selectionItems(id.number)
	t.prefetch.next = &nextUnit{epoch: id.epoch, steps: id.inEpoch, done: t.units + 1, epochStart: t.epochStart}
	if !t.opts.loops(t.units) {
		return ErrEnded
	}
	r, err := t.decideStep(ctx, id, batches)
	if err != nil {
		return err
	}
	if err := t.closeStep(id, r); err != nil {
		return err
	}
	if err := t.fruitless.check(ctx, id, r.batch.reflected, r.batch.lost); err != nil {
		return err
	}
	return t.noiseAgain(ctx, id.key())
}

// decideStep carries out a step up to its decision. Worked examples that are accepted are the
// whole step.
func (t *trainer) decideStep(ctx context.Context, id stepID, batches []schedule.Batch) (stepResult, error) {
	shown, err := t.stepper.firstExamples(ctx, id)
	if err != nil || shown != nil && shown.isAccepted() {
		return stepResult{&batch{step: id, lost: &lostReplies{}}, shown}, err
	}
	if t.opts.Alone {
		return stepResult{&batch{step: id, lost: &lostReplies{}}, t.stepper.closeShown(id, shown)}, nil
	}
	if batches, err = t.pacer.step(ctx, id, batches); err != nil {
		return stepResult{}, err
	}
	return t.stepper.run(ctx, id, batches, shown)
}

// closeStep completes the record of a step, remembers it for later analysts and writes
// the files.
func (t *trainer) closeStep(id stepID, r stepResult) error {
	current, best := t.skills.current, t.skills.best
	c := &r.record
	c.Current, c.Best, c.BestStep = current.score, best.score, best.step
	c.CurrentOrigin, c.BestOrigin = current.origin, best.origin
	c.SkillHash, c.SkillLen = t.skills.hash(current.skill), skillLength(current.skill)
	t.counts.add(*c)
	t.stopper.saw(*c)
	t.memory.holdBack(gate.Action(c.Action), c.Notes)
	t.history.Steps = append(t.history.Steps, *c)
	t.memory.remember(r.note())
	r.files["step_record.json"] = *c
	if err := t.output.step(id.number, r.files); err != nil {
		return err
	}
	if err := t.output.state(id.number, t.soFar()); err != nil {
		return err
	}
	t.emit(r.doneEvent())
	return nil
}

func (c *counts) add(r result.StepRecord) {
	switch action := gate.Action(r.Action); {
	case action.Accepted():
		c.accepted++
	case action.Rejected():
		c.rejected++
	default:
		c.skipped++
	}
	c.lost += r.LostReplies
}

// endEpoch carries out the end of an epoch, if it may begin.
func (t *trainer) endEpoch(ctx context.Context, epoch int) error {
	t.prefetch.next = &nextUnit{epoch: epoch + 1, done: t.units + 1}
	if !t.opts.loops(t.units) {
		return ErrEnded
	}
	if t.units >= t.opts.carriedUnits() { // else another run has had room for it
		if _, err := t.pacer.admit(Unit{Name: UnitEpochEnd}); err != nil {
			return err
		}
	}
	previous := t.epochStart
	if !t.opts.looksBack(epoch) {
		t.epochStart = t.skills.current.skill
		return nil
	}
	e, err := t.ender.run(ctx, epoch, t.lastStep(), previous)
	t.counts.lost += len(e.record.Lost)
	if err != nil {
		return err
	}
	t.epochStart = t.skills.current.skill
	t.stopper.sawGuidance()
	t.history.Epochs = append(t.history.Epochs, e.record)
	t.emit(event.EpochDone{Epoch: epoch, SlowUpdate: e.record.SlowUpdate, MetaSkill: e.meta.Content != ""})
	e.files["record.json"] = e.record
	if err := t.output.epoch(epoch, e.files); err != nil {
		return err
	}
	if err := t.output.state(t.lastStep(), t.soFar()); err != nil {
		return err
	}
	return t.noiseAgain(ctx, endPrefix(epoch))
}

// finish makes the last decisions, then opens the test split.
func (t *trainer) finish(ctx context.Context) error {
	last := &finisher{
		opts: t.opts, selection: t.data.Selection, rollouts: t.rollouts, judge: t.judge, skills: t.skills, emit: t.emit, lastStep: t.lastStep(), place: t.finalPlace(),
	}
	f, err := last.run(ctx)
	t.fresh = f.fresh
	if err != nil {
		return err
	}
	t.history.Final = last.record(f, t.endedEarly())
	if len(f.drawn) > 0 {
		if err := t.output.one("last_outcomes.json", f.drawn); err != nil {
			return err
		}
	}
	if t.opts.Test && len(t.data.Test) > 0 {
		if err := t.test(ctx); err != nil {
			return err
		}
	}
	if t.history.Final.Loads, err = t.rates(ctx); err != nil {
		return err
	}
	return t.output.result(t.soFar())
}

// endedEarly reports whether the loop has ended before its last step, and no rule ended it.
func (t *trainer) endedEarly() bool {
	return t.history.Stop == nil && t.units < t.opts.Units(t.data.Drawable())
}

// finalPlace returns the place in the record of what the final evaluation asks for. A loop that was
// ended early may be continued: each of its ends has a place of its own.
func (t *trainer) finalPlace() string {
	if t.endedEarly() {
		return fmt.Sprintf("final/after%d", t.units)
	}
	return "final"
}

// test opens the test split.
func (t *trainer) test(ctx context.Context) (err error) {
	t.testSplit.partial, t.testSplit.lastStep = t.baseline.partial, t.lastStep()
	arms := testArms(t.seed, t.skills, t.opts.NoSkill)
	if arms, err = t.pacer.testArms(ctx, t.finalPlace(), arms); err != nil {
		return err
	}
	t.tested, err = t.testSplit.run(ctx, arms)
	t.tested.addTo(t.history.Final)
	if err != nil || t.tested.outcomes == nil {
		return err
	}
	return t.output.one("test_outcomes.json", t.tested.outcomes)
}

// lastStep returns the number of the step that was closed last, 0 for the seed skill.
func (t *trainer) lastStep() int { return len(t.history.Steps) - 1 }

// soFar returns the history as it is.
func (t *trainer) soFar() result.History {
	h := t.history
	h.Drift = t.judge.drifts
	return h
}

func (t *trainer) result() *Result {
	best := t.skills.best
	r := &Result{
		History: t.soFar(), Seed: t.seed, Best: best.skill, Final: t.skills.current.skill, BestStep: best.step,
		Accepted: t.counts.accepted, Rejected: t.counts.rejected, Skipped: t.counts.skipped, Lost: t.counts.lost,
		Baseline: t.baseline.arm, Units: t.units, Certificate: t.tested.certificate, Effort: t.tested.effort, ReadBefore: t.tested.readBefore(),
	}
	if best.outcomes != nil {
		arm := t.skills.bestArm(t.fresh)
		r.Selection, r.Reported = &arm, t.skills.reportBest(t.fresh)
	}
	return r
}
