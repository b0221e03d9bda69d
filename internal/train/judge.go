package train

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// rule says what a candidate has to show in strict mode.
type rule int

const (
	better   rule = iota // more than the incumbent
	notWorse             // as much as the incumbent: text that should do no harm
)

func (t *trainer) policy(r rule) (gate.Policy, error) {
	if t.Gate == "strict" {
		return gate.Strict{OrEqual: r == notWorse}, nil
	}
	return gate.ForMode(t.Gate)
}

// compare lets the gate decide on a candidate. Afterwards the candidate and the
// incumbent hold what was measured of them.
func (t *trainer) compare(ctx context.Context, prefix string, cand *incumbent, r rule) (gate.Verdict, error) {
	if t.Gate == ModeRace {
		return t.race(ctx, prefix, cand, r)
	}
	policy, err := t.policy(r)
	if err != nil {
		return gate.Verdict{}, err
	}
	done, saw := t.rollouts.counter("gate", t.judges()), t.watch(ctx, cand, r)
	res, err := gate.RunOver(ctx, t.trial(cand), t.judging, policy, func(ctx context.Context, item int, arm gate.Arm, sample int) (out trajectory.Outcome, err error) {
		s := cand.skill
		if arm == gate.Incumbent {
			s = t.current.skill
		}
		out, err = t.rollouts.one(ctx, rollout.Place{Prefix: prefix + "/" + string(arm), Sample: sample}, t.Data.Selection[item], s)
		if err != nil || !out.Status.Measured() {
			return out, err
		}
		done()
		if arm == gate.Candidate {
			saw(item, out)
		}
		return out, nil
	})
	if err != nil {
		return gate.Verdict{}, err
	}
	if t.Gate != "off" {
		cand.outcomes = res.Candidate
		if t.known(*cand) {
			cand.score = res.Verdict.Candidate
		}
	}
	if t.Gate == "strict" {
		t.learn(res.Incumbent)
	}
	if err := t.recordWithout(ctx, prefix, res); err != nil {
		return gate.Verdict{}, err
	}
	t.remember(prefix, cand, res)
	return res.Verdict, t.rollouts.healthy()
}

// learn keeps what a comparison measured of the incumbent, so that the next one
// does not measure it again. Too little of it makes no score.
func (t *trainer) learn(outcomes []trajectory.Outcome) {
	isBest := t.best.outcomes != nil && t.best.skill.Text() == t.current.skill.Text()
	t.current.outcomes, t.current.score = outcomes, nil
	if !t.known(t.current) {
		return
	}
	t.current.score = t.score(t.current.skill, outcomes)
	if isBest {
		t.best.outcomes, t.best.score = outcomes, t.current.score
	}
}

func (t *trainer) trial(cand *incumbent) gate.Trial {
	ids := make([]string, len(t.Data.Selection))
	for i, tk := range t.Data.Selection {
		ids[i] = tk.ID
	}
	return gate.Trial{
		Items: ids, Candidate: cand.outcomes, Incumbent: t.current.outcomes, Best: t.best.outcomes, Projection: t.Projection,
		Density: gate.Density{Candidate: t.density(cand.skill), Incumbent: t.density(t.current.skill), Best: t.density(t.best.skill)},
	}
}

// density is the share of directive words in a skill, if it counts at all.
func (t *trainer) density(s skill.Skill) float64 {
	if t.Projection.DensityWeight == 0 {
		return 0
	}
	return skill.Density(s.Text(), nil)
}

// score is the gate score of outcomes made with a skill; nil if none was
// measured.
func (t *trainer) score(s skill.Skill, out []trajectory.Outcome) *float64 {
	p, n := mean(out)
	if n == 0 {
		return nil
	}
	v := t.Projection.Of(p, t.density(s))
	return &v
}

// recordWithout records, with the decision, the items that it went on without.
// To try again, or to leave the incumbent in place, is such a decision too: a
// resumed run that could measure them must not decide otherwise than the steps
// which followed.
func (t *trainer) recordWithout(ctx context.Context, prefix string, res gate.Result) error {
	if len(res.Verdict.Unmeasured) == 0 {
		return nil
	}
	var keys []string
	for _, r := range res.Readings {
		if !r.Outcome.Status.Measured() {
			place := rollout.Place{Prefix: prefix + "/" + string(r.Arm), Sample: r.Sample}
			keys = append(keys, place.Key(t.Data.Selection[r.Item]))
		}
	}
	decision, err := json.Marshal(res.Verdict)
	if err != nil {
		return fmt.Errorf("encode verdict: %w", err)
	}
	return t.Record.Unmeasured(ctx, prefix+"/without", decision, keys)
}
