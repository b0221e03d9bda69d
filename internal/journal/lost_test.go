package journal_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/journal"
)

// frameSize is that of a page in the write-ahead log.
const frameSize = pageSize + 24

// told opens a journal with a damaged log as a resumed run does whose manifest
// knows of nothing. It must be refused, hold everything, or say what is missing.
func (f damageFiles) told(t *testing.T, wal, mark []byte, what string) {
	t.Helper()
	path := f.write(t, f.db, wal)
	if mark != nil {
		if err := os.WriteFile(path+"-mark", mark, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	j, err := journal.Open(t.Context(), path, journal.Options{Existing: true})
	if err != nil {
		return // what it says is the concern of other tests
	}
	defer j.Abandon()
	missing := f.highWater - j.HighWater()
	lost := j.Lost()
	switch {
	case j.Verify(damageRunID, 0) != nil:
	case missing > 0 && lost == nil:
		t.Errorf("%s: %d entries are gone without a word", what, missing)
	case missing == 0 && lost != nil && mark != nil:
		t.Errorf("%s: nothing is missing, and it says: %s", what, lost)
	case lost != nil && mark != nil && (lost.Entries != missing || !strings.Contains(lost.String(), call(f.highWater-1, journal.NewBlob(""), nil, nil).Key)):
		t.Errorf("%s: %d are missing, and it says: %s", what, missing, lost)
	}
}

func TestALostEndIsTold(t *testing.T) {
	t.Parallel()
	f := fill(t, false)
	f.told(t, f.wal, f.mark, "whole")
	f.told(t, nil, f.mark, "removed")
	f.told(t, []byte{}, f.mark, "emptied")
	f.told(t, f.older, f.mark, "an older one")
	for _, at := range offsets(len(f.wal), frameSize, 32, 30) {
		f.told(t, f.wal[:at], f.mark, fmt.Sprintf("cut at %d", at))
	}
	for at := 0; at < len(f.wal); at += 5 * frameSize {
		f.damaged(t, at, f.mark)
	}
}

// Without a mark the log itself shows what was there.
func TestADamagedLogShowsALostEnd(t *testing.T) {
	t.Parallel()
	f := fill(t, false)
	f.told(t, f.wal, nil, "whole")
	for at := 0; at < len(f.wal); at += 5 * frameSize {
		f.damaged(t, at, nil)
	}
	f.damaged(t, len(f.wal)-100, nil)
	f.told(t, make([]byte, len(f.wal)), nil, "all zero")
}

// damaged hurts the log from a byte on in several ways.
func (f damageFiles) damaged(t *testing.T, at int, mark []byte) {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, uint64(at)))
	for _, n := range []int{1, 100, 3 * frameSize, len(f.wal)} {
		end := min(len(f.wal), at+n)
		zero, noise := bytes.Clone(f.wal), bytes.Clone(f.wal)
		clear(zero[at:end])
		for i := at; i < end; i++ {
			noise[i] ^= byte(1 + rng.IntN(255))
		}
		f.told(t, noise, mark, fmt.Sprintf("noise from %d to %d of %d", at, end, len(f.wal)))
		if !bytes.Equal(zero, f.wal) {
			f.told(t, zero, mark, fmt.Sprintf("zero from %d to %d of %d", at, end, len(f.wal)))
		}
	}
}

func TestAMarkThatCannotBeReadIsTold(t *testing.T) {
	t.Parallel()
	f := fill(t, false)
	for name, mark := range map[string][]byte{"altered": bytes.Replace(f.mark, []byte(`"entry":36`), []byte(`"entry":37`), 1), "zero": make([]byte, 512), "cut": f.mark[:20]} {
		path := f.write(t, f.db, f.wal)
		if err := os.WriteFile(path+"-mark", mark, 0o600); err != nil {
			t.Fatal(err)
		}
		j := open(t, path)
		if lost := j.Lost(); lost == nil || lost.Entries != 0 || !strings.Contains(lost.String(), "run.db-mark) cannot be read; how many entries is not known, the last one that is there is entry 36 (") {
			t.Errorf("%s: %v", name, lost)
		}
	}
}

