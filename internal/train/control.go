package train

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/plural"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Control is a null control: the current skill was judged against itself under another
// name, by fresh answers. An acceptance is an error of the gate.
type Control struct {
	Accepted   bool             `json:"accepted"`
	Reason     string           `json:"reason"`
	Difference *float64         `json:"difference,omitempty"`
	SE         *float64         `json:"difference_se,omitempty"`
	Draws      map[gate.Arm]int `json:"draws,omitempty"`
}

// Controls sums up the null controls of a run.
type Controls struct {
	Judged   int `json:"judged"`   // of which the gate decided
	Accepted int `json:"accepted"` // of them, wrongly
}

// Words says it in a sentence.
func (c Controls) Words() string {
	return fmt.Sprintf("judged against itself under another name %s, the current skill was taken for better %s", plural.Of(c.Judged, "time", "times"), plural.Of(c.Accepted, "time", "times"))
}

// Controls returns the sum of a history's null controls, nil if there were none.
func (h History) Controls() *Controls {
	var out *Controls
	for _, s := range h.Steps {
		if s.Control == nil {
			continue
		}
		if out == nil {
			out = &Controls{}
		}
		out.Judged++
		if s.Control.Accepted {
			out.Accepted++
		}
	}
	return out
}

// apart is how far the sample numbers of the two arms of a null control are apart: a gate
// asks for fewer of an item.
const apart = 4

// control judges the current skill against itself, if it is time to. Nothing rests on
// it, and its answers are not pooled with others. Where answers are alike every time it
// would say nothing.
func (s *step) control(ctx context.Context) error {
	if s.NullEvery < 1 || s.number%s.NullEvery != 0 || s.Gate != ModeRace && s.Gate != "strict" || s.alike || !s.known(s.current) {
		return nil
	}
	prefix := s.key() + "/null"
	s.Events(event.StageStarted{Epoch: s.epoch, Step: s.number, Stage: "null control", Total: len(s.Data.Selection)})
	e := s.entry(&s.current)
	from := slices.Max(e.Next)
	var policy gate.Policy = s.racing()
	shift := 0 // of samples: a race is told where they begin
	if s.Gate == "strict" {
		policy, shift = gate.Strict{}, from
	}
	res, err := gate.RunOver(ctx, s.nullTrial(prefix, from), s.judging, policy, s.nullDraw(prefix, shift))
	if err != nil {
		return err
	}
	for i := range res.Readings {
		res.Readings[i].Sample += shift
	}
	for i := range e.Next {
		e.Next[i] = from + 2*apart // what these samples were is not drawn again
	}
	v := res.Verdict
	if err := s.recordWithout(ctx, prefix, res); err != nil {
		return err
	}
	if v.Action != gate.Indecisive {
		s.record.Control = &Control{Accepted: v.Action.Accepted(), Reason: v.Reason, Difference: v.Difference, SE: v.SE, Draws: v.Draws}
	}
	return s.rollouts.healthy()
}

// nullTrial is a trial of the current skill, of which nothing is known under its other
// name.
func (t *trainer) nullTrial(prefix string, from int) gate.Trial {
	trial := t.raceTrial(prefix, &t.current)
	n := len(trial.Items)
	trial.Candidate, trial.PastScores = make([]trajectory.Outcome, n), nil
	for i, id := range trial.Items {
		trial.Candidate[i] = unmeasured(id)
	}
	trial.Past[gate.Candidate] = make([]gate.Pooled, n)
	trial.Next[gate.Candidate] = slices.Repeat([]int{from}, n)
	trial.Next[gate.Incumbent] = slices.Repeat([]int{from + apart}, n)
	return trial
}

// nullDraw makes the draws of both arms with the current skill, each of them fresh.
func (t *trainer) nullDraw(prefix string, shift int) gate.Measure {
	return func(ctx context.Context, item int, arm gate.Arm, sample int) (trajectory.Outcome, error) {
		return t.rollouts.one(ctx, rollout.Place{Prefix: prefix + "/" + string(arm), Sample: sample + shift}, t.Data.Selection[item], t.current.skill)
	}
}
