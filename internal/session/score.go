package session

import (
	"fmt"

	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/passes"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// PooledScore sums up the measured outcomes of each task; nil without any.
func PooledScore(byTask [][]trajectory.Outcome) (*result.Score, passes.Pool, error) {
	hard, soft, zeros := make([][]float64, len(byTask)), []score.Pair{}, score.Unanswered{}
	for i, outcomes := range byTask {
		var pairs []score.Pair
		for _, o := range outcomes {
			if o.Status.Measured() {
				hard[i] = append(hard[i], o.Hard)
				zeros.Add(o.Unanswered())
				pairs = append(pairs, score.Pair{Hard: o.Hard, Soft: o.Soft})
			}
		}
		if len(pairs) > 0 {
			soft = append(soft, score.Mean(pairs))
		}
	}
	p, err := passes.Pooled(hard)
	if err != nil || p.Items == 0 {
		return nil, p, err
	}
	return &result.Score{Hard: p.Mean, Soft: score.Mean(soft).Soft, N: p.Items, Low: p.Low, High: p.High, Unanswered: zeros}, p, nil
}

// Splits reads the name of a split, or "all".
func Splits(name string) ([]task.Split, error) {
	if name == "all" {
		return []task.Split{task.Train, task.Selection, task.Test}, nil
	}
	s, err := task.ParseSplit(name)
	if err != nil {
		return nil, fault.Input(fmt.Errorf("--split: %w, or all", err))
	}
	return []task.Split{s}, nil
}

// Count returns the number of tasks in splits.
func (s *Inputs) Count(splits []task.Split) int {
	n := 0
	for _, split := range splits {
		n += len(s.Set.Split(split))
	}
	return n
}
