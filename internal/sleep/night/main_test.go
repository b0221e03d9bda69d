package night_test

import (
	"os"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/testing/helpertest"
	"github.com/seed-f4525e22/skillopt/internal/testing/memfolder"
)

// TestMain lets the test binary confine what it starts.
func TestMain(m *testing.M) {
	skillopt.RunHelper(os.Args)
	os.Exit(quickly(m))
}

// quickly runs the tests with a helper that starts soon and with their temporary files in memory, where there is such a place and TMPDIR
// names no other: a night writes many, and no test looks at a disk.
func quickly(m *testing.M) int {
	defer helpertest.Quick(os.Environ())()
	if os.Getenv("TMPDIR") == "" {
		dir, remove := memfolder.New()
		defer remove()
		if dir != "" && os.Setenv("TMPDIR", dir) != nil {
			return 1
		}
	}
	return m.Run()
}
