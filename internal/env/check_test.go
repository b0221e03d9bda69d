package env

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/task"
)

// The echo worlds in each language keep to the protocol, and a program that plays does.
func TestEchoWorldsKeepToTheProtocol(t *testing.T) {
	t.Parallel()
	sdk, err := filepath.Abs(filepath.Join("..", "..", "sdk"))
	if err != nil {
		t.Fatal(err)
	}
	built := filepath.Join(t.TempDir(), "echo.exe")
	if out, err := exec.Command("go", "build", "-o", built, "../../sdk/examples/echo").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, command := range map[string][]string{
		"go": {built}, "python": {"python3", filepath.Join(sdk, "examples", "echo.py")}, "node": {"node", filepath.Join(sdk, "examples", "echo.mjs")},
		"python that plays": {"python3", filepath.Join(sdk, "examples", "plays.py")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(command[0]); err != nil {
				t.Skip(err)
			}
			found, err := CheckProgram(t.Context(), Options{Command: command, Environ: AllowedVariables(os.LookupEnv), Timeout: time.Minute}, nil)
			if err != nil || len(found) < 40 {
				t.Fatalf("%d cases, %v", len(found), err)
			}
			for _, f := range found {
				if f.Seen != "" {
					t.Errorf("%s: saw %s, wanted %s", f.Name, f.Seen, f.Wanted)
				}
			}
		})
	}
}

// A program that does not keep to it learns where: the cases that the test's own program fails are these and no others.
func TestCheckFindsFaults(t *testing.T) {
	t.Parallel()
	tk := task.Task{ID: "t", Prompt: `result {"text":"","score":2}`}
	for name, tt := range map[string]struct {
		traits string
		task   *task.Task
		fails  []string
	}{
		"a score of 2": {``, &tk, []string{"start", "a score at the end", "many episodes"}},
		"both traits":  {`,"plays":true,"pure":true`, nil, []string{"plays or pure", "generate"}},
		"no handshake": {`,"speed":1`, nil, []string{"initialize"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := testOptions(t, func(o *Options) {
				o.Environ, o.Timeout = []string{"SKILLOPT_TEST_PROGRAM=episodes " + tt.traits}, 300*time.Millisecond
			})
			found, err := CheckProgram(t.Context(), o, tt.task)
			if err != nil {
				t.Fatal(err)
			}
			var failed []string
			for _, f := range found {
				if f.Seen != "" {
					failed = append(failed, f.Name)
				}
			}
			for _, want := range tt.fails {
				if !slices.Contains(failed, want) {
					t.Errorf("%s passed; failed: %s", want, strings.Join(failed, ", "))
				}
			}
		})
	}
}

func TestCasesHaveNames(t *testing.T) {
	t.Parallel()
	var names []string
	for _, c := range trialCases() {
		if c.wanted == "" || c.run == nil {
			t.Errorf("%s: nothing is wanted", c.name)
		}
		names = append(names, c.name)
	}
	unique := slices.Compact(slices.Sorted(slices.Values(names)))
	if diff := cmp.Diff(len(unique), len(names)); diff != "" {
		t.Error(diff)
	}
}
