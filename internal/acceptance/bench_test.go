package acceptance_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/task"
)

// BenchmarkSimulatedRollouts trains in process against the simulated world of
// the quick start, without latency or faults: batches of 400, a selection of
// 2,000, every rollout a durable row. It reports rollouts a second over the
// whole run, baseline, steps and test included.
func BenchmarkSimulatedRollouts(b *testing.B) {
	world := quietWorld(b)
	tasks := manyTasks(b, 4400)
	for b.Loop() {
		cfg, err := config.LoadFile("../../examples/quickstart")
		if err != nil {
			b.Fatal(err)
		}
		cfg.Models.Target.World, cfg.Models.Optimizer.World = world, world
		cfg.Train.Epochs, cfg.Train.BatchSize = 1, 400
		cfg.Limits.Concurrency = 256
		cfg.Record.Reuse = "never"
		summary, err := skillopt.Train(b.Context(), cfg, skillopt.WithTasks(tasks), skillopt.WithRunDir(b.TempDir()))
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(summary.Calls.ByStage["rollout"])/summary.WallS, "rollouts/s")
		b.ReportMetric(float64(summary.Calls.Total), "calls")
	}
}

// quietWorld is the quick start's world without latency and faults.
func quietWorld(tb testing.TB) string {
	tb.Helper()
	data, err := os.ReadFile("../../examples/quickstart/world.yaml")
	if err != nil {
		tb.Fatal(err)
	}
	lines := strings.Split(string(data), "\n")
	for i, line := range lines {
		for _, rate := range []string{"errors", "malformed", "empty", "latency_ms"} {
			if strings.HasPrefix(strings.TrimSpace(line), rate+":") {
				lines[i] = "  " + rate + ": 0"
			}
		}
	}
	path := filepath.Join(tb.TempDir(), "world.yaml")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		tb.Fatal(err)
	}
	return path
}

// manyTasks repeats the tasks of the quick start under other ids, with a word
// added so that no two are equal: 2,000 for train, 2,000 for selection, the rest
// for test.
func manyTasks(tb testing.TB, n int) []task.Task {
	tb.Helper()
	set, err := task.Load("../../examples/quickstart/tasks.jsonl", task.Rules{})
	if err != nil {
		tb.Fatal(err)
	}
	all := set.Tasks()
	out := make([]task.Task, n)
	for i := range out {
		t := all[i%len(all)]
		t.ID = fmt.Sprintf("%s-%d", t.ID, i)
		t.Prompt = fmt.Sprintf("Case %d.\n%s", i, t.Prompt)
		switch {
		case i < 2000:
			t.Split = task.Train
		case i < 4000:
			t.Split = task.Selection
		default:
			t.Split = task.Test
		}
		out[i] = t
	}
	return out
}
