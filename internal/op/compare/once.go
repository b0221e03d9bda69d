package compare

import (
	"fmt"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/passes"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
)

// isSingleLook reports whether the comparison looks once, at its end, at a level that was named
// before: a sample of fixed size finds more than one that is looked at all the time.
func (c *comparison) isSingleLook() bool { return c.level > 0 }

// looks returns after how many units of a pass the comparison looks at what they say.
func (c *comparison) looks(pass int) []int {
	if pass > 0 || c.isSingleLook() {
		return []int{len(c.units)}
	}
	return passes.Blocks(len(c.units))
}

// lookOnce replaces the verdict that holds at all looks by that of the only
// look. Nothing is reported before all is read.
func (c *comparison) lookOnce(out *result.Comparison) error {
	out.Verdict = result.VerdictNotEnoughData
	if len(out.ByTask) == 0 || out.Passes < c.most || len(out.ByTask) < len(c.tasks)-len(out.Unmeasured) {
		return nil
	}
	test, pairs := c.lookTest(), c.pairs()
	better, err := gate.LookOnce(pairs, test, c.level)
	if err != nil {
		return fmt.Errorf("compare: %w", err)
	}
	out.Look = &result.ComparisonLook{
		Test: test, Level: c.level, N: better.N, Wins: better.Wins, Losses: better.Losses, Ties: better.Ties,
		P: better.P, EValue: better.Wealth, Certified: better.Certified, AtLeast: better.Low,
	}
	worse, err := gate.LookOnce(swapPairs(pairs), test, c.level)
	switch {
	case err != nil:
		return fmt.Errorf("compare: %w", err)
	case better.Certified:
		out.Verdict = result.VerdictBetter
	case worse.Certified:
		out.Verdict = result.VerdictWorse
	}
	return nil
}

// lookTest returns the test of a look, which is settled before a score is known: the exact test for
// one pass of hard scores where each task is on its own, else the bound.
func (c *comparison) lookTest() gate.LookTest {
	g := c.session.Config.Gate
	if g.Metric == string(score.Hard) && c.most == 1 && !train.HasClusters(c.tasks, g.Group) {
		return gate.LookExact
	}
	return gate.LookBound
}

// pairs returns the mean scores of the tasks over the passes, A as the reference; those of a
// cluster have its name.
func (c *comparison) pairs() []gate.Pair {
	a, b := c.collectOutcomes(0), c.collectOutcomes(1)
	var out []gate.Pair
	for n, unit := range c.units {
		name := ""
		if len(unit) > 1 {
			name = fmt.Sprint(n)
		}
		for _, i := range unit {
			if len(a[i]) > 0 {
				out = append(out, gate.Pair{Candidate: c.mean(b[i]), Reference: c.mean(a[i]), Cluster: name})
			}
		}
	}
	return out
}

func swapPairs(pairs []gate.Pair) []gate.Pair {
	out := make([]gate.Pair, len(pairs))
	for i, p := range pairs {
		out[i] = gate.Pair{Candidate: p.Reference, Reference: p.Candidate, Cluster: p.Cluster}
	}
	return out
}
