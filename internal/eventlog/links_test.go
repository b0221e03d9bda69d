//go:build unix

package eventlog

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-f4525e22/skillopt/event"
)

// TestNothingButFilesOfTheRun: a link is not followed and a pipe not waited for, by reader
// or writer, wherever it leads.
func TestNothingButFilesOfTheRun(t *testing.T) {
	t.Parallel()
	elsewhere := t.TempDir()
	secret := filepath.Join(elsewhere, "secret")
	if err := os.WriteFile(secret, []byte("{\"format\":1,\"first\":1,\"log\":\"x\"}\n{\"n\":1,\"event\":\"x\"}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, lay := range map[string]func(dir string) error{
		"the folder is a link": func(dir string) error { return os.Symlink(elsewhere, filepath.Join(dir, Folder)) },
		"the folder is a file": func(dir string) error { return os.WriteFile(filepath.Join(dir, Folder), nil, 0o644) },
		"a segment is a link": func(dir string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, Folder), 0o755), os.Symlink(secret, filepath.Join(dir, Folder, segmentName(1))))
		},
		"a segment is a link within the run": func(dir string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, Folder), 0o755), os.WriteFile(filepath.Join(dir, "run.db"), []byte("{\"format\":1,\"first\":1,\"log\":\"x\"}\n"), 0o644),
				os.Symlink("../run.db", filepath.Join(dir, Folder, segmentName(1))))
		},
		"a segment is a pipe": func(dir string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, Folder), 0o755), syscall.Mkfifo(filepath.Join(dir, Folder, segmentName(1)), 0o644))
		},
	} {
		dir := t.TempDir()
		if err := lay(dir); err != nil {
			t.Fatal(err)
		}
		_, err := Open(dir, Options{})
		_, rerr := Read(dir).After(t.Context(), 0, 1)
		for _, err := range []error{err, rerr} {
			if err == nil || !strings.Contains(err.Error(), "not a") {
				t.Errorf("%s: got %v", name, err)
			}
		}
	}
	left, err := os.ReadDir(elsewhere)
	if err != nil || len(left) != 1 {
		t.Errorf("written elsewhere: %v, %v", left, err)
	}
}

// TestTheSideFileIsNoDoorEither: one that is a link or a pipe is passed over and replaced.
func TestTheSideFileIsNoDoorEither(t *testing.T) {
	t.Parallel()
	elsewhere := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(elsewhere, []byte("untouched"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, lay := range []func(path string) error{
		func(path string) error { return os.Symlink(elsewhere, path) },
		func(path string) error { return syscall.Mkfifo(path, 0o644) },
		func(path string) error {
			return os.WriteFile(path, []byte(`{"format":1,"through":0,"next":1,"count":{"x":1}}`), 0o644)
		},
	} {
		dir := t.TempDir()
		if err := errors.Join(os.Mkdir(filepath.Join(dir, Folder), 0o755), lay(filepath.Join(dir, Folder, seenFile)), lay(filepath.Join(dir, Folder, seenFile+".new"))); err != nil {
			t.Fatal(err)
		}
		w := open(t, dir, small())
		for i := range int64(20) {
			w.Add(outcomeOf(i+1, "a"), start)
		}
		w.Add(event.StepDone{Step: 1}, start)
		w.Close()
		if lines := all(t, Read(dir), 100); len(lines) != 21 {
			t.Errorf("%d lines", len(lines))
		}
		info, err := os.Lstat(filepath.Join(dir, Folder, seenFile))
		if err != nil || !info.Mode().IsRegular() {
			t.Errorf("%v, %v", info, err)
		}
	}
	if text, err := os.ReadFile(elsewhere); string(text) != "untouched" || err != nil {
		t.Errorf("%s, %v", text, err)
	}
}
