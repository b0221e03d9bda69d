package train

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/internal/pyrand"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
)

// VaryTemperature is the Population.Vary with which candidates differ by the
// temperature of the optimizer; with any other they are made of different patches.
const VaryTemperature = "temperature"

// Population says how many candidates a step makes.
type Population struct {
	Size        int      // below 2: one
	Vary        string   // minibatches or temperature
	Temperature *float64 // configured for the optimizer; nil: the server's
}

// temperature is that of candidate i of n, from 1 up: from the configured one
// evenly up to 1, which every provider takes. Nil: as configured.
func (p Population) temperature(i, n int) *float64 {
	if p.Vary != VaryTemperature || p.Temperature == nil || i == 1 || *p.Temperature >= 1 {
		return nil
	}
	v := *p.Temperature + (1-*p.Temperature)*float64(i-1)/float64(n-1)
	return &v
}

// shard gives each candidate its patches: all of them, or a share that is drawn by
// the seed for a place. There are no more candidates than patches.
func (p Population) shard(all patches, seed int64, place string) []patches {
	if p.Vary == VaryTemperature {
		return slices.Repeat([]patches{all}, p.Size)
	}
	n := max(1, min(p.Size, all.size()))
	shards := make([]patches, n)
	for k, i := range pyrand.New(seedOf(seed, place)).Perm(len(all.failures)) {
		to := &shards[k%n]
		to.failures = append(to.failures, all.failures[i])
	}
	for k, i := range pyrand.New(seedOf(seed, place+"/successes")).Perm(len(all.successes)) {
		to := &shards[(k+len(all.failures))%n]
		to.successes = append(to.successes, all.successes[i])
	}
	return shards
}

// made is how many candidates a step makes at most. Without a gate nothing tells them
// apart.
func (o Options) made() int {
	if o.Population.Size > 1 && o.Gate != gate.ModeOff {
		return o.Population.Size
	}
	return 1
}

// madeBy is how many candidates a step of a number makes at most.
func (o Options) madeBy(step int) int {
	if step == 1 {
		return o.madeFirst()
	}
	return o.made()
}

// judged is how many candidates of a step go to the gate at most: those that are
// made, and one that is merged of them.
func (o Options) judged() int { return o.judgedOf(o.made()) }

func (o Options) judgedOf(made int) int {
	if made == 1 || o.Mode != string(optimize.ModePatch) {
		return made
	}
	return made + 1
}

// population makes the candidates of one step, has the gate judge them, and promotes at
// most one to the current skill.
type population struct {
	opts      Options
	batcher   *batcher
	optimizer *optimizer
	judge     *judge
	skills    *skills
	pacer     *pacer
	prefetch  *prefetcher
	emit      event.Sink
	verify    func(ctx context.Context, key string, s skill.Skill) (refused string, err error) // see Deps.Verify
	loads     *loads

	id    stepID
	batch *batch
	step  *proposal // what is recorded of the step: in the end that of the candidate it is recorded by
}

// run makes the candidates of analysts' patches and takes one, or none.
func (s *population) run(ctx context.Context, all patches) error {
	if s.opts.madeBy(s.id.number) > 1 {
		return s.several(ctx, all)
	}
	return s.single(ctx, all)
}

func (s *population) evidence() evidence {
	return evidence{
		step: s.id, current: s.skills.current.skill, budget: s.optimizer.analystBudget(s.id.number), failed: s.batch.answered.failed(),
		outcomes: s.batch.outcomes,
	}
}

// single makes the only candidate of a step and lets the gate decide on it.
func (s *population) single(ctx context.Context, all patches) error {
	if err := s.optimizer.propose(ctx, s.step, s.evidence(), all); err != nil {
		return err
	}
	if s.step.skipUnchanged(s.skills.current.skill); s.step.record.Action != "" {
		return nil
	}
	unjudged := s.step.record
	if err := s.weigh(ctx, s.step); err != nil {
		return err
	}
	if s.step.undecided() {
		return fmt.Errorf("%w: %s", errIndecisive, s.step.verdict.Reason)
	}
	if s.step.accepted() {
		s.skills.adopt(s.step.judged, s.step.verdict)
		return nil
	}
	return s.onceMore(ctx, unjudged)
}

