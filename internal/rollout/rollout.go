// Package rollout carries out tasks with a skill: tasks in, outcomes out, in
// the order of the tasks whatever order they finish in.
//
// It decides what counts as an answer: a failure of the target within the
// task's own limits is a score of 0, a failure of infrastructure is no score.
// It knows nothing about edits, gates or epochs, and bounds nothing: how many
// calls are in flight is the caller's business.
package rollout

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Place is the position of a rollout in a run; it makes the key of its record.
type Place struct {
	Prefix string // "e1/s3/rollout"
	Sample int    // 0 for the first pass; a fresh pass is a new sample
}

// Key returns the key of one task's rollout.
func (p Place) Key(t task.Task) string {
	return p.Prefix + "/" + escapeID(t.ID) + "/sample" + strconv.Itoa(p.Sample)
}

// escapeID keeps an id within its part of a key: no id can look like the key of
// another place.
func escapeID(id string) string {
	if !strings.ContainsAny(id, "/%") {
		return id
	}
	return strings.NewReplacer("%", "%25", "/", "%2F").Replace(id)
}

// Episode carries out one task.
type Episode interface {
	// Run may be called concurrently. An error that ErrUnmeasured matches
	// means that nothing was measured; any other ends the run.
	Run(ctx context.Context, p Place, t task.Task, s skill.Skill) (trajectory.Outcome, error)
}

// Runner rolls out batches of tasks.
type Runner struct {
	Episode Episode
	// Extra is how often what is missing after a pass is measured again.
	Extra int
	// Heard learns of each outcome as it comes, also of one that is not measured,
	// concurrently. It must not change it. Nil: nothing is reported.
	Heard func(p Place, t *task.Task, out *trajectory.Outcome)
}

// One rolls out one task. An outcome that could not be measured has the status
// Unmeasured and a reason; an error ends the run.
func (r *Runner) One(ctx context.Context, p Place, t task.Task, s skill.Skill) (out trajectory.Outcome, err error) {
	if out, err = r.Episode.Run(ctx, p, t, s); err != nil {
		checks := out.Checks
		out, err = failureOutcome(ctx, &t, err)
		out.Checks = checks // those that had been decided when one could not be
	}
	out.Cause = findCause(&out, t.Gold)
	if err == nil && r.Heard != nil {
		r.Heard(p, &t, &out)
	}
	return out, err
}

// failureOutcome returns the outcome of a task that a failure of its own kept from being measured.
// Any other failure is an error.
func failureOutcome(ctx context.Context, t *task.Task, err error) (trajectory.Outcome, error) {
	var lost *caller.UnmeasuredError
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case errors.As(err, &lost):
		return trajectory.Outcome{ID: t.ID, Type: t.Type, Status: score.Unmeasured, FailReason: err.Error()}, nil
	}
	return trajectory.Outcome{}, err
}

// All rolls out every task and returns the outcomes in the order of the tasks.
// done, which may be nil, is called after each, concurrently.
func (r *Runner) All(ctx context.Context, p Place, tasks []task.Task, s skill.Skill, done func()) ([]trajectory.Outcome, error) {
	outcomes := make([]trajectory.Outcome, len(tasks))
	missing := make([]int, len(tasks))
	for i := range tasks {
		missing[i] = i
	}
	for pass := 0; pass <= r.Extra && len(missing) > 0; pass++ {
		if err := r.pass(ctx, p, s, passWork{tasks: tasks, which: missing, out: outcomes, done: done}); err != nil {
			return nil, err
		}
		missing = findMissing(outcomes, missing)
	}
	return outcomes, nil
}

// passWork is one pass over some of the tasks.
type passWork struct {
	tasks []task.Task
	which []int
	out   []trajectory.Outcome
	done  func()
}

// workers bounds goroutines, not requests: it is far above any useful number of
// requests in flight, so the limiter below it always has work to choose from.
const workers = 512

// pass carries out the tasks of its work with one skill. A question whose answer comes later ends
// the pass only when all others have been put: the caller who answers shall find them together.
func (r *Runner) pass(ctx context.Context, p Place, s skill.Skill, w passWork) error {
	g, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	var later atomic.Pointer[caller.WaitingError]
	for range min(workers, len(w.which)) {
		g.Go(func() error {
			for {
				n := int(next.Add(1)) - 1
				if n >= len(w.which) {
					return nil
				}
				i := w.which[n]
				out, err := r.One(ctx, p, w.tasks[i], s)
				var waiting *caller.WaitingError
				if errors.As(err, &waiting) {
					later.Store(waiting)
					continue
				}
				if err != nil {
					return err
				}
				w.out[i] = out
				if w.done != nil && out.Status.Measured() {
					w.done()
				}
			}
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if waiting := later.Load(); waiting != nil {
		return waiting
	}
	return nil
}

// checkScores refuses what no score can be: a mean with it would be false.
func checkScores(out trajectory.Outcome) error {
	for _, s := range []struct {
		name  string
		value float64
	}{{"hard", out.Hard}, {"soft", out.Soft}} {
		if !(s.value >= 0 && s.value <= 1) { // the negation is also true for NaN
			return fmt.Errorf("outcome with %s = %v, allowed: 0 to 1", s.name, s.value)
		}
	}
	return nil
}

// feedback cuts what the user's own code says of an outcome to what analysts
// may get.
func feedback(text string) string {
	const more = "..."
	if len(text) <= score.MaxFeedback {
		return text
	}
	return strings.ToValidUTF8(text[:score.MaxFeedback-len(more)], "") + more
}

func findMissing(outcomes []trajectory.Outcome, which []int) []int {
	var out []int
	for _, i := range which {
		if !outcomes[i].Status.Measured() {
			out = append(out, i)
		}
	}
	return out
}
