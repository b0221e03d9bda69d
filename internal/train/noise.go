package train

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/passes"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/stats"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
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

// againKey is where the second answers of the seed skill are in the record.
const againKey = "seed/selection/again"

// NoiseMark is in the keys of the second answers of an accepted skill, and in no others.
const NoiseMark = "/noise/"

// noisePlace returns the place of the second answers of the skill that is current after a unit of
// the loop, "" for the seed skill.
func noisePlace(at string) rollout.Place {
	if at == "" {
		return rollout.Place{Prefix: againKey, Sample: 1}
	}
	return rollout.Place{Prefix: at + strings.TrimSuffix(NoiseMark, "/"), Sample: 1}
}

// measureNoise evaluates a skill again on some items: is one evaluation the truth, and
// if not, how far from it?
func (j *judge) measureNoise(ctx context.Context, at string, of *incumbent, strata []stratum) (*result.SeedNoise, error) {
	e := j.skills.entry(of)
	which := listTwice(strata)
	stage := "baseline again"
	if at != "" {
		stage = "noise"
	}
	j.emit(event.StageStarted{Stage: stage, Total: len(which)})
	place := noisePlace(at)
	for _, i := range which {
		place.Sample = max(place.Sample, e.Next[i])
	}
	flips, err := j.askAgain(ctx, place, e, which)
	if err != nil {
		return nil, err
	}
	n := &result.SeedNoise{At: at, Items: j.judges(), Flips: append([]string{}, flips...)}
	within := 0.0
	var means []float64
	for _, s := range strata {
		v, twice := e.varianceWithin(s.twice)
		within += v * float64(s.size) / float64(max(1, e.numMeasured()))
		means = append(means, twice...)
	}
	if n.Twice = len(means); within > score.Negligible || passes.Room(means) {
		deviation := math.Sqrt(within)
		n.Within = &deviation
	}
	j.changed = j.changed || len(flips) > 0
	n.Deterministic = j.opts.Deterministic && n.Within != nil && !j.changed && len(j.drifts) == 0
	if err := assess(n, inflation(j.skills.store.units)); err != nil {
		return nil, fmt.Errorf("assess the noise of the selection split: %w", err)
	}
	j.deterministic, j.unseen = n.Deterministic, n.Within == nil
	j.emit(event.NoiseFloor{At: at, Items: n.Items, Twice: n.Twice, Flips: len(flips), Within: n.Within, Detectable: n.Detectable, Deterministic: n.Deterministic})
	if n.Advice != "" && n.Within != nil { // else the event says it
		j.emit(event.Warning{Text: n.Advice})
	}
	j.skills.refresh(of)
	return n, nil
}

// noiseAgain measures the noise with the current skill, after a unit of the loop, where it
// could not be measured with the seed skill and can be with this one. It does so once, if
// there is room for it.
func (t *trainer) noiseAgain(ctx context.Context, at string) error {
	before, current := t.history.Noise, &t.skills.current
	if before == nil || before.Within != nil || before.At != "" || current.step == 0 || !t.skills.isKnown(*current) {
		return nil
	}
	e := t.skills.entry(current)
	strata := t.judge.repeatedItems(e, false) // as many as where answers change: it is not known that they do not
	which := listTwice(strata)
	if !passes.Room(e.means(which)) {
		return nil
	}
	place := noisePlace(at)
	room, err := t.pacer.roomFor(ctx, place.Prefix, Unit{Name: UnitMore, Step: t.lastStep(), Tasks: len(which)})
	if err != nil || !room {
		return err
	}
	wasBest := t.skills.bestIsCurrent()
	n, err := t.judge.measureNoise(ctx, at, current, strata)
	if err != nil {
		return fmt.Errorf("measure the noise: %w", err)
	}
	if wasBest {
		t.skills.refresh(&t.skills.best)
	}
	t.history.Noise = n
	return nil
}

