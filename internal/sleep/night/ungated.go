package night

import (
	"context"

	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
)

// trainUngated trains as the profile says that asks for no gate (gate.mode: off): nothing is scored, and
// the result is a suggestion.
func (n trainer) trainUngated(ctx context.Context, j *job, clusters []bank.Cluster) error {
	j.out.Outcome, j.out.Reason = TooFewTasks, "one independent task says nothing of others"
	if len(clusters) > 1 {
		j.out.Outcome, j.out.Reason = NothingToLearn, "no edit was proposed that can be used"
	}
	if err := n.suggest(ctx, j, clusters); err != nil {
		return err
	}
	if j.out.Outcome == Suggested {
		j.out.Reason = "gate.mode is off: nothing was measured"
	}
	return nil
}
