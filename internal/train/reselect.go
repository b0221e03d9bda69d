package train

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/taskgroup"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// reselect puts the best accepted candidates against one another on fresh passes
// and halves the field until one is left (successive halving: Z. Karnin, T. Koren
// and O. Somekh, ICML 2013). The candidate that looked best during training was
// chosen by the evidence that it is judged by; fresh passes chose nobody. Where
// one evaluation is the truth there is nothing to select anew.
func (r *finisher) reselect(ctx context.Context) ([]result.Round, error) {
	if r.opts.Gate != gate.ModeRace || r.opts.Reselect < 2 || r.judge.deterministic || r.skills.folds > 0 {
		return nil, nil
	}
	field := r.skills.contenders(r.opts.Reselect)
	var rounds []result.Round
	fresh := freshScores{}
	for round := 1; len(field) > 1; round++ {
		r.stage("reselect", len(field)*len(r.selection))
		if err := r.measureField(ctx, round, field, fresh); err != nil {
			return rounds, err
		}
		ranked, ok := fresh.rank(field, r.skills.store.units)
		if !ok {
			r.emit(event.Warning{Text: "too few items could be measured to select the best skill anew: it stays as it was"})
			return rounds, nil
		}
		rounds = append(rounds, ranked)
		field = field[:halved(len(field))]
	}
	if len(rounds) > 0 {
		e := field[0]
		r.skills.best = incumbent{skill: e.skill, step: e.Step, origin: e.Origin}
		r.skills.refresh(&r.skills.best)
	}
	return rounds, nil
}

// halved is how many of a field go on to the next round.
func halved(field int) int { return (field + 1) / 2 }

// freshens reports whether the run ends with a fresh pass, unless answers are
// deterministic.
func (o Options) freshens() bool {
	return o.Gate == gate.ModeRace || o.Fresh && o.Gate != gate.ModeOff
}

// freshScores is what fresh passes have shown of each skill, by item.
type freshScores map[*entry][]gate.Pooled

// measureField evaluates the whole field once more.
func (r *finisher) measureField(ctx context.Context, round int, field []*entry, fresh freshScores) error {
	sets, outcomes := make([]rolloutSet, len(field)), make([][]trajectory.Outcome, len(field))
	done := r.rollouts.counter("reselect", len(field)*len(r.selection))
	g, gctx := taskgroup.WithContext(ctx)
	for i, e := range field {
		place := rollout.Place{Prefix: fmt.Sprintf("%s/reselect/%d/%s", r.place, round, e.Hash), Sample: slices.Max(e.Next)}
		sets[i] = rolloutSet{place, r.selection, e.skill}
		g.Go(func() (err error) {
			outcomes[i], err = r.rollouts.all(gctx, sets[i], done)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for i, e := range field {
		if _, err := r.rollouts.giveUpMissing(ctx, sets[i], outcomes[i]); err != nil {
			return err
		}
		r.skills.store.addAll(e, sets[i].place.Sample, outcomes[i])
		fresh.add(e, outcomes[i], r.opts.Projection)
	}
	return r.rollouts.healthy()
}

// add takes in a pass over all items.
func (f freshScores) add(e *entry, outcomes []trajectory.Outcome, p score.Projection) {
	if f[e] == nil {
		f[e] = make([]gate.Pooled, len(outcomes))
	}
	for k, o := range outcomes {
		if o.Status.Measured() {
			f[e][k].Sum += outcomeScore(p, o)
			f[e][k].N++
		}
	}
}

// rank sorts the field by its fresh passes over the items that all of it has; a
// tie leaves the order as it was. ok is false if those are too few.
func (f freshScores) rank(field []*entry, units [][]int) (h result.Round, ok bool) {
	means := map[*entry]float64{}
	n := 0
	for _, e := range field {
		common := slices.Clone(f[e])
		n, h.Items = len(common), 0
		for k := range common {
			if slices.ContainsFunc(field, func(o *entry) bool { return f[o][k].N == 0 }) {
				common[k] = gate.Pooled{}
				continue
			}
			h.Items++
		}
		means[e], _ = overUnits(units, common)
		means[e] += e.bonus
	}
	if !gate.Enough(n, n-h.Items) {
		return h, false
	}
	slices.SortStableFunc(field, func(a, b *entry) int { return compareMeans(means[b], means[a]) })
	for _, e := range field {
		h.Skills, h.Fresh = append(h.Skills, e.Hash), append(h.Fresh, means[e])
	}
	return h, true
}
