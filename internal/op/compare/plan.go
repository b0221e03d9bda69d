package compare

import (
	"context"
	"math/rand/v2"

	"github.com/seed-f4525e22/skillopt/internal/forecast"
	"github.com/seed-f4525e22/skillopt/internal/passes"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// plan returns what the comparison takes. When it knows enough depends on how much better a skill
// is and how much of an answer is chance. Neither is known before: dry runs of the same looks and
// the same rule over a range of both say what may be expected.
func (c *comparison) plan(ctx context.Context) (result.Plan, error) {
	s := c.session
	p := forecast.Rollouts(s, 2*len(c.tasks)*c.most, c.splits...)
	differences, chances := []float64{0, 0.1, 0.2, 0.4}, []float64{0, 0.05, 0.3}
	if c.repeats {
		chances = chances[:1]
	}
	if c.skill(0).Digest() == c.skill(1).Digest() {
		differences = []float64{0}
	}
	var found []int
	for seed := range uint64(3) {
		for _, d := range differences {
			for _, chance := range chances {
				n, err := c.dryRun(ctx, newWorld(len(c.tasks), d, chance, seed))
				if err != nil {
					return p, err
				}
				found = append(found, n)
			}
		}
	}
	between := forecast.NewInterval(found, 0)
	between.Low = min(between.Low, float64(2*len(c.open(0, c.looks(0)[0]))))
	return p, forecast.Measure(ctx, s, &p, forecast.Measuring{Rollouts: between, Tasks: c.tasks, Skills: []skill.Skill{c.skill(0), c.skill(1)}})
}

// world represents two skills: the chance that each solves a task.
type world struct {
	solves [][2]float64 // by task
	draw   *rand.Rand
}

// newWorld returns a world in which B solves more of the tasks than A, by that difference. A solves
// half of them, and a share of the tasks is solved by chance.
func newWorld(tasks int, difference, chance float64, seed uint64) *world {
	w := &world{draw: rand.New(rand.NewPCG(seed, 1)), solves: make([][2]float64, tasks)}
	for i := range w.solves {
		switch u := w.draw.Float64(); {
		case w.draw.Float64() < chance:
			w.solves[i] = [2]float64{0.5, min(1, 0.5+difference)}
		case u < 0.5:
			w.solves[i] = [2]float64{1, 1}
		case u < 0.5+difference:
			w.solves[i] = [2]float64{0, 1}
		}
	}
	return w
}

// difference returns the difference of scores in a pair of answers to a task.
func (w *world) difference(task int) float64 {
	score := [2]float64{}
	for arm, p := range w.solves[task] {
		if w.draw.Float64() < p {
			score[arm] = 1
		}
	}
	return score[1] - score[0]
}

// dryRun compares in a world, as measure does, and returns how many rollouts it took.
func (c *comparison) dryRun(ctx context.Context, w *world) (rollouts int, err error) {
	var differences []float64
	for pass := range c.most {
		looks := c.looks(pass)
		from := 0
		for _, to := range looks {
			for _, unit := range c.units[from:to] {
				sum := 0.0
				for _, i := range unit {
					sum += w.difference(i)
				}
				rollouts += 2 * len(unit)
				differences = append(differences, sum/float64(len(unit)))
			}
			from = to
			j, err := c.rule.Judge(differences)
			if err != nil || j.Verdict != passes.NotEnoughData && !c.isSingleLook() {
				return rollouts, err
			}
		}
		if err := ctx.Err(); err != nil {
			return rollouts, err
		}
	}
	return rollouts, nil
}
