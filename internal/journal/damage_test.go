package journal_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/journal"
)

const damageRunID = "run-7"

// pageSize is that of SQLite.
const pageSize = 4096

// damageFiles are the files of a journal, and what was acknowledged.
type damageFiles struct {
	db, wal   []byte
	older     []byte // the log as it was in between
	mark      []byte
	inputs    map[string]string
	results   map[string]string
	highWater int64
}

// write lays the files into a directory of their own.
func (f damageFiles) write(t testing.TB, db, wal []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.db")
	if err := os.WriteFile(path, db, 0o600); err != nil {
		t.Fatal(err)
	}
	if wal == nil {
		return path
	}
	if err := os.WriteFile(path+"-wal", wal, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// fill makes a journal with small and large entries and returns its files as
// they are after a clean end or, with a log, after a kill between two commits.
func fill(t testing.TB, clean bool) damageFiles {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.db")
	j, err := journal.Open(t.Context(), path, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := damageFiles{inputs: map[string]string{}, results: map[string]string{}}
	if err := j.SetMeta(t.Context(), journal.MetaRunID, damageRunID); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 36 {
		own := strings.Repeat(fmt.Sprintf("question %d. ", i), 1+rng.IntN(25)*rng.IntN(25))
		result := strings.Repeat(fmt.Sprintf("answer %d. ", i), 1+rng.IntN(200))
		r := call(int64(i), journal.NewBlob(strings.Repeat(fmt.Sprint("skill ", i/12), 1000)), []byte(own), []byte(result))
		appendAll(t, j, r)
		f.inputs[r.Key], f.results[r.Key] = own, result
		if i == 18 && !clean { // so that the log holds newer versions of pages that the file has
			if err := j.Exec(t.Context(), "PRAGMA wal_checkpoint(FULL)"); err != nil {
				t.Fatal(err)
			}
		}
		if i == 28 && !clean {
			f.older = readFile(t, path+"-wal")
		}
	}
	f.highWater = j.HighWater()
	if clean {
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	} else {
		f.wal = readFile(t, path+"-wal")
	}
	f.db, f.mark = readFile(t, path), readFile(t, path+"-mark")
	j.Abandon()
	return f
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// examine opens a damaged journal as a resumed run does. It must be refused, or
// hold everything unaltered. It returns whether it was refused.
func (f damageFiles) examine(t *testing.T, path, what string) bool {
	t.Helper()
	j, err := journal.Open(context.Background(), path, journal.Options{Existing: true})
	if err != nil {
		var corrupt *journal.CorruptError
		var version *journal.VersionError
		if !errors.As(err, &corrupt) && !errors.As(err, &version) && !errors.Is(err, journal.ErrMissing) {
			t.Errorf("%s: refused with an untyped error: %v", what, err)
		}
		return true
	}
	defer j.Abandon()
	intact := f.unaltered(t, j, what)
	if j.Verify(damageRunID, f.highWater) != nil {
		return true
	}
	if intact != len(f.results) {
		t.Errorf("%s: opened and verified with %d of %d entries", what, intact, len(f.results))
	}
	return false
}

// unaltered counts the entries and reports those that are not what was written.
// An input may turn out to be unreadable only when it is asked for.
func (f damageFiles) unaltered(t *testing.T, j *journal.Journal, what string) int {
	t.Helper()
	n := 0
	for key, want := range f.results {
		r, ok := lookup(t, j, key)
		if !ok {
			continue
		}
		n++
		if string(r.Result) != want {
			t.Errorf("%s: the result of %s is not what was written", what, key)
		}
		in, err := j.Input(context.Background(), key)
		if err == nil && string(in.Own) != f.inputs[key] {
			t.Errorf("%s: the input of %s is not what was written", what, key)
		}
	}
	return n
}

// offsets returns where to cut or hurt a file: every boundary of the unit, its
// neighbours, and random places.
func offsets(size, unit, first, random int) []int {
	set := []int{0, 1, 15, 16, 17, 50, 99, 100, 101, size - 1}
	for at := first; at <= size; at += unit {
		set = append(set, at-1, at, at+1)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range random {
		set = append(set, rng.IntN(size))
	}
	kept := set[:0]
	for _, at := range set {
		if at >= 0 && at < size {
			kept = append(kept, at)
		}
	}
	return kept
}

func TestATruncatedFileIsRefused(t *testing.T) {
	t.Parallel()
	f := fill(t, true)
	if f.examine(t, f.write(t, f.db, nil), "whole") {
		t.Fatal("the whole file is refused")
	}
	for _, at := range offsets(len(f.db), pageSize, pageSize, 150) {
		if !f.examine(t, f.write(t, f.db[:at], nil), fmt.Sprintf("cut at %d of %d", at, len(f.db))) {
			t.Errorf("cut at %d of %d: not noticed", at, len(f.db))
		}
	}
}

func TestATruncatedFileWithALogIsRefused(t *testing.T) {
	t.Parallel()
	f := fill(t, false)
	if f.examine(t, f.write(t, f.db, f.wal), "whole") {
		t.Fatal("the state after a kill is refused")
	}
	for _, at := range offsets(len(f.db), pageSize, pageSize, 60) {
		f.examine(t, f.write(t, f.db[:at], f.wal), fmt.Sprintf("cut at %d of %d, whole log", at, len(f.db)))
	}
}

func TestATruncatedLogIsNoticed(t *testing.T) {
	t.Parallel()
	f := fill(t, false)
	for _, at := range offsets(len(f.wal), pageSize+24, 32, 40) {
		f.examine(t, f.write(t, f.db, f.wal[:at]), fmt.Sprintf("log cut at %d of %d", at, len(f.wal)))
	}
	if !f.examine(t, f.write(t, f.db, nil), "log removed") {
		t.Error("a removed log was not noticed")
	}
}

func TestAlteredBytesAreRefusedOrHarmless(t *testing.T) {
	t.Parallel()
	for _, clean := range []bool{true, false} {
		f := fill(t, clean)
		for _, at := range offsets(len(f.db), pageSize, pageSize, 60) {
			db := bytes.Clone(f.db)
			db[at] ^= 0x41
			f.examine(t, f.write(t, db, f.wal), fmt.Sprintf("clean=%v, byte %d of %d altered", clean, at, len(db)))
		}
	}
}

func TestARefusedJournalKeepsItsLog(t *testing.T) {
	t.Parallel()
	f := fill(t, false)
	path := f.write(t, f.db[:pageSize*3+100], f.wal)
	if !f.examine(t, path, "cut") {
		t.Fatal("a journal cut in the middle was taken for whole")
	}
	if !bytes.Equal(readFile(t, path+"-wal"), f.wal) {
		t.Error("the log of a refused journal was changed")
	}
	if !bytes.Equal(readFile(t, path), f.db[:pageSize*3+100]) {
		t.Error("a refused journal was changed")
	}
}

// appendForever is the child of the kill test: it records until it is killed
// and prints each key once its record is durable.
func appendForever(path string) int {
	j, err := journal.Open(context.Background(), path, journal.Options{})
	if err != nil {
		fmt.Println("error", err)
		return 1
	}
	keys := make(chan string)
	for range 8 {
		go func() {
			for key := range keys {
				r := call(0, journal.NewBlob(key[:2]+strings.Repeat("skill", 500)), []byte(key), []byte("answer of "+key))
				r.Key = key
				if err := j.Append(context.Background(), r); err != nil {
					fmt.Println("error", err)
					os.Exit(1)
				}
				fmt.Println("ok", key)
			}
		}()
	}
	for i := j.HighWater(); ; i++ {
		keys <- fmt.Sprintf("%d/%d", os.Getpid(), i)
	}
}

func TestAcknowledgedRecordsSurviveSIGKILL(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts processes")
	}
	path := filepath.Join(t.TempDir(), "run.db")
	acknowledged := map[string]bool{}
	rng := rand.New(rand.NewPCG(5, 6))
	for round := range 12 {
		// The moment is random in time as well as in the number of records.
		killed(t, path, 1+rng.IntN(800), time.Duration(rng.IntN(3000))*time.Microsecond, acknowledged)
		j, err := journal.Open(t.Context(), path, journal.Options{Existing: true})
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		for key := range acknowledged {
			if r, ok := lookup(t, j, key); !ok || string(r.Result) != "answer of "+key {
				t.Errorf("round %d: the acknowledged record %s is lost", round, key)
			}
		}
		if round%2 == 0 {
			j.Abandon() // the next child finds what a reader of the log left
		} else if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// killed runs a child until it has acknowledged n records, and some time more.
func killed(t *testing.T, path string, n int, more time.Duration, acknowledged map[string]bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "JOURNAL_TEST_CHILD="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		if word != "ok" {
			t.Errorf("child: %s", lines.Text())
			break
		}
		acknowledged[rest] = true
		if seen++; seen == n {
			time.AfterFunc(more, func() { _ = cmd.Process.Kill() })
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if seen < n {
		t.Errorf("the child ended after %d of %d records", seen, n)
	}
}

// The names in the schema are no part of any checksum of ours.
func TestAnAlteredSchemaIsRefused(t *testing.T) {
	t.Parallel()
	f := fill(t, true)
	at := bytes.Index(f.db, []byte("checksum         INTEGER"))
	if at < 0 {
		t.Fatal("the schema is not where it was")
	}
	f.db[at] ^= 1
	if !f.examine(t, f.write(t, f.db, nil), "altered column name") {
		t.Error("it was not noticed")
	}
}
