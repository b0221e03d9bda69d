package prune

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/stats"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
)

// What a group of rules must not lose: half of the score on as many tasks as a rule must
// concern for anybody to know that it is useful.
const (
	focusTasks = 3
	focusLoss  = 0.5
)

// Numbers that decide what is tried, and not what is removed. Measured in simulated
// worlds, see docs/config.md.
const (
	harmless  = 2.0  // standard errors that the text without a rule may be behind for the rule to be tried
	lostError = 0.01 // chance that any task counts as lost when none is
	lossShare = 0.6  // of the variance, that a task loses between texts that are alike
	restores  = 4    // evaluations of a lost task for each rule that may have been the one
	rounds    = 8    // of a group, for each pass of a single rule, at most
)

// CertifyPasses is how many evaluations of a task by a text a certificate takes at most, for
// each that judging a rule may take, where rules are removed together: what is tested there
// is the one thing that counts.
const CertifyPasses = 4

// joint removes what may go. Where that is not shown of all of it together, those
// rules are tried one after the other of which it is shown by itself.
func (p *Pruner) joint(ctx context.Context, out *Pruning) error {
	shown, err := p.group(ctx, out, p.candidates(out.Findings, out.RemovedRules()))
	if err != nil || shown {
		return err
	}
	left := slices.DeleteFunc(removable(out.Findings), func(f Finding) bool {
		return slices.ContainsFunc(out.Steps, func(s Step) bool { return s.Rule.Number == f.Number && s.Verdict != Unclear })
	})
	_, err = p.sweep(ctx, out, left)
	return err
}

// group tries to remove rules together. The text without all of them is compared with
// the one before by answers that nothing was chosen by, until it is shown that what they
// are worth together is less than the margin, and that no three tasks lose half of their
// score; both at the level of the settings, over all attempts. When tasks are lost
// instead, the rules that bring them back are taken out of the group, and the rest is
// tried again. It may take as many evaluations as were made before it, and reports
// whether it is settled of each rule whether it may go.
func (p *Pruner) group(ctx context.Context, out *Pruning, rules []Finding) (shown bool, err error) {
	g := &grouping{Pruner: p, out: out, long: out.Skill, rules: rules, most: 2 * p.Bench.Evaluations(), first: p.nextSample(), variance: p.spread()}
	defer func() { out.Samples = max(out.Samples, g.first) }()
	for attempt := 1; len(g.rules) > 0; attempt++ {
		d, v, effect, err := g.attempt(ctx, attempt)
		if err != nil {
			return false, err
		}
		if v != Needed {
			g.settle(v, effect, d)
			return v.Removable(), nil
		}
		back, err := g.restore(ctx, d, attempt)
		if err != nil {
			return false, err
		}
		for _, f := range back {
			out.Steps = append(out.Steps, Step{Rule: f.Rule, Verdict: Needed, Effect: effect, Lost: d.lostItems(), With: numbers(g.rules)})
		}
		g.rules = slices.DeleteFunc(g.rules, func(f Finding) bool {
			return slices.ContainsFunc(back, func(b Finding) bool { return b.Number == f.Number })
		})
	}
	return true, nil
}

// grouping is the work on one group.
type grouping struct {
	*Pruner
	out      *Pruning
	long     skill.Skill // with all rules of the group
	rules    []Finding
	most     int     // evaluations of the bench when it has to end
	first    int     // the next sample that nothing was chosen by
	variance float64 // of a difference between texts that are alike
}

// leaveOut returns the long skill without some of the rules.
func (g *grouping) leaveOut(rules []Finding) skill.Skill {
	gone := g.out.RemovedRules()
	for _, f := range rules {
		gone = append(gone, f.Rule)
	}
	return Leave(g.Skill, gone...)
}

