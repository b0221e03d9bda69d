package prune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/stats"
	"github.com/seed-f4525e22/skillopt/skill"
)

// Pruner ablates and prunes one skill. Its methods are for one goroutine.
type Pruner struct {
	Skill    skill.Skill
	Files    []string    // whose rules are judged, in their order; nil: SKILL.md alone
	Scope    skill.Scope // of SKILL.md the rules within its region alone are judged
	Bench    *Bench      // on which rules are judged
	Settings Settings
	Keep     func(Rule) bool // rules that stay, whatever they are worth; nil: none
	// Progress, which may be nil, is called with the name of what comes next.
	Progress func(name string)

	noisy bool // an answer changed when it was asked for again
	duels map[[2]string]*duel
	order [][2]string // of the duels, as they began
}

// Finding is what a rule is worth.
type Finding struct {
	Rule
	Verdict Verdict
	Effect        // of the skill without the rule against the whole
	Lost    []int // items without a comparison, in some round
}

// Step is one attempt to remove a rule from what is left of the skill.
type Step struct {
	Rule    Rule
	Removed bool
	Verdict Verdict
	Effect  // of the skill without the rule against the one with it
	Lost    []int
	With    []int // numbers of the rules that it was tried together with, itself among them
}

// Pruning is the result of pruning a skill.
type Pruning struct {
	Findings      []Finding
	Steps         []Step
	Skill         skill.Skill // what is left
	Deterministic bool        // answers did not change when asked for again
	Variance      float64     // of a difference between texts that are alike
	Samples       int         // of a task by a text that were asked for, at most
}

// RemovedRules lists the rules that were removed, in the order of their numbers.
func (p Pruning) RemovedRules() []Rule {
	var out []Rule
	for _, s := range p.Steps {
		if s.Removed {
			out = append(out, s.Rule)
		}
	}
	slices.SortFunc(out, func(a, b Rule) int { return a.Number - b.Number })
	return out
}

// errChanged says that an answer that was taken for the only one was not.
var errChanged = errors.New("an answer changed")

// Ablate leaves each rule out, one at a time, and says what that does.
func (p *Pruner) Ablate(ctx context.Context) (Pruning, error) {
	return p.retry(func() (Pruning, error) {
		findings, err := p.ablate(ctx)
		return Pruning{Findings: findings, Skill: p.Skill, Deterministic: p.deterministic()}, err
	})
}

// Prune ablates, and then removes the rules that are not needed, one after the
// other: the harmful ones first, then those that cost most. Each is compared with
// what the removals before have left, and stays if that shows it to be needed now,
// or not clearly enough that it is not. What stayed is tried again at the end,
// if the skill has changed since.
func (p *Pruner) Prune(ctx context.Context) (Pruning, error) {
	return p.retry(func() (Pruning, error) {
		findings, err := p.ablate(ctx)
		if err != nil {
			return Pruning{}, err
		}
		out := Pruning{Findings: findings, Skill: p.Skill}
		if err := p.remove(ctx, &out); err != nil {
			return out, err
		}
		out.Deterministic, out.Variance, out.Samples = p.deterministic(), p.spread(), max(out.Samples, p.nextSample())
		return out, nil
	})
}

// remove removes rules: the harmful ones by themselves, the others one after the other,
// or together where answers change.
func (p *Pruner) remove(ctx context.Context, out *Pruning) error {
	rules := removable(out.Findings)
	if p.Settings.Joint && !p.deterministic() {
		rules = slices.DeleteFunc(rules, func(f Finding) bool { return !p.seemsBetter(f) })
	}
	tried, err := p.sweep(ctx, out, rules)
	switch {
	case err != nil:
		return err
	case p.Settings.Joint && !p.deterministic():
		return p.joint(ctx, out)
	case len(out.RemovedRules()) > 0:
		_, err = p.sweep(ctx, out, tried)
	}
	return err
}

// sweep tries to remove some rules, and returns those that stayed though a rule
// went after them.
func (p *Pruner) sweep(ctx context.Context, out *Pruning, rules []Finding) ([]Finding, error) {
	var stayed, changed []Finding
	for _, f := range rules {
		short := Leave(p.Skill, append(out.RemovedRules(), f.Rule)...)
		d, verdict, effect, err := p.compare(ctx, fmt.Sprintf("removal of rule %d, attempt %d", f.Number, len(out.Steps)+1), short, out.Skill)
		if err != nil {
			return nil, err
		}
		s := Step{Rule: f.Rule, Removed: verdict.Removable(), Verdict: verdict, Effect: effect, Lost: d.lostItems()}
		if s.Removed {
			out.Skill, changed = short, slices.Clone(stayed)
		} else {
			stayed = append(stayed, f)
		}
		out.Steps = append(out.Steps, s)
	}
	return changed, nil
}

// retry runs work, and a second time from the beginning, with what was measured before, if answers
// turn out to change.
func (p *Pruner) retry(work func() (Pruning, error)) (Pruning, error) {
	if err := p.Settings.Validate(); err != nil {
		return Pruning{}, err
	}
	out, err := work()
	if errors.Is(err, errChanged) {
		p.noisy = true
		return work()
	}
	return out, err
}

func (p *Pruner) deterministic() bool { return p.Settings.Deterministic && !p.noisy }

