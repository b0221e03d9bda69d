package env

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// TestExamples runs every task of the example environments: all are measured,
// and a skill that states the conventions solves them all.
func TestExamples(t *testing.T) {
	t.Parallel()
	for name, ex := range map[string]struct {
		command []string
		knows   string
	}{
		"env-python": {[]string{"python3", "my_env.py"}, "Put EUR in front. Upper case status. Dates as YYYY-MM-DD."},
		"env-shell":  {[]string{"sh", "my_env.sh"}, "A tag begins with v. Files: lower case, a hyphen between words."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(ex.command[0]); err != nil {
				t.Skip(err)
			}
			dir := filepath.Join("..", "..", "examples", name)
			suite, err := check.Compile(map[string]any{"type": "equals"}, check.Options{})
			if err != nil {
				t.Fatal(err)
			}
			set, err := task.Load(filepath.Join(dir, "tasks.jsonl"), task.Rules{Checker: suite, OwnScore: true})
			if err != nil {
				t.Fatal(err)
			}
			e, err := New(Options{Command: ex.command, Dir: dir, Environ: AllowedVariables(os.LookupEnv), Slots: 2})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			solved := map[string]int{}
			for _, tk := range set.Tasks() {
				for _, text := range []string{"", ex.knows} {
					out, scored, err := e.Answer(t.Context(), tk, skill.New(text), nil)
					if err != nil || out.Status != score.OK {
						t.Fatalf("%s: %+v, %v", tk.ID, out, err)
					}
					if !scored {
						out.Hard = suite.Score(out.Answer, tk).Hard
					}
					solved[text] += int(out.Hard)
				}
			}
			if solved[ex.knows] != set.Len() || solved[""] >= set.Len()/2 {
				t.Errorf("solved %d without a skill and %d with it, of %d", solved[""], solved[ex.knows], set.Len())
			}
		})
	}
}
