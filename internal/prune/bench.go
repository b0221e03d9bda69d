package prune

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/stats"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Measure carries out one task, by its index, with a skill. sample distinguishes repeated
// evaluations of the same; asked again with the same arguments it answers the
// same. It is called concurrently and limits itself. An outcome that was not
// measured has the status unmeasured; an error ends everything.
type Measure func(ctx context.Context, s skill.Skill, item, sample int) (trajectory.Outcome, error)

// Skip gets, before anything is decided, what a decision goes without.
type Skip func(ctx context.Context, decision string, lost []Lost) error

// Lost names an evaluation that could not be made.
type Lost struct {
	Skill        skill.Skill
	Item, Sample int
	Reason       string
}

// Bench is the set of tasks on which skills are compared.
type Bench struct {
	Name       string   // distinguishes decisions of several benches
	Items      []string // ids of the tasks
	Types      []string // task type by item; nil: none
	Clusters   []string // as in gate.Trial; nil: none
	Projection score.Projection
	Seed       int64 // of the orders in which tasks are read
	First      int   // number of the first sample
	Measure    Measure
	Skip       Skip // nil: nothing is lost

	read map[evaluation]bool // what comparisons have gone by
}

// evaluation is a task carried out once with a skill.
type evaluation struct {
	skill        string // its digest
	item, sample int
}

// Evaluations returns how many evaluations comparisons have gone by so far. An evaluation that two
// of them share counts once.
func (b *Bench) Evaluations() int { return len(b.read) }

// count takes down what a comparison has read.
func (b *Bench) count(readings []gate.Reading, digest func(gate.Arm) string) {
	if b.read == nil {
		b.read = map[evaluation]bool{}
	}
	for _, r := range readings {
		b.read[evaluation{digest(r.Arm), r.Item, r.Sample}] = true
	}
}

// TooFewError says that too much could not be measured, or that there are too few
// tasks, to decide anything.
type TooFewError struct {
	At     string // which comparison
	Reason string
}

func (e *TooFewError) Error() string { return e.At + ": " + e.Reason }

// duel compares a shorter skill with a longer one on a bench.
type duel struct {
	bench    *Bench
	name     string // of the decision
	short    skill.Skill
	long     skill.Skill
	digests  [2]string            // of the two
	drawn    []int                // pairs asked for, by item
	first    []trajectory.Outcome // of the first pair of an item: short, then long
	partner  []trajectory.Outcome
	pairs    []float64     // differences, short minus long, one a unit and round
	unit     []int         // of each of them: the first item of its unit
	ends     []int         // by round: how many of them there were
	counter  *Bench        // that evaluations are counted on
	longs    []gate.Pooled // what the long text scores, by item
	lost     map[int]bool
	refused  [2]score.Unanswered // of the two
	rounds   int
	complete bool // every item was read at least once
}

func (b *Bench) duel(name string, short, long skill.Skill) *duel {
	n := len(b.Items)
	return &duel{
		bench: b, counter: b, name: name, short: short, long: long, digests: skillDigests(short, long),
		drawn: make([]int, n), first: make([]trajectory.Outcome, n), partner: make([]trajectory.Outcome, n), longs: make([]gate.Pooled, n), lost: map[int]bool{},
	}
}

// skillDigests returns what distinguishes a pair of skills from others.
func skillDigests(short, long skill.Skill) [2]string { return [2]string{short.Digest(), long.Digest()} }

// units returns how many tasks there are. Those of a cluster count once.
func (d *duel) units() int {
	seen := map[string]bool{}
	n := 0
	for i := range d.bench.Items {
		if c := d.cluster(i); c == "" || !seen[c] {
			n++
			seen[c] = true
		}
	}
	return n
}

func (d *duel) cluster(item int) string {
	if d.bench.Clusters == nil {
		return ""
	}
	return d.bench.Clusters[item]
}

