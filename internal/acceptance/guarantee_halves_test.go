package acceptance_test

import (
	"context"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/model"
)

// plodding is an optimizer that has no time for more than one trajectory. It calls stop at
// a request of that number.
type plodding struct {
	model.Client

	late, asked atomic.Int64
	at          int64
	stop        func()
}

func (p *plodding) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	if p.asked.Add(1) == p.at {
		p.stop()
	}
	last := req.Messages[len(req.Messages)-1].Text()
	if !strings.Contains(last, "### Trajectory 2 of") || !strings.HasPrefix(req.Tags.Stage, "analyst_") {
		return p.Client.Generate(ctx, req)
	}
	<-ctx.Done()
	p.late.Add(1)
	return model.Response{}, &model.Error{Code: model.Timeout, Err: ctx.Err()}
}

// What an analyst takes too long over is read in halves. A run that was stopped asks the
// same halves when it continues, and nothing that was too long before.
func TestHalvesAreResumed(t *testing.T) {
	t.Parallel()
	cfg := worldConfig("http://unused.invalid/v1")
	cfg.Models.Optimizer.Timeout = config.Duration(50 * time.Millisecond)
	train := func(ctx context.Context, dir string, p *plodding) error {
		p.Client = sim.New(simulated(t))
		_, err := skillopt.Train(ctx, cfg, skillopt.WithClient(model.Target, "world", p.Client), skillopt.WithClient(model.Optimizer, "world", p), skillopt.WithRunDir(dir))
		return err
	}
	whole, cut := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "cut")
	var once plodding
	if err := train(t.Context(), whole, &once); err != nil {
		t.Fatal(err)
	}
	if once.late.Load() == 0 {
		t.Fatal("nothing took too long")
	}
	ctx, cancel := context.WithCancel(t.Context())
	first := plodding{at: once.asked.Load() / 2, stop: cancel}
	if err := train(ctx, cut, &first); err == nil {
		t.Fatal("the run was not stopped")
	}
	var second plodding
	if err := train(t.Context(), cut, &second); err != nil {
		t.Fatal(err)
	}
	sameResults(t, results(t, whole), cut)
	if n, all := second.late.Load(), once.late.Load(); n >= all || second.asked.Load() == 0 {
		t.Errorf("%d requests of the second session were too long, of a whole run %d", n, all)
	}
}
