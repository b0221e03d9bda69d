//go:build unix

package check

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-f4525e22/skillopt/task"
)

// TestSpecialFiles: what an agent leaves in place of a file is never waited for,
// and passes no check of a content.
func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	must(t, os.Symlink("pipe", filepath.Join(dir, "link")))
	must(t, os.Symlink("/dev/zero", filepath.Join(dir, "zero")))
	must(t, os.Symlink("loop", filepath.Join(dir, "loop")))
	must(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "huge"), nil, 0o600))
	must(t, os.Truncate(filepath.Join(dir, "huge"), 1<<40))
	for name, want := range map[string]string{
		"pipe": "no regular file", "link": "no regular file", "folder": "no regular file",
		"zero": "path escapes from parent", "loop": "cannot be read", "huge": "a check reads at most",
	} {
		for _, kind := range []string{"file-contains", "not-file-contains", "file-equals", "not-file-equals"} {
			got := assess(t, "{type: "+kind+", path: "+name+", value: x}", Evidence{Dir: dir}, task.Task{}, Means{})
			if got.Hard != 0 || got.Soft != 0 || !strings.Contains(got.Reason, want) {
				t.Errorf("%s of %s: got %+v", kind, name, got)
			}
		}
	}
}

// TestSpecialRewards: a reward that cannot be read is no reward.
func TestSpecialRewards(t *testing.T) {
	t.Parallel()
	for want, leave := range map[string]func(path string) error{
		"no regular file":     func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"cannot be read":      func(path string) error { return os.Symlink("/dev/zero", path) },
		"a number has at":     func(path string) error { return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 1<<40)) },
		"r is no regular fil": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		dir := t.TempDir()
		c := Command{Argv: []string{"x"}, Reward: "r"}
		r, err := Carry(t.Context(), dir, c, func(context.Context, Command) (CommandResult, error) {
			return CommandResult{End: EndExit}, leave(filepath.Join(dir, "r"))
		})
		must(t, err)
		if !strings.Contains(r.RewardFault, want) || c.Measured(r) == nil {
			t.Errorf("got %+v, want %s", r, want)
		}
	}
}

// TestNamesThatAreNotText: a file keeps its name when the manifest was recorded.
func TestNamesThatAreNotText(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	err := os.WriteFile(filepath.Join(dir, "a\xff\n"), []byte("x"), 0o600)
	if errors.Is(err, syscall.EILSEQ) { // as that of macOS says
		t.Skip("this file system has no such names: " + err.Error())
	}
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "a\xfe\n"), []byte("y"), 0o600))
	now, err := Snapshot(dir)
	must(t, err)
	data, err := json.Marshal(now)
	must(t, err)
	var before Manifest
	must(t, json.Unmarshal(data, &before))
	if got := assess(t, "{type: diff, max_files: 0}", Evidence{Dir: dir, Before: before}, task.Task{}, Means{}); got.Hard != 1 {
		t.Errorf("got %+v", got)
	}
}
