package night

import (
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
)

// WorseSince is worseSince for tests.
func WorseSince(t *testing.T, pairs []bank.Pair) float64 {
	t.Helper()
	e, err := worseSince(pairs)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
