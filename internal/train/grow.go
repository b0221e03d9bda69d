package train

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/internal/pyrand"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// grown rolls out more train tasks, a batch at a time in an order of this step's own, until
// a step has seen Enough failures, all tasks that it may draw, or there is no room for more.
// The analysts read all of it together. outcomes are those of microbatch i. A warm start
// has what there is.
func (s *step) grown(gctx, ctx context.Context, i int, outcomes []trajectory.Outcome) ([]trajectory.Outcome, error) {
	last := i == len(s.batches)-1
	if s.Enough == 0 || !last || s.warms(s.number) {
		return outcomes, nil
	}
	rest := s.unseen(outcomes)
	for k := 1; len(rest) > 0 && failed(s.outcomes)+failed(outcomes) < s.Enough; k++ {
		n := min(len(rest), s.BatchSize)
		place := rollout.Place{Prefix: fmt.Sprintf("%s/mb%d/more%d/rollout", s.prefix, i, k)}
		room, err := s.pacer.roomFor(ctx, strings.TrimSuffix(place.Prefix, "/rollout"), Part{Name: PartMore, Step: s.number, Tasks: n})
		if err != nil || !room {
			return outcomes, err
		}
		out, err := s.rollBatch(gctx, place, rest[:n])
		if err != nil {
			return outcomes, err
		}
		if err := s.coverMore(ctx, place, rest[:n], out); err != nil {
			return outcomes, err
		}
		outcomes, rest = append(outcomes, out...), rest[n:]
		s.record.Grown += n
	}
	return outcomes, nil
}

// unseen are the tasks that the step may draw and has not, shuffled.
func (s *step) unseen(outcomes []trajectory.Outcome) []task.Task {
	seen := map[string]bool{}
	for _, o := range slices.Concat(s.outcomes, outcomes) {
		seen[o.ID] = true
	}
	all := s.Data.drawn(s.number)
	var rest []task.Task
	for _, k := range pyrand.New(seedOf(s.Seed, s.prefix+"/more")).Perm(len(all)) {
		if !seen[all[k].ID] {
			rest = append(rest, all[k])
		}
	}
	return rest
}

// coverMore records what could not be measured of the tasks that a batch has grown by.
func (s *step) coverMore(ctx context.Context, place rollout.Place, tasks []task.Task, outcomes []trajectory.Outcome) error {
	missing := missingOf(outcomes)
	if len(missing) == 0 {
		return nil
	}
	without := pick(tasks, missing)
	s.record.Unmeasured = append(s.record.Unmeasured, idsOf(without)...)
	return s.rollouts.giveUp(ctx, place.Prefix+"/without", place, without)
}

// failed is how many of the measured outcomes are failures.
func failed(outcomes []trajectory.Outcome) int {
	n := 0
	for _, p := range optimize.FailurePatterns(outcomes) {
		n += p.Count
	}
	return n
}
