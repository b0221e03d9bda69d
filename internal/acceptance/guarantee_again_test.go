package acceptance_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/testing/wiretest"
)

// The library trains a configuration once: on a complete run it asks nothing, reads no test
// and returns the result. WithAgain begins another run.
func TestTrainOfACompleteRunAsksNothing(t *testing.T) {
	t.Parallel()
	server := serve(t, wiretest.Options{Seed: 1})
	cfg := worldConfig(server.URL())
	cfg.Run.Dir = t.TempDir()
	first, err := skillopt.Train(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	asked := server.Stats().Calls
	second, err := skillopt.Train(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if got := server.Stats().Calls; got != asked || !second.Found || first.Found {
		t.Errorf("%d requests were sent, found %v", got-asked, second.Found)
	}
	if second.RunDir != first.RunDir || second.Certificate.Reading != 1 {
		t.Errorf("%s came to %+v, which is %s", second.RunDir, second.Certificate, first.RunDir)
	}
	if diff := cmp.Diff(first.Test, second.Test); diff != "" {
		t.Error(diff)
	}
	third, err := skillopt.Train(t.Context(), cfg, skillopt.WithAgain())
	if err != nil || third.RunDir == first.RunDir || third.Certificate.Reading != 2 {
		t.Errorf("again: %+v, %v", third, err)
	}
	if entries, err := os.ReadDir(cfg.Run.Dir); err != nil || len(entries) < 3 {
		t.Errorf("%v, %v", entries, err)
	}
}