// round reads every task again, in an order of its own, with both texts, as
// long as the policy wants to.
func (d *duel) round(ctx context.Context, policy gate.Policy) (gate.Verdict, error) {
	d.rounds++
	b := d.bench
	t := gate.Trial{
		Items: b.Items, Projection: b.Projection, Types: b.Types, Clusters: b.Clusters, Seed: roundSeed(b.Seed, d.rounds),
		Past: map[gate.Arm][]gate.Pooled{}, Next: map[gate.Arm][]int{},
	}
	next := make([]int, len(b.Items))
	for i, n := range d.drawn {
		next[i] = b.First + n
	}
	t.Past[gate.Candidate], t.Past[gate.Incumbent] = make([]gate.Pooled, len(next)), make([]gate.Pooled, len(next))
	t.Next[gate.Candidate], t.Next[gate.Incumbent] = next, slices.Clone(next)
	res, err := gate.Run(ctx, t, policy, func(ctx context.Context, item int, arm gate.Arm, sample int) (trajectory.Outcome, error) {
		return b.Measure(ctx, d.skill(arm), item, sample)
	})
	if err != nil {
		return gate.Verdict{}, err
	}
	lost, err := d.take(ctx, res.Readings)
	switch {
	case err != nil:
		return gate.Verdict{}, err
	case res.Verdict.Action == gate.Indecisive:
		return res.Verdict, &TooFewError{At: d.name, Reason: res.Verdict.Reason}
	case len(lost) > 0 && !gate.Enough(len(b.Items), items(lost)):
		return res.Verdict, &TooFewError{At: d.name, Reason: fmt.Sprintf("%d of %d tasks could not be measured: %s", items(lost), len(b.Items), lost[len(lost)-1].Reason)}
	}
	return res.Verdict, nil
}

// items counts those in a list of what is lost.
func items(lost []Lost) int {
	seen := map[int]bool{}
	for _, l := range lost {
		seen[l.Item] = true
	}
	return len(seen)
}

func (d *duel) skill(arm gate.Arm) skill.Skill {
	if arm == gate.Candidate {
		return d.short
	}
	return d.long
}

func (d *duel) digest(arm gate.Arm) string {
	if arm == gate.Candidate {
		return d.digests[0]
	}
	return d.digests[1]
}

// seen is what a round has read of an item.
type seen struct{ short, long *trajectory.Outcome }

// take keeps what a round has read: a difference for each unit that both texts
// have. It returns what could not be measured.
func (d *duel) take(ctx context.Context, readings []gate.Reading) ([]Lost, error) {
	d.counter.count(readings, d.digest)
	read := map[int]*seen{}
	var order []int
	var lost []Lost
	for _, r := range readings {
		if read[r.Item] == nil {
			read[r.Item] = &seen{}
			order = append(order, r.Item)
			d.drawn[r.Item]++
		}
		switch {
		case !r.Outcome.Status.Measured():
			lost = append(lost, Lost{Skill: d.skill(r.Arm), Item: r.Item, Sample: r.Sample, Reason: r.Outcome.FailReason})
			d.lost[r.Item] = true
		case r.Arm == gate.Candidate:
			d.refused[0].Add(r.Outcome.Unanswered())
			read[r.Item].short = &r.Outcome
		default:
			d.refused[1].Add(r.Outcome.Unanswered())
			read[r.Item].long = &r.Outcome
			d.longs[r.Item].Sum += d.of(r.Outcome)
			d.longs[r.Item].N++
		}
	}
	d.pair(order, read)
	d.complete = !slices.Contains(d.drawn, 0)
	if len(lost) == 0 || d.bench.Skip == nil {
		return lost, nil
	}
	return lost, d.bench.Skip(ctx, fmt.Sprintf("%s/%s/round%d/without", d.bench.Name, d.name, d.rounds), lost)
}