// A loss is told until something is recorded: then the journal is what it is.
func TestALossIsToldUntilItIsGoneOnFrom(t *testing.T) {
	t.Parallel()
	f := fill(t, false)
	path := f.write(t, f.db, nil)
	if err := os.WriteFile(path+"-mark", f.mark, 0o600); err != nil {
		t.Fatal(err)
	}
	want := &journal.LostEnd{
		Path: path, Last: 19, Key: call(18, journal.NewBlob(""), nil, nil).Key, Entries: 17, LostKey: call(35, journal.NewBlob(""), nil, nil).Key,
		Reason: "its mark (" + path + "-mark) knows of them, its write-ahead log has not got them",
	}
	for range 2 {
		j, err := journal.Open(t.Context(), path, journal.Options{Existing: true})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, j.Lost()); diff != "" {
			t.Fatal(diff)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	j, err := journal.Open(t.Context(), path, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	appendAll(t, j, call(100, journal.NewBlob("s"), nil, nil))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if lost := open(t, path).Lost(); lost != nil {
		t.Error(lost)
	}
}

// A mark of another journal, or one that knows of less, says nothing.
func TestAMarkOfAnotherJournalSaysNothing(t *testing.T) {
	t.Parallel()
	f := fill(t, true)
	for _, mark := range [][]byte{
		remark(t, f.mark, damageRunID, "another"),
		remark(t, f.mark, `"entry":36`, `"entry":3`),
	} {
		path := f.write(t, f.db, nil)
		if err := os.WriteFile(path+"-mark", mark, 0o600); err != nil {
			t.Fatal(err)
		}
		if lost := open(t, path).Lost(); lost != nil {
			t.Error(lost)
		}
	}
}

// A killed process loses nothing that was acknowledged, and no alarm is raised:
// with its mark or without one. The log is one that
// has begun anew several times.
func TestAKillIsNoLoss(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts processes")
	}
	path := filepath.Join(t.TempDir(), "run.db")
	acknowledged := map[string]bool{}
	rng := rand.New(rand.NewPCG(8, 9))
	for round := range 8 {
		killed(t, path, 200+rng.IntN(1500), time.Duration(rng.IntN(3000))*time.Microsecond, acknowledged)
		for _, mark := range []bool{true, false} {
			copied := copyOf(t, path, mark)
			j, err := journal.Open(t.Context(), copied, journal.Options{Existing: true})
			if err != nil {
				t.Fatal(err)
			}
			if lost := j.Lost(); lost != nil {
				t.Errorf("round %d, mark %v: %s", round, mark, lost)
			}
			j.Abandon()
		}
	}
}

// copyOf copies the files of a journal that a process left.
func copyOf(t *testing.T, path string, mark bool) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "run.db")
	for _, suffix := range []string{"", "-wal", "-mark"} {
		if suffix == "-mark" && !mark {
			continue
		}
		if err := os.WriteFile(to+suffix, readFile(t, path+suffix), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

func TestACopyLeavesNoMarkBehind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, filepath.Join(dir, "run.db"))
	appendAll(t, j, call(1, journal.NewBlob("s"), nil, nil))
	to := filepath.Join(dir, "to")
	if err := os.Mkdir(to, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := j.CopyTo(t.Context(), filepath.Join(to, "run.db"), 1); err != nil {
		t.Fatal(err)
	}
	if names, err := filepath.Glob(filepath.Join(to, "*")); err != nil || len(names) != 1 {
		t.Errorf("%v, %v", names, err)
	}
}

func remark(t *testing.T, mark []byte, old, replaced string) []byte {
	t.Helper()
	text, ok := journal.Remarked(mark, old, replaced)
	if !ok {
		t.Fatalf("no mark: %q", mark)
	}
	return text
}

func FuzzMark(f *testing.F) {
	f.Add([]byte(`00000000 {"run_id":"a","entry":1,"open":true}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		again, ok := journal.Remarked(text, "true", "false")
		if ok && len(again) != 512 {
			t.Errorf("%d bytes", len(again))
		}
	})
}
