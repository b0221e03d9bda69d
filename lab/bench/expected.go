package bench

import (
	"context"
	"fmt"

	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/worlds"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// expected returns the expected score of a skill on each task, over all answers that
// the target may give: it follows the skill, or with the chance of a flip forgets it,
// and then answers as without one, or loses its way where that is the same answer.
func (a *Arena) expected(ctx context.Context, text string, tasks []task.Task) ([]float64, error) {
	if err := a.calmDown(ctx); err != nil {
		return nil, err
	}
	kept, err := a.answers(ctx, text, tasks)
	if err != nil {
		return nil, err
	}
	flip := a.Setup.World.Flip
	out := make([]float64, len(tasks))
	for i, o := range kept {
		out[i] = (1 - flip) * a.scoreOf(o)
		if p := a.plain[o.ID]; p.Answer != o.Answer {
			out[i] += flip * a.scoreOf(p)
		}
	}
	return out, nil
}

// calmDown makes the world without flips, once.
func (a *Arena) calmDown(ctx context.Context) error {
	if a.calm != nil {
		return nil
	}
	p := a.params
	p.Flip = 0
	w, err := worlds.New(p)
	if err != nil {
		return err
	}
	calm, err := sim.Parse("world.yaml", w.YAML)
	if err != nil {
		return fmt.Errorf("parse the calm world: %w", err)
	}
	a.calm, a.plain = calm, map[string]trajectory.Outcome{}
	for _, tasks := range [][]task.Task{a.Data.Train, a.Data.Selection, a.Data.Test} {
		out, err := a.answers(ctx, "", tasks)
		if err != nil {
			return err
		}
		for _, o := range out {
			a.plain[o.ID] = o
		}
	}
	return nil
}

// answers are those of the calm world; one that could not be measured is an error.
func (a *Arena) answers(ctx context.Context, text string, tasks []task.Task) ([]trajectory.Outcome, error) {
	out, err := a.modelsOf(a.calm).roller.All(ctx, rollout.Place{Prefix: "expected"}, tasks, skill.New(text), nil)
	if err != nil {
		return nil, err
	}
	for _, o := range out {
		if !o.Status.Measured() {
			return nil, fmt.Errorf("task %s could not be measured: %s", o.ID, o.FailReason)
		}
	}
	return out, nil
}

// scoreOf is what counts in these worlds.
func (a *Arena) scoreOf(o trajectory.Outcome) float64 {
	if a.Setup.Heavy {
		return o.Soft
	}
	return o.Hard
}

// meanOf is the mean of scores by task, each cluster counting once if a field of the
// tasks names clusters.
func meanOf(scores []float64, tasks []task.Task, cluster string) float64 {
	var order []string
	sums, sizes := map[string]float64{}, map[string]float64{}
	for i, t := range tasks {
		unit := t.Cluster(cluster)
		if unit == "" {
			unit = t.ID
		}
		if sizes[unit] == 0 {
			order = append(order, unit)
		}
		sums[unit] += scores[i]
		sizes[unit]++
	}
	mean := 0.0
	for _, unit := range order {
		mean += sums[unit] / sizes[unit] / float64(len(order))
	}
	return mean
}
