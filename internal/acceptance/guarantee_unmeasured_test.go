package acceptance_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
)

// What was not measured has no score in any file of a run: a program that adds
// up the scores of a list must not find a 0. In folds a candidate is
// asked the tasks of one fold alone.
func TestNoFileScoresWhatWasNotMeasured(t *testing.T) {
	t.Parallel()
	cfg, err := config.LoadFile("../../examples/quickstart", "split.cross_fit=4", "train.warm=off", "train.batch_size=20", "reflect.minibatch_size=8", "edits.budget=4")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "run")
	trained(t, cfg, dir, skillopt.WithAcceptedSeed())
	checkUnscored(t, dir)
}

// checkUnscored wants unmeasured outcomes in the files of a run, without scores.
func checkUnscored(t *testing.T, dir string) {
	t.Helper()
	found := unmeasuredIn(t, dir)
	if len(found) == 0 {
		t.Fatal("every task was measured: the run shows nothing")
	}
	for _, f := range found {
		if f.hard != nil || f.soft != nil {
			t.Errorf("%s: task %v was not measured and has hard %v, soft %v", f.file, f.id, f.hard, f.soft)
		}
	}
}

// unscored is an outcome in a file whose status says that it was not measured.
type unscored struct {
	file           string
	id, hard, soft any
}

// unmeasuredIn looks through every JSON file under dir.
func unmeasuredIn(t *testing.T, dir string) []unscored {
	t.Helper()
	var found []unscored
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".json") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var v any
		if err := json.Unmarshal(data, &v); err != nil {
			return err
		}
		eachObject(v, func(o map[string]any) {
			if o["status"] == "unmeasured" || o["status"] == "" {
				found = append(found, unscored{path, o["id"], o["hard"], o["soft"]})
			}
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func eachObject(v any, visit func(map[string]any)) {
	switch v := v.(type) {
	case []any:
		for _, inner := range v {
			eachObject(inner, visit)
		}
	case map[string]any:
		visit(v)
		for _, inner := range v {
			eachObject(inner, visit)
		}
	}
}
