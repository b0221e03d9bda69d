package survey_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/internal/testing/memfolder"
)

// runnersVar names a Python with pytest, which .ci/run has installed.
const runnersVar = "SKILLOPT_RUNNERS_PYTHON"

// TestMain has workspaces and caches in memory where there is room: most of a run of tests in Go is the copy of its cache.
func TestMain(m *testing.M) {
	sandbox.Main(os.Args)
	os.Exit(func() int {
		if os.Getenv("SURVEY_PATH") == "" { // a survey that will be killed cannot remove its folder, and has that of the test
			defer memfolder.SetTemp()()
		}
		if at := os.Getenv(runnersVar); at != "" {
			if err := os.Setenv("PATH", filepath.Dir(at)+string(filepath.ListSeparator)+os.Getenv("PATH")); err != nil {
				panic(err)
			}
		}
		return m.Run()
	}())
}
