package repository_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/repository"
	"github.com/seed-f4525e22/skillopt/internal/runner"
	"github.com/seed-f4525e22/skillopt/internal/tree"
)

const (
	manifest = `{"name": "parts", "scripts": {"test": "node --test"}}`
	broken   = "module.exports = (a, b) => a - b;\n"
	repaired = "module.exports = (a, b) => a + b;\n"
	hidden   = "const test = require('node:test');\nconst assert = require('node:assert');\ntest('adds', () => { assert.strictEqual(require('../lib/add')(2, 3), 5); });\n"
	old      = "const test = require('node:test');\nconst assert = require('node:assert');\ntest('multiplies', () => { assert.strictEqual(require('../lib/mul')(2, 3), 6); });\n"
)

// nodeRepository is a repository for Node with one task.
func nodeRepository(t *testing.T) (*repository.Repository, repository.Task) {
	t.Helper()
	if err := runner.Fit(); err != nil {
		t.Skip(err)
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("no node here")
	}
	files := map[string]string{"package.json": manifest, "lib/add.js": broken, "lib/mul.js": "module.exports = (a, b) => a * b;\n", "test/mul.test.js": old}
	head := t.TempDir()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(head, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(head, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(head)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	suite, _, err := runner.Detect(t.Context(), root, runner.Machine{Lookup: os.LookupEnv, Home: os.Getenv("HOME"), Clone: head}, runner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := create(t, suite)
	own := repository.Task{
		Base: plant(t, r, "", files), Tests: plant(t, r, "", map[string]string{"test/add.test.js": hidden}),
		Fail: []string{"test/add.test.js > adds"}, Pass: []string{"test/mul.test.js > multiplies"}, Targets: []string{"test/add.test.js", "test/mul.test.js"}, CPU: 1,
	}
	own.Fix = plant(t, r, own.Base, map[string]string{"lib/add.js": repaired})
	return r, own
}

// Doing nothing fails, and the real fix passes.
func TestGradeChanges(t *testing.T) {
	t.Parallel()
	r, own := nodeRepository(t)
	g, err := r.GradeChanges(t.Context(), own, nil)
	if err != nil {
		t.Fatal(err)
	}
	if g.Passed || g.Forged || !slices.Equal(g.Failing, own.Fail) || !strings.HasPrefix(g.Text(), "1 of 2 tests fail: test/add.test.js > adds\n") {
		t.Errorf("nothing done: %+v\n%s", g, g.Text())
	}
	fix, err := r.Fixes(t.Context(), own)
	if err != nil {
		t.Fatal(err)
	}
	if g, err = r.GradeChanges(t.Context(), own, fix); err != nil || !g.Passed || g.Text() != "all tests of the task pass" {
		t.Errorf("the fix: %+v, %v", g, err)
	}
}

// What an agent leaves is graded without what tests obey, which is said.
func TestGradeDrops(t *testing.T) {
	t.Parallel()
	r, own := nodeRepository(t)
	work, _ := layTask(t, r, own)
	for name, text := range map[string]string{"lib/add.js": repaired, "test/mul.test.js": "", "test/add.test.js": "", "package.json": `{"type": "module"}`, "CLAUDE.md": "x"} {
		if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	g, err := r.Grade(t.Context(), own, work)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"package.json: runs of tests obey it", "test/add.test.js: it is a file of tests", "test/mul.test.js: it is a file of tests"}
	slices.Sort(g.Dropped)
	if !g.Passed || !slices.Equal(g.Dropped, want) {
		t.Errorf("%s\ndropped %q, want %q", g.Text(), g.Dropped, want)
	}
}

// A name that the report does not have has not passed, and code that does not load fails.
func TestGradeFails(t *testing.T) {
	t.Parallel()
	r, own := nodeRepository(t)
	fix, err := r.Fixes(t.Context(), own)
	if err != nil {
		t.Fatal(err)
	}
	own.CPU = -11.5 // a task that takes so little is waited for 5 s, and not two minutes
	other := own
	other.Pass = []string{"test/mul.test.js > divides"}
	if g, err := r.GradeChanges(t.Context(), other, fix); err != nil || g.Passed || !strings.Contains(g.Text(), "test/mul.test.js > divides: it is not in the report") {
		t.Errorf("a missing name: %s, %v", g.Text(), err)
	}
	for name, text := range map[string]string{"a syntax error": "function (", "exit 0": "process.exit(0)", "no end": "while (true) {}"} {
		g, err := r.GradeChanges(t.Context(), own, []tree.Change{{Path: "lib/add.js", Data: []byte(text)}})
		if err != nil || g.Passed || g.Forged {
			t.Errorf("%s: %+v, %v", name, g, err)
		}
		t.Logf("%s: %s", name, g.Reason)
	}
}

// Each workspace and each grading has its own copy of a cache.
func TestCachesAreCopied(t *testing.T) {
	t.Parallel()
	r := create(t, runner.Suite{Kind: runner.Go, Caches: []runner.Cache{{From: "cache/go-build", To: "home:.cache/go-build"}}})
	from := filepath.Join(r.Dir, "cache", "go-build")
	if err := os.MkdirAll(from, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(from, "x"), []byte("warm"), 0o644); err != nil {
		t.Fatal(err)
	}
	base := plant(t, r, "", map[string]string{"a.go": "package a\n"})
	own := repository.Task{Base: base, Tests: base, Fix: base, Fail: []string{"x"}}
	_, one := layTask(t, r, own)
	if err := os.WriteFile(filepath.Join(one, ".cache", "go-build", "x"), []byte("changed"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, two := layTask(t, r, own)
	if got, err := os.ReadFile(filepath.Join(two, ".cache", "go-build", "x")); err != nil || string(got) != "warm" {
		t.Errorf("the second home has %q: %v", got, err)
	}
}
