package acceptance_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/testing/wiretest"
)

// What is decided does not depend on which answer comes first.
func TestTheGateDecidesTheSameInAnyOrder(t *testing.T) {
	t.Parallel()
	cfg := worldConfig("http://in.process/v1")
	dir := filepath.Join(t.TempDir(), "run")
	sum := trained(t, cfg, dir, inProcess(t)...)
	if sum.Accepted == 0 {
		t.Error("nothing was accepted: the run decides too little to show anything")
	}
	want := results(t, dir)
	for _, concurrency := range []int{1, 64} {
		server := serve(t, wiretest.Options{Latency: 500 * time.Microsecond, Jitter: 1, Seed: uint64(concurrency)})
		cfg := worldConfig(server.URL())
		cfg.Limits.Concurrency = concurrency
		dir := filepath.Join(t.TempDir(), "run")
		trained(t, cfg, dir)
		sameResults(t, want, dir)
	}
}
