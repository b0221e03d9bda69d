package record

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
)

// runScore returns the score of a run, whatever its kind, and by how much it is better than
// what it is compared with.
func (d *Documents) runScore(dir string) (result.RunScore, *float64, error) {
	switch {
	case d.Evaluation != nil:
		return evaluationScore(d.Evaluation), nil, nil
	case d.Comparison != nil:
		return comparisonScore(d.Comparison), d.Comparison.Difference, nil
	case d.Pruning != nil && d.Pruning.Certificate != nil:
		return result.RunScore{Split: d.Pruning.CertifiedOn}, d.Pruning.Certificate.Difference, nil
	case d.Noise != nil && d.Noise.Items > 0:
		mean := (d.Noise.First + d.Noise.Second) / 2
		metric, _ := strconv.Unquote(d.Manifest.Identity["gate.metric"]) // "": it is not known
		return result.NewRunScore(mean, metric, d.Noise.Items, 2*d.Noise.Items, "selection", d.Noise.Unanswered), nil, nil
	}
	t := trained{d.Manifest, d.History, result.Candidates{}, d.Summary}
	if !t.hasEnded() && len(d.History.Steps) > 0 {
		if err := document(dir, candidatesFile, &t.candidates); err != nil {
			return result.RunScore{}, nil, err
		}
	}
	s, change := t.best()
	return s.RunScore, change, nil
}

// evaluationScore returns the score of a skill that was evaluated: on test, else selection.
func evaluationScore(e *result.Evaluation) result.RunScore {
	for _, split := range []string{"test", "selection", "train"} {
		if s, ok := e.Splits[split]; ok && s.N > 0 {
			answers := s.N
			if s.Repeats != nil {
				answers = s.Repeats.Evaluations
			}
			return s.On(split, answers)
		}
	}
	return result.RunScore{}
}

// comparisonScore returns the score of the second skill of a comparison.
func comparisonScore(c *result.Comparison) result.RunScore {
	s := c.B.Score
	if s == nil || s.N == 0 {
		return result.RunScore{Split: c.Split}
	}
	return s.On(c.Split, s.N)
}

// trained is what a run that trains has written of scores.
type trained struct {
	manifest   run.Manifest
	history    result.History
	candidates result.Candidates // of a run that has not ended
	summary    *result.Summary
}

// hasEnded reports whether the run is over and has a summary.
func (t trained) hasEnded() bool { return t.summary != nil && t.manifest.Status != result.Running }

// best returns the score of the best skill, and by how much it is better than the seed skill.
func (t trained) best() (Standing, *float64) {
	_, origin := t.origins()
	if !t.hasEnded() {
		out := t.newStanding(origin)
		seed := t.newStanding("seed").Score
		if out.Score == nil || seed == nil {
			return out, nil
		}
		change := *out.Score - *seed
		return out, &change
	}
	var first *result.StepRecord
	if len(t.history.Steps) > 0 {
		first = &t.history.Steps[0]
	}
	return Standing{t.summary.RunScore(), origin}, t.summary.Change(first)
}

// origins returns where the current and the best skill come from.
func (t trained) origins() (current, best string) {
	n := len(t.history.Steps)
	if n == 0 {
		return "", ""
	}
	s := t.history.Steps[n-1]
	current, best = s.CurrentOrigin, s.BestOrigin
	for _, e := range t.history.Epochs { // the end of an epoch comes after its last step
		if e.Epoch != s.Epoch || !SlowAccepted(e) {
			continue
		}
		current = fmt.Sprintf("slow update, epoch %d", e.Epoch)
		if e.SlowUpdate == string(gate.AcceptNewBest) {
			best = current
		}
	}
	for _, c := range t.candidates.Candidates { // what the end of the run decided
		if c.Best {
			best = c.Origin
		}
	}
	return current, best
}

// newStanding returns the score of a skill over all its answers so far, each task counting once.
func (t trained) newStanding(origin string) Standing {
	out := Standing{Origin: origin}
	i := slices.IndexFunc(t.candidates.Candidates, func(c result.Candidate) bool { return c.Origin == origin })
	if i < 0 || t.candidates.Candidates[i].Mean == nil {
		return out
	}
	c, sum, n, answers := t.candidates.Candidates[i], 0.0, 0, 0
	for _, p := range c.Pooled {
		if p.N > 0 {
			sum, n, answers = sum+p.Mean(), n+1, answers+p.N
		}
	}
	out.RunScore = result.NewRunScore(sum/float64(max(1, n)), t.history.Steps[0].Metric, n, answers, "selection", c.Unanswered)
	if out.Score != nil {
		out.Pass = result.AllPasses
	}
	return out
}