// several makes several candidates of the same rollouts, has the gate judge each
// against the incumbent, and takes the best of the accepted or what comes of
// merging them.
func (s *population) several(ctx context.Context, patches patches) error {
	s.prefetch.uncertain() // which of them is taken is not known before all are weighed
	all, err := s.make(ctx, patches)
	if err != nil {
		return err
	}
	if err := s.weighAll(ctx, all); err != nil {
		return err
	}
	if err := undecided(all); err != nil {
		s.takeOver(closest(all), all)
		return err
	}
	taken := s.bestAccepted(all)
	if taken == nil {
		done, err := s.secondTry(ctx, all)
		if !done && err == nil {
			s.takeOver(closest(all), all)
			s.step.rejected(all)
		}
		return err
	}
	merged, err := s.crossover(ctx, taken, all)
	if err != nil {
		return err
	}
	if merged != nil {
		if all = append(all, merged); s.beats(merged, taken) {
			taken = merged
		}
	}
	s.promote(taken, all)
	return nil
}

// make has the optimizer make a candidate of each shard of the patches.
func (s *population) make(ctx context.Context, all patches) ([]*proposal, error) {
	shards, err := s.shards(ctx, all)
	if err != nil {
		return nil, err
	}
	var out []*proposal
	for i, shard := range shards {
		p := s.begin(i+1, len(shards))
		if err := s.makeOne(ctx, p, shard); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// begin begins candidate index of n. The first has the keys that a step with
// one candidate has.
func (s *population) begin(index, n int) *proposal {
	p := s.step.fork(index)
	vary := s.opts.Population
	if s.opts.warms(s.id.number) {
		vary.Vary = VaryTemperature
	}
	p.temperature = vary.temperature(index, n)
	return p
}

func (s *population) makeOne(ctx context.Context, p *proposal, patches patches) error {
	before := p.record.LostReplies
	defer func() { p.lost = p.record.LostReplies - before }()
	if patches.size() == 0 && len(p.record.Notes) == 0 {
		p.skip(result.ActionNoPatches, "")
		return nil
	}
	if err := s.optimizer.propose(ctx, p, s.evidence(), patches); err != nil {
		return err
	}
	p.skipUnchanged(s.skills.current.skill)
	return nil
}

// shards are the patches of each of several candidates. Those of a warm start come each
// from analysts of its own.
func (s *population) shards(ctx context.Context, all patches) ([]patches, error) {
	if !s.opts.warms(s.id.number) {
		return s.opts.Population.shard(all, s.opts.Seed, s.step.prefix+"/deal"), nil
	}
	shards := []patches{all}
	for i := 2; i <= s.opts.Warm.Drafts; i++ {
		reflected, err := s.batcher.redraft(ctx, s.batch, s.begin(i, s.opts.Warm.Drafts))
		if err != nil {
			return nil, err
		}
		for _, r := range reflected {
			s.step.record.LostReplies += len(r.Lost)
		}
		s.step.files[fmt.Sprintf("p%d/patches.json", i)] = reflected
		shards = append(shards, patchesOf(reflected, s.optimizer.mode))
	}
	return shards, nil
}

// weigh asks the gate about a candidate and keeps what it says, unless the candidate is
// refused before. The incumbent stays in its place.
func (s *population) weigh(ctx context.Context, p *proposal) error {
	if err := s.guard(ctx, p); err != nil || p.record.Action != "" {
		return err
	}
	if s.verify != nil {
		refused, err := s.verify(ctx, p.prefix+"/verify", p.candidate)
		if err != nil {
			return err
		}
		if refused != "" {
			p.skip(result.ActionRefused, refused)
			return nil
		}
	}
	cand := incumbent{skill: p.candidate, step: s.id.number, origin: fmt.Sprintf("step %d%s", s.id.number, p.label), edits: p.record.Edits}
	p.record.CandidateHash, p.record.CandidateLen = s.skills.hash(cand.skill), lengthOf(cand.skill)
	s.emit(event.StageStarted{Epoch: s.id.epoch, Step: s.id.number, Stage: "gate", Total: s.judge.judges()})
	v, err := s.judge.compare(ctx, p.prefix+"/gate", &cand, better)
	if err != nil {
		return err
	}
	if v.Action.Rejected() {
		p.fared = s.skills.fared(&cand)
	}
	if v.Action.Rejected() && s.skills.scope.DescriptionAlone() {
		s.loads.inVain(p.candidate, v.Reason)
	}
	p.decided(cand, v, s.skills.scope)
	return nil
}

// weighAll has the gate judge candidates one after the other. Those of whom all was
// forgotten since, because another model answers now, are judged again.
func (s *population) weighAll(ctx context.Context, all []*proposal) error {
	for i, p := range all {
		drifts := len(s.judge.drifts)
		if err := s.weighAmong(ctx, p, all[:i]); err != nil {
			return err
		}
		if len(s.judge.drifts) == drifts {
			continue
		}
		if err := s.weighAnew(ctx, all[:i]); err != nil {
			return err
		}
	}
	return nil
}

// weighAmong has the gate judge a candidate, unless there is nothing to judge or
// an earlier one has the same text.
func (s *population) weighAmong(ctx context.Context, p *proposal, earlier []*proposal) error {
	if p.record.Action != "" {
		return nil
	}
	for _, e := range earlier {
		if e.candidate.Equal(p.candidate) {
			p.skip(result.ActionDuplicate, fmt.Sprintf("it equals candidate %d", e.index))
			return nil
		}
	}
	if e, ok := s.skills.store.byHash[s.skills.hash(p.candidate)]; ok {
		p.wasAccepted = e.Accepted
	}
	if err := s.weigh(ctx, p); err != nil {
		return err
	}
	s.emit(event.CandidateJudged{
		Epoch: s.id.epoch, Step: s.id.number, Candidate: p.index, Action: p.record.Action, Score: p.record.Candidate, Difference: p.record.Difference,
	})
	return nil
}

// weighAnew judges those again of whom all was forgotten since.
func (s *population) weighAnew(ctx context.Context, earlier []*proposal) error {
	for _, p := range earlier {
		if !p.weighed || s.skills.entry(&p.judged).evaluations() > 0 {
			continue
		}
		p.prefix += "/anew"
		s.skills.entry(&p.judged).Accepted = p.wasAccepted
		p.record.Action, p.record.Unmeasured = "", slices.Clip(s.step.record.Unmeasured)
		if err := s.weighAmong(ctx, p, nil); err != nil {
			return err
		}
	}
	return nil
}

// bestAccepted is the accepted candidate that stands highest, the first of equal ones;
// nil if none was accepted.
func (s *population) bestAccepted(all []*proposal) *proposal {
	var best *proposal
	for _, p := range all {
		if p.accepted() && (best == nil || compareScores(s.skills.standing(&p.judged), s.skills.standing(&best.judged)) > 0) {
			best = p
		}
	}
	return best
}

// promote makes the candidate that is taken the incumbent. Others that were accepted
// were never the current skill.
func (s *population) promote(taken *proposal, all []*proposal) {
	s.takeOver(taken, all)
	for _, p := range all {
		if p.weighed {
			s.skills.entry(&p.judged).Accepted = p == taken || p.wasAccepted
		}
	}
	if s.opts.Gate == gate.ModeRace {
		taken.verdict.Action = gate.Accept
		if s.skills.store.best() == s.skills.entry(&taken.judged) {
			taken.verdict.Action = gate.AcceptNewBest
		}
		r := &s.step.record
		r.Action = string(taken.verdict.Action)
		for i := range r.Candidates {
			if c := &r.Candidates[i]; c.Taken {
				c.Action = r.Action
			}
		}
		if taken.from != nil { // it was judged against another candidate
			r.Difference, r.SE = difference(r.Candidate, s.skills.entry(&s.skills.current).mean()), nil
		}
	}
	s.skills.adopt(taken.judged, taken.verdict)
}

// takeOver makes a candidate's record and files those of the step.
func (s *population) takeOver(chosen *proposal, all []*proposal) {
	step := *chosen
	step.prefix, step.label, step.temperature = s.step.prefix, s.step.label, s.step.temperature
	step.files = s.step.files
	lost := s.step.record.LostReplies
	for _, p := range all {
		lost += p.lost
		step.record.Candidates = append(step.record.Candidates, s.summary(p, p == chosen && p.accepted()))
		name := fmt.Sprintf("p%d/", p.index)
		for file, content := range p.files {
			step.files[name+file] = content
		}
	}
	step.record.LostReplies = lost
	maps.Copy(step.files, chosen.files)
	s.step = &step
}

// summary is a candidate among those of its step. taken says that it became the current
// skill.
func (s *population) summary(p *proposal, taken bool) result.CandidateRecord {
	out := p.summary()
	if out.Taken = taken; p.accepted() && s.opts.Gate == gate.ModeRace {
		out.Shrunken = s.skills.standing(&p.judged)
	}
	return out
}

// compareScores orders scores, one that is missing before all others.
func compareScores(a, b *float64) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return compareMeans(*a, *b)
}

// compareMeans orders scores. What differs by rounding alone is equal.
func compareMeans(a, b float64) int {
	if math.Abs(a-b) <= score.Negligible {
		return 0
	}
	return cmp.Compare(a, b)
}

// difference is a - b, nil if one of them is not known.
func difference(a, b *float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	d := *a - *b
	return &d
}

// lengthOf is the length of a skill in characters.
func lengthOf(s skill.Skill) int { return len([]rune(s.Text())) }