// pair adds the differences of the items that both texts have, in the order in
// which they were read. Those of a cluster are averaged.
func (d *duel) pair(order []int, read map[int]*seen) {
	var units []gate.Pooled
	var of []int
	at := map[string]int{}
	for _, i := range order {
		p := read[i]
		if p.short == nil || p.long == nil {
			continue
		}
		if !d.first[i].Status.Measured() {
			d.first[i], d.partner[i] = *p.short, *p.long
		}
		c := d.cluster(i)
		u, ok := at[c]
		if c == "" || !ok {
			u = len(units)
			at[c], units, of = u, append(units, gate.Pooled{}), append(of, d.head(i))
		}
		units[u].Sum += d.of(*p.short) - d.of(*p.long)
		units[u].N++
	}
	for _, u := range units {
		d.pairs = append(d.pairs, max(-1, min(1, u.Mean())))
	}
	d.unit, d.ends = append(d.unit, of...), append(d.ends, len(d.pairs))
}

// effect returns how much better the short text is in all that was read so far.
func (d *duel) effect(bets stats.Betting, level float64) (Effect, error) {
	e, err := newEffect(d.pairs, bets, level)
	e.Refused = d.refused
	return e, err
}

// bets returns the stakes of a bettor who expects a variance and learns, from one round to the
// next, which one it is.
func (d *duel) bets(margin, variance float64) stats.Betting {
	n := float64(d.units())
	sum, at := n*variance, 0
	stakes := make([]float64, 0, len(d.pairs))
	for _, end := range d.ends {
		stake := stats.StakeFor(margin, sum/n)
		for ; at < end; at++ {
			stakes = append(stakes, stake)
			sum += d.pairs[at] * d.pairs[at]
		}
		n = float64(d.units() + end)
	}
	return stats.Betting{Stakes: stakes}
}

// head returns the item that represents the unit of an item: the first of its cluster.
func (d *duel) head(item int) int {
	if c := d.cluster(item); c != "" {
		return slices.Index(d.bench.Clusters, c)
	}
	return item
}

// byUnit sorts the differences by unit, in the order of the items, and names the first
// item of each. A unit without any is there as well.
func (d *duel) byUnit() (heads []int, out [][]float64) {
	at := map[int]int{}
	for i := range d.bench.Items {
		if d.head(i) == i {
			at[i], heads, out = len(out), append(heads, i), append(out, nil)
		}
	}
	for k, u := range d.unit {
		out[at[u]] = append(out[at[u]], d.pairs[k])
	}
	return heads, out
}

// of returns the score that comparisons go by. Only what a text leads to counts, not what it looks
// like.
func (d *duel) of(o trajectory.Outcome) float64 {
	return d.bench.Projection.Of(score.Pair{Hard: o.Hard, Soft: o.Soft}, 0)
}

// discordant lists the items on which the texts differ.
func (d *duel) discordant() []int {
	var out []int
	for i := range d.first {
		if d.first[i].Status.Measured() && d.partner[i].Status.Measured() && d.of(d.first[i]) != d.of(d.partner[i]) {
			out = append(out, i)
		}
	}
	return out
}

// changes asks both texts again where they differ and reports whether a score
// changes.
func (d *duel) changes(ctx context.Context) (bool, error) {
	var draws []gate.Draw
	for _, i := range d.discordant() {
		for _, arm := range []gate.Arm{gate.Candidate, gate.Incumbent} {
			draws = append(draws, gate.Draw{Item: i, Arm: arm, Sample: d.bench.First + 1})
		}
	}
	if len(draws) == 0 {
		return false, nil
	}
	b := d.bench
	res, err := gate.Run(ctx, gate.Trial{Items: b.Items, Projection: b.Projection}, listed{draws}, func(ctx context.Context, item int, arm gate.Arm, sample int) (trajectory.Outcome, error) {
		return b.Measure(ctx, d.skill(arm), item, sample)
	})
	if err != nil {
		return false, err
	}
	d.counter.count(res.Readings, d.digest)
	var lost []Lost
	changed := false
	for _, r := range res.Readings {
		before := d.first[r.Item]
		if r.Arm == gate.Incumbent {
			before = d.partner[r.Item]
		}
		if !r.Outcome.Status.Measured() {
			lost = append(lost, Lost{Skill: d.skill(r.Arm), Item: r.Item, Sample: r.Sample, Reason: r.Outcome.FailReason})
			continue
		}
		changed = changed || d.of(r.Outcome) != d.of(before)
	}
	if len(lost) > 0 && b.Skip != nil {
		err = b.Skip(ctx, fmt.Sprintf("%s/%s/again/without", b.Name, d.name), lost)
	}
	return changed, err
}

