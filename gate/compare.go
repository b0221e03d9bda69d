package gate

import (
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// basis says which arms an item must be measured in to count.
type basis bool

const (
	candidateOnly basis = false
	bothArms      basis = true
)

// comparison holds the scores of a trial over the items that count. A score is
// nil where nothing was measured.
type comparison struct {
	n          int
	unmeasured []string
	mean       *score.Pair
	candidate  *float64
	current    *float64
	best       *float64
	beatsBest  bool // above the best where both were measured, or there is no best
}

func compare(e *Evidence, b basis) comparison {
	t := e.Trial
	candidate, incumbent := e.Outcomes(Candidate), e.Outcomes(Incumbent)
	best, bestDensity := t.Best, t.Density.Best
	if best == nil {
		best, bestDensity = incumbent, t.Density.Incumbent
	}
	var c comparison
	var used, usedCurrent, usedBest []int
	for i, id := range t.Items {
		hasCurrent := incumbent[i].Status.Measured()
		if !candidate[i].Status.Measured() || b == bothArms && !hasCurrent {
			c.unmeasured = append(c.unmeasured, id)
			continue
		}
		used = append(used, i)
		if hasCurrent {
			usedCurrent = append(usedCurrent, i)
		}
		if best[i].Status.Measured() {
			usedBest = append(usedBest, i)
		}
	}
	c.n = len(used)
	if c.n > 0 {
		mean := meanPair(t, candidate, used)
		c.mean = &mean
	}
	c.candidate = project(t, t.Density.Candidate, candidate, used)
	c.current = project(t, t.Density.Incumbent, incumbent, usedCurrent)
	c.best = project(t, bestDensity, best, usedBest)
	againstBest := project(t, t.Density.Candidate, candidate, usedBest)
	c.beatsBest = c.candidate != nil && (c.best == nil || *againstBest > *c.best)
	return c
}

// project returns the gate score over some items, nil over none.
func project(t Trial, density float64, outcomes []trajectory.Outcome, items []int) *float64 {
	if len(items) == 0 {
		return nil
	}
	s := t.Projection.Of(meanPair(t, outcomes, items), density)
	return &s
}

// meanPair returns the mean over some items. Those of a cluster are averaged and count as one.
func meanPair(t Trial, outcomes []trajectory.Outcome, items []int) score.Pair {
	all := pairsAt(outcomes, items)
	if t.Clusters == nil {
		return score.Mean(all)
	}
	var means []score.Pair
	for _, u := range Units(len(items), at(t.Clusters, items)) {
		var of []score.Pair
		for _, k := range u {
			of = append(of, all[k])
		}
		means = append(means, score.Mean(of))
	}
	return score.Mean(means)
}

func pairsAt(outcomes []trajectory.Outcome, items []int) []score.Pair {
	pairs := make([]score.Pair, len(items))
	for k, i := range items {
		pairs[k] = score.Pair{Hard: outcomes[i].Hard, Soft: outcomes[i].Soft}
	}
	return pairs
}

// verdict returns the scores as a verdict without an action.
func (c comparison) verdict() Verdict {
	return Verdict{
		Candidate:  c.candidate,
		Current:    c.current,
		Best:       c.best,
		Mean:       c.mean,
		N:          c.n,
		Unmeasured: c.unmeasured,
	}
}

func tooFew(v Verdict, items int) string {
	return fmt.Sprintf("only %d of %s measured", v.N, wording.Plural(items, "item was", "items were")) + leftOut(v)
}

const namedItems = 5 // ids in a reason; the verdict lists them all

// leftOut names the items without a measurement, "" if there are none.
func leftOut(v Verdict) string {
	n := len(v.Unmeasured)
	if n == 0 {
		return ""
	}
	if n > namedItems {
		return fmt.Sprintf(" (without %s and %d more)", strings.Join(v.Unmeasured[:namedItems], ", "), n-namedItems)
	}
	return fmt.Sprintf(" (without %s)", strings.Join(v.Unmeasured, ", "))
}
