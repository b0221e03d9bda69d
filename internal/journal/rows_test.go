package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/journal"
)

// Results stay in the file: memory holds where they stand.
func TestMemoryDoesNotGrowWithResults(t *testing.T) {
	j := open(t, filepath.Join(t.TempDir(), "run.db"))
	text := bytes.Repeat([]byte("a"), 4000)
	fill := func(from, n int) {
		records := make([]journal.Record, n)
		for i := range records {
			records[i] = journal.Record{Key: fmt.Sprint("e1/s1/rollout/item", from+i), Kind: journal.Call, Result: bytes.Clone(text)}
		}
		appendAll(t, j, records...)
	}
	inUse := func() int {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	fill(0, 2000)
	before := inUse()
	const results = 16000
	for i := range results / 2000 {
		fill(2000*(i+1), 2000)
	}
	if each := (inUse() - before) / results; each > 200 {
		t.Errorf("%d bytes for each result of %d", each, len(text))
	}
}

// Rows are found by key while others are written, and in any order.
func TestResultsAreFoundWhileOthersAreWritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run.db")
	j := open(t, path)
	result := func(i int) []byte { return bytes.Repeat([]byte(fmt.Sprint(i, " ")), 1+i%3000) }
	const writers, each = 8, 100
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := w; i < writers*each; i += writers {
				key := fmt.Sprint("k", i)
				if j.Has(key) {
					t.Errorf("%s is there before it was recorded", key)
				}
				if err := j.Append(t.Context(), journal.Record{Key: key, Kind: journal.Call, Result: result(i)}); err != nil {
					t.Error(err)
				}
				if r, ok, err := j.Lookup(key); err != nil || !ok || !bytes.Equal(r.Result, result(i)) {
					t.Errorf("%s: found %v, %v", key, ok, err)
				}
			}
		})
	}
	wg.Wait()
	j = reopen(t, j, path)
	for i := range writers * each {
		i = i * 37 % (writers * each)
		if r, ok := lookup(t, j, fmt.Sprint("k", i)); !ok || !bytes.Equal(r.Result, result(i)) {
			t.Errorf("k%d is not there after it was opened again", i)
		}
	}
}

// What was damaged after the journal was opened is told when it is read.
func TestDamageIsFoundByLaterReads(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]string{
		"a changed result": "UPDATE entries SET result = x'00' WHERE seq = 2",
		"a missing entry":  "DELETE FROM entries WHERE seq = 2",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := open(t, filepath.Join(t.TempDir(), "run.db"))
			for _, key := range []string{"a", "b"} {
				appendAll(t, j, journal.Record{Key: key, Kind: journal.Call, Result: []byte("answer of " + key)})
			}
			if err := j.Exec(t.Context(), damage); err != nil {
				t.Fatal(err)
			}
			var corrupt *journal.CorruptError
			if _, _, err := j.Lookup("b"); !errors.As(err, &corrupt) {
				t.Errorf("looked up: %v", err)
			}
			if _, _, err := j.At(2); !errors.As(err, &corrupt) {
				t.Errorf("by number: %v", err)
			}
		})
	}
}

// What is counted of results follows those that take the place of others.
func TestCounts(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run.db")
	j := open(t, path)
	call := func(key, code string, replace bool) journal.Record {
		return journal.Record{Key: key, Kind: journal.Call, Code: code, Result: []byte(key), Replace: replace}
	}
	appendAll(t, j, call("a", journal.CodeInherited, false), call("b", "", false), call("c", journal.CodeInherited, false), decision("d", "1"))
	appendAll(t, j, call("a", "", true), journal.Record{Key: "b", Kind: journal.Unmeasured, Replace: true})
	want := journal.Counts{Results: 4, Answers: 2, Inherited: 1, Revised: 1}
	if diff := cmp.Diff(want, j.Counts()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, ok, err := j.At(1); ok || err != nil {
		t.Errorf("a result that was replaced stands: %v", err)
	}
	if r, ok := j.Decision("d"); !ok || string(r.Result) != "1" {
		t.Errorf("the decision is %q, %v", r.Result, ok)
	}
	if _, ok := j.Decision("a"); ok {
		t.Error("a call is no decision")
	}
	j = reopen(t, j, path)
	if diff := cmp.Diff(want, j.Counts()); diff != "" {
		t.Errorf("reopened (-want +got):\n%s", diff)
	}
}
