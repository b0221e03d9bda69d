// Package optimize holds the stages that turn scored trajectories into a better
// skill: reflect, aggregate, rank, update, rewrite, appendix, slow update and
// meta skill. One file each.
//
// It does no I/O: models are reached through the Ask function that the caller
// passes in. It knows nothing about retries, records, gates, epochs or files.
package optimize

import (
	"context"
	"errors"

	"github.com/seed-f4525e22/skillopt/model"
)

// Request is one request to the optimizer model.
type Request struct {
	Key    string // place within the step, unique there: "analyst_error/2", "merge/failure/1/0"
	Stage  string // one of the model.Stage constants
	System string
	User   string
	Schema *model.Schema // of the reply; nil = free text

	// Accept reports why a reply cannot be used, nil if it can. A reply that
	// is refused is asked for again. It must be pure.
	Accept func(text string) error

	// Divisible says that less can be asked instead: a reply that takes longer than the
	// model has time for is ErrTimeout.
	Divisible bool

	// Temperature overrides the configured one, nil does not.
	Temperature *float64
}

// Ask sends a request and returns the first reply that Accept took. It may be
// called concurrently. When no usable reply came after all re-asks the error is
// ErrLost: a stage then uses its fallback and reports the loss. Any other error
// ends the step.
type Ask func(ctx context.Context, q Request) (string, error)

// ErrLost says that a model gave no usable reply. It matches every *LostError.
var ErrLost = errors.New("no usable reply")

// ErrTimeout says that a model was not done in time with a request that is divisible. It is
// recorded: the request gets no other answer later.
var ErrTimeout = errors.New("no reply in time")

// LostError says which reply could not be used, and why. Its texts hold no secrets.
type LostError struct {
	Key       string // of the request
	Replies   int    // how many were asked for
	Reason    string // why the last one was refused
	Text      string // its beginning, "" if there was none
	Inherited bool   // all of them were taken over from another run
}

func (e *LostError) Error() string { return "no usable reply for " + e.Key + ": " + e.Reason }

// Is matches ErrLost.
func (e *LostError) Is(target error) bool { return target == ErrLost }
