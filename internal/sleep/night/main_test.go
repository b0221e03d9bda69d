package night_test

import (
	"os"
	"testing"

	"github.com/seed-f4525e22/skillopt"
)

// TestMain lets the test binary confine what it starts.
func TestMain(m *testing.M) {
	skillopt.RunHelper(os.Args)
	os.Exit(m.Run())
}
