package rollout

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/task"
)

// The cell of a table holds files as JSON.
func TestFilesOfACell(t *testing.T) {
	t.Parallel()
	got, err := parseFiles(task.Task{Data: map[string]any{FieldFiles: `{"a.txt": "one"}`}})
	if diff := cmp.Diff(map[string]string{"a.txt": "one"}, got); err != nil || diff != "" {
		t.Errorf("%v, %s", err, diff)
	}
	for _, cell := range []string{"a.txt", `["a.txt"]`, `{"../a": "x"}`, `{"a": 1}`, `{"a": "x"} {}`} {
		if _, err := parseFiles(task.Task{Data: map[string]any{FieldFiles: cell}}); err == nil {
			t.Errorf("%s is taken", cell)
		}
	}
}
