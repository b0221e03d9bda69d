package acceptance_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/result"
)

// What a command has opened is closed whatever it fails at: in its inputs, at a model
// after another one, at the folder of the run, before the first call.
//
// It does not run beside other tests, and nothing is collected meanwhile: what is counted
// are the open files of the process, which the garbage collector closes as well.
func TestAFailingCommandLeavesNothingOpen(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	never := errors.New("no")
	for name, tt := range map[string]struct {
		settings []string
		options  []skillopt.Option
	}{
		"no key for the second model": {settings: []string{"models.optimizer={provider: openai, model: m, api_key_env: NO_SUCH_KEY}"}},
		"no folder for runs":          {settings: []string{"run.dir=/proc/none"}},
		"nobody wants it":             {options: []skillopt.Option{skillopt.WithConfirm(func(result.Plan) error { return never })}},
		"no workspace":                {settings: []string{"agent={name: builtin, sandbox: off, workspace: /no/such/folder}"}},
		"no variable for its program": {settings: []string{"env={command: [cat], pass_env: [NO_SUCH_VARIABLE]}"}},
	} {
		t.Run(name, func(t *testing.T) {
			base := t.TempDir()
			fail := func() {
				cfg, err := config.LoadFile("../../examples/quickstart", append([]string{"models.target={provider: handoff, folder: " + filepath.Join(base, "questions") + "}", "run.dir=" + base}, tt.settings...)...)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := skillopt.Train(t.Context(), cfg, tt.options...); err == nil {
					t.Fatal("it did not fail")
				}
			}
			fail() // what is opened once and kept for good is open now
			before := openFiles(t)
			for range 5 {
				fail()
			}
			if after := openFiles(t); after > before {
				t.Errorf("%d files are open after five failures, %d before", after, before)
			}
		})
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("this system does not say which files are open: ", err)
	}
	return len(entries)
}
