package train

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/plural"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/stats"
	"github.com/seed-f4525e22/skillopt/result"
)

// Bounds of how many items are asked twice.
const (
	TwiceLeast = 8
	TwiceMost  = 40
)

const (
	twiceShare   = 0.2  // of the items that are asked twice where nothing is expected to change
	twicePassing = 0.75 // of those, items that the skill solves: only they can flip by chance
	goodEnough   = 0.1  // detectable effect above which advice is given
	seenAlpha    = 0.05 // two-sided level at which a difference is seen,
	seenPower    = 0.8  // in this share of comparisons
)

// measureNoise evaluates the seed skill once more on some items: is one evaluation the
// truth, and if not, how far from it?
func (j *judge) measureNoise(ctx context.Context, seed *incumbent) (*result.SeedNoise, error) {
	e := j.skills.entry(seed)
	strata := j.repeatedItems(e)
	var which []int
	for _, s := range strata {
		which = append(which, s.twice...)
	}
	j.emit(event.StageStarted{Stage: "baseline again", Total: len(which)})
	flips, err := j.askAgain(ctx, rollout.Place{Prefix: "seed/selection/again", Sample: 1}, e, which)
	if err != nil {
		return nil, err
	}
	n := &result.SeedNoise{Items: j.judges(), Flips: append([]string{}, flips...)}
	within := 0.0
	for _, s := range strata {
		v, twice := e.repeated(s.twice)
		within += v * float64(s.size) / float64(max(1, e.numMeasured()))
		n.Twice += twice
	}
	n.Within = math.Sqrt(within)
	n.Deterministic = j.opts.Deterministic && n.Twice > 0 && len(flips) == 0
	if err := assess(n, inflation(j.skills.store.units)); err != nil {
		return nil, fmt.Errorf("assess the noise of the selection split: %w", err)
	}
	j.deterministic = n.Deterministic
	j.emit(event.NoiseFloor{Items: n.Items, Twice: n.Twice, Flips: len(flips), Within: n.Within, Detectable: n.Detectable, Deterministic: n.Deterministic})
	if n.Advice != "" {
		j.emit(event.Warning{Text: n.Advice})
	}
	j.skills.refresh(seed)
	return n, nil
}

// inClustersOf says how many clusters some tasks are in, if any of them share one.
func inClustersOf(tasks string, items, units int) string {
	if units == items {
		return tasks
	}
	return tasks + " in " + plural.Of(units, "cluster", "clusters")
}

// stratum is a part of the items, and those of them that are asked twice.
type stratum struct {
	size  int
	twice []int
}

// TwiceOf is how many of so many items are asked again, where no ceiling bounds it.
func TwiceOf(items int, deterministic bool) int {
	most := TwiceMost
	if deterministic {
		most = max(TwiceLeast, int(math.Ceil(twiceShare*float64(items))))
	}
	return min(most, items)
}

// repeatedItems draws the items to ask again: few where nothing is expected to
// change, most of them such as the skill solves, since what it cannot solve
// cannot flip. A ceiling may allow for fewer.
func (j *judge) repeatedItems(e *entry) []stratum {
	all := e.measured()
	most := TwiceOf(len(all), j.opts.Deterministic)
	if j.opts.Twice != nil {
		most = min(most, *j.opts.Twice)
	}
	rng := rand.New(rand.NewPCG(uint64(j.opts.Seed), 0x616761696e)) //nolint:gosec // not for secrets
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	var passing, failing []int
	for _, i := range all {
		if e.Pooled[i].Sum > 0 {
			passing = append(passing, i)
		} else {
			failing = append(failing, i)
		}
	}
	p := min(len(passing), int(math.Ceil(twicePassing*float64(most))))
	f := min(len(failing), most-p)
	p = min(len(passing), most-f)
	return []stratum{{len(passing), passing[:p]}, {len(failing), failing[:f]}}
}

