package rollout

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// episode is a function as an Episode.
type episode func(ctx context.Context, p Place, t task.Task) (trajectory.Outcome, error)

func (f episode) Run(ctx context.Context, p Place, t task.Task, _ skill.Skill) (trajectory.Outcome, error) {
	return f(ctx, p, t)
}

func numbered(n int) []task.Task {
	tasks := make([]task.Task, n)
	for i := range tasks {
		tasks[i] = task.Task{ID: fmt.Sprintf("t%d", i)}
	}
	return tasks
}

func ids(outcomes []trajectory.Outcome) []string {
	var out []string
	for _, o := range outcomes {
		out = append(out, o.ID)
	}
	return out
}

var errInfrastructure = caller.Unmeasurable(errors.New("no answer"))

// Outcomes come in the order of the tasks, whoever is first.
func TestAllKeepsTheOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tasks := numbered(50)
		var done atomic.Int64
		r := Runner{Episode: episode(func(_ context.Context, p Place, tk task.Task) (trajectory.Outcome, error) {
			// The last one is the first to be ready.
			for i, other := range tasks {
				if other.ID == tk.ID {
					<-time.After(time.Duration(len(tasks)-i) * time.Second)
				}
			}
			if want := "e1/rollout/" + tk.ID + "/sample3"; p.Key(tk) != want {
				t.Errorf("key %q, want %q", p.Key(tk), want)
			}
			return trajectory.Outcome{ID: tk.ID, Status: score.OK}, nil
		})}
		start := time.Now()
		got, err := r.All(t.Context(), Place{Prefix: "e1/rollout", Sample: 3}, tasks, skill.Skill{}, func() { done.Add(1) })
		if err != nil {
			t.Fatal(err)
		}
		for i, id := range ids(got) {
			if id != tasks[i].ID {
				t.Fatalf("outcome %d is of %s", i, id)
			}
		}
		if done.Load() != 50 {
			t.Errorf("%d were reported as done", done.Load())
		}
		if took := time.Since(start); took != 50*time.Second {
			t.Errorf("it took %v: the tasks did not run side by side", took)
		}
	})
}

// Only what is missing is measured again, and only so often.
func TestAllMeasuresWhatIsMissingAgain(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	tries := map[string]int{}
	var done atomic.Int64
	r := Runner{Extra: 2, Episode: episode(func(_ context.Context, p Place, tk task.Task) (trajectory.Outcome, error) {
		mu.Lock()
		defer mu.Unlock()
		tries[tk.ID]++
		switch {
		case tk.ID == "t1" && tries["t1"] < 3, tk.ID == "t2":
			return trajectory.Outcome{Hard: 1}, errInfrastructure
		case tk.ID == "t3" && tries["t3"] == 1:
			return trajectory.Outcome{ID: "t3", Status: score.Unmeasured}, nil
		}
		return trajectory.Outcome{ID: tk.ID, Status: score.OK, Hard: 1}, nil
	})}
	got, err := r.All(t.Context(), Place{}, numbered(5), skill.Skill{}, func() { done.Add(1) })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"t0": 1, "t1": 3, "t2": 3, "t3": 2, "t4": 1}, tries); diff != "" {
		t.Errorf("tries (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"t0", "t1", "t2", "t3", "t4"}, ids(got)); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if o := got[2]; o.Status != score.Unmeasured || o.Hard != 0 || !strings.Contains(o.FailReason, "no answer") {
		t.Errorf("what could not be measured is %+v", o)
	}
	if done.Load() != 4 {
		t.Errorf("%d were reported as done, want those that were measured", done.Load())
	}
}

func TestErrorsEndTheBatch(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	r := Runner{Extra: 2, Episode: episode(func(ctx context.Context, _ Place, tk task.Task) (trajectory.Outcome, error) {
		if tk.ID == "t3" {
			return trajectory.Outcome{}, boom
		}
		<-ctx.Done() // the others are told
		return trajectory.Outcome{}, errInfrastructure
	})}
	if got, err := r.All(t.Context(), Place{}, numbered(8), skill.Skill{}, nil); !errors.Is(err, boom) || got != nil {
		t.Errorf("got %v, %v", got, err)
	}
}

// A context that ended is no missing measurement: the run ends.
func TestOneReturnsTheCauseOfAnEndedContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	r := Runner{Episode: episode(func(context.Context, Place, task.Task) (trajectory.Outcome, error) {
		cancel(why)
		return trajectory.Outcome{}, errInfrastructure
	})}
	if _, err := r.One(ctx, Place{}, task.Task{}, skill.Skill{}); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
}

func TestAllOfNothing(t *testing.T) {
	t.Parallel()
	got, err := (&Runner{Extra: 2}).All(t.Context(), Place{}, nil, skill.Skill{}, nil)
	if err != nil || len(got) != 0 {
		t.Errorf("got %v, %v", got, err)
	}
}

// All requests are sent before the batch ends to wait for answers.
func TestWaitingEndsTheBatchWhenAllIsAsked(t *testing.T) {
	t.Parallel()
	var asked, done atomic.Int64
	r := Runner{Extra: 2, Episode: episode(func(ctx context.Context, _ Place, tk task.Task) (trajectory.Outcome, error) {
		asked.Add(1)
		if ctx.Err() != nil {
			t.Errorf("%s was told to end", tk.ID)
		}
		if tk.ID == "t0" || tk.ID == "t7" {
			return trajectory.Outcome{}, fmt.Errorf("ask: %w", &caller.WaitingError{Key: tk.ID, Err: errors.New("later")})
		}
		return trajectory.Outcome{ID: tk.ID, Status: score.OK}, nil
	})}
	got, err := r.All(t.Context(), Place{}, numbered(2000), skill.Skill{}, func() { done.Add(1) })
	var waiting *caller.WaitingError
	if !errors.As(err, &waiting) || got != nil {
		t.Fatalf("got %d outcomes, %v", len(got), err)
	}
	if asked.Load() != 2000 || done.Load() != 1998 {
		t.Errorf("%d asked, %d done, want 2000 and 1998", asked.Load(), done.Load())
	}
}
