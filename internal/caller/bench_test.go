package caller_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// BenchmarkDo measures calls per second through all layers, recorded durably,
// with a client that answers at once.
func BenchmarkDo(b *testing.B) {
	for _, goroutines := range []int{64, 512} {
		for _, reuse := range []string{caller.ReuseAuto, caller.ReuseNever} {
			b.Run(fmt.Sprintf("goroutines=%d/reuse=%s", goroutines, reuse), func(b *testing.B) { benchmarkDo(b, goroutines, reuse) })
		}
	}
}

func benchmarkDo(b *testing.B, goroutines int, reuse string) {
	j, err := journal.Open(b.Context(), filepath.Join(b.TempDir(), "run.db"), journal.Options{})
	if err != nil {
		b.Fatal(err)
	}
	zero := 0.0
	answer := strings.Repeat("an answer ", 20)
	client := modeltest.Func(func(context.Context, model.Request) (model.Response, error) {
		return model.Response{Text: answer, Finish: model.FinishStop, Usage: trajectory.Usage{Input: 900, Output: 50}}, nil
	})
	c, err := caller.New(caller.Options{
		Journal: j, Concurrency: 64, Reuse: reuse,
		Roles: map[string]caller.Role{model.Target: {
			Client: client, Endpoint: "local", Model: "m", Sampling: model.Sampling{Temperature: &zero},
			Timeout: 1 << 36, Price: &caller.Price{Rates: caller.Rates{Input: 1, Output: 2}},
		}},
	})
	if err != nil {
		b.Fatal(err)
	}
	skill := strings.Repeat("A rule of the skill that everyone must follow.\n", 150)
	question := strings.Repeat("Some words of a question. ", 20)
	var next atomic.Int64
	var wg sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	for range goroutines {
		wg.Go(func() {
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				item := fmt.Sprintf("item%d", n)
				seed := caller.Seed(42, item, 0)
				_, err := c.Do(context.Background(), caller.Call{
					Key: "e1/s1/rollout/" + item + "/sample0", Role: model.Target, Stage: model.StageRollout, Seed: &seed,
					Messages: []model.Message{{Role: model.System, Content: skill}, {Role: model.User, Content: question + item}},
				})
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
	b.StopTimer()
	if err := j.Close(); err != nil {
		b.Fatal(err)
	}
}
