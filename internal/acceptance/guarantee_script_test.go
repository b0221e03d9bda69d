package acceptance_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/task"
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
			r := rogue{script: "printf done", change: func(c *config.Config) { c.Tasks.Checks = []any{check} }}
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
	r := rogue{script: "printf done", change: func(c *config.Config) {
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

// A script says by its text whether it is told what is expected, however it is
// named by its absolute path; one of an execute is part of the run as well.
func TestScriptsSayWhatTheyAreTold(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	path := filepath.Join(home, "grade.sh")
	for name, check := range map[string]map[string]any{
		"argv":    {"type": "command", "argv": []any{"sh", path}},
		"run":     {"type": "command", "run": `cd . && sh "` + path + `"`},
		"execute": {"type": "command", "execute": map[string]any{"argv": []any{"sh", path}}, "run": `test "$(cat "$OUTPUT/code")" = 0`},
	} {
		r := rogue{script: "printf done", home: home, change: func(c *config.Config) { c.Tasks.Checks = []any{check} }}
		for text, want := range map[string]float64{
			`test "$GOLD" = done && test -d "$CONFIG_DIR"`: map[bool]float64{true: 1}[name != "execute"],
			`test -z "$(env | grep -e ^GOL -e ^TAS)"`:      1,
		} {
			write(t, path, text)
			got, dir, err := r.run(t)
			if err != nil || got["bad"].Hard != want {
				t.Errorf("%s: %s: %+v, %v", name, text, got["bad"], err)
			}
			write(t, path, "exit 1")
			if _, _, err := r.run(t, skillopt.WithRunDir(dir)); (kind(err) == skillopt.BadInput) != (name != "run") {
				t.Errorf("%s: another script: %v", name, err)
			}
		}
	}
}

// What is doubtful about a command is said once, before anything is run.
func TestCommandsAreLinted(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	cfg.Agent.Name = "builtin"
	cfg.Tasks.Checks = []any{map[string]any{"type": "command", "run": `test "$(python3 solve.py)" = "$GOLD"`}, map[string]any{"type": "command", "run": "python3 solve.py"}}
	var tasks []task.Task
	for _, id := range []string{"a", "b"} {
		tasks = append(tasks, task.Task{ID: id, Prompt: "Do " + id, Gold: []string{"x"}})
	}
	report, err := skillopt.CheckTasks(t.Context(), cfg, skillopt.WithTasks(tasks))
	var found []string
	for _, w := range report.Warnings {
		if strings.Contains(w, "tasks.checks") {
			found = append(found, w)
		}
	}
	if err != nil || len(found) != 1 || !strings.Contains(found[0], `command "test \"$(python3 solve.py)\" = \"$GOLD\""`) || !strings.Contains(found[0], "run it by execute") {
		t.Errorf("%q, %v", found, err)
	}
}
