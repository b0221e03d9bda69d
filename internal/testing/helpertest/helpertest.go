// Package helpertest has tests confine programs by a helper that starts sooner than a test binary.
//
// It knows the sandbox and the go command, and nothing of what is confined.
package helpertest

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/sandbox"
)

// quickVar names the binary to processes that a test starts.
const quickVar = "SKILLOPT_TEST_HELPER"

// Quick has programs confined by a binary that does nothing else. A test binary that
// links the whole product takes 15 ms of a processor to start, which is done three times for each
// program that is confined; this one takes 1 ms. Where it cannot be built all is as before. remove
// deletes it. environ is that of this process.
func Quick(environ []string) (remove func()) {
	if runtime.GOOS != "linux" {
		return func() {}
	}
	for _, v := range environ {
		if there, is := strings.CutPrefix(v, quickVar+"="); is {
			sandbox.Through(there)
			return func() {}
		}
	}
	dir, err := os.MkdirTemp("", "skillopt-helper-")
	if err != nil {
		return func() {}
	}
	remove = func() { _ = os.RemoveAll(dir) } // what is left is gone with the machine at the latest
	binary := filepath.Join(dir, "helper")
	build := exec.Command("go", "build", "-o", binary, "github.com/seed-f4525e22/skillopt/internal/testing/helpertest/helper") // the main of a test has no context
	build.Env = append(slices.Clone(environ), "CGO_ENABLED=0")
	if build.Run() != nil || os.Setenv(quickVar, binary) != nil {
		return remove
	}
	sandbox.Through(binary)
	return remove
}
