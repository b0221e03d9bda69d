package train

import (
	"context"
	"slices"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// apart is how far the sample numbers of the two arms of a null control are apart: a gate
// asks for fewer of an item.
const apart = 4

// control judges the current skill against itself, if it is time to; nil: it is not, or
// the gate did not decide. Nothing rests on
// it, and its answers are not pooled with others. With deterministic answers it would say
// nothing.
func (j *judge) control(ctx context.Context, at stepID) (*result.NullControl, error) {
	if j.opts.NullEvery < 1 || at.number%j.opts.NullEvery != 0 || j.opts.Gate != gate.ModeStrict || j.deterministic || !j.skills.known(j.skills.current) {
		return nil, nil
	}
	prefix := at.key() + "/null"
	j.emit(event.StageStarted{Epoch: at.epoch, Step: at.number, Stage: "null control", Total: len(j.selection)})
	e := j.skills.entry(&j.skills.current)
	from := slices.Max(e.Next)
	res, err := gate.RunOver(ctx, j.nullTrial(), j.judging, gate.Strict{}, j.nullDraw(prefix, from))
	if err != nil {
		return nil, err
	}
	for i := range res.Readings {
		res.Readings[i].Sample = nullSample(res.Readings[i].Draw, from)
	}
	for i := range e.Next {
		e.Next[i] = from + 2*apart // what these samples were is not drawn again
	}
	v := res.Verdict
	if err := j.recordWithout(ctx, prefix, res); err != nil {
		return nil, err
	}
	if v.Action == gate.Indecisive {
		return nil, j.rollouts.healthy()
	}
	return &result.NullControl{Accepted: v.Action.Accepted(), Reason: v.Reason, Difference: v.Difference, SE: v.SE, Draws: v.Draws}, j.rollouts.healthy()
}

// nullTrial is a trial of the current skill against itself, of which nothing is known under
// its other name.
func (j *judge) nullTrial() gate.Trial {
	t := j.trial(&j.skills.current)
	t.Candidate = nil
	return t
}

// nullSample returns the sample that a draw of a null control makes.
func nullSample(d gate.Draw, from int) int {
	if d.Arm == gate.Incumbent {
		return from + apart + d.Sample
	}
	return from + d.Sample
}

// nullDraw makes the draws of both arms with the current skill, each of them fresh.
func (j *judge) nullDraw(prefix string, from int) gate.Measure {
	return func(ctx context.Context, item int, arm gate.Arm, sample int) (trajectory.Outcome, error) {
		place := rollout.Place{Prefix: prefix + "/" + string(arm), Sample: nullSample(gate.Draw{Arm: arm, Sample: sample}, from)}
		return j.rollouts.one(ctx, place, j.selection[item], j.skills.current.skill)
	}
}
