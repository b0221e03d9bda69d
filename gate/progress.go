package gate

import "sort"

// progress is the way that NoWorse takes through a trial: a list of draws in the
// order of the units, and how far they reach. It follows from the trial alone,
// so that a policy without state finds it again.
type progress struct {
	units []unit
	draws []Draw // one candidate sample an item where none is known, and what is missing of the incumbent
	ends  []int  // by unit: how many draws it takes up to its end
}

// newProgress returns draws of every item of an arm that has no evaluation yet.
func newProgress(e *Evidence) *progress {
	c := &progress{units: stratifyUnits(e.Trial)}
	for _, u := range c.units {
		for _, i := range u {
			for _, arm := range []Arm{Candidate, Incumbent} {
				if a := e.arms[arm]; a.pooled[i].N == 0 {
					c.draws = append(c.draws, Draw{Item: i, Arm: arm, Sample: a.next[i]})
				}
			}
		}
		c.ends = append(c.ends, len(c.draws))
	}
	return c
}

// complete returns how many units have all their draws among the first read.
func (c *progress) complete(read int) int {
	return sort.Search(len(c.ends), func(u int) bool { return c.ends[u] > read })
}

// at returns how many draws the first units take.
func (c *progress) at(units int) int {
	if units == 0 {
		return 0
	}
	return c.ends[units-1]
}

// wave returns the draws after those read, up to the next unit where stop says so, or to the end.
func (c *progress) wave(read int, stop func(units int) bool) []Draw {
	for m := c.complete(read) + 1; m < len(c.units); m++ {
		if stop(m) && c.at(m) > read {
			return c.draws[read:c.at(m)]
		}
	}
	return c.draws[read:]
}
