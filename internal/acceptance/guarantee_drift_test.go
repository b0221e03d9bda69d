package acceptance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
)

// renamed answers under another name from some time on, and counts what it is asked
// again then.
type renamed struct {
	model.Client

	mu    sync.Mutex
	later bool
	asked map[string]bool // before
	again int
}

func (r *renamed) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	name := "world-1"
	text := fmt.Sprint(req.Messages)
	r.mu.Lock()
	switch {
	case !r.later:
		r.asked[text] = true
	case r.asked[text]:
		r.again++
		fallthrough
	default:
		name = "world-2"
	}
	r.mu.Unlock()
	resp, err := r.Client.Generate(ctx, req)
	resp.Model, resp.Fingerprint = name, ""
	return resp, err
}

// turning is a model whose first call is the time from which on another one answers.
type turning struct {
	model.Client
	target *renamed
}

func (c turning) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	c.target.mu.Lock()
	c.target.later = true
	c.target.mu.Unlock()
	return c.Client.Generate(ctx, req)
}

// When another model begins to answer, the skills are measured again by that model: at
// temperature 0 equal calls are answered from the record, by the one before it.
func TestDriftIsMeasuredByTheNewModel(t *testing.T) {
	t.Parallel()
	cfg := worldConfig("http://in.process/v1")
	cfg.Record.Reuse = "auto"
	c := sim.New(simulated(t))
	target := &renamed{Client: c, asked: map[string]bool{}}
	dir := filepath.Join(t.TempDir(), "run")
	trained(t, cfg, dir,
		skillopt.WithClient(model.Target, "world", target),
		skillopt.WithClient(model.Optimizer, "world", turning{c, target}))
	data, err := os.ReadFile(filepath.Join(dir, "history.json"))
	if err != nil {
		t.Fatal(err)
	}
	var history result.History
	if err := json.Unmarshal(data, &history); err != nil {
		t.Fatal(err)
	}
	want := []result.Drift{{At: "e1/s1/gate", From: []string{"world-1"}, To: []string{"world-2"}}}
	if diff := cmp.Diff(want, history.Drift); diff != "" {
		t.Errorf("drift (-want +got):\n%s", diff)
	}
	// The seed skill on 10 tasks, for its score: in so short a run nothing is confirmed.
	if target.again != 10 {
		t.Errorf("the new model was asked %d questions that the old one had answered, want 10", target.again)
	}
}