// measured lists the items with an evaluation.
func (e *entry) measured() []int {
	var out []int
	for i, p := range e.Pooled {
		if p.N > 0 {
			out = append(out, i)
		}
	}
	return out
}

// numMeasured is how many items have an evaluation.
func (e *entry) numMeasured() int {
	n := 0
	for _, p := range e.Pooled {
		if p.N > 0 {
			n++
		}
	}
	return n
}

// unmeasured lists the items without an evaluation.
func (e *entry) unmeasured() []int {
	var out []int
	for i, p := range e.Pooled {
		if p.N == 0 {
			out = append(out, i)
		}
	}
	return out
}

// repeated is the variance within the given items, and how many of them were
// evaluated more than once.
func (e *entry) repeated(items []int) (variance float64, n int) {
	sum, free := 0.0, 0
	for _, i := range items {
		if p := e.Pooled[i]; p.N > 1 {
			sum += max(0, e.squares[i]-p.Sum*p.Sum/float64(p.N))
			free += p.N - 1
			n++
		}
	}
	if free == 0 {
		return 0, 0
	}
	return sum / float64(free), n
}

// inflation is how much larger the error of a mean over units is than that of a mean
// over their items: 1 where all units have as many.
func inflation(units [][]int) float64 {
	inverse, items := 0.0, 0
	for _, u := range units {
		inverse += 1 / float64(len(u))
		items += len(u)
	}
	return math.Sqrt(inverse*float64(items)) / float64(len(units))
}

// assess derives what can be seen, and what would help.
func assess(n *result.SeedNoise, inflation float64) error {
	items := float64(n.Items)
	n.Detectable = 1 / items
	sigma := n.Within * math.Sqrt2 * inflation // of the difference on one item
	if sigma > 0 {
		seen, err := stats.MinimumDetectable(sigma, n.Items, seenAlpha, seenPower)
		if err != nil {
			return err
		}
		n.Detectable = max(n.Detectable, seen)
	}
	if n.Detectable <= goodEnough || sigma == 0 && n.Items >= TwiceLeast {
		return nil
	}
	n.Advice = fmt.Sprintf("with %d selection tasks a difference below %.0f points drowns in chance", n.Items, 100*n.Detectable)
	if sigma == 0 {
		n.Advice += ": more tasks would help"
		return nil
	}
	need, err := stats.SampleSize(goodEnough, sigma, seenAlpha, seenPower)
	if err != nil {
		return err
	}
	n.Advice += fmt.Sprintf("; for %.0f points it takes %d tasks, or each task asked %.0f times; temperature 0 or a softer score (gate.metric: soft) lowers the noise",
		100*goodEnough, need, math.Ceil(float64(need)/items))
	return nil
}

// askAgain evaluates some items of a skill once more and returns the ids of those
// whose answer or score changed.
func (j *judge) askAgain(ctx context.Context, place rollout.Place, e *entry, which []int) ([]string, error) {
	if len(which) == 0 {
		return nil, nil
	}
	slices.Sort(which)
	for _, i := range which {
		place.Sample = max(place.Sample, e.Next[i])
	}
	set := rolloutSet{place, pick(j.selection, which), e.skill}
	out, err := j.rollouts.batch(ctx, "asked again", set)
	if err != nil {
		return nil, err
	}
	gone, err := j.rollouts.giveUpMissing(ctx, set, out)
	if err != nil {
		return nil, err
	}
	if len(gone) > 0 {
		j.emit(event.Warning{Text: fmt.Sprintf("%s goes on without %v, which could not be measured", place.Prefix, idsOf(gone))})
	}
	var flips []string
	known := j.skills.store.all(e)
	for k, o := range out {
		first := known[which[k]]
		if o.Status.Measured() && first.Status.Measured() && (o.Answer != first.Answer || o.Hard != first.Hard || o.Soft != first.Soft) {
			flips = append(flips, o.ID)
		}
		j.skills.store.add(e, which[k], place.Sample, o)
	}
	return flips, nil
}
