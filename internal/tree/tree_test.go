package tree_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/internal/testing/treetest"
	"github.com/seed-f4525e22/skillopt/internal/tree"
)

func TestMain(m *testing.M) {
	sandbox.Main(os.Args)
	os.Exit(m.Run())
}

// written writes the workspace of a commit and returns its files, with their modes.
func written(t *testing.T, project, commit string) (map[string]string, tree.Written) {
	t.Helper()
	opened, err := tree.Open(t.Context(), os.Getenv, project, commit, tree.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	got, err := opened.Write(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	return files(t, dir), got
}

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil || !d.Type().IsRegular() {
			return fmt.Errorf("%s is no file: %v %w", rel, d.Type(), err)
		}
		data, err := os.ReadFile(name)
		mark := ""
		if info.Mode()&0o111 != 0 {
			mark = "*"
		}
		out[filepath.ToSlash(rel)+mark] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestOnlyTheCommit(t *testing.T) {
	t.Parallel()
	dir, _ := treetest.Repository(t, map[string]string{
		"a.txt": "one\n", "d/e/b.txt": "", "run.sh": "#!/bin/sh\n", "CLAUDE.md": "Be short.\n", ".claude/skills/x/SKILL.md": "x\n",
		".mcp.json": "{}", ".claude/settings.json": "{}", ".claude/settings.local.json": "{}", "sub/.claude/hooks/pre.sh": "x", "opencode.jsonc": "{}",
		".env": "A=1", "deploy/id_rsa": "x", ".env.example": "A=", "secrets.go": "package x\n", "big.bin": "version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
	})
	treetest.Git(t, dir, "", "update-index", "--chmod=+x", "run.sh")
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	treetest.Git(t, dir, "", "add", "link")
	treetest.Git(t, dir, "", "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",module")
	treetest.Git(t, dir, "", "commit", "-q", "-m", "two")
	commit := treetest.Git(t, dir, "", "rev-parse", "HEAD")
	treetest.Put(t, filepath.Join(dir, "untracked.txt"), "x")
	treetest.Put(t, filepath.Join(dir, "a.txt"), "changed since\n")
	got, report := written(t, dir, commit)
	want := map[string]string{
		"a.txt": "one\n", "d/e/b.txt": "", "run.sh*": "#!/bin/sh\n", "CLAUDE.md": "Be short.\n", ".claude/skills/x/SKILL.md": "x\n",
		".env.example": "A=", "secrets.go": "package x\n", "big.bin": "version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	left := tree.LeftOut{Links: 1, Submodules: 1, Steering: 5, Secrets: 2}
	if report.LeftOut != left || report.Files != len(want) || report.Lfs != 1 {
		t.Errorf("written %+v, want %d files and %+v left out", report, len(want), left)
	}
}

func TestOmitted(t *testing.T) {
	t.Parallel()
	project, commit := treetest.Repository(t, map[string]string{"a.txt": "a\n", ".claude/skills/x/SKILL.md": "x\n", ".claude/skills/y/SKILL.md": "y\n"})
	opened, err := tree.Open(t.Context(), os.Getenv, project, commit, tree.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := opened.Write(t.Context(), dir, func(name string) bool { return strings.HasPrefix(name, ".claude/skills/x/") }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"a.txt": "a\n", ".claude/skills/y/SKILL.md": "y\n"}, files(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// Repositories of every shape give the same files.
func TestShapesOfRepositories(t *testing.T) {
	t.Parallel()
	text := map[string]string{"a.txt": strings.Repeat("one line\n", 500), "d/b.txt": "two\n"}
	for name, shape := range map[string]func(t *testing.T) (project, commit string){
		"loose": func(t *testing.T) (string, string) { return treetest.Repository(t, text) },
		"packed": func(t *testing.T) (string, string) {
			dir, commit := treetest.Repository(t, text)
			treetest.Git(t, dir, "", "gc", "-q", "--aggressive")
			treetest.Git(t, dir, "", "pack-refs", "--all")
			return dir, commit
		},
		"sha256": func(t *testing.T) (string, string) { return treetest.Repository(t, text, "--object-format=sha256") },
		"working tree beside": func(t *testing.T) (string, string) {
			dir, commit := treetest.Repository(t, text)
			beside := filepath.Join(t.TempDir(), "w")
			treetest.Git(t, dir, "", "worktree", "add", "-q", "--detach", beside)
			return beside, commit
		},
		"bare": func(t *testing.T) (string, string) {
			dir, commit := treetest.Repository(t, text)
			to := filepath.Join(t.TempDir(), "b.git")
			treetest.Git(t, dir, "", "clone", "-q", "--bare", dir, to)
			return to, commit
		},
		"alternates": func(t *testing.T) (string, string) {
			dir, commit := treetest.Repository(t, text)
			to := filepath.Join(t.TempDir(), "s")
			treetest.Git(t, dir, "", "clone", "-q", "--shared", dir, to)
			return to, commit
		},
		"shallow": func(t *testing.T) (string, string) {
			dir, _ := treetest.Repository(t, map[string]string{"a.txt": "older\n"})
			for name, text := range text {
				treetest.Put(t, filepath.Join(dir, name), text)
			}
			treetest.Git(t, dir, "", "add", "-A")
			treetest.Git(t, dir, "", "commit", "-q", "-m", "two")
			to := filepath.Join(t.TempDir(), "s")
			treetest.Git(t, dir, "", "clone", "-q", "--depth=1", "file://"+dir, to)
			return to, treetest.Git(t, to, "", "rev-parse", "HEAD")
		},
		"a folder of it": func(t *testing.T) (string, string) {
			dir, commit := treetest.Repository(t, map[string]string{"x/y/a.txt": text["a.txt"], "x/y/d/b.txt": text["d/b.txt"], "other.txt": "no\n"})
			return filepath.Join(dir, "x", "y"), commit
		},
		"a submodule": func(t *testing.T) (string, string) {
			inner, commit := treetest.Repository(t, text)
			outer, _ := treetest.Repository(t, map[string]string{"z.txt": "z\n"})
			treetest.Git(t, outer, "", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner, "mod")
			return filepath.Join(outer, "mod"), commit
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			project, commit := shape(t)
			got, _ := written(t, project, commit)
			if diff := cmp.Diff(text, got); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}
