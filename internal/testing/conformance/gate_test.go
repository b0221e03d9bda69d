package conformance

import (
	"testing"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
)

func TestComputeScore(t *testing.T) {
	run(t, "compute_score", func(in, out map[string]any) string {
		var pairs []score.Pair
		for _, result := range in["results"].([]any) {
			fields := result.(map[string]any)
			hard, err := recordedScore(fields, "hard", in["impl"])
			if err != nil {
				return diffRecorded(nil, err, out)
			}
			soft, err := recordedScore(fields, "soft", in["impl"])
			if err != nil {
				return diffRecorded(nil, err, out)
			}
			pairs = append(pairs, score.Pair{Hard: hard, Soft: soft})
		}
		mean := score.Mean(pairs)
		return diffRecorded([]float64{mean.Hard, mean.Soft}, nil, out)
	})
}

// recordedScore reads one field of a recorded result: 0 if it is absent, and in
// one of the recorded programs if it is null as well.
func recordedScore(fields map[string]any, name string, impl any) (float64, error) {
	v, present := fields[name]
	if !present || v == nil && impl == "skillrl" {
		return 0, nil
	}
	return score.Value(v)
}

type projectionCase struct {
	Impl          string   `json:"impl"`
	Metric        string   `json:"metric"`
	MixedWeight   float64  `json:"mixed_weight"`
	Hard          float64  `json:"hard"`
	Soft          float64  `json:"soft"`
	SkillContent  string   `json:"skill_content"`
	UseDensity    bool     `json:"use_semantic_density"`
	DensityWeight float64  `json:"semantic_density_weight"`
	LeadingWords  []string `json:"leading_words"`
}

// project returns the gate score as the recorded program takes it: skillrl
// refuses a weight out of range, SkillOpt clamps it.
func (c projectionCase) project() (float64, error) {
	p := score.Projection{Metric: score.Metric(c.Metric), MixedWeight: c.MixedWeight}
	checked := p
	if c.Impl != "skillrl" {
		checked.MixedWeight = 0
	}
	if err := checked.Validate(); err != nil {
		return 0, err
	}
	density := 0.0
	if c.UseDensity {
		p.DensityWeight = c.DensityWeight
		density = skill.Density(c.SkillContent, c.LeadingWords)
	}
	return p.Of(score.Pair{Hard: c.Hard, Soft: c.Soft}, density), nil
}

func TestGateScore(t *testing.T) {
	run(t, "gate_score", func(in, out map[string]any) string {
		got, err := recordedAs[projectionCase](t, in).project()
		return diffRecorded(got, err, out)
	})
}

// gateState is what the recorded programs carry from step to step.
type gateState struct {
	Action       gate.Action `json:"action"`
	BestScore    float64     `json:"best_score"`
	BestSkill    string      `json:"best_skill"`
	BestStep     int         `json:"best_step"`
	CurrentScore float64     `json:"current_score"`
	CurrentSkill string      `json:"current_skill"`
}

type gateCase struct {
	gateState
	projectionCase
	CandidateHard  float64 `json:"cand_hard"`
	CandidateSoft  float64 `json:"cand_soft"`
	CandidateSkill string  `json:"candidate_skill"`
	Step           int     `json:"global_step"`
}

func TestGateEval(t *testing.T) {
	run(t, "gate_eval", func(in, out map[string]any) string {
		got, err := recordedAs[gateCase](t, in).decide()
		return diffRecorded(got, err, out)
	})
}

func (c gateCase) decide() (gateState, error) {
	candidate, err := c.candidateScore()
	if err != nil {
		return gateState{}, err
	}
	s := c.gateState
	s.Action = gate.Decide(candidate, c.CurrentScore, c.BestScore)
	if s.Action.Accepted() {
		s.CurrentScore, s.CurrentSkill = candidate, c.CandidateSkill
	}
	if s.Action == gate.AcceptNewBest {
		s.BestScore, s.BestSkill, s.BestStep = candidate, c.CandidateSkill, c.Step
	}
	return s, nil
}

func (c gateCase) candidateScore() (float64, error) {
	p := c.projectionCase
	p.Hard, p.Soft, p.SkillContent = c.CandidateHard, c.CandidateSoft, c.CandidateSkill
	return p.project()
}
