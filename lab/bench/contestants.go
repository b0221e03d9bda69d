package bench

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/internal/prompt"
	"github.com/seed-f4525e22/skillopt/internal/pyrand"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// Baselines returns training, and what it is measured against.
func Baselines() []Contestant {
	return []Contestant{
		{"trained", "the training loop", Trained(train.Curriculum{Strategy: "none"})},
		{"no skill", "an empty skill", func(context.Context, *Arena) (Outcome, error) { return Outcome{}, nil }},
		{"seed skill", "the starting skill as it is", func(_ context.Context, a *Arena) (Outcome, error) {
			return Outcome{Skill: a.Skill.Text()}, nil
		}},
		{"one shot", "written once by the optimizer from all train tasks", OneShot},
		{"best of N", "as many one-shots as the budget allows, best on selection", BestOfN},
	}
}

// Trained returns a contestant that trains with a curriculum until the budget
// does not suffice for another step as expensive as the dearest so far. A step
// dearer than that can pass the budget, by less than its own cost.
func Trained(c train.Curriculum) func(context.Context, *Arena) (Outcome, error) {
	return func(ctx context.Context, a *Arena) (Outcome, error) {
		m := a.models()
		o := a.options()
		o.Curriculum = c
		d := a.deps(m)
		n := len(a.Data.Selection)
		first := o.BatchSize + 3*n + 10 // a step at its dearest: confirmed on fresh samples
		if 2*n+first > a.Setup.Calls {  // the starting skill may be scored twice
			return Outcome{Skill: a.Skill.Text()}, nil
		}
		dearest, before := 0, -1
		d.Pace = func(p train.Unit) (int, error) {
			used := m.used()
			if before >= 0 {
				dearest = max(dearest, used-before)
			}
			before = used
			if p.Name != train.UnitFinal && used+dearest > a.Setup.Calls {
				return 0, errSpent
			}
			return p.Tasks, nil
		}
		r, err := train.Run(ctx, o, d)
		if err != nil && !errors.Is(err, errSpent) {
			return Outcome{}, err
		}
		return Outcome{Skill: r.Best.Text(), Calls: m.used()}, nil
	}
}

var errSpent = errors.New("the budget is spent")

// options are the defaults of a run of one's own.
func (a *Arena) options() train.Options {
	return train.Options{
		Batching: train.Batching{
			Epochs: a.Setup.Epochs, BatchSize: min(a.Setup.Batch, len(a.Data.Train)), Accumulation: 1, Seed: a.Seed,
		},
		Reflection: train.Reflection{
			Minibatch: 8,
		},
		Editing: train.Editing{
			FanIn: 8, Mode: "patch", Budget: 4, MinBudget: 2, Schedule: "cosine",
		},
		Gating: train.Gating{
			Gate: gate.ModeStrict, Alpha: 0.05, Deterministic: true, Projection: score.Projection{Metric: score.Hard},
		},
		EpochEnd: train.EpochEnd{
			SlowUpdate: true, SlowSamples: 20, SlowGated: true, SlowPairs: "mixed", MetaSkill: true,
		},
	}
}

func (a *Arena) deps(m *models) train.Deps {
	return train.Deps{Data: a.Data, Skill: a.Skill, Roller: m, Ask: m.ask, Record: m, Prompts: prompt.Default(), Files: m, AtOnce: 1}
}

// shotLimit is how many changes a one-shot may make: as many as it likes.
const shotLimit = 1000

// OneShot rolls out the whole train split with the starting skill and has the
// optimizer write down in one reply all that would have made a difference.
// Nothing is checked.
func OneShot(ctx context.Context, a *Arena) (Outcome, error) {
	m := a.models()
	if a.Setup.Calls < len(a.Data.Train)+1 {
		return Outcome{Skill: a.Skill.Text()}, nil
	}
	s, err := a.shot(ctx, m, shotOf{0, len(a.Data.Train)})
	return Outcome{Skill: s.Text(), Calls: m.used()}, err
}

// shotOf says which tasks a one-shot looks at: size of them, drawn by number.
type shotOf struct{ number, size int }

// shot writes one skill.
func (a *Arena) shot(ctx context.Context, m *models, of shotOf) (skill.Skill, error) {
	seed := a.Seed + int64(of.number)
	order := pyrand.New(seed).Perm(len(a.Data.Train))[:of.size]
	tasks := make([]task.Task, len(order))
	for i, at := range order {
		tasks[i] = a.Data.Train[at]
	}
	place := rollout.Place{Prefix: fmt.Sprintf("shot%d/rollout", of.number)}
	outcomes, err := m.All(ctx, place, tasks, a.Skill, nil)
	if err != nil {
		return a.Skill, err
	}
	r, err := optimize.Reflect(ctx, optimize.ReflectInput{
		Ask: m.ask(place.Prefix), Prompts: prompt.Default(), Mode: optimize.ModePatch, Outcomes: outcomes,
		Skill: a.Skill.Text(), Size: len(tasks), Seed: seed, FailureOnly: true, Budget: shotLimit,
	})
	if err != nil {
		return a.Skill, err
	}
	failures, _ := r.Patches(optimize.ModePatch)
	if len(failures) == 0 { // all solved, or no usable reply
		return a.Skill, nil
	}
	u, err := optimize.Update(ctx, optimize.UpdateInput{
		Ask: m.ask(place.Prefix), Prompts: prompt.Default(), Mode: optimize.ModePatch, Skill: a.Skill, Patch: failures[0], Budget: shotLimit,
	})
	return u.Candidate, err
}

// BestOfN writes one-shots, each from another half of the train split, scores each
// on the whole selection split, and keeps the best, the first among equals. The
// starting skill competes too.
func BestOfN(ctx context.Context, a *Arena) (Outcome, error) {
	m := a.models()
	best, top, scored := a.Skill, -1.0, 0
	try := func(s skill.Skill) error {
		mean, err := m.mean(ctx, fmt.Sprintf("selection%d", scored), a.Data.Selection, s)
		scored++
		if err == nil && mean > top {
			best, top = s, mean
		}
		return err
	}
	used := func() int { return m.used() + scored*len(a.Data.Selection) }
	if len(a.Data.Selection) > a.Setup.Calls {
		return Outcome{Skill: best.Text()}, nil
	}
	if err := try(a.Skill); err != nil {
		return Outcome{}, err
	}
	half := len(a.Data.Train) / 2
	for n := 0; used()+half+1+len(a.Data.Selection) <= a.Setup.Calls; n++ {
		s, err := a.shot(ctx, m, shotOf{n, half})
		if err == nil {
			err = try(s)
		}
		if err != nil {
			return Outcome{}, err
		}
	}
	return Outcome{Skill: best.Text(), Calls: used()}, nil
}

// Curricula returns training with each curriculum; training without one is first.
func Curricula() []Contestant {
	var out []Contestant
	for _, s := range []struct{ name, what string }{
		{"none", "each epoch one pass"},
		{"uniform", "bins of difficulty, all alike"},
		{"easy_first", "easy tasks first, all alike at the end"},
		{"competence_based", "from easy to hard"},
	} {
		c := train.Curriculum{Strategy: s.name, Bins: 5, Temperature: 1, Alpha: 0.3}
		out = append(out, Contestant{s.name, s.what, Trained(c)})
	}
	return out
}
