package result

import (
	"fmt"

	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/score"
)

// Passes over selection tasks whose answers a score is of.
const (
	FreshPass = "fresh" // the last pass, by which nothing was decided
	AllPasses = "all"   // all answers of the skill, also those that decided
)

// RunScore is the score of a run, and of which answers it is: that of the best skill on the
// test split, else of the fresh pass over the selection split, else of all answers to that so
// far. Of a run that does not train it is that of the skill that was scored. Every window shows
// this one.
type RunScore struct {
	Score   *float64 `json:"score"` // from 0 to 1; null: nothing was measured
	Low     *float64 `json:"low"`   // 95 % interval
	High    *float64 `json:"high"`
	Metric  string   `json:"metric,omitempty"`  // hard; soft or mixed where the gate counts so
	N       int      `json:"n,omitempty"`       // tasks
	Answers int      `json:"answers,omitempty"` // to them
	Split   string   `json:"split,omitempty"`   // train, selection, test
	Pass    string   `json:"pass,omitempty"`    // of a trained skill on the selection split: fresh, or all
	score.Unanswered
}

// NewRunScore returns a score with its interval, the zero value without tasks.
func NewRunScore(value float64, metric string, n, answers int, split string, u score.Unanswered) RunScore {
	if n == 0 {
		return RunScore{}
	}
	// Of scores in 0..1 none spreads more than those that are 0 or 1 with the same mean.
	ci := score.Wilson(min(1, max(0, value)), n, score.Z95)
	return RunScore{Score: &value, Low: &ci.Low, High: &ci.High, Metric: metric, N: n, Answers: answers, Split: split, Unanswered: u}
}

// On returns a hard score as that of a run, over this number of answers to the tasks of a split.
func (s *Score) On(split string, answers int) RunScore {
	out := NewRunScore(s.Hard, string(score.Hard), s.N, answers, split, s.Unanswered)
	if s.N > 0 {
		out.Low, out.High = &s.Low, &s.High
	}
	return out
}

// Over returns on what the score was measured: "40 test tasks".
func (r RunScore) Over() string {
	tasks := wording.Plural(r.N, r.Split+" task", r.Split+" tasks")
	switch {
	case r.Pass == FreshPass:
		return "a fresh pass over " + tasks
	case r.Answers > r.N:
		return fmt.Sprintf("%d answers to %s", r.Answers, tasks)
	}
	return tasks
}

// RunScore returns the score of a run that has ended.
func (s *Summary) RunScore() RunScore {
	if best := s.testScore(); best != nil {
		return s.runScore(best, "test")
	}
	return s.SelectionScore()
}

// SelectionScore returns the score of the best skill on the selection split.
func (s *Summary) SelectionScore() RunScore {
	best := s.Best.Selection
	if best == nil {
		return RunScore{}
	}
	out := s.runScore(best, "selection")
	out.Pass = AllPasses
	if r := s.Best.Reported; r != nil && r.Fresh != nil {
		out.Pass = FreshPass
	} else if r != nil {
		out.Answers = r.Evaluations
	}
	return out
}

// testScore returns the test score of the best skill: a seed skill that stayed the best was measured once.
func (s *Summary) testScore() *Score {
	if s.Test.Best == nil && s.Best.Step == 0 {
		return s.Test.Seed
	}
	return s.Test.Best
}

func (s *Summary) runScore(of *Score, split string) RunScore {
	if s.metric() == string(score.Hard) {
		return of.On(split, of.N)
	}
	return NewRunScore(of.Soft, string(score.Soft), of.N, of.N, split, of.Unanswered)
}

// metric returns by which score the run is reported: the soft one where that alone decides.
func (s *Summary) metric() string {
	if r := s.Best.Reported; s.Certificate != nil && s.Certificate.Metric == string(score.Soft) || r != nil && r.Metric == string(score.Soft) {
		return string(score.Soft)
	}
	return string(score.Hard)
}

// value returns the score by the metric of the run.
func (s *Summary) value(of *Score) float64 {
	if s.metric() == string(score.Soft) {
		return of.Soft
	}
	return of.Hard
}

// Change returns by how much the best skill is better than the seed skill on the split of the
// run's score; nil: one of them was not measured. first is the first record of the run.
func (s *Summary) Change(first *StepRecord) *float64 {
	none := 0.0
	c, seed := s.Certificate, s.Test.Seed
	switch best := s.testScore(); {
	case best != nil && s.Test.Best == nil:
		return &none
	case best != nil && c != nil && c.Difference != nil:
		return c.Difference
	case best != nil && seed != nil:
		return minus(s.value(best), s.value(seed))
	case best != nil || s.Best.Selection == nil || first == nil || first.SelectionHard == nil || first.SelectionSoft == nil:
		return nil
	}
	return minus(s.value(s.Best.Selection), s.value(&Score{Hard: *first.SelectionHard, Soft: *first.SelectionSoft}))
}

func minus(a, b float64) *float64 {
	d := a - b
	return &d
}
