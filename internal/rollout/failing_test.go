package rollout

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// through carries out episodes and records nothing.
type through struct{}

func (through) Episode(ctx context.Context, _ caller.EpisodeCall, run func(context.Context, model.Client) (caller.EpisodeResult, error)) ([]byte, error) {
	res, err := run(ctx, nil)
	return res.Data, err
}

// An environment that hangs at every task would take hours to fail at all of
// them; one that hangs at a few has measured the others.
func TestAnEnvironmentThatOnlyFailsEndsTheRun(t *testing.T) {
	t.Parallel()
	const slots, deadline, patience = 16, 2 * time.Minute, 2 * time.Minute
	for _, tt := range []struct {
		name  string
		tasks int
		works func(id string) bool
		least time.Duration
		most  time.Duration
		stops bool
	}{
		{"always", 200, func(string) bool { return false }, 2 * time.Minute, 6 * time.Minute, true},
		{"never", 200, func(string) bool { return true }, 0, 0, false},
		{"at a few", 200, func(id string) bool { return len(id) > 2 }, 0, 6 * time.Minute, false},
		{"at nine in ten, and at all of these again", 100, func(id string) bool { return id[len(id)-1] == '0' }, 0, 30 * time.Minute, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				e := &Env{Record: through{}, Timeout: deadline, Patience: patience, Slots: NewSlots(slots)}
				e.Env = environment(func(ctx context.Context, tk task.Task, _ skill.Skill) (trajectory.Outcome, error) {
					if !tt.works(tk.ID) {
						<-ctx.Done()
						return trajectory.Outcome{}, context.Cause(ctx)
					}
					return trajectory.Outcome{Status: score.OK}, nil
				})
				began := time.Now()
				r := Runner{Episode: e, Extra: 2}
				_, err := r.All(t.Context(), Place{}, numbered(tt.tasks), skill.New(""), nil)
				var stopped *caller.StoppedError
				if errors.As(err, &stopped) != tt.stops || (err != nil) != tt.stops || errors.Is(err, caller.ErrUnmeasured) {
					t.Errorf("got %v", err)
				}
				if took := time.Since(began); took < tt.least || took > tt.most {
					t.Errorf("after %v, want %v to %v", took, tt.least, tt.most)
				}
			})
		})
	}
}

// Whoever stops a run waits for the tasks under way, and not for those that wait
// for a slot.
func TestAStopDoesNotWaitForTasksWithoutASlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := 0
		rec := stopsAfter{at: time.Now().Add(90 * time.Second)}
		e := &Env{Record: rec, Slots: NewSlots(1)}
		e.Env = environment(func(context.Context, task.Task, skill.Skill) (trajectory.Outcome, error) {
			begun++
			<-time.After(time.Minute)
			return trajectory.Outcome{Status: score.OK}, nil
		})
		_, err := (&Runner{Episode: e}).All(t.Context(), Place{}, numbered(100), skill.New(""), nil)
		if !errors.Is(err, caller.ErrStopping) || begun != 2 {
			t.Errorf("%d tasks begun, %v", begun, err)
		}
	})
}

// stopsAfter is the record of a run that its user stops: what has begun ends.
type stopsAfter struct{ at time.Time }

func (s stopsAfter) Episode(ctx context.Context, c caller.EpisodeCall, run func(context.Context, model.Client) (caller.EpisodeResult, error)) ([]byte, error) {
	if time.Now().After(s.at) {
		return nil, caller.ErrStopping
	}
	return through{}.Episode(context.WithoutCancel(ctx), c, run)
}