// rest asks for the items that an ended race has not read.
func (d *duel) rest() listed {
	var l listed
	for i, n := range d.drawn {
		if n == 0 {
			l.draws = append(l.draws, gate.Draw{Item: i, Arm: gate.Candidate, Sample: d.bench.First}, gate.Draw{Item: i, Arm: gate.Incumbent, Sample: d.bench.First})
		}
	}
	return l
}

// all asks for every item again.
func (d *duel) all() listed {
	var l listed
	for i, n := range d.drawn {
		l.draws = append(l.draws, gate.Draw{Item: i, Arm: gate.Candidate, Sample: d.bench.First + n}, gate.Draw{Item: i, Arm: gate.Incumbent, Sample: d.bench.First + n})
	}
	return l
}

// worst lists the items of the units that the short text is behind on, the worst first.
func (d *duel) worst() []int {
	sums := map[int]float64{}
	for k, u := range d.unit {
		sums[u] += d.pairs[k]
	}
	var out []int
	for i := range d.bench.Items {
		if d.head(i) == i && sums[i] < -score.Negligible {
			out = append(out, i)
		}
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(sums[a], sums[b]) })
	return out
}

// worstItems is how many items are asked again to find out which rule they miss.
const worstItems = 20

// levels returns the mean scores of some items under the long text.
func (d *duel) levels(items []int) []float64 {
	out := make([]float64, len(items))
	for k, i := range items {
		out[k] = d.longs[i].Mean()
	}
	return out
}

// means asks the short text for some items, n times each, and returns the mean scores.
// What cannot be measured is 0: no rule brings it back.
func (d *duel) means(ctx context.Context, which []int, n int) ([]float64, error) {
	var l listed
	for k := range n {
		for _, i := range which {
			l.draws = append(l.draws, gate.Draw{Item: i, Arm: gate.Candidate, Sample: d.bench.First + k})
		}
	}
	b := d.bench
	res, err := gate.Run(ctx, gate.Trial{Items: b.Items, Projection: b.Projection}, l, func(ctx context.Context, item int, arm gate.Arm, sample int) (trajectory.Outcome, error) {
		return b.Measure(ctx, d.skill(arm), item, sample)
	})
	if err != nil {
		return nil, err
	}
	d.rounds++
	if _, err := d.take(ctx, res.Readings); err != nil {
		return nil, err
	}
	sums := map[int]*gate.Pooled{}
	for _, r := range res.Readings {
		if sums[r.Item] == nil {
			sums[r.Item] = &gate.Pooled{}
		}
		if r.Outcome.Status.Measured() {
			sums[r.Item].Sum += d.of(r.Outcome)
			sums[r.Item].N++
		}
	}
	out := make([]float64, len(which))
	for k, i := range which {
		if s := sums[i]; s != nil && s.N > 0 {
			out[k] = s.Mean()
		}
	}
	return out, nil
}

// listed is a policy that makes some draws and decides nothing.
type listed struct{ draws []gate.Draw }

// Next implements gate.Policy.
func (l listed) Next(*gate.Evidence) []gate.Draw { return l.draws }

// Judge implements gate.Policy.
func (l listed) Judge(e *gate.Evidence) (gate.Verdict, bool) {
	return gate.Verdict{Action: gate.Accept}, len(e.Readings) == len(l.draws)
}

// roundSeed returns a seed that gives each round an order of its own: the same one in every duel,
// so that the longer text is asked for what others have asked it before.
func roundSeed(seed int64, round int) int64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "prune/%d/%d", seed, round)
	return int64(h.Sum64())
}
