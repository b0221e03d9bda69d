package repo

import (
	"os/exec"
	"testing"
	"time"
)

func TestCommitted(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: what it writes cannot be read")
	}
	dir := t.TempDir()
	git(t, dir, 1000, "init", "-q")
	git(t, dir, 1000, "commit", "-q", "--allow-empty", "-m", "one")
	one := git(t, dir, 0, "rev-parse", "HEAD")
	git(t, dir, 2000, "commit", "-q", "--allow-empty", "-m", "two")
	two := git(t, dir, 0, "rev-parse", "HEAD")
	git(t, dir, 3000, "checkout", "-q", "-b", "x", one)
	git(t, dir, 4000, "commit", "-q", "--allow-empty", "-m", "three")
	three := git(t, dir, 0, "rev-parse", "HEAD")
	for _, c := range []struct {
		seconds int64
		want    string
		at      int64
	}{{0, one, 1000}, {1000, one, 1000}, {1001, two, 2000}, {2500, "", 0}, {3500, three, 4000}, {4500, "", 0}} {
		got, found, err := FindCommit(t.Context(), dir, time.Unix(epoch+c.seconds, 0))
		if err != nil || found != (c.want != "") || got.Hash != c.want || found && got.At.Unix() != epoch+c.at {
			t.Errorf("after %d: %+v (%v, %v), want %s", c.seconds, got, found, err, c.want)
		}
	}
	if _, found, err := FindCommit(t.Context(), t.TempDir(), time.Unix(epoch, 0)); found || err != nil {
		t.Errorf("no repository: %v, %v", found, err)
	}
}
