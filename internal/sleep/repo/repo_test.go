package repo

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// epoch is when the tests happen: git takes small numbers for something else.
const epoch = 1_700_000_000

// git runs git with commits of its own time.
func git(t *testing.T, dir string, seconds int64, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b.test", "-c", "init.defaultBranch=main"}, args...)...)
	stamp := fmt.Sprintf("%d +0200", epoch+seconds)
	cmd.Env = append(os.Environ(), "GIT_COMMITTER_DATE="+stamp, "GIT_AUTHOR_DATE="+stamp, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestAt(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: what it writes cannot be read")
	}
	dir := t.TempDir()
	git(t, dir, 1000, "init", "-q")
	git(t, dir, 1000, "commit", "-q", "--allow-empty", "-m", "one")
	one := git(t, dir, 0, "rev-parse", "HEAD")
	git(t, dir, 2000, "checkout", "-q", "-b", "feature/x")
	git(t, dir, 3000, "commit", "-q", "--allow-empty", "-m", "two")
	two := git(t, dir, 0, "rev-parse", "HEAD")
	beside := filepath.Join(t.TempDir(), "beside")
	git(t, dir, 4000, "worktree", "add", "-q", "--detach", beside, one)
	below := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(below, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		dir     string
		seconds int64
		want    Checkout
		found   bool
	}{
		{dir, 999, Checkout{}, false},
		{dir, 1500, Checkout{Commit: one, Branch: "main"}, true},
		{dir, 2500, Checkout{Commit: one, Branch: "feature/x"}, true},
		{below, 3001, Checkout{Commit: two, Branch: "feature/x"}, true},
		{beside, 5000, Checkout{Commit: one}, true},
		{t.TempDir(), 5000, Checkout{}, false},
		{filepath.Join(dir, "gone"), 5000, Checkout{Commit: two, Branch: "feature/x"}, true},
	} {
		got, found, err := At(t.Context(), c.dir, time.Unix(epoch+c.seconds, 0))
		if err != nil || found != c.found || got != c.want {
			t.Errorf("%s at %d: %+v %v %v, want %+v %v", c.dir, c.seconds, got, found, err, c.want, c.found)
		}
	}
}

// TestBranch has a repository in which no branch was ever changed, as most are when they are
// new, and what can happen to it then.
func TestBranch(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: what it writes cannot be read")
	}
	dir := t.TempDir()
	git(t, dir, 1000, "init", "-q")
	git(t, dir, 1000, "commit", "-q", "--allow-empty", "-m", "one")
	look := func(when string, seconds int64, want string) {
		t.Helper()
		got, found, err := At(t.Context(), dir, time.Unix(epoch+seconds, 0))
		if err != nil || !found || got.Branch != want || got.Commit == "" {
			t.Errorf("%s: %+v %v %v, want %q", when, got, found, err, want)
		}
	}
	look("never changed", 1500, "main")
	git(t, dir, 2000, "branch", "-q", "-m", "main", "trunk")
	look("before it was renamed", 1500, "main")
	look("after it was renamed", 2500, "trunk")
	git(t, dir, 3000, "commit", "-q", "--allow-empty", "-m", "two")
	git(t, dir, 4000, "checkout", "-q", "HEAD~1")
	look("detached", 4500, "")
	git(t, dir, 5000, "checkout", "-q", "-b", "x")
	look("before it was detached", 3500, "trunk")
	look("detached, and changed later", 4500, "")
	look("at last", 5500, "x")
}

// TestNothingOfTheRepositoryRuns has a repository whose hooks, filters, monitor and attributes
// all make a file, and looks at it.
func TestNothingOfTheRepositoryRuns(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: what it writes cannot be read")
	}
	dir, touched := t.TempDir(), filepath.Join(t.TempDir(), "touched")
	git(t, dir, 1000, "init", "-q")
	git(t, dir, 1000, "commit", "-q", "--allow-empty", "-m", "one")
	run := "touch " + touched
	for key, value := range map[string]string{
		"filter.x.smudge": run, "filter.x.clean": run, "filter.x.process": run, "core.fsmonitor": run, "diff.x.textconv": run,
		"core.pager": run, "credential.helper": "!" + run, "core.sshCommand": run, "alias.log": "!" + run,
	} {
		git(t, dir, 1000, "config", key, value)
	}
	for name, text := range map[string]string{".gitattributes": "* filter=x diff=x\n", "a.txt": "x\n", ".git/hooks/post-checkout": "#!/bin/sh\n" + run + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if _, found, err := At(t.Context(), dir, time.Unix(epoch+2000, 0)); !found || err != nil {
		t.Errorf("nothing found: %v", err)
	}
	if _, err := os.Stat(touched); err == nil {
		t.Error("something of the repository ran")
	}
}

func FuzzFollow(f *testing.F) {
	f.Add("0000000000000000000000000000000000000000 3f786850e387550fdab836ed7e6dc881de23001b a <a@b> 1000 +0200\tcheckout: moving from main to x\n")
	f.Fuzz(func(_ *testing.T, text string) {
		_, _, _ = follow(strings.NewReader(text), time.Unix(5000, 0)) // it does not panic
	})
}
