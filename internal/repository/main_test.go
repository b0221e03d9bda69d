package repository_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/repository"
	"github.com/seed-f4525e22/skillopt/internal/runner"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/internal/testing/memfolder"
	"github.com/seed-f4525e22/skillopt/internal/tree"
	"github.com/seed-f4525e22/skillopt/task"
)

func TestMain(m *testing.M) {
	sandbox.Main(os.Args)
	os.Exit(func() int {
		defer memfolder.SetTemp()() // most of a run of tests in Go is the copy of its cache
		return m.Run()
	}())
}

// create makes the folder of a repository.
func create(t *testing.T, s runner.Suite) *repository.Repository {
	t.Helper()
	r, err := repository.Create(t.Context(), filepath.Join(t.TempDir(), "repository"), s, os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// plant adds a tree of files to a repository.
func plant(t *testing.T, r *repository.Repository, base string, files map[string]string, more ...tree.Change) string {
	t.Helper()
	var changes []tree.Change
	for name, text := range files {
		changes = append(changes, tree.Change{Path: name, Data: []byte(text)})
	}
	hash, err := r.Store().Tree(t.Context(), base, append(changes, more...))
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

// taskFrom is a task of a repository.
func taskFrom(id string, own repository.Task) task.Task {
	return task.Task{ID: id, Prompt: "Mend it.", Data: map[string]any{repository.Field: own}}
}

// layTask lays a workspace and returns its folder and that of the home.
func layTask(t *testing.T, r *repository.Repository, own repository.Task) (work, home string) {
	t.Helper()
	work, home = t.TempDir(), t.TempDir()
	root, err := os.OpenRoot(work)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := r.Lay(t.Context(), root, home, taskFrom("a", own)); err != nil {
		t.Fatal(err)
	}
	return work, home
}
