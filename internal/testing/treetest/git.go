package treetest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Git runs git as a user does, and returns what it printed.
func Git(t testing.TB, dir, in string, args ...string) string {
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

// Repository makes a repository with a commit of files, and returns its folder and the commit.
func Repository(t testing.TB, files map[string]string, init ...string) (dir, commit string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir = t.TempDir()
	Git(t, dir, "", append([]string{"init", "-q", "-b", "main"}, init...)...)
	for name, text := range files {
		Put(t, filepath.Join(dir, name), text)
	}
	Git(t, dir, "", "add", "-A", "-f")
	Git(t, dir, "", "commit", "-q", "-m", "one")
	return dir, Git(t, dir, "", "rev-parse", "HEAD")
}

// Put writes a file, and makes its folder.
func Put(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
