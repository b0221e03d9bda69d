package ask

import (
	"context"

	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/result"
)

// Grid shows what all tasks of a run came to with all skills that were tried on them. It shows
// no answers, and of test tasks scores alone: no look that is to be noted.
func Grid(ctx context.Context, r *record.Run) (result.Grid, error) {
	g, err := r.Grid(ctx)
	if err != nil {
		return g, err
	}
	mask := redact.New()
	for i := range g.Tasks {
		t := &g.Tasks[i]
		t.ID, t.Type, t.Text, t.Reason = mask.Text(t.ID), mask.Text(t.Type), mask.Text(t.Text), mask.Text(t.Reason)
	}
	return g, nil
}
