//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestALostEndOfTheRecordIsTold: a killed run resumes without a word when nothing is
// gone, and says what is gone when its write-ahead log was damaged meanwhile. It then
// pays for that again and comes to the result of a run that was never killed.
func TestALostEndOfTheRecordIsTold(t *testing.T) {
	t.Parallel()
	dir := smallFolder(t)
	appendTo(t, filepath.Join(dir, "small", "world.yaml"), "rates: {latency_ms: 20}\n")
	train := func(run string) []string {
		return []string{"train", "small", "--run", run, "--events", "-", "--set", "limits.concurrency=4"}
	}
	// The first session ends by itself, so that the database holds the beginning.
	start(t, dir, append(train("killed"), "--keep-open", "--set", "limits.calls=60")...).ends(4)
	c := start(t, dir, train("killed")...)
	until(t, c.out, func(string) bool {
		info, err := os.Stat(filepath.Join(dir, "killed", "run.db-wal"))
		return err == nil && info.Size() > 100_000
	})
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	start(t, dir, train("whole")...).ends(0)
	want := read(t, filepath.Join(dir, "whole", "best_skill.md"))
	log := []byte(read(t, filepath.Join(dir, "killed", "run.db-wal")))
	const exact = "warning: the end of the record "
	for name, damage := range map[string]struct {
		log  []byte // nil: removed
		mark bool
		says string // "": nothing
	}{
		"sound":             {log, true, ""},
		"sound-no-mark":     {log, false, ""},
		"removed":           {nil, true, "were recorded and are gone"},
		"cut":               {log[:len(log)/2], true, "were recorded and are gone"},
		"emptied":           {[]byte{}, true, "were recorded and are gone"},
		"zero":              {make([]byte, len(log)), true, "were recorded and are gone"},
		"flipped":           {flipped(log, len(log)/2), true, "were recorded and are gone"},
		"flipped-no-mark":   {flipped(log, len(log)/2), false, "write-ahead log"},
		"flip-head-no-mark": {flipped(log, 20), false, "the header of its write-ahead log"},
	} {
		run := filepath.Join(dir, name)
		if err := os.CopyFS(run, os.DirFS(filepath.Join(dir, "killed"))); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(run, "run.db-wal")); err != nil {
			t.Fatal(err)
		}
		if damage.log != nil {
			if err := os.WriteFile(filepath.Join(run, "run.db-wal"), damage.log, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if !damage.mark {
			if err := os.Remove(filepath.Join(run, "run.db-mark")); err != nil {
				t.Fatal(err)
			}
		}
		out, errs := start(t, dir, train(name)...).ends(0)
		told := strings.Contains(errs, exact)
		if told != (damage.says != "") || !strings.Contains(errs, damage.says) || told != strings.Contains(out, `"event":"warning"`) {
			t.Errorf("%s: standard error:\n%s", name, errs)
		}
		if diff := cmp.Diff(want, read(t, filepath.Join(run, "best_skill.md"))); diff != "" {
			t.Errorf("%s: best_skill.md: %s", name, diff)
		}
	}
}

func flipped(data []byte, at int) []byte {
	data = bytes.Clone(data)
	data[at] ^= 0x10
	return data
}