// attempt compares the text without the group with the one before, until something is
// known or the evaluations are used up.
func (g *grouping) attempt(ctx context.Context, number int) (*duel, Verdict, Effect, error) {
	name := fmt.Sprintf("removal of %d rules together, attempt %d", len(g.rules), number)
	if g.Progress != nil {
		g.Progress(name)
	}
	b := *g.Bench
	b.First += g.first
	d := b.duel(name, g.leaveOut(g.rules), g.long)
	d.counter = g.Bench
	s := g.Settings
	s.Level = 1 - gate.LevelOf(1-s.Level, number)
	f := newFocus(d, s.Level, g.variance)
	for {
		if d.rounds > 0 {
			e, err := d.effect(d.bets(s.Margin, g.variance), s.Level)
			if err != nil {
				return d, Unclear, e, err
			}
			switch v := s.verdict(e, d.pairs); {
			case v == Needed || f.findLosses(lostError) != nil:
				return d, Needed, e, nil
			case v == Useless && f.excludesLosses(), v == Harmful && f.excludesLosses():
				return d, v, e, nil
			case d.rounds >= rounds*s.Passes, g.Bench.Evaluations() >= g.most:
				return d, Unclear, e, nil
			}
		}
		g.first++
		if _, err := d.round(ctx, d.all()); err != nil {
			return d, Unclear, Effect{}, err
		}
	}
}

// settle records the verdict on all rules that are left in the group.
func (g *grouping) settle(v Verdict, e Effect, d *duel) {
	short := g.leaveOut(g.rules)
	for _, f := range g.rules {
		g.out.Steps = append(g.out.Steps, Step{Rule: f.Rule, Removed: v.Removable(), Verdict: v, Effect: e, Lost: d.lostItems(), With: numbers(g.rules)})
	}
	if v.Removable() {
		g.out.Skill = short
	}
}

func numbers(rules []Finding) []int {
	out := make([]int, len(rules))
	for i, f := range rules {
		out[i] = f.Number
	}
	slices.Sort(out)
	return out
}

// restore finds rules without which the group may go: each is put back by itself, and
// the tasks that were lost are asked again.
func (g *grouping) restore(ctx context.Context, d *duel, attempt int) ([]Finding, error) {
	tasks := newFocus(d, g.Settings.Level, g.variance).findLosses(lostError)
	if len(tasks) == 0 {
		tasks = d.worst()
	}
	tasks = tasks[:min(len(tasks), worstItems)]
	if len(g.rules) == 1 || len(tasks) == 0 {
		return g.rules, nil
	}
	gains := make([][]float64, len(g.rules)) // by rule and task
	b := *g.Bench
	b.First += g.first
	g.first += restores
	for i, f := range g.rules {
		rest := slices.DeleteFunc(slices.Clone(g.rules), func(o Finding) bool { return o.Number == f.Number })
		r := b.duel(fmt.Sprintf("rule %d back, attempt %d", f.Number, attempt), g.leaveOut(rest), skill.Skill{})
		r.counter = g.Bench
		got, err := r.means(ctx, tasks, restores)
		if err != nil {
			return nil, err
		}
		gains[i] = got
	}
	return g.cover(gains, d.levels(tasks)), nil
}

// nextSample returns the first sample that no comparison has asked for, counted from that of the
// bench.
func (p *Pruner) nextSample() int {
	n := 0
	for _, d := range p.duels {
		n = max(n, slices.Max(d.drawn))
	}
	return n + 1 // the one after the first is asked where answers were taken to be alike
}

// cover chooses rules, the one first that brings back most, until each task that some
// rule brings back is there again; one at least.
func (g *grouping) cover(gains [][]float64, level []float64) []Finding {
	open := make([]bool, len(level))
	for t := range open {
		open[t] = true
	}
	brings := func(i int) (n int, sum float64) {
		for t, was := range level {
			sum += gains[i][t]
			if open[t] && gains[i][t] > was/2 && was > 0 {
				n++
			}
		}
		return n, sum
	}
	var out []Finding
	for {
		best, most, top := -1, 0, math.Inf(-1)
		for i, f := range g.rules {
			if slices.ContainsFunc(out, func(o Finding) bool { return o.Number == f.Number }) {
				continue
			}
			if n, sum := brings(i); n > most || n == most && sum > top {
				best, most, top = i, n, sum
			}
		}
		if best < 0 || most == 0 && len(out) > 0 {
			return out
		}
		out = append(out, g.rules[best])
		for t, was := range level {
			if gains[best][t] > was/2 {
				open[t] = false
			}
		}
		if most == 0 {
			return out
		}
	}
}

