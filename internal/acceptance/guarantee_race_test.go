package acceptance_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/wiretest"
)

// racing is the world with the racing gate.
func racing(url string) config.Config {
	cfg := worldConfig(url)
	cfg.Gate.Mode = "race"
	return cfg
}

// A race stops calls that are in flight, so that what is paid depends on who is
// faster. What is decided does not.
func TestRaceDecidesTheSameInAnyOrder(t *testing.T) {
	t.Parallel()
	for _, confirm := range []string{"auto", "full", "discordant"} {
		t.Run(confirm, func(t *testing.T) {
			t.Parallel()
			cfg := racing("http://in.process/v1")
			cfg.Gate.Confirm = confirm
			dir := filepath.Join(t.TempDir(), "run")
			sum := trained(t, cfg, dir, inProcess(t)...)
			if sum.Accepted == 0 {
				t.Error("nothing was accepted: the run decides too little to tell anything")
			}
			want := results(t, dir)
			for _, concurrency := range []int{1, 64} {
				server := serve(t, wiretest.Options{Latency: 500 * time.Microsecond, Jitter: 1, Seed: uint64(concurrency)})
				cfg := racing(server.URL())
				cfg.Gate.Confirm, cfg.Limits.Concurrency = confirm, concurrency
				dir := filepath.Join(t.TempDir(), "run")
				trained(t, cfg, dir)
				sameResults(t, want, dir)
			}
		})
	}
}

// Stopped anywhere, a race goes on from its record and comes to the same.
func TestRaceGoesOnFromAnywhere(t *testing.T) {
	t.Parallel()
	whole := filepath.Join(t.TempDir(), "run")
	cfg := racing("http://in.process/v1")
	cfg.Gate.Confirm = "full"
	sum := trained(t, cfg, whole, inProcess(t)...)
	want := results(t, whole)
	for part := int64(1); part < 8; part++ {
		t.Run(fmt.Sprintf("after %d of 8", part), func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "run")
			cut, calls := cfg, sum.Calls.Total*part/8
			cut.Limits.Calls = &calls
			if _, err := skillopt.Train(t.Context(), cut, append(inProcess(t), skillopt.WithRunDir(dir), skillopt.WithKeepOpen())...); kind(err) != skillopt.OverBudget {
				t.Fatalf("the ceiling of %d calls was not met: %v", calls, err)
			}
			trained(t, cfg, dir, inProcess(t)...)
			sameResults(t, want, dir)
		})
	}
}
