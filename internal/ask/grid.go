package ask

import (
	"context"
	"slices"

	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/result"
)

// Grid shows the results of all tasks of a run with all skills that were tried on them. It shows
// no answers. Test tasks have their results with test alone, which is a look that is to be noted
// if ofTest is true; without it they are rows, and nothing of them is known.
func Grid(ctx context.Context, r *record.Run, test bool) (g result.Grid, ofTest bool, err error) {
	if g, err = r.Grid(ctx); err != nil {
		return g, false, err
	}
	onTest := func(c result.GridColumn) bool { return c.Split == "test" }
	if ofTest = test && slices.ContainsFunc(g.Columns, onTest); !ofTest {
		g.Columns = slices.DeleteFunc(g.Columns, onTest)
	}
	for i, t := range g.Tasks {
		if t.Split == "test" && !ofTest {
			t = result.GridTask{ID: t.ID, Type: t.Type, Split: t.Split}
		}
		t.ID, t.Type, t.Text, t.Reason = redact.Keys(t.ID), redact.Keys(t.Type), redact.Keys(t.Text), redact.Keys(t.Reason)
		g.Tasks[i] = t
	}
	return g, ofTest, nil
}