// focus watches whether a few tasks lose what a whole document gains.
type focus struct {
	d        *duel
	bar      float64 // of the logarithm of the evidence
	stake    float64
	variance float64
}

func newFocus(d *duel, level, variance float64) focus {
	return focus{d: d, bar: -math.Log(1 - level), stake: stats.StakeFor(focusLoss, variance), variance: variance}
}

// excludesLosses reports whether it is shown that there are no three units that lose half of their
// score each: the evidence against that is, of any three, at least that of the three with the
// least, and those who bet against it have won enough.
func (f focus) excludesLosses() bool {
	var logs []float64
	_, units := f.d.byUnit()
	for _, xs := range units {
		log, err := stats.Betting{Stakes: slices.Repeat([]float64{f.stake}, len(xs))}.LogWealth(xs, -focusLoss)
		if err != nil {
			return false
		}
		logs = append(logs, log)
	}
	slices.Sort(logs)
	sum := 0.0
	for _, log := range logs[:min(len(logs), focusTasks)] {
		sum += log
	}
	return sum >= f.bar
}

// findLosses lists the items, the first of each unit, that lose half of their score and more
// than chance takes from any of them: if what a pair loses on average between texts that
// are alike is at most the variance, all of these losses together have a probability of
// at most lostError (Chernoff's bound).
func (f focus) findLosses(wrong float64) []int {
	heads, units := f.d.byUnit()
	bar := math.Log(float64(len(units)) / wrong)
	var out []int
	for u, xs := range units {
		sum, losses := 0.0, 0.0
		for _, x := range xs {
			sum += x
			losses += max(0, -x)
		}
		n := float64(len(xs))
		if sum < -focusLoss*n && n*divergence(losses/n, max(lossShare*f.variance, 1/float64(len(f.d.pairs)))) >= bar {
			out = append(out, heads[u])
		}
	}
	return out
}

// divergence returns the divergence of Kullback and Leibler between a share that was seen, above
// the expected one, and the expected one.
func divergence(seen, expected float64) float64 {
	if expected >= seen {
		return 0
	}
	out := seen * math.Log(seen/expected)
	if seen < 1 {
		out += (1 - seen) * math.Log((1-seen)/(1-expected))
	}
	return out
}

// spread returns the variance of a difference between two texts of which the shorter lacks nothing
// that is known to be needed, as the comparisons of single rules have seen it.
func (p *Pruner) spread() float64 {
	sum, n := 0.0, 0.0
	for _, key := range p.order {
		d := p.duels[key]
		if e, err := d.effect(stats.Betting{}, p.Settings.Level); err != nil || p.Settings.verdict(e, d.pairs) == Needed {
			continue
		}
		for _, x := range d.pairs {
			sum += x * x
			n++
		}
	}
	return sum / max(1, n)
}

// candidates returns the findings that are tried together. Harmful rules have gone before.
func (p *Pruner) candidates(findings []Finding, gone []Rule) []Finding {
	out := slices.DeleteFunc(removable(findings), func(f Finding) bool {
		return slices.ContainsFunc(gone, func(r Rule) bool { return r.Number == f.Number })
	})
	slices.SortStableFunc(out, func(a, b Finding) int { return cmp.Compare(*a.Difference, *b.Difference) })
	return out
}

// seemsBetter reports whether the text without a rule seems to be better. Such a rule goes by
// itself, and before the others: among them it would hide what they are for.
func (p *Pruner) seemsBetter(f Finding) bool {
	d := p.duels[skillDigests(Leave(p.Skill, f.Rule), p.Skill)]
	return f.Verdict == Harmful || *f.Difference > harmless*standardError(d.pairs)+score.Negligible
}
