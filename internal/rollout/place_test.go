package rollout

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/task"
)

// opened makes the folder of places for a test.
func opened(t *testing.T, w *Workspaces) *Workspaces {
	t.Helper()
	if err := w.Open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// TestPlacesTellNothing: an agent that looks where it is learns neither what is
// measured nor for which run, and what it leaves is in the run afterwards.
func TestPlacesTellNothing(t *testing.T) {
	t.Parallel()
	run := filepath.Join(t.TempDir(), "exam-run")
	w := opened(t, &Workspaces{Dir: filepath.Join(run, "workspaces")})
	lengths := map[int]bool{}
	for _, key := range []string{"eval/test/t1/sample0", "e1/s2/gate/cand/t7", "e1/s2/rollout/t7/sample12", strings.Repeat("x", 300)} {
		ws, err := w.prepare(t.Context(), key, task.Task{ID: "t7", Data: map[string]any{"files": map[string]any{"a.txt": "x"}}})
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"eval", "test", "gate", "cand", "rollout", "sample", "t7", "exam", "workspaces", "skillopt"} {
			if strings.Contains(strings.TrimPrefix(ws.Dir, os.TempDir()), word) {
				t.Errorf("%q says %q", ws.Dir, word)
			}
		}
		lengths[len(ws.Dir)] = true
		if err := os.WriteFile(filepath.Join(ws.Dir, "left.txt"), []byte("work"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := w.settle(key, ws); err != nil {
			t.Fatal(err)
		}
		if got := filesBelow(t, w.at(key).Dir); got["left.txt"] != "work" || got["a.txt"] != "x" {
			t.Errorf("in the run there are %v", got)
		}
		if _, err := os.Lstat(ws.Root); !os.IsNotExist(err) {
			t.Errorf("at the place there is still something: %v", err)
		}
		if text, err := os.ReadFile(filepath.Join(w.linkPlace(key), "left.txt")); w.linkPlace(key) != ws.Dir || string(text) != "work" {
			t.Errorf("where the agent had it, %s, there is %q, %v; it is shown at %s", ws.Dir, text, err, w.linkPlace(key))
		}
	}
	if len(lengths) != 1 {
		t.Errorf("the paths have the lengths %v", lengths)
	}
}

// TestPlacesOfAKilledSession: what it left is gone, paths stay the same, and nothing
// else is deleted, whatever the file says.
func TestPlacesOfAKilledSession(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run", "workspaces")
	killed := &Workspaces{Dir: dir}
	if err := killed.Open(); err != nil {
		t.Fatal(err)
	}
	ws, err := killed.prepare(t.Context(), "k", task.Task{ID: "t1"})
	if err != nil {
		t.Fatal(err)
	}
	next := opened(t, &Workspaces{Dir: dir})
	if _, err := os.Lstat(ws.Root); !os.IsNotExist(err) {
		t.Errorf("the place of the killed session is still there: %v", err)
	}
	if got := next.episodePlace("k").Dir; got != ws.Dir {
		t.Errorf("the place is %s now, it was %s", got, ws.Dir)
	}
	copied := opened(t, &Workspaces{Dir: filepath.Join(t.TempDir(), "run", "workspaces")})
	plant(t, filepath.Dir(copied.Dir), map[string]string{placeFile: next.place})
	if again := opened(t, &Workspaces{Dir: copied.Dir}); again.place == next.place {
		t.Error("a copy of the run works where the run does")
	}
	precious := t.TempDir()
	for _, name := range []string{precious, os.TempDir(), filepath.Join(os.TempDir(), "x", ".."), "", "/", filepath.Join(precious, "."+strings.Repeat("A", nameLength))} {
		plant(t, precious, map[string]string{"keep.txt": "x"})
		w := &Workspaces{Dir: filepath.Join(t.TempDir(), "run", "workspaces")}
		plant(t, filepath.Dir(w.Dir), map[string]string{placeFile: name + "\n"})
		opened(t, w)
		if got := filesBelow(t, precious); got["keep.txt"] != "x" {
			t.Fatalf("%q: %v is left", name, got)
		}
		if w.place == name {
			t.Errorf("agents work in %q, which a file named", name)
		}
	}
}

// TestPlacesOnAnotherDisk: workspaces are renamed into the run, which does not lead from
// one disk to another.
func TestPlacesOnAnotherDisk(t *testing.T) {
	other := "/dev/shm"
	if _, err := os.Stat(other); err != nil {
		t.Skip(err)
	}
	run := filepath.Join(t.TempDir(), "run")
	t.Setenv("TMPDIR", other)
	w := opened(t, &Workspaces{Dir: filepath.Join(run, "workspaces")})
	ws, err := w.prepare(t.Context(), "k", task.Task{ID: "t1"})
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(ws.Dir, run+string(filepath.Separator)) {
		t.Errorf("the place %s is in the run", ws.Dir)
	}
	if err := w.settle("k", ws); err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(other, ".*")); err != nil || len(left) > 0 {
		t.Errorf("in %s there is %v left, %v", other, left, err)
	}
}

// TestWorkspacesOfOlderBuilds are where they were.
func TestWorkspacesOfOlderBuilds(t *testing.T) {
	t.Parallel()
	w := &Workspaces{Dir: t.TempDir()}
	plant(t, filepath.Join(w.Dir, "eval_test_t1_sample0-f830834eeea6", "work"), map[string]string{"a.txt": "old"})
	if got := filesBelow(t, w.at("eval/test/t1/sample0").Dir); got["a.txt"] != "old" {
		t.Errorf("there are %v at %s", got, w.at("eval/test/t1/sample0").Dir)
	}
}
