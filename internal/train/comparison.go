package train

import (
	"fmt"

	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/schedule"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// The two skills of a comparison.
const (
	armCurrent  = "curr"
	armPrevious = "prev"
)

// comparison is what the end of an epoch compares: the skill with that of the epoch
// before, on train tasks in an order of the epoch, a number of them at once.
type comparison struct {
	prefix   string
	tasks    []task.Task
	order    []int
	sample   int // tasks that are compared at once
	previous skill.Skill
}

// newComparison plans the comparison of an epoch's end. Its tasks are not those that the
// guidance is judged by, which are those of the last step.
func newComparison(o Options, d Data, epoch int, previous, current skill.Skill) comparison {
	tasks := d.Unshown(d.trainTasks(epoch*o.StepsPerEpoch(d.Drawable())), current)
	n := len(tasks)
	return comparison{
		prefix: endPrefix(epoch), tasks: tasks, order: schedule.TrainBatch(n, n, o.Seed+int64(epoch)*2000),
		sample: min(o.SlowSamples, n), previous: previous,
	}
}

// endPrefix returns the prefix in the record of the end of an epoch.
func endPrefix(epoch int) string { return fmt.Sprintf("e%d/end", epoch) }

// part returns the tasks that are compared at once, from 0 up.
func (c comparison) part(i int) []task.Task {
	return pick(c.tasks, c.order[i*c.sample:min((i+1)*c.sample, len(c.tasks))])
}

// sets returns the rollouts of a part with both skills, the current one first. A skill that the
// epoch left as it was is rolled out once.
func (c comparison) sets(part int, current skill.Skill) []rolloutSet {
	tasks := c.part(part)
	out := []rolloutSet{{c.place(armCurrent), tasks, current}}
	if !c.previous.Equal(current) {
		out = append(out, rolloutSet{c.place(armPrevious), tasks, c.previous})
	}
	return out
}

func (c comparison) place(arm string) rollout.Place {
	return rollout.Place{Prefix: c.prefix + "/compare/" + arm}
}
