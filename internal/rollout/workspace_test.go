package rollout

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/task"
)

// filesBelow reads the files below a folder.
func filesBelow(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(name)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func plant(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// The template comes first, then the task's folder, then its files.
func TestWorkspacesAreFilled(t *testing.T) {
	t.Parallel()
	template, tasks := t.TempDir(), t.TempDir()
	plant(t, template, map[string]string{"README.md": "all", "src/a.txt": "template"})
	plant(t, tasks, map[string]string{"one/src/a.txt": "folder", "one/b.txt": "folder"})
	w := opened(t, &Workspaces{Dir: filepath.Join(t.TempDir(), "ws"), Template: template, TasksDir: tasks})
	tk := task.Task{ID: "t/1", Data: map[string]any{"workspace": "one", "files": map[string]any{"b.txt": "task", "deep/er/c.txt": "task"}}}
	want := map[string]string{"README.md": "all", "src/a.txt": "folder", "b.txt": "task", "deep/er/c.txt": "task"}
	for range 2 { // the second time over what the first try left
		ws, err := w.prepare(t.Context(), "e1/s1/t%2F1/sample0", tk)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, filesBelow(t, ws.Dir)); diff != "" {
			t.Errorf("workspace (-want +got):\n%s", diff)
		}
		if home := filesBelow(t, ws.Home); len(home) > 0 {
			t.Errorf("the agent's own folder holds %v", home)
		}
		plant(t, ws.Root, map[string]string{"work/b.txt": "changed", "work/new.txt": "left", "home/.cache": "left"})
	}
	if text, err := os.ReadFile(filepath.Join(tasks, "one", "b.txt")); err != nil || string(text) != "folder" {
		t.Errorf("the source was changed: %q, %v", text, err)
	}
}

func TestWorkspacesOfDifferentKeysDiffer(t *testing.T) {
	t.Parallel()
	w := &Workspaces{Dir: "/ws"}
	seen := map[string]string{}
	for _, key := range []string{"a/b", "a_b", "a-b", "A/b", strings.Repeat("x", 80) + "1", strings.Repeat("x", 80) + "2", "../../etc", "ü"} {
		ws := w.at(key)
		if other, ok := seen[strings.ToLower(ws.Root)]; ok {
			t.Errorf("%q and %q share %s", key, other, ws.Root)
		}
		seen[strings.ToLower(ws.Root)] = key
		if filepath.Dir(ws.Root) != "/ws" {
			t.Errorf("%q lies at %s", key, ws.Root)
		}
	}
}

// What a task brings cannot leave its workspace, nor bring links along.
func TestWorkspacesRefuseWhatLeadsOut(t *testing.T) {
	t.Parallel()
	tasks := t.TempDir()
	plant(t, tasks, map[string]string{"one/a.txt": ""})
	if err := os.Symlink("/etc", filepath.Join(tasks, "one", "link")); err != nil {
		t.Skip(err)
	}
	for name, data := range map[string]map[string]any{
		"file above":       {"files": map[string]any{"../x": "y"}},
		"absolute file":    {"files": map[string]any{"/tmp/x": "y"}},
		"file of a number": {"files": map[string]any{"x": 1.0}},
		"files as a list":  {"files": []any{"x"}},
		"folder above":     {"workspace": "../one"},
		"absolute folder":  {"workspace": "/etc"},
		"no such folder":   {"workspace": "two"},
		"folder with link": {"workspace": "one"},
	} {
		w := opened(t, &Workspaces{Dir: t.TempDir(), TasksDir: tasks})
		if _, err := w.prepare(t.Context(), "k", task.Task{ID: "t1", Origin: "tasks.jsonl:3", Data: data}); err == nil || !strings.Contains(err.Error(), "t1 (tasks.jsonl:3)") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestWorkspacesAreRemovedThoughWriteProtected(t *testing.T) {
	t.Parallel()
	w := opened(t, &Workspaces{Dir: t.TempDir()})
	ws, err := w.prepare(t.Context(), "k", task.Task{ID: "t1", Data: map[string]any{"files": map[string]any{"d/a.txt": "x"}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(ws.Dir, "d"), 0o500); err != nil {
		t.Fatal(err)
	}
	if err := w.remove("k"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(ws.Root); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
}

// A file that the agent has locked keeps no secret, nor do those behind it.
func TestSecretsInLockedFiles(t *testing.T) {
	t.Parallel()
	const secret = "sk-0123456789abcdef"
	dir := t.TempDir()
	for name, mode := range map[string]fs.FileMode{"a": 0, "b": 0o400, "c": 0o600} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("key "+secret), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := hideIn(dir, redact.NewExact(secret)); err != nil {
		t.Error(err)
	}
	for name, mode := range map[string]fs.FileMode{"a": 0, "b": 0o400, "c": 0o600} {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", name, info, err)
		}
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(path); err != nil || strings.Contains(string(text), secret) {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}
