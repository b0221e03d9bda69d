package train

import (
	"context"
	"sync"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// A batch of rollouts lasts as long as its slowest: one answer in sixty that has
// to be asked for three times, or a model that thinks for a minute, keeps all
// others waiting. So the rollouts that the next unit of the loop begins with are
// prefetched as soon as it is certain which skill they are made with, while others of
// this unit are still out. They are the same rollouts under the same keys, only
// earlier: nothing is asked for that would not be asked for anyway, and nothing
// that is decided depends on it. It has to be certain, not likely: a rollout with
// another skill under the same key would be another run's. And it has to be certain that
// there is a next unit: nothing is prefetched as long as a rule may end the loop before it.

// prefetcher starts what the next unit of the loop begins with.
type prefetcher struct {
	opts     Options
	data     Data
	on       bool        // it may at all
	overlap  func() bool // it may now
	sampler  *sampler
	rollouts *rollouts
	skills   *skills
	stopper  *stopper
	examples *exampleStage
	next     *nextUnit // after the present unit; nil: what it begins with is not certain before
}

// nextUnit names a unit of the loop by its position: after this number of steps of an
// epoch, its end not included.
type nextUnit struct {
	epoch, steps int
	done         int         // units of the loop before it
	epochStart   skill.Skill // with which the epoch began
}

// opensWith returns what a unit of the loop begins with if the current skill is s
// then: nothing if there is no such unit.
func (p *prefetcher) opensWith(n nextUnit, s skill.Skill) ([]rolloutSet, error) {
	perEpoch := p.sampler.stepsPerEpoch()
	if n.steps == perEpoch && p.opts.looksBack(n.epoch) {
		return newComparison(p.opts, p.data, n.epoch, n.epochStart, s).sets(0, s), nil
	}
	if n.steps == perEpoch {
		n.epoch, n.steps = n.epoch+1, 0
	}
	if n.epoch > p.opts.Epochs {
		return nil, nil
	}
	batches, err := p.sampler.epoch(n.epoch)
	if err != nil {
		return nil, err
	}
	id := stepID{epoch: n.epoch, number: (n.epoch-1)*perEpoch + n.steps + 1}
	batches, _, err = recordedSize(p.rollouts.record, id, p.sampler.step(n.epoch, n.steps, batches))
	if err != nil {
		return nil, err
	}
	tasks := p.data.Unshown(p.sampler.draw(id.number, batches[0]), s)
	return expandSamples(rolloutSet{batchPlace(id.key(), 0), tasks, s}, p.opts.answersEach()), nil
}

// start prefetches for the next unit, with a skill that is certain to be the current one
// then. It is called once for a unit.
func (p *prefetcher) start(ctx context.Context, s skill.Skill) {
	if !p.on || p.next == nil || !p.overlap() || p.stopper.mayFollow(p.next.done) {
		return
	}
	done := p.next.done
	if p.next.steps == p.sampler.stepsPerEpoch() && !p.opts.looksBack(p.next.epoch) {
		done++ // the end of the epoch, which asks for nothing
	}
	if !p.opts.loops(done) {
		return
	}
	sets, err := p.opensWith(*p.next, s)
	if err != nil {
		return // the unit itself says what is wrong with it
	}
	for _, set := range sets {
		p.rollouts.prefetched.start(ctx, p.rollouts.roller, set)
	}
}

// mayStop reports whether the loop may end before the next unit because the skill that the
// present one leaves solves everything, judging from what is known of that skill and what was seen of it
// just now.
func (p *prefetcher) mayStop(s skill.Skill, seen []trajectory.Outcome) bool {
	return p.next != nil && p.stopper.mayBePerfect(p.next.done, s, seen)
}

// watch returns a function that learns what was measured of a candidate.
// As soon as that settles which skill the next unit works with, it is prefetched for.
func (p *prefetcher) watch(ctx context.Context, trial gate.Trial, cand *incumbent, r rule) learner {
	if !p.on || p.opts.Gate != gate.ModeStrict {
		return nil
	}
	f := gate.NewForesight(trial, gate.Strict{OrEqual: r == notWorse})
	if f == nil {
		return nil
	}
	var mu sync.Mutex
	var seen []trajectory.Outcome
	started := false
	return func(item int, o trajectory.Outcome) {
		mu.Lock()
		defer mu.Unlock()
		f.Learn(item, o)
		seen = append(seen, o)
		accepted, settled := f.Settled()
		if started || !settled {
			return
		}
		next, of := p.skills.current.skill, []trajectory.Outcome(nil)
		if accepted && p.opts.Keep { // fresh answers may show yet that it loses what was won
			return
		}
		if accepted {
			next, of = cand.skill, seen
		} else if p.opts.SecondTry || p.examples.waits() { // a part of it, or something else, may be accepted yet
			return
		}
		if p.mayStop(next, of) {
			return // what is answered next may say that it does not
		}
		started = true
		p.start(ctx, next)
	}
}