// nameGroups returns tasks, and in how many groups they are, if any of them share one.
func nameGroups(tasks string, items, units int) string {
	if units == items {
		return tasks
	}
	return tasks + " in " + wording.Plural(units, "group", "groups")
}

// stratum is a part of the items, and those of them that are asked twice.
type stratum struct {
	size  int
	twice []int
}

// listTwice lists the items of strata that are asked twice.
func listTwice(strata []stratum) []int {
	var out []int
	for _, s := range strata {
		out = append(out, s.twice...)
	}
	return out
}

// CountTwice returns how many of that many items are asked again, where no ceiling bounds it.
func CountTwice(items int, deterministic bool) int {
	most := TwiceMost
	if deterministic {
		most = max(TwiceLeast, int(math.Ceil(twiceShare*float64(items))))
	}
	return min(most, items)
}

// repeatedItems draws the items to ask again: few where nothing is expected to
// change, most of them such as the skill solves, since what it cannot solve
// cannot flip. A ceiling may allow for fewer.
func (j *judge) repeatedItems(e *entry, deterministic bool) []stratum {
	all := e.measuredItems()
	most := CountTwice(len(all), deterministic)
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

// measuredItems lists the items with an evaluation.
func (e *entry) measuredItems() []int {
	var out []int
	for i, p := range e.Pooled {
		if p.N > 0 {
			out = append(out, i)
		}
	}
	return out
}

// numMeasured returns how many items have an evaluation.
func (e *entry) numMeasured() int {
	n := 0
	for _, p := range e.Pooled {
		if p.N > 0 {
			n++
		}
	}
	return n
}

// means lists the mean scores of measured items.
func (e *entry) means(items []int) []float64 {
	out := make([]float64, len(items))
	for k, i := range items {
		out[k] = e.Pooled[i].Mean()
	}
	return out
}

// unmeasuredItems lists the items without an evaluation.
func (e *entry) unmeasuredItems() []int {
	var out []int
	for i, p := range e.Pooled {
		if p.N == 0 {
			out = append(out, i)
		}
	}
	return out
}

// varianceWithin returns the variance within the given items, and the means of those that were
// evaluated more than once.
func (e *entry) varianceWithin(items []int) (variance float64, means []float64) {
	sum, free := 0.0, 0
	for _, i := range items {
		if p := e.Pooled[i]; p.N > 1 {
			sum += max(0, e.squares[i]-p.Sum*p.Sum/float64(p.N))
			free += p.N - 1
			means = append(means, p.Mean())
		}
	}
	if free == 0 {
		return 0, nil
	}
	return sum / float64(free), means
}

// inflation returns how much larger the error of a mean over units is than that of a mean over
// their items: 1 where all units have as many.
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
	if n.Within == nil {
		n.Advice = fmt.Sprintf("noise cannot be measured with this skill: of %s asked twice, all but at most one have the same lowest or highest score; the gate assumes that answers change",
			wording.Plural(n.Twice, "task", "tasks"))
		return nil
	}
	items := float64(n.Items)
	detectable := 1 / items
	n.Detectable = &detectable
	sigma := *n.Within * math.Sqrt2 * inflation // of the difference on one item
	if sigma > 0 {
		seen, err := stats.MinimumDetectable(sigma, n.Items, seenAlpha, seenPower)
		if err != nil {
			return err
		}
		detectable = max(detectable, seen)
	}
	if detectable <= goodEnough || sigma == 0 && n.Items >= TwiceLeast {
		return nil
	}
	n.Advice = fmt.Sprintf("with %d selection tasks a difference below %.0f points drowns in chance", n.Items, 100*detectable)
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

// askAgain evaluates some items of a skill again and returns the ids of those
// whose answer or score changed.
func (j *judge) askAgain(ctx context.Context, place rollout.Place, e *entry, which []int) ([]string, error) {
	if len(which) == 0 {
		return nil, nil
	}
	slices.Sort(which)
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
		j.emit(event.Warning{Text: fmt.Sprintf("%s continues without %v, which could not be measured", place.Prefix, taskIDs(gone))})
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
