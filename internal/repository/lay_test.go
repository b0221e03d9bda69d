package repository_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/repository"
	"github.com/seed-f4525e22/skillopt/internal/runner"
	"github.com/seed-f4525e22/skillopt/internal/testing/treetest"
	"github.com/seed-f4525e22/skillopt/internal/tree"
	"github.com/seed-f4525e22/skillopt/task"
)

// A workspace is a repository with one commit, of which git finds nothing changed, and with no object of the fix.
func TestLayOneCommit(t *testing.T) {
	t.Parallel()
	r := create(t, runner.Suite{Kind: runner.Go})
	base := plant(t, r, "", map[string]string{"a.go": "package a\n", "d/b.txt": "b\n", ".gitattributes": "*.txt text\n"},
		tree.Change{Path: "run.sh", Data: []byte("#!/bin/sh\n"), Exec: true}, tree.Change{Path: "d/link", Link: "../a.go"})
	fix := plant(t, r, base, map[string]string{"a.go": "package a // theFix\n"})
	tests := plant(t, r, "", map[string]string{"a_test.go": "package a // hidden\n"})
	work, _ := layTask(t, r, repository.Task{Base: base, Tests: tests, Fix: fix, Fail: []string{"x"}})
	for _, c := range []struct{ args, want string }{
		{"status --porcelain --untracked-files=all", ""},
		{"rev-list --all --count", "1"},
		{"fsck --strict --full --lost-found", ""},
		{"log --format=%s%ad --all", "StartWed Jan 1 00:00:00 2020 +0000"},
		{"reflog --all", ""},
		{"stash list", ""},
		{"worktree list", work + " "},
		{"remote -v", ""},
		{"rev-parse --abbrev-ref HEAD", "main"},
	} {
		got := treetest.Git(t, work, "", strings.Fields(c.args)...)
		if c.want == work+" " {
			if strings.Count(got, "\n") > 0 || !strings.HasPrefix(got, c.want) {
				t.Errorf("%s: %s", c.args, got)
			}
		} else if got != c.want {
			t.Errorf("%s: %q, want %q", c.args, got, c.want)
		}
	}
	if n := strings.Count(treetest.Git(t, work, "", "cat-file", "--batch-all-objects", "--batch-check"), "\n") + 1; n != 8 {
		t.Errorf("the repository has %d objects, want five files, two trees and a commit", n)
	}
	for _, hash := range []string{fix, tests} {
		cmd := exec.Command("git", "cat-file", "-e", hash)
		cmd.Dir = work
		if cmd.Run() == nil {
			t.Errorf("the repository has the tree %s", hash)
		}
	}
	if to, err := os.Readlink(filepath.Join(work, "d", "link")); err != nil || to != "../a.go" {
		t.Errorf("the link leads to %q: %v", to, err)
	}
	treetest.Put(t, filepath.Join(work, "a.go"), "package b\n")
	if got := treetest.Git(t, work, "", "diff", "--stat"); !strings.Contains(got, "a.go | 2 +-") {
		t.Errorf("diff: %q", got)
	}
	treetest.Git(t, work, "", "commit", "-q", "-a", "-m", "work")
}

// What git does in another workspace later is the same: nothing depends on the time.
func TestLayIsTheSameAgain(t *testing.T) {
	t.Parallel()
	r := create(t, runner.Suite{Kind: runner.Go})
	base := plant(t, r, "", map[string]string{"a.go": "package a\n"})
	own := repository.Task{Base: base, Tests: base, Fix: base, Fail: []string{"x"}}
	one, _ := layTask(t, r, own)
	two, _ := layTask(t, r, own)
	if a, b := treetest.Git(t, one, "", "rev-parse", "HEAD"), treetest.Git(t, two, "", "rev-parse", "HEAD"); a != b {
		t.Errorf("commits %s and %s", a, b)
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]map[string]any{
		"is none of a repository": {},
		"unknown field":           {"repo": map[string]any{"base": "1", "other": 2}},
		"lacks a tree":            {"repo": map[string]any{"base": "1", "tests": "2"}},
		"names no test":           {"repo": map[string]any{"base": "1", "tests": "2", "fix": "3"}},
		"cannot unmarshal":        {"repo": "tree"},
	} {
		if _, err := repository.Read(task.Task{ID: "a", Data: data}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
