package wire

import (
	"context"
	"errors"
	"sync"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/model"
)

// watched remembers of the calls of an episode what tells a failure of the agent
// from one of infrastructure.
type watched struct {
	model.Client

	mu    sync.Mutex
	calls int
	over  *caller.TaskLimitError // the first limit of the task that was met
}

// Generate implements model.Client.
func (w *watched) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	resp, err := w.Client.Generate(ctx, req)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls++
	var limit *caller.TaskLimitError
	if errors.As(err, &limit) && w.over == nil {
		w.over = limit
	}
	return resp, err
}

func (w *watched) used() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls > 0
}

func (w *watched) limit() *caller.TaskLimitError {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.over
}
