package train

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/together"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Heat is one round of the re-selection before a skill is shipped.
type Heat struct {
	Items  int       `json:"items"`  // that all of the field were measured on
	Skills []string  `json:"skills"` // hashes, best first
	Fresh  []float64 `json:"fresh"`  // their gate scores in fresh passes alone
}

// reselect puts the best accepted candidates against one another on fresh passes
// and halves the field until one is left (successive halving: Z. Karnin, T. Koren
// and O. Somekh, ICML 2013). The candidate that looked best during training was
// chosen by the evidence that it is judged by; fresh passes chose nobody. Where
// one evaluation is the truth there is nothing to select anew.
func (t *trainer) reselect(ctx context.Context, final *FinalRecord) error {
	if t.Gate != ModeRace || t.Reselect < 2 || t.judge.deterministic || t.Data.InFolds() {
		return nil
	}
	field := t.skills.contenders(t.Reselect)
	r := &reselection{trainer: t, fresh: map[*entry][]gate.Pooled{}}
	for round := 1; len(field) > 1; round++ {
		t.Events(event.StageStarted{Epoch: t.Epochs, Step: t.lastStep(), Stage: "reselect", Total: len(field) * len(t.Data.Selection)})
		if err := r.measure(ctx, round, field); err != nil {
			return err
		}
		heat, ok := r.rank(field)
		if !ok {
			t.Events(event.Warning{Text: "too few items could be measured to select the best skill anew: it stays as it was"})
			return nil
		}
		final.Reselect = append(final.Reselect, heat)
		field = field[:halved(len(field))]
	}
	if len(final.Reselect) > 0 {
		e := field[0]
		t.skills.best = incumbent{skill: e.skill, step: e.Step, origin: e.Origin}
		t.skills.refresh(&t.skills.best)
	}
	return nil
}

// halved is how many of a field go on to the next round.
func halved(field int) int { return (field + 1) / 2 }

// reselection holds what fresh passes have shown.
type reselection struct {
	*trainer
	fresh map[*entry][]gate.Pooled
}

// measure evaluates the whole field once more.
func (r *reselection) measure(ctx context.Context, round int, field []*entry) error {
	places, outcomes := make([]rollout.Place, len(field)), make([][]trajectory.Outcome, len(field))
	done := r.rollouts.counter("reselect", len(field)*len(r.Data.Selection))
	g, gctx := together.WithContext(ctx)
	for i, e := range field {
		places[i] = rollout.Place{Prefix: fmt.Sprintf("final/reselect/%d/%s", round, e.Hash), Sample: slices.Max(e.Next)}
		g.Go(func() (err error) {
			outcomes[i], err = r.rollouts.all(gctx, rolloutSet{places[i], r.Data.Selection, e.skill}, done)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for i, e := range field {
		if _, err := r.rollouts.giveUpMissing(ctx, rolloutSet{places[i], r.Data.Selection, e.skill}, outcomes[i]); err != nil {
			return err
		}
		if r.fresh[e] == nil {
			r.fresh[e] = make([]gate.Pooled, len(r.Data.Selection))
		}
		r.skills.store.addAll(e, places[i].Sample, outcomes[i])
		for k, o := range outcomes[i] {
			if o.Status.Measured() {
				r.fresh[e][k].Sum += outcomeScore(r.Projection, o)
				r.fresh[e][k].N++
			}
		}
	}
	return r.rollouts.healthy()
}

// rank sorts the field by its fresh passes over the items that all of it has; a
// tie leaves the order as it was. ok is false if those are too few.
func (r *reselection) rank(field []*entry) (h Heat, ok bool) {
	means := map[*entry]float64{}
	for _, e := range field {
		common := slices.Clone(r.fresh[e])
		h.Items = 0
		for k := range common {
			if slices.ContainsFunc(field, func(o *entry) bool { return r.fresh[o][k].N == 0 }) {
				common[k] = gate.Pooled{}
				continue
			}
			h.Items++
		}
		means[e], _ = overUnits(r.skills.store.units, common)
		means[e] += e.bonus
	}
	if n := len(r.Data.Selection); !gate.Enough(n, n-h.Items) {
		return h, false
	}
	slices.SortStableFunc(field, func(a, b *entry) int { return compareMeans(means[b], means[a]) })
	for _, e := range field {
		h.Skills, h.Fresh = append(h.Skills, e.Hash), append(h.Fresh, means[e])
	}
	return h, true
}

// freshens reports whether the run ends with a fresh pass, unless answers are
// deterministic.
func (o Options) freshens() bool {
	return o.Gate == ModeRace || o.Fresh && o.Gate != "off"
}

// freshPass evaluates the skill that is shipped once more where answers change, or
// may, so that its score does not rest on the evaluations that it was chosen by.
func (t *trainer) freshPass(ctx context.Context) error {
	if !t.freshens() || t.judge.deterministic || !t.skills.known(t.skills.best) {
		return nil
	}
	e := t.skills.entry(&t.skills.best)
	if e.evaluations() == 0 {
		t.skills.store.addAll(e, 0, t.skills.best.outcomes)
	}
	place := rollout.Place{Prefix: "final/fresh", Sample: slices.Max(e.Next)}
	t.Events(event.StageStarted{Epoch: t.Epochs, Step: t.lastStep(), Stage: "fresh pass", Total: len(t.Data.Selection)})
	out, err := t.rollouts.batch(ctx, "fresh pass", rolloutSet{place, t.Data.Selection, e.skill})
	if err != nil {
		return err
	}
	missing := missingOf(out)
	if len(missing) > 0 {
		if err := t.rollouts.giveUp(ctx, place.Prefix+"/without", place, pick(t.Data.Selection, missing)); err != nil {
			return err
		}
	}
	t.skills.store.addAll(e, place.Sample, out)
	t.skills.refresh(&t.skills.best)
	t.skills.refresh(&t.skills.current)
	if gate.Enough(len(out), len(missing)) {
		t.fresh = out
	}
	return nil
}
