package prune

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/seed-f4525e22/skillopt/internal/gate"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Measure carries out one task, by its index, with a text. sample tells repeated
// evaluations of the same apart; asked again with the same arguments it answers the
// same. It is called concurrently and limits itself. An outcome that was not
// measured has the status unmeasured; an error ends everything.
type Measure func(ctx context.Context, text string, item, sample int) (trajectory.Outcome, error)

// Skip is told, before anything is decided, what a decision goes without.
type Skip func(ctx context.Context, decision string, lost []Lost) error

// Lost names an evaluation that could not be made.
type Lost struct {
	Text         string
	Item, Sample int
	Reason       string
}

// Bench is the set of tasks on which texts are compared.
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
}

// TooFewError says that too much could not be measured, or that there are too few
// tasks, to decide anything.
type TooFewError struct {
	At     string // which comparison
	Reason string
}

func (e *TooFewError) Error() string { return e.At + ": " + e.Reason }

// duel compares a shorter text with a longer one on a bench.
type duel struct {
	bench    *Bench
	name     string // of the decision
	short    string
	long     string
	drawn    []int                // pairs asked for, by item
	first    []trajectory.Outcome // of the first pair of an item: short, then long
	partner  []trajectory.Outcome
	pairs    []float64 // differences, short minus long, one a unit and round
	lost     map[int]bool
	rounds   int
	complete bool // every item was read at least once
}

func (b *Bench) duel(name, short, long string) *duel {
	n := len(b.Items)
	return &duel{
		bench: b, name: name, short: short, long: long,
		drawn: make([]int, n), first: make([]trajectory.Outcome, n), partner: make([]trajectory.Outcome, n), lost: map[int]bool{},
	}
}

// units is how many tasks there are, those of a cluster counting once.
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

// round reads every task once more, in an order of its own, with both texts, as
// long as the policy wants to.
func (d *duel) round(ctx context.Context, policy gate.Policy) (gate.Verdict, error) {
	d.rounds++
	b := d.bench
	t := gate.Trial{
		Items: b.Items, Projection: b.Projection, Types: b.Types, Clusters: b.Clusters, Seed: seedOf(b.Seed, d.rounds),
		Past: map[gate.Arm][]gate.Pooled{}, Next: map[gate.Arm][]int{},
	}
	next := make([]int, len(b.Items))
	for i, n := range d.drawn {
		next[i] = b.First + n
	}
	t.Past[gate.Candidate], t.Past[gate.Incumbent] = make([]gate.Pooled, len(next)), make([]gate.Pooled, len(next))
	t.Next[gate.Candidate], t.Next[gate.Incumbent] = next, slices.Clone(next)
	res, err := gate.Run(ctx, t, policy, func(ctx context.Context, item int, arm gate.Arm, sample int) (trajectory.Outcome, error) {
		return b.Measure(ctx, d.text(arm), item, sample)
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

func (d *duel) text(arm gate.Arm) string {
	if arm == gate.Candidate {
		return d.short
	}
	return d.long
}

// seen is what a round has read of an item.
type seen struct{ short, long *trajectory.Outcome }

// take keeps what a round has read: a difference for each unit that both texts
// have. It returns what could not be measured.
func (d *duel) take(ctx context.Context, readings []gate.Reading) ([]Lost, error) {
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
			lost = append(lost, Lost{Text: d.text(r.Arm), Item: r.Item, Sample: r.Sample, Reason: r.Outcome.FailReason})
			d.lost[r.Item] = true
		case r.Arm == gate.Candidate:
			read[r.Item].short = &r.Outcome
		default:
			read[r.Item].long = &r.Outcome
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
			at[c], units = u, append(units, gate.Pooled{})
		}
		units[u].Sum += d.of(*p.short) - d.of(*p.long)
		units[u].N++
	}
	for _, u := range units {
		d.pairs = append(d.pairs, max(-1, min(1, u.Mean())))
	}
}

// of is the score that comparisons go by. What a text looks like does not count,
// only what it leads to.
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
// comes out otherwise.
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
		return b.Measure(ctx, d.text(arm), item, sample)
	})
	if err != nil {
		return false, err
	}
	var lost []Lost
	changed := false
	for _, r := range res.Readings {
		before := d.first[r.Item]
		if r.Arm == gate.Incumbent {
			before = d.partner[r.Item]
		}
		if !r.Outcome.Status.Measured() {
			lost = append(lost, Lost{Text: d.text(r.Arm), Item: r.Item, Sample: r.Sample, Reason: r.Outcome.FailReason})
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

// all asks for every item once more.
func (d *duel) all() listed {
	var l listed
	for i, n := range d.drawn {
		l.draws = append(l.draws, gate.Draw{Item: i, Arm: gate.Candidate, Sample: d.bench.First + n}, gate.Draw{Item: i, Arm: gate.Incumbent, Sample: d.bench.First + n})
	}
	return l
}

// listed is a policy that makes some draws and decides nothing.
type listed struct{ draws []gate.Draw }

// Next implements gate.Policy.
func (l listed) Next(*gate.Evidence) []gate.Draw { return l.draws }

// Judge implements gate.Policy.
func (l listed) Judge(e *gate.Evidence) (gate.Verdict, bool) {
	return gate.Verdict{Action: gate.Accept}, len(e.Readings) == len(l.draws)
}

// seedOf gives each round an order of its own: the same one in every duel, so that
// the longer text is asked for what others have asked it before.
func seedOf(seed int64, round int) int64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "prune/%d/%d", seed, round)
	return int64(h.Sum64())
}
