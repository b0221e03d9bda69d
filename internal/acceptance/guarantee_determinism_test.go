package acceptance_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/testing/wiretest"
)

// Equal seeds give equal bytes, whoever is faster: in the process and over HTTP,
// with one request in flight or many.
func TestSameSeedSameResult(t *testing.T) {
	t.Parallel()
	cfg := worldConfig("http://in.process/v1")
	dir := filepath.Join(t.TempDir(), "run")
	sum := trained(t, cfg, dir, inProcess(t)...)
	want := results(t, dir)

	if sum.Accepted == 0 || sum.Rejected+sum.Skipped == 0 {
		t.Errorf("%d accepted, %d rejected, %d skipped: the run decides too little to tell anything", sum.Accepted, sum.Rejected, sum.Skipped)
	}
	if sum.Test.Best.Hard <= sum.Test.Seed.Hard {
		t.Errorf("best %.2f is not above seed %.2f: nothing was learnt", sum.Test.Best.Hard, sum.Test.Seed.Hard)
	}
	for _, stage := range []string{"rollout", "analyst_error", "analyst_success", "merge", "merge_final", "ranking", "slow_update", "meta_skill"} {
		if sum.Calls.ByStage[stage] == 0 {
			t.Errorf("the run never came to stage %s", stage)
		}
	}
	for _, concurrency := range []int{1, 8, 64} {
		t.Run(fmt.Sprintf("http, %d in flight", concurrency), func(t *testing.T) {
			t.Parallel()
			server := serve(t, wiretest.Options{Latency: 500 * time.Microsecond, Jitter: 1, Seed: uint64(concurrency)})
			cfg := worldConfig(server.URL())
			cfg.Limits.Concurrency = concurrency
			dir := filepath.Join(t.TempDir(), "run")
			got := trained(t, cfg, dir)
			sameResults(t, want, dir)
			stats := server.Stats()
			if stats.Peak > concurrency || concurrency > 1 && stats.Peak == 1 {
				t.Errorf("%d requests in flight at most, with limits.concurrency %d", stats.Peak, concurrency)
			}
			if int64(stats.Calls) != got.Calls.Total || got.Calls.Total != sum.Calls.Total {
				t.Errorf("%d calls at the server, %d in the summary, %d in the process", stats.Calls, got.Calls.Total, sum.Calls.Total)
			}
		})
	}
}

func TestAnotherSeedIsAnotherRun(t *testing.T) {
	t.Parallel()
	cfg := worldConfig("http://in.process/v1")
	cfg.Train.Epochs, cfg.Eval.Test = 1, false
	first, second := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
	trained(t, cfg, first, inProcess(t)...)
	cfg.Train.Seed++
	trained(t, cfg, second, inProcess(t)...)
	if results(t, first)["history.json"] == results(t, second)["history.json"] {
		t.Error("another seed changed nothing: the comparison of histories would see nothing either")
	}
}

// Equal requests at temperature 0 are answered from the record, and that does
// not change what comes out.
func TestReuseChangesOnlyWhatIsPaid(t *testing.T) {
	t.Parallel()
	cfg := worldConfig("http://in.process/v1")
	never, auto := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
	all := trained(t, cfg, never, inProcess(t)...)
	cfg.Record.Reuse = "auto"
	few := trained(t, cfg, auto, inProcess(t)...)
	sameResults(t, results(t, never), auto)
	if few.Calls.Reused == 0 || few.Calls.Total+few.Calls.Reused != all.Calls.Total {
		t.Errorf("%d calls and %d reused, of %d without reuse", few.Calls.Total, few.Calls.Reused, all.Calls.Total)
	}
}
