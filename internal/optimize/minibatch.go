package optimize

import (
	"github.com/seed-f4525e22/skillopt/internal/pyrand"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// failedBelow is the hard score below which a rollout counts as failed.
const failedBelow = 1e-9

// MinibatchOptions say how outcomes are cut into minibatches.
type MinibatchOptions struct {
	Size        int    // outcomes per minibatch; below 1 acts as 1
	Seed        *int64 // of the shuffle of the failures; successes use Seed+1; nil keeps the order
	FailureOnly bool   // no success minibatches
}

// Minibatches sorts measured outcomes into failures (hard = 0) and successes
// (hard > 0), shuffles both and cuts them up, as SkillOpt does for the same
// seed. The results are indices into outcomes; unmeasured outcomes are in none.
// As in SkillOpt, a hard score above 0 and below 1e-9 is in both groups.
func Minibatches(outcomes []trajectory.Outcome, o MinibatchOptions) (failures, successes [][]int) {
	var failed, succeeded []int
	for i, out := range outcomes {
		if !out.Status.Measured() {
			continue
		}
		if out.Hard < failedBelow {
			failed = append(failed, i)
		}
		if out.Hard > 0 && !o.FailureOnly {
			succeeded = append(succeeded, i)
		}
	}
	if o.Seed != nil {
		shuffle(failed, *o.Seed)
		shuffle(succeeded, *o.Seed+1)
	}
	size := max(1, o.Size)
	return chunk(failed, size), chunk(succeeded, size)
}

func shuffle(list []int, seed int64) {
	pyrand.New(seed).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

func chunk[T any](list []T, size int) [][]T {
	var chunks [][]T
	for len(list) > size {
		chunks = append(chunks, list[:size:size])
		list = list[size:]
	}
	if len(list) > 0 {
		chunks = append(chunks, list)
	}
	return chunks
}
