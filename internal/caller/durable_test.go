package caller_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

// recordObserver is a model that looks at the record whenever it is asked.
type recordObserver struct {
	recorded func() int
	fail     error

	mu      sync.Mutex
	asked   int
	missing int // answers given before and not yet recorded, at most
}

func (w *recordObserver) Generate(context.Context, model.Request) (model.Response, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.missing = max(w.missing, w.asked-w.recorded())
	w.asked++
	return model.Response{Text: "a", Finish: model.FinishStop}, w.fail
}

// ask makes n calls at once and returns their errors.
func (b *bench) ask(n int) []error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			_, errs[i] = b.Do(b.t.Context(), caller.Call{
				Key: fmt.Sprint(i), Role: model.Target, Stage: "rollout",
				Messages: []model.Message{{Role: model.User, Content: fmt.Sprint(i)}},
			})
		})
	}
	wg.Wait()
	return errs
}

// A request gets a slot only when the answer of the one that had it is durable:
// a kill costs at most one answer a slot.
func TestAnswersAreRecordedBeforeTheirSlotIsFree(t *testing.T) {
	t.Parallel()
	for _, slots := range []int{1, 4} {
		t.Run(fmt.Sprint(slots), func(t *testing.T) {
			t.Parallel()
			w := &recordObserver{}
			b := setup(t, w, func(o *caller.Options) { o.Concurrency = slots })
			w.recorded = func() int { return b.journal.Counts().Results }
			if err := errors.Join(b.ask(200)...); err != nil {
				t.Fatal(err)
			}
			if w.asked != 200 || w.missing >= slots {
				t.Errorf("%d asked; %d answers were without a record when the next request came, want less than %d", w.asked, w.missing, slots)
			}
		})
	}
}

// Who waits for a slot when a request is refused for good is not sent.
func TestARefusalStandsBeforeItsSlotIsFree(t *testing.T) {
	t.Parallel()
	for range 20 {
		w := &recordObserver{fail: &model.Error{Code: model.NotFound, Err: errors.New("no such model")}, recorded: func() int { return 0 }}
		b := setup(t, w, func(o *caller.Options) { o.Concurrency = 1 })
		for _, err := range b.ask(20) {
			var stopped *caller.StoppedError
			if !errors.As(err, &stopped) {
				t.Fatalf("a call ended with %v", err)
			}
		}
		if w.asked != 1 {
			t.Fatalf("%d requests were sent, want 1", w.asked)
		}
	}
}

// A cut body is asked for again at once: the server had answered. Other
// failures wait.
func TestCutBodiesAreAskedForAgainAtOnce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		code  model.Code
		times int
		waits bool
	}{
		{model.Truncated, 3, false},
		{model.Truncated, 4, true},
		{model.Server, 1, true},
	} {
		t.Run(fmt.Sprintf("%s %d", tt.code, tt.times), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				left := tt.times
				b := setup(t, modeltest.Func(func(context.Context, model.Request) (model.Response, error) {
					if left--; left >= 0 {
						return model.Response{}, &model.Error{Code: tt.code, Err: errors.New("lost")}
					}
					return model.Response{Text: "a", Finish: model.FinishStop}, nil
				}), nil)
				began := time.Now()
				if err := errors.Join(b.ask(1)...); err != nil {
					t.Fatal(err)
				}
				if waited := time.Since(began) > 0; waited != tt.waits {
					t.Errorf("waited %s", time.Since(began))
				}
			})
		})
	}
}
