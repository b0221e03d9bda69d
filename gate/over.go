package gate

import (
	"context"

	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// RunOver decides a trial by some of its items alone: the policy sees no others, and none
// of them is drawn. Readings and outcomes are those of the whole trial: what it was not
// decided by stays as it was known. Nil items are all of them.
func RunOver(ctx context.Context, t Trial, items []int, p Policy, measure Measure) (Result, error) {
	if items == nil {
		return Run(ctx, t, p, measure)
	}
	res, err := Run(ctx, t.over(items), p, func(ctx context.Context, item int, arm Arm, sample int) (trajectory.Outcome, error) {
		return measure(ctx, items[item], arm, sample)
	})
	if err != nil {
		return res, err
	}
	for i := range res.Readings {
		res.Readings[i].Item = items[res.Readings[i].Item]
	}
	whole, err := newEvidence(t)
	if err != nil {
		return res, err
	}
	for _, r := range res.Readings {
		whole.add(r)
	}
	for _, r := range res.Kept {
		r.Item = items[r.Item]
		whole.addKept(r)
	}
	return whole.result(res.Verdict), nil
}

// over returns the part of a trial that has only the given items.
func (t Trial) over(items []int) Trial {
	t.Items = at(t.Items, items)
	t.Candidate, t.Incumbent, t.Best = at(t.Candidate, items), at(t.Incumbent, items), at(t.Best, items)
	t.Types, t.Clusters, t.PastScores = at(t.Types, items), at(t.Clusters, items), at(t.PastScores, items)
	t.Past, t.Next, t.Passed = eachAt(t.Past, items), eachAt(t.Next, items), eachAt(t.Passed, items)
	return t
}

// at picks elements of a list. A list that is not there stays so.
func at[T string | int | score.Pair | Pooled | trajectory.Outcome](list []T, items []int) []T {
	if list == nil {
		return nil
	}
	out := make([]T, len(items))
	for i, j := range items {
		out[i] = list[j]
	}
	return out
}

func eachAt[T int | Pooled](lists map[Arm][]T, items []int) map[Arm][]T {
	if lists == nil {
		return nil
	}
	out := make(map[Arm][]T, len(lists))
	for arm, list := range lists {
		out[arm] = at(list, items)
	}
	return out
}
