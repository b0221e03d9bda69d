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
// others waiting. So the rollouts that the next part of the loop begins with are
// begun as soon as it is certain which skill they are made with, beside what is
// still out of this part. They are the same rollouts under the same keys, only
// earlier: nothing is asked for that would not be asked for anyway, and nothing
// that is decided depends on it. It has to be certain, not likely: a rollout with
// another skill under the same key would be another run's.

// coming names a part of the loop by what comes before it: so many steps of an
// epoch, its end not included.
type coming struct{ epoch, steps int }

// opensWith returns what a part of the loop begins with if the current skill is s
// then: nothing if there is no such part.
func (t *trainer) opensWith(c coming, s skill.Skill) ([]rolloutSet, error) {
	perEpoch := t.sampler.stepsPerEpoch()
	if c.steps == perEpoch && t.looksBack(c.epoch) {
		e := &epochEnd{trainer: t, epoch: c.epoch, prefix: endPrefix(c.epoch), prev: t.epochStart}
		return e.openings(0, s), nil
	}
	if c.steps == perEpoch {
		c = coming{epoch: c.epoch + 1}
	}
	if c.epoch > t.Epochs {
		return nil, nil
	}
	batches, err := t.sampler.epoch(c.epoch)
	if err != nil {
		return nil, err
	}
	next := &step{trainer: t, stepID: stepID{epoch: c.epoch, number: (c.epoch-1)*perEpoch + c.steps + 1}}
	next.prefix = next.key()
	batches, _, err = t.fitted(next.sizeKey(), t.sampler.step(c.epoch, c.steps, batches))
	if err != nil {
		return nil, err
	}
	tasks, _ := t.sampler.draw(next.number, batches[0])
	return []rolloutSet{{next.place(0), tasks, s}}, nil
}

// begin begins the part of the loop that comes after so many others, with a skill
// that is certain to be the current one then. It is called once for a part.
func (t *trainer) begin(ctx context.Context, parts int, s skill.Skill) {
	if !t.Overlap || t.Data.InFolds() || t.coming == nil {
		return
	}
	if t.coming.steps == t.sampler.stepsPerEpoch() && !t.looksBack(t.coming.epoch) {
		parts++ // the end of the epoch, which asks for nothing
	}
	if !t.loops(parts) {
		return
	}
	openings, err := t.opensWith(*t.coming, s)
	if err != nil {
		return // the part itself says what is wrong with it
	}
	for _, set := range openings {
		t.rollouts.prefetched.start(ctx, t.Roller, set)
	}
}

// watch returns a function that is to be told what was measured of a candidate.
// As soon as that settles which skill the next part works with, it is begun.
func (t *trainer) watch(ctx context.Context, cand *incumbent, r rule) learner {
	if !t.Overlap || t.Gate != "strict" || t.Data.InFolds() {
		return func(int, trajectory.Outcome) {}
	}
	f := gate.NewForesight(t.judge.trial(cand), gate.Strict{OrEqual: r == notWorse})
	if f == nil {
		return func(int, trajectory.Outcome) {}
	}
	var mu sync.Mutex
	begun := false
	return func(item int, o trajectory.Outcome) {
		mu.Lock()
		defer mu.Unlock()
		f.Learn(item, o)
		accepted, settled := f.Settled()
		if begun || !settled {
			return
		}
		begun = true
		if accepted {
			t.begin(ctx, t.parts+1, cand.skill)
		} else if !t.SecondTry { // a part of it may be accepted yet
			t.begin(ctx, t.parts+1, t.skills.current.skill)
		}
	}
}
