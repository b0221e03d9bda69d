package train

import (
	"fmt"

	"github.com/seed-f4525e22/skillopt/internal/pyrand"
	"github.com/seed-f4525e22/skillopt/schedule"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// sampler says which train tasks a step draws. What it draws depends on the seed and on
// the outcomes that it was shown; it knows nothing of skills.
type sampler struct {
	opts       Options
	data       Data
	curriculum *schedule.Curriculum // nil: one pass over the train split an epoch
}

func newSampler(o Options, d Data) (*sampler, error) {
	s := &sampler{opts: o, data: d}
	if o.Curriculum.Strategy != "none" && o.Curriculum.Strategy != "" {
		c, err := schedule.NewCurriculum(schedule.CurriculumConfig{
			Strategy: schedule.Strategy(o.Curriculum.Strategy), Bins: o.Curriculum.Bins, Temperature: o.Curriculum.Temperature, Alpha: o.Curriculum.Alpha,
		})
		if err != nil {
			return nil, err
		}
		s.curriculum = c
	}
	return s, nil
}

// stepsPerEpoch returns how many steps an epoch has.
func (s *sampler) stepsPerEpoch() int { return s.opts.StepsPerEpoch(s.data.Drawable()) }

// epoch plans the microbatches of an epoch: one shuffled pass over the train split.
func (s *sampler) epoch(epoch int) ([]schedule.Batch, error) {
	steps := s.stepsPerEpoch()
	if s.data.InFolds() {
		return s.foldBatches(epoch, steps), nil
	}
	o := s.opts
	plan := schedule.Epoch(schedule.EpochConfig{
		Train: len(s.data.Train), BatchSize: o.BatchSize, Accumulation: o.Accumulation, Steps: steps, Epoch: epoch, Seed: o.Seed,
	})
	if len(plan) != steps*o.Accumulation {
		return nil, fmt.Errorf("epoch %d: %d microbatches planned, want %d", epoch, len(plan), steps*o.Accumulation)
	}
	return plan, nil
}

// foldBatches returns the batches of an epoch, those of each step from outside of its fold.
func (s *sampler) foldBatches(epoch, steps int) []schedule.Batch {
	var plan []schedule.Batch
	for i := range steps {
		plan = append(plan, schedule.Epoch(schedule.EpochConfig{
			Train: len(s.data.trainTasks((epoch-1)*steps + i + 1)), BatchSize: s.opts.BatchSize, Accumulation: s.opts.Accumulation, Steps: 1,
			Epoch: epoch, Seed: s.opts.Seed + int64(i*s.opts.Accumulation),
		})...)
	}
	return plan
}

// step returns the microbatches of step i of an epoch, from 0 up, out of those of the
// whole epoch. A warm start has one, in the order in which the epoch draws its tasks.
func (s *sampler) step(epoch, i int, all []schedule.Batch) []schedule.Batch {
	own := all[i*s.opts.Accumulation : (i+1)*s.opts.Accumulation]
	n := min(s.opts.Warm, s.data.Drawable())
	if epoch > 1 || !s.opts.warms(i+1) || n <= countTasks(own) {
		return own
	}
	if s.data.InFolds() {
		all = own // what later steps draw from are other tasks
	}
	whole := own[0]
	whole.Items = orderItems(all, n)
	return []schedule.Batch{whole}
}

// orderItems returns n items, each once: first those of the batches in their order, then
// what these have not drawn.
func orderItems(batches []schedule.Batch, n int) []int {
	seen, items := map[int]bool{}, make([]int, 0, n)
	add := func(item int) {
		if !seen[item] && len(items) < n {
			seen[item] = true
			items = append(items, item)
		}
	}
	for _, b := range batches {
		for _, item := range b.Items {
			add(item)
		}
	}
	for item := range n {
		add(item)
	}
	return items
}

// draw returns the tasks of a microbatch of a step: those that were planned, or what the
// curriculum prefers. Of a warm start nothing is known before.
func (s *sampler) draw(step int, b schedule.Batch) []task.Task {
	all := s.data.trainTasks(step)
	if s.opts.warms(step) {
		return pick(all, b.Items)
	}
	keys := taskIDs(all)
	if s.curriculum != nil {
		total := s.opts.epochsAt(step) * s.stepsPerEpoch()
		b.Items = s.curriculum.Draw(pyrand.New(b.Seed), keys, len(b.Items), schedule.Window{Step: step - 1, Total: total})
	}
	return pick(all, b.Items)
}

// observe shows the curriculum how the tasks of a step ended, and returns what it knows
// then. Everything comes from the record, so that a resumed run draws the same tasks.
func (s *sampler) observe(outcomes []trajectory.Outcome) map[string]float64 {
	if s.curriculum == nil {
		return nil
	}
	for _, o := range outcomes {
		if o.Status.Measured() {
			s.curriculum.Update(o.ID, s.opts.Projection.Of(score.Pair{Hard: o.Hard, Soft: o.Soft}, 0))
		}
	}
	return s.curriculum.Metrics()
}
