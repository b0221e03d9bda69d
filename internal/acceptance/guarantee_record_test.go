package acceptance_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

// shortConfig is one epoch of two steps without a test.
func shortConfig() config.Config {
	cfg := worldConfig("http://in.process/v1")
	cfg.Train.Epochs, cfg.Eval.Test = 1, false
	return cfg
}

// snapshot copies a run directory at the moment of call number n, with its
// record open and its write-ahead log in use, as a crash would leave it.
func snapshot(t *testing.T, cfg config.Config, n int64) string {
	t.Helper()
	c := sim.New(simulated(t))
	dir := filepath.Join(t.TempDir(), "run")
	var calls atomic.Int64
	var copied string
	client := modeltest.Func(func(ctx context.Context, req model.Request) (model.Response, error) {
		if calls.Add(1) == n {
			copied = copyRun(t, dir)
		}
		return c.Generate(ctx, req)
	})
	cfg.Limits.Concurrency = 1
	trained(t, cfg, dir, skillopt.WithClient(model.Target, "world", client), skillopt.WithClient(model.Optimizer, "world", client))
	if copied == "" {
		t.Fatalf("there were only %d calls", calls.Load())
	}
	return copied
}

// A record that was cut off anywhere is either taken up rightly or refused;
// nothing else ever comes out of it.
func TestTruncatedRecordIsResumedOrRefused(t *testing.T) {
	t.Parallel()
	cfg := shortConfig()
	whole := filepath.Join(t.TempDir(), "run")
	trained(t, cfg, whole, inProcess(t)...)
	want := results(t, whole)
	cut := snapshot(t, cfg, 30)

	for _, tt := range []struct {
		name, dir, file  string
		resumed, refused bool // at one offset at least
	}{
		{"finished", whole, run.DBFile, false, true},
		{"interrupted", cut, run.DBFile, false, true},
		{"interrupted, write-ahead log", cut, run.DBFile + "-wal", true, false},
		{"finished, manifest", whole, run.ManifestFile, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(filepath.Join(tt.dir, tt.file))
			if err != nil {
				t.Fatal(err)
			}
			resumed, refused := 0, 0
			for _, at := range offsets(len(data)) {
				dir := copyRun(t, tt.dir)
				if err := os.WriteFile(filepath.Join(dir, tt.file), data[:at], 0o644); err != nil {
					t.Fatal(err)
				}
				_, err := skillopt.Train(t.Context(), cfg, append(inProcess(t), skillopt.WithRunDir(dir))...)
				var damaged *run.DamagedError
				switch {
				case err == nil:
					resumed++
					sameResults(t, want, dir)
				case !errors.As(err, &damaged) || kind(err) != skillopt.BadInput:
					t.Errorf("cut at %d of %d: %v, want *run.DamagedError", at, len(data), err)
				case !strings.Contains(err.Error(), dir):
					t.Errorf("cut at %d of %d: the message names no directory: %v", at, len(data), err)
				default:
					refused++
				}
				if t.Failed() {
					t.Fatalf("cut at %d of %d", at, len(data))
				}
			}
			if tt.resumed && resumed == 0 || tt.refused && refused == 0 {
				t.Errorf("%d offsets were resumed and %d refused", resumed, refused)
			}
		})
	}
}

// offsets are places to cut a file of n bytes: at its ends, at and beside the
// boundaries of pages, and in between.
func offsets(n int) []int {
	list := []int{0, 1, 32, n - 1}
	for i := 1; i < 12; i++ {
		at := i * n / 12
		page := at / 4096 * 4096
		list = append(list, at, page)
	}
	var out []int
	for _, at := range list {
		if at >= 0 && at < n {
			out = append(out, at)
		}
	}
	return out
}

// A snapshot taken at any moment and not cut at all goes on rightly.
func TestInterruptedRecordIsResumed(t *testing.T) {
	t.Parallel()
	cfg := shortConfig()
	whole := filepath.Join(t.TempDir(), "run")
	total := trained(t, cfg, whole, inProcess(t)...).Calls.Total
	want := results(t, whole)
	for _, n := range []int64{1, 2, 11, 25, total / 2, total - 1, total} {
		dir := snapshot(t, cfg, n)
		had := int64(recordedCalls(t, dir))
		var calls atomic.Int64
		c := sim.New(simulated(t))
		counted := modeltest.Func(func(ctx context.Context, req model.Request) (model.Response, error) {
			calls.Add(1)
			return c.Generate(ctx, req)
		})
		sum := trained(t, cfg, dir, skillopt.WithClient(model.Target, "world", counted), skillopt.WithClient(model.Optimizer, "world", counted))
		sameResults(t, want, dir)
		if calls.Load() != total-had || sum.Calls.Total != total {
			t.Errorf("after %d of %d calls, %d of them recorded: %d were sent and %d are counted", n, total, had, calls.Load(), sum.Calls.Total)
		}
	}
}

// A finished run is finished: to train again asks nobody.
func TestFinishedRunCostsNothing(t *testing.T) {
	t.Parallel()
	cfg := worldConfig("http://in.process/v1")
	dir := filepath.Join(t.TempDir(), "run")
	first := trained(t, cfg, dir, inProcess(t)...)
	want := results(t, dir)
	if err := os.RemoveAll(filepath.Join(dir, "skills")); err != nil {
		t.Fatal(err)
	}
	nobody := modeltest.New(func(context.Context, int, model.Request) (model.Response, error) {
		return model.Response{}, &model.Error{Code: model.Auth, Err: errors.New("asked")}
	})
	again := trained(t, cfg, dir, skillopt.WithClient(model.Target, "world", nobody), skillopt.WithClient(model.Optimizer, "world", nobody))
	if n := len(nobody.Calls()); n != 0 {
		t.Errorf("%d calls were made", n)
	}
	if again.Calls.Total != first.Calls.Total {
		t.Errorf("%d calls are counted, there were %d", again.Calls.Total, first.Calls.Total)
	}
	sameResults(t, want, dir)
}
