package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestTheMachineIsToBlame: what keeps us from looking is no score, whichever way a
// check asks. A closed root stands for a machine that cannot read.
func TestTheMachineIsToBlame(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"a": "x"})
	before, err := Snapshot(dir)
	must(t, err)
	for _, text := range []string{
		"{type: file-exists, path: a}", "{type: not-file-exists, path: a}",
		"{type: file-equals, path: a, value: x}", "{type: not-file-equals, path: a, value: x}",
		"{type: file-contains, path: a, value: x}", "{type: not-file-contains, path: a, regex: x}",
		"{type: llm-rubric, criteria: y, files: [a]}",
		"{any: [{type: equals, value: answer}, {type: file-exists, path: a}]}",
	} {
		root, err := os.OpenRoot(dir)
		must(t, err)
		must(t, root.Close())
		what := &subject{Evidence: Evidence{Answer: "answer", Dir: dir, Before: before}, root: root, by: Means{Judge: (&counter{}).judge}}
		got, err := suite(t, text, Options{}).set.run(t.Context(), what, "check", Options{})
		if err == nil || got.Components != nil || !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s: got %+v, %v", text, got, err)
		}
	}
	root, err := os.OpenRoot(dir)
	must(t, err)
	must(t, root.Close())
	if m, err := readManifest(root); err == nil || m.Over != "" {
		t.Errorf("the manifest is %+v, %v", m, err)
	}
}

func TestOurs(t *testing.T) {
	t.Parallel()
	wrap := func(err error) error { return fmt.Errorf("look: %w", &fs.PathError{Op: "openat", Path: "a", Err: err}) }
	for _, err := range []error{syscall.EMFILE, syscall.ENFILE, syscall.EIO, syscall.ENOMEM, syscall.EROFS} {
		if !ours(wrap(err)) {
			t.Errorf("%v is not ours", err)
		}
	}
	for _, err := range []error{nil, syscall.EACCES, syscall.ENOENT, syscall.ENOTDIR, syscall.ELOOP, syscall.ENAMETOOLONG, errors.New("path escapes from parent")} {
		if ours(wrap(err)) {
			t.Errorf("%v is ours", err)
		}
	}
}

// TestRewardOfABrokenMachine: a reward that we cannot read is an error, one that
// is not there a result.
func TestRewardOfABrokenMachine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	must(t, err)
	must(t, root.Close())
	if _, err := readReward(root, "r"); !ours(err) {
		t.Errorf("got %v", err)
	}
	r, err := Carry(t.Context(), dir, Command{Reward: "r"}, func(context.Context, Command) (CommandResult, error) {
		return CommandResult{End: EndExit}, os.Symlink(filepath.Join(dir, "none"), filepath.Join(dir, "r"))
	})
	if err != nil || r.RewardFault == "" || strings.Contains(r.RewardFault, fs.ErrNotExist.Error()) {
		t.Errorf("got %+v, %v", r, err)
	}
}
