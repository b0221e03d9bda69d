package skillopt_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"
)

// A script that a check runs is part of what a run is, also where a task brings
// the check.
func TestChangedScriptsAreAnotherRun(t *testing.T) {
	t.Parallel()
	for name, check := range map[string]map[string]any{
		"in a shell":  {"type": "command", "run": `sh "$CONFIG_DIR/a b.sh"`},
		"bare":        {"type": "command", "run": `sh ${CONFIG_DIR}/grade.sh; exit 0`},
		"in a group":  {"any": []any{map[string]any{"type": "command", "argv": []any{"sh", "-c", `sh "$CONFIG_DIR"/grade.sh`}}, "equals"}},
		"not a word":  {"type": "command", "run": `d=$CONFIG_DIR; sh "$d/grade.sh"`}, // nobody can tell
		"of the work": {"type": "command", "run": `test ! -e grade.sh`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rogue{script: "printf done", change: func(c *skillopt.Config) { c.Tasks.Checks = []any{check} }}
			with := func(text string) map[string]string { return map[string]string{"grade.sh": text, "a b.sh": text} }
			r.files = with("exit 0")
			_, dir, err := r.run(t)
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := r.run(t, skillopt.WithRunDir(dir)); err != nil {
				t.Errorf("the same scripts: %v", err)
			}
			r.files = with("exit 1")
			_, _, err = r.run(t, skillopt.WithRunDir(dir))
			if named := name != "not a word" && name != "of the work"; named != (kind(err) == skillopt.BadInput && strings.Contains(err.Error(), "tasks.checks files")) {
				t.Errorf("other scripts: %v", err)
			}
		})
	}
}

// So is one that is named by its absolute path.
func TestAbsoluteScripts(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "grade.sh")
	r := rogue{script: "printf done", change: func(c *skillopt.Config) {
		c.Tasks.Checks = []any{map[string]any{"type": "command", "argv": []any{"sh", script}}}
		c.Agent.Read = []string{filepath.Dir(script)}
	}}
	write(t, script, "exit 0")
	got, dir, err := r.run(t)
	if err != nil || got["bad"].Hard != 1 {
		t.Fatalf("%+v, %v", got["bad"], err)
	}
	write(t, script, "exit 1")
	if _, _, err := r.run(t, skillopt.WithRunDir(dir)); kind(err) != skillopt.BadInput {
		t.Errorf("%v", err)
	}
}
