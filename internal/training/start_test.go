package training

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/session"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/task"
)

// A run that was killed when only the first of its decisions was recorded decides the rest as
// an unbroken run does.
func TestAKillBetweenDecisionsChangesNone(t *testing.T) {
	t.Parallel()
	tasks := func(n int, split string) (out []task.Task) {
		for i := range n {
			out = append(out, task.Task{ID: fmt.Sprint(split, i), Prompt: fmt.Sprint(split, i)})
		}
		return out
	}
	settled := func(records ...journal.Record) *Sizes {
		j, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "run.db"), journal.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := j.Close(); err != nil {
				t.Error(err)
			}
		}()
		if err := j.Append(t.Context(), records...); err != nil {
			t.Fatal(err)
		}
		cfg, calls := config.Default(), int64(600)
		cfg.Limits.Calls = &calls
		z := &Sizes{in: &session.Inputs{Config: cfg, Loaded: &config.Loaded{}, Data: train.Data{
			Train: tasks(80, "train"), Selection: tasks(80, "selection"), Test: tasks(40, "test"),
		}}, models: &session.Models{}}
		r := &run.Run{Journal: j}
		if err := z.Settle(r); err != nil {
			t.Fatal(err)
		}
		if err := z.Record(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		return z
	}
	whole := settled()
	if whole.start.Twice == nil {
		t.Fatal("the ceiling bounds nothing: there is nothing to lose")
	}
	cut := settled(journal.Record{Key: session.BatchKey, Kind: journal.Decision, Result: []byte(fmt.Sprint(whole.batch))})
	if diff := cmp.Diff(whole.start, cut.start, cmp.AllowUnexported(start{}, small{})); diff != "" || cut.batch != whole.batch {
		t.Errorf("batches of %d and %d (-whole +cut):\n%s", whole.batch, cut.batch, diff)
	}
}
