// Package training makes the hyperparameters of the loop of a configuration, its tasks
// and its ceiling of calls: sizes of batches, the warm start, how the gate confirms.
//
// What rests on a ceiling is decided once, at the beginning of a run, and recorded: a
// ceiling may change when the run continues. The package knows configurations and the
// options of the loop. It knows nothing of how a run is carried out.
package training

import (
	"strings"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/internal/session"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/schedule"
)

// Sizes makes the options of the loop. It is not safe for concurrent use.
type Sizes struct {
	in     *session.Inputs
	models *session.Models
	batch  int    // tasks of a batch that the run found by itself; 0: not yet
	start  *start // what the run decided at its beginning; nil: not yet
	open   []decision

	refused error    // why the run cannot be begun
	leftOut []string // for its ceiling, in words
}

// New makes the sizes of a session. Nothing is decided yet.
func New(s *session.Session) *Sizes {
	return &Sizes{in: s.Inputs, models: s.Models}
}

// NewGating returns how candidates are judged. deterministic: as far as the settings say, the
// target's answers are.
func NewGating(in *session.Inputs, deterministic bool) train.Gating {
	g := in.Config.Gate
	return train.Gating{
		Gate: gate.Mode(g.Mode), Fresh: g.Fresh, Keep: g.Keep, Alpha: g.Alpha,
		Cluster: g.Group, Deterministic: deterministic, Projection: in.Projection(),
	}
}

// Options maps the configuration to the loop's hyperparameters.
func (z *Sizes) Options() train.Options {
	c := z.in.Config
	batch := z.batchSize()
	cur := schedule.DefaultCurriculum()
	mode := c.Edits.Schedule
	if mode == "autonomous" {
		mode = "unlimited"
	}
	o := train.Options{
		Batching: train.Batching{
			Epochs: z.epochs(), BatchSize: batch, Accumulation: c.Train.Accumulation, Shrinks: c.Train.BatchSize == config.AutoCount, Seed: c.Train.Seed,
			Curriculum: train.Curriculum{Strategy: c.Train.Curriculum.Strategy, Bins: cur.Bins, Temperature: cur.Temperature, Alpha: cur.Alpha},
		},
		Reflection: train.Reflection{
			Shallow: c.Reflect.Mode == "shallow", Minibatch: c.Reflect.MinibatchSize.Or(0), Whole: z.in.Config.Reflect.View == config.ViewAgent, Window: z.analystWindow(), Rollouts: c.Reflect.Rollouts, FailureOnly: c.Reflect.FailureOnly, SkillAware: c.Reflect.SkillAware,
		},
		Editing: train.Editing{
			FanIn: c.Aggregate.FanIn, Mode: c.Edits.Mode, Budget: c.Edits.Budget.Or(config.AutoBudget), MinBudget: c.Edits.MinBudget, Schedule: mode,
		},
		Gating: NewGating(z.in, z.models.Deterministic()),
		Ending: train.Ending{
			Reopen: z.in.Reopen, Stop: NewStop(c.Train.Stop), Test: z.testCalls() > 0, NoSkill: c.Eval.NoSkill,
		},
		EpochEnd: train.EpochEnd{
			SlowUpdate: c.SlowUpdate.Enabled, SlowSamples: c.SlowUpdate.Samples, SlowGated: c.SlowUpdate.Gated, SlowPairs: c.SlowUpdate.Pairs, MetaSkill: c.MetaSkill.Enabled,
		},
	}
	o.Remembered, o.Guide = optimize.Remember(z.in.Remembered), strings.TrimSpace(c.Reflect.Guide)
	o.SecondTry = c.Train.SecondTry
	if o.Examples = z.examples(); !z.models.Has(model.Optimizer) {
		o.Alone, o.Epochs, o.Warm, o.BatchSize, o.Accumulation = true, 1, 0, z.in.Data.Drawable(), 1
		o.SlowUpdate, o.MetaSkill = false, false
		o.Examples.Rollouts = mostExampleRollouts // nothing else needs the calls
	}
	if z.start != nil {
		o.Warm, o.Twice = z.start.Warm, z.start.Twice
	}
	return o
}

// mostExampleRollouts is how many rollouts compare draws at most: the last two are asked
// nearly 60 tasks then.
const mostExampleRollouts = 200

// examples says how worked examples are tried: by as many rollouts as there are train tasks at
// most, and a tenth of a ceiling of calls.
func (z *Sizes) examples() train.Examples {
	in := z.in
	n := in.Config.Edits.Examples
	if n == 0 || in.Episodes() || in.Data.InFolds() || in.Config.Edits.Region != "" {
		return train.Examples{}
	}
	out := train.Examples{Sizes: []int{8, 16, 4}, Rollouts: min(len(in.Data.Train), mostExampleRollouts)}
	if n != config.AutoCount {
		out.Sizes = []int{int(n)}
	}
	if calls := in.Config.Limits.Calls; calls != nil && z.ExamplesFollow() {
		out.Rollouts = min(out.Rollouts, int(*calls)/10)
	}
	return out
}

// NewStop maps the rules by which the loop ends early.
func NewStop(c config.Stop) train.Stop {
	return train.Stop{Perfect: c.Perfect, Score: c.Score, Patience: c.Patience, Evidence: c.Evidence}
}

// epochs returns how many passes over the train split the run makes.
func (z *Sizes) epochs() int {
	if z.start != nil {
		return z.in.Config.Train.Epochs.Or(z.start.Epochs)
	}
	return z.in.Config.Train.Epochs.Or(schedule.LeastEpochs)
}

// analystWindow returns how many tokens of rollouts one prompt of the optimizer holds.
func (z *Sizes) analystWindow() int {
	const most = 60_000 // a longer list tires, whatever a model could take
	if window := z.in.Config.Reflect.Window; window != config.AutoCount {
		return int(window)
	}
	if context := z.in.Config.Models.Optimizer.Context; context > 0 {
		return min(most, context/2)
	}
	return most
}

// batchSize returns the number of tasks of a batch.
func (z *Sizes) batchSize() int {
	n := z.in.Data.Drawable()
	switch size := z.in.Config.Train.BatchSize; {
	case size > 0:
		return int(size)
	case size == 0:
		return schedule.DefaultBatch(n)
	case z.batch > 0:
		return z.batch
	}
	return max(1, z.affordable(schedule.WideBatch(n)))
}

// affordable returns the size of the batch that a ceiling of calls allows for.
func (z *Sizes) affordable(wide int) int {
	if c := z.callCeiling(); c != nil {
		return c.Batch(wide)
	}
	return wide
}