func (p *Pruner) ablate(ctx context.Context) ([]Finding, error) {
	var out []Finding
	for _, r := range ParseRules(p.Skill, p.Files, p.Scope) {
		if p.Keep != nil && p.Keep(r) {
			continue
		}
		d, verdict, effect, err := p.compare(ctx, fmt.Sprintf("without rule %d", r.Number), Leave(p.Skill, r), p.Skill)
		if err != nil {
			return nil, err
		}
		out = append(out, Finding{Rule: r, Verdict: verdict, Effect: effect, Lost: d.lostItems()})
	}
	return out, nil
}

// removable sorts the findings that a removal is tried for.
func removable(findings []Finding) []Finding {
	out := slices.DeleteFunc(slices.Clone(findings), func(f Finding) bool { return !f.Verdict.Removable() })
	slices.SortStableFunc(out, func(a, b Finding) int {
		if c := cmp.Compare(b.Verdict, a.Verdict); c != 0 && (a.Verdict == Harmful || b.Verdict == Harmful) {
			if a.Verdict == Harmful {
				return -1
			}
			return 1
		}
		return cmp.Compare(*b.Difference, *a.Difference)
	})
	return out
}

// compare races the shorter skill against the longer one until a verdict is there,
// or the passes are used up.
func (p *Pruner) compare(ctx context.Context, name string, short, long skill.Skill) (*duel, Verdict, Effect, error) {
	if p.duels == nil {
		p.duels = map[[2]string]*duel{}
	}
	key := skillDigests(short, long)
	d := p.duels[key]
	if d == nil {
		if p.Progress != nil {
			p.Progress(name)
		}
		d = p.Bench.duel(name, short, long)
		p.duels[key] = d
		p.order = append(p.order, key)
	}
	if p.deterministic() {
		v, e, err := p.settleDeterministic(ctx, d)
		return d, v, e, err
	}
	for {
		e, err := d.effect(stats.Betting{}, p.Settings.Level)
		if err != nil {
			return d, Unclear, e, err
		}
		if v := p.Settings.verdict(e, d.pairs); v != Unclear || d.passes() >= float64(p.Settings.Passes) {
			return d, v, e, nil
		}
		if _, err := d.round(ctx, gate.NoWorse{}); err != nil {
			return d, Unclear, e, err
		}
	}
}

// settleDeterministic compares skills whose answers are the same every time: one evaluation of each
// task is all there is to know. If the skills differ they are asked again, and if a score changes
// the error is errChanged.
func (p *Pruner) settleDeterministic(ctx context.Context, d *duel) (Verdict, Effect, error) {
	if d.rounds == 0 {
		if _, err := d.round(ctx, gate.NoWorse{}); err != nil {
			return Unclear, Effect{}, err
		}
	}
	for {
		total := d.units()
		if d.complete {
			total = len(d.pairs) // the others could not be measured
		}
		e, err := d.effect(stats.Betting{Total: total}, p.Settings.Level)
		if err != nil {
			return Unclear, e, err
		}
		v := p.Settings.verdict(e, nil)
		if v == Unclear && !d.complete {
			if _, err := d.round(ctx, d.rest()); err != nil {
				return Unclear, e, err
			}
			continue
		}
		changed, err := d.changes(ctx)
		if changed && err == nil {
			err = errChanged
		}
		return v, e, err
	}
}

// passes returns how often an item was asked for, on average.
func (d *duel) passes() float64 {
	sum := 0
	for _, n := range d.drawn {
		sum += n
	}
	return float64(sum) / float64(max(1, len(d.drawn)))
}

// lostItems lists the items that a round has lost, in order.
func (d *duel) lostItems() []int {
	var out []int
	for i := range d.drawn {
		if d.lost[i] {
			out = append(out, i)
		}
	}
	return out
}

// Certificate says whether a shorter skill is no worse than the whole one.
type Certificate struct {
	Effect                // of the shorter skill against the whole
	NotWorse      bool    // the loss is below the margin, at the level of the settings
	Worse         bool    // it is above, at the same level
	Deterministic bool    // answers did not change when asked for again, so that one pass is exact
	Passes        float64 // evaluations of an item by each skill
	Lost          []int
}

// Certify compares a shorter skill with the whole one in passes over all tasks of a
// bench, from which nothing was chosen, until it is known whether it is worse by
// more than the margin, or the passes are used up.
func Certify(ctx context.Context, b *Bench, s Settings, short, long skill.Skill) (Certificate, error) {
	d := b.duel("certificate", short, long)
	c := Certificate{Deterministic: s.Deterministic}
	most := float64(s.Passes)
	if s.Joint {
		most *= CertifyPasses
	}
	for {
		if _, err := d.round(ctx, d.all()); err != nil {
			return c, err
		}
		if c.Deterministic {
			changed, err := d.changes(ctx)
			if err != nil {
				return c, err
			}
			c.Deterministic = !changed
		}
		bets := stats.Betting{}
		switch {
		case c.Deterministic:
			bets.Total = len(d.pairs)
		case s.Joint:
			bets = d.bets(s.Margin, s.Variance)
		}
		var err error
		if c.Effect, err = d.effect(bets, s.Level); err != nil {
			return c, err
		}
		worse, known := s.inferior(c.Effect)
		c.Passes, c.Lost = d.passes(), d.lostItems()
		c.NotWorse, c.Worse = known && !worse, known && worse
		if known || c.Passes >= most {
			return c, nil
		}
	}
}
