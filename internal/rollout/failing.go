package rollout

import (
	"errors"
	"sync"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/caller"
)

// minFailures is the least number of failures in a row that say something about
// an environment, and not about the tasks that it failed at.
const minFailures = 20

// failing knows for how long an environment has given nothing but failures. Its
// methods may be called concurrently.
type failing struct {
	mu       sync.Mutex
	active   int
	failures int       // in a row
	since    time.Time // when the first of them came
}

// begin registers a task.
func (f *failing) begin() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.active++
}

// end notes how a task ended, and returns the error that this is: err, or one that
// ends the run when enough tasks in a row were not measured for longer
// than the patience. No one runs out of patience with an environment that is not
// asked.
func (f *failing) end(err error, patience time.Duration, enough int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var unmeasured *caller.UnmeasuredError
	now := time.Now()
	switch {
	case err == nil:
		f.failures = 0
	case errors.As(err, &unmeasured):
		if f.failures++; f.failures == 1 {
			f.since = now
		}
	}
	lasts, failures := now.Sub(f.since), f.failures
	if f.active--; f.active == 0 {
		f.failures = 0
	}
	if unmeasured == nil || patience <= 0 || failures < enough || lasts < patience {
		return err
	}
	return &caller.StoppedError{Endpoint: "the environment", Failing: lasts, Patience: patience, Err: unmeasured.Err}
}
