package acceptance

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
)

// The seed of what init writes follows from the name of its folder. Under these two, three answers of the selection
// split are in replies by chance ("12:40" in "12:40 pm"), which is no sign that the measurement is broken.
func TestTheQuickStartTrainsUnderAnyName(t *testing.T) {
	t.Parallel()
	for _, seed := range []int{777, 3470} {
		dir := t.TempDir()
		cfg, err := config.LoadFile(filepath.Join("..", "..", "examples", "quickstart"), fmt.Sprintf("split.seed=%d", seed), fmt.Sprintf("train.seed=%d", seed), "train.epochs=1", "run.dir="+dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := skillopt.Train(t.Context(), cfg, skillopt.WithRunDir(filepath.Join(dir, "run")), skillopt.WithTestLedger(dir)); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}
