package workspace_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/internal/sleep/workspace"
)

func TestMain(m *testing.M) {
	sandbox.Main(os.Args)
	os.Exit(m.Run())
}

// gitIn runs git as a user does, and returns what it printed.
func gitIn(t *testing.T, dir, in string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(in)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C", "GIT_ALLOW_PROTOCOL=file",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
		"GIT_AUTHOR_DATE=2026-11-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-11-01T00:00:00Z",
	}
	var out, bad bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &bad
	if err := cmd.Run(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, bad.String())
	}
	return strings.TrimSpace(out.String())
}

// repo makes a repository with a commit of files, and returns its folder and the commit.
func repo(t *testing.T, files map[string]string, init ...string) (dir, commit string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir = t.TempDir()
	gitIn(t, dir, "", append([]string{"init", "-q", "-b", "main"}, init...)...)
	for name, text := range files {
		put(t, filepath.Join(dir, name), text)
	}
	gitIn(t, dir, "", "add", "-A", "-f")
	gitIn(t, dir, "", "commit", "-q", "-m", "one")
	return dir, gitIn(t, dir, "", "rev-parse", "HEAD")
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// written writes the workspace of a commit and returns its files, with their modes.
func written(t *testing.T, project, commit string) (map[string]string, workspace.Written) {
	t.Helper()
	tree, err := workspace.Open(t.Context(), os.Getenv, project, commit, workspace.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	got, err := tree.Write(t.Context(), dir, nil)
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
	dir, _ := repo(t, map[string]string{
		"a.txt": "one\n", "d/e/b.txt": "", "run.sh": "#!/bin/sh\n", "CLAUDE.md": "Be short.\n", ".claude/skills/x/SKILL.md": "x\n",
		".mcp.json": "{}", ".claude/settings.json": "{}", ".claude/settings.local.json": "{}", "sub/.claude/hooks/pre.sh": "x", "opencode.jsonc": "{}",
		".env": "A=1", "deploy/id_rsa": "x", ".env.example": "A=", "secrets.go": "package x\n", "big.bin": "version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
	})
	gitIn(t, dir, "", "update-index", "--chmod=+x", "run.sh")
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	gitIn(t, dir, "", "add", "link")
	gitIn(t, dir, "", "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",module")
	gitIn(t, dir, "", "commit", "-q", "-m", "two")
	commit := gitIn(t, dir, "", "rev-parse", "HEAD")
	put(t, filepath.Join(dir, "untracked.txt"), "x")
	put(t, filepath.Join(dir, "a.txt"), "changed since\n")
	got, report := written(t, dir, commit)
	want := map[string]string{
		"a.txt": "one\n", "d/e/b.txt": "", "run.sh*": "#!/bin/sh\n", "CLAUDE.md": "Be short.\n", ".claude/skills/x/SKILL.md": "x\n",
		".env.example": "A=", "secrets.go": "package x\n", "big.bin": "version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	left := workspace.LeftOut{Links: 1, Submodules: 1, Steering: 5, Secrets: 2}
	if report.LeftOut != left || report.Files != len(want) || report.Lfs != 1 {
		t.Errorf("written %+v, want %d files and %+v left out", report, len(want), left)
	}
}

func TestOmitted(t *testing.T) {
	t.Parallel()
	project, commit := repo(t, map[string]string{"a.txt": "a\n", ".claude/skills/x/SKILL.md": "x\n", ".claude/skills/y/SKILL.md": "y\n"})
	tree, err := workspace.Open(t.Context(), os.Getenv, project, commit, workspace.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := tree.Write(t.Context(), dir, func(name string) bool { return strings.HasPrefix(name, ".claude/skills/x/") }); err != nil {
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
		"loose": func(t *testing.T) (string, string) { return repo(t, text) },
		"packed": func(t *testing.T) (string, string) {
			dir, commit := repo(t, text)
			gitIn(t, dir, "", "gc", "-q", "--aggressive")
			gitIn(t, dir, "", "pack-refs", "--all")
			return dir, commit
		},
		"sha256": func(t *testing.T) (string, string) { return repo(t, text, "--object-format=sha256") },
		"working tree beside": func(t *testing.T) (string, string) {
			dir, commit := repo(t, text)
			beside := filepath.Join(t.TempDir(), "w")
			gitIn(t, dir, "", "worktree", "add", "-q", "--detach", beside)
			return beside, commit
		},
		"bare": func(t *testing.T) (string, string) {
			dir, commit := repo(t, text)
			to := filepath.Join(t.TempDir(), "b.git")
			gitIn(t, dir, "", "clone", "-q", "--bare", dir, to)
			return to, commit
		},
		"alternates": func(t *testing.T) (string, string) {
			dir, commit := repo(t, text)
			to := filepath.Join(t.TempDir(), "s")
			gitIn(t, dir, "", "clone", "-q", "--shared", dir, to)
			return to, commit
		},
		"shallow": func(t *testing.T) (string, string) {
			dir, _ := repo(t, map[string]string{"a.txt": "older\n"})
			for name, text := range text {
				put(t, filepath.Join(dir, name), text)
			}
			gitIn(t, dir, "", "add", "-A")
			gitIn(t, dir, "", "commit", "-q", "-m", "two")
			to := filepath.Join(t.TempDir(), "s")
			gitIn(t, dir, "", "clone", "-q", "--depth=1", "file://"+dir, to)
			return to, gitIn(t, to, "", "rev-parse", "HEAD")
		},
		"a folder of it": func(t *testing.T) (string, string) {
			dir, commit := repo(t, map[string]string{"x/y/a.txt": text["a.txt"], "x/y/d/b.txt": text["d/b.txt"], "other.txt": "no\n"})
			return filepath.Join(dir, "x", "y"), commit
		},
		"a submodule": func(t *testing.T) (string, string) {
			inner, commit := repo(t, text)
			outer, _ := repo(t, map[string]string{"z.txt": "z\n"})
			gitIn(t, outer, "", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner, "mod")
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
