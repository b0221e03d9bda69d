package acceptance_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/benchmark"
	"github.com/seed-f4525e22/skillopt/internal/benchmark/folder"
	"github.com/seed-f4525e22/skillopt/internal/testing/agenttest"
)

// preparedFixture returns the folder of the fixture of a benchmark.
func preparedFixture(t *testing.T, name string) string {
	t.Helper()
	f, err := folder.Open(t.Context(), name, "")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "bench")
	if _, err := benchmark.Prepare(t.Context(), benchmark.Options{Folder: f, Fixture: true, Out: dir}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestRealAgentsLearnBenchmarks trains on the fixtures of both benchmarks whose tasks have files. It takes minutes, and
// is left to runs that record what agents do.
func TestRealAgentsLearnBenchmarks(t *testing.T) {
	if os.Getenv(agenttest.FileVar) == "" {
		t.Skip(agenttest.FileVar + " is not set: it takes minutes")
	}
	dir := realAgents(t)
	for _, name := range []string{"codex", "claude"} {
		for _, bench := range []string{"officeqa", "spreadsheetbench"} {
			t.Run(name+" "+bench, func(t *testing.T) {
				program, version := realProgram(t, dir, name)
				l, err := config.Load(config.Options{Path: filepath.Join(preparedFixture(t, bench), benchmark.FileConfig), Lookup: os.LookupEnv})
				if err != nil {
					t.Fatal(err)
				}
				l.Config.Agent.Name, l.Config.Agent.Command, l.Config.Agent.Timeout = name, program, config.Duration(3*time.Minute)
				began := time.Now()
				sum, err := skillopt.Train(t.Context(), l.Config, skillopt.WithLoaded(l), skillopt.WithRunDir(filepath.Join(t.TempDir(), "run")))
				if err != nil {
					t.Fatal(err)
				}
				if sum.Test.Best.Hard < sum.Test.Seed.Hard+0.3 {
					t.Errorf("test scores: seed %+v, best %+v", sum.Test.Seed, sum.Test.Best)
				}
				t.Logf("%s %s, %s: %.2f -> %.2f on %d test tasks in %s", name, version, bench, sum.Test.Seed.Hard, sum.Test.Best.Hard, sum.Test.Seed.N, time.Since(began).Round(time.Second))
			})
		}
	}
}
