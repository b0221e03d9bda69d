package journal_test

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/internal/journal"
)

// alter runs SQL on the file of a journal that nobody has open.
func alter(t testing.TB, path string, script string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), script); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// count is what a query of one number gives.
func count(t testing.TB, path, query string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return n
}

func said(t testing.TB, v *journal.View, q journal.Query) []journal.Said {
	t.Helper()
	var of []journal.Record
	for r, err := range v.Entries(t.Context(), q) {
		if err != nil {
			t.Fatal(err)
		}
		of = append(of, r)
	}
	out, err := v.ReadExchanges(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func inner(key string, n int, form string, texts ...string) journal.Record {
	return journal.Record{Kind: journal.Inner, Key: key, Ordinal: n, Exchange: &journal.Exchange{Form: []byte(form), Texts: texts}}
}

func charge(t testing.TB, j *journal.Journal, entries ...journal.Record) {
	t.Helper()
	if err := j.Charge(t.Context(), entries...); err != nil {
		t.Fatal(err)
	}
}

// What was said is read back beside the writer, after it, and after a kill; each text is
// there once, also when a later session says it again; and no entry is another for it.
func TestWhatWasSaidIsReadBack(t *testing.T) {
	t.Parallel()
	path, bare := filepath.Join(t.TempDir(), "run.db"), filepath.Join(t.TempDir(), "run.db")
	long := strings.Repeat("a long text that repeats\n", 400)
	j, without := open(t, path), open(t, bare)
	for n := range 5 {
		r := inner("a/t1/sample0", n, fmt.Sprintf(`{"n":%d}`, n), long, fmt.Sprint("text ", n), long)
		charge(t, j, r)
		r.Exchange = nil
		charge(t, without, r)
	}
	for _, j := range []*journal.Journal{j, without} {
		appendAll(t, j, journal.Record{Kind: journal.Episode, Key: "a/t1/sample0", Result: []byte("r"), Input: journal.Input{Own: []byte("own")}})
	}
	check := func(when string) {
		t.Helper()
		got := said(t, viewOf(t, path), journal.Query{Item: "t1"})
		if len(got) != 6 || got[5].Form != nil || got[5].Damage != nil {
			t.Fatalf("%s: %d entries", when, len(got))
		}
		for n, s := range got[:5] {
			if diff := cmp.Diff([]string{long, fmt.Sprint("text ", n), long}, s.Texts); diff != "" || string(s.Form) != fmt.Sprintf(`{"n":%d}`, n) || s.Damage != nil {
				t.Fatalf("%s: entry %d: form %s, damage %v: %s", when, n, s.Form, s.Damage, diff)
			}
		}
	}
	check("beside the writer")
	j.Abandon()
	check("after a kill")
	j = open(t, path)
	charge(t, j, inner("a/t2/sample0", 0, "{}", long))
	reopen(t, j, path)
	check("after a session more")
	if n := count(t, path, "SELECT count(*) FROM texts"); n != 6 {
		t.Errorf("%d texts are stored", n)
	}
	entries := func(path string) []journal.Record {
		var out []journal.Record
		for r, err := range viewOf(t, path).Entries(t.Context(), journal.Query{Item: "t1"}) {
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, r)
		}
		return out
	}
	if diff := cmp.Diff(entries(bare), entries(path)); diff != "" {
		t.Errorf("entries differ: %s", diff)
	}
}

// The index finds what a walk finds, whatever of it is damaged, missing or not yet written.
func TestTheIndexFindsWhatAWalkFinds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		path := filepath.Join(t.TempDir(), fmt.Sprintf("%x.db", rapid.Uint64().Draw(rt, "name")))
		if err := journal.Remove(path); err != nil {
			rt.Fatal(err)
		}
		j := open(t, path)
		n := 0
		fill := func() {
			var batch []journal.Record
			for range rapid.IntRange(0, 2500).Draw(rt, "entries") {
				n++
				key := fmt.Sprintf("e1/s%d/item%d/sample0", n, n*n%37)
				if n%3 == 0 {
					charge(t, j, journal.Record{Kind: journal.Inner, Key: key})
					continue
				}
				batch = append(batch, journal.Record{Kind: journal.Call, Key: key, Result: []byte("r")})
			}
			if err := j.Append(t.Context(), batch...); err != nil {
				rt.Fatal(err)
			}
		}
		fill()
		j = reopen(t, j, path)
		fill()
		if err := j.Close(); err != nil {
			rt.Fatal(err)
		}
		how := rapid.SampledFrom([]string{
			"", "DELETE FROM items WHERE block = 1", "DELETE FROM items WHERE block > 1", "UPDATE items SET marks = zeroblob(4000) WHERE block % 2 = 1",
			"UPDATE items SET marks = x'00'", "DROP TABLE items",
		}).Draw(rt, "damage")
		alter(t, path, how)
		ask := func(when string) {
			v := viewOf(t, path)
			all := keysOf(t, v, journal.Query{})
			for _, item := range []string{"item0", "item1", "item36", "item", "%", "none"} {
				var want []string
				for _, key := range all {
					if strings.Contains(key, "/"+item+"/sample") {
						want = append(want, key)
					}
				}
				if diff := cmp.Diff(want, keysOf(t, v, journal.Query{Item: item}), cmpopts.EquateEmpty()); diff != "" {
					rt.Fatalf("%s (%s), %s: %s", when, how, item, diff)
				}
			}
		}
		ask("as it is")
		if how == "DROP TABLE items" {
			return
		}
		j = open(t, path) // writes what is missing, and goes on
		fill()
		if err := j.Close(); err != nil {
			rt.Fatal(err)
		}
		ask("gone on from")
	})
}

// Damage beside the entries is named where it is, stops no session and changes no entry.
func TestDamageBesideTheEntries(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		how    string
		whole  int  // of three calls, how many are read as they were
		refuse bool // nothing more can be kept
	}{
		"a text":              {"UPDATE texts SET data = x'00' WHERE id = 2", 2, false},
		"a text is gone":      {"DELETE FROM texts WHERE id = 2", 2, false},
		"a form":              {"UPDATE exchanges SET form = x'7b7d' WHERE seq = 2", 2, false},
		"its texts":           {"UPDATE exchanges SET texts = x'ff' WHERE seq = 1", 2, false},
		"a bomb":              {"UPDATE texts SET size = 1 << 40 WHERE id = 1", 2, false},
		"the table of texts":  {"DROP TABLE texts", 0, true},
		"the table of calls":  {"DROP TABLE exchanges", 0, true},
		"the table of blocks": {"DROP TABLE items", 3, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "run.db")
			j := open(t, path)
			for n := range 3 {
				charge(t, j, inner("a/t1/sample0", n, fmt.Sprintf(`{"number":%d}`, n), strings.Repeat(fmt.Sprint("text ", n), 100)))
			}
			appendAll(t, j, journal.Record{Kind: journal.Episode, Key: "a/t1/sample0", Result: []byte("r")})
			j.Abandon() // so that the next Open reads every byte
			alter(t, path, tc.how)
			whole := 0
			for _, s := range said(t, viewOf(t, path), journal.Query{Key: "a/t1/sample0"})[:3] {
				var corrupt *journal.CorruptError
				switch {
				case s.Damage == nil:
					whole++
				case !errors.As(s.Damage, &corrupt):
					t.Errorf("damage is told as %v", s.Damage)
				}
			}
			if whole != tc.whole {
				t.Errorf("%d calls are whole, want %d", whole, tc.whole)
			}
			var told []error
			j, err := journal.Open(t.Context(), path, journal.Options{Warn: func(err error) { told = append(told, err) }})
			if err != nil {
				t.Fatal(err)
			}
			if r, ok := lookup(t, j, "a/t1/sample0"); !ok || string(r.Result) != "r" {
				t.Errorf("the result is %s", r.Result)
			}
			charge(t, j, inner("a/t2/sample0", 0, "{}", strings.Repeat("another ", 100)))
			appendAll(t, j, journal.Record{Kind: journal.Episode, Key: "a/t2/sample0", Result: []byte("r2")})
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			var beside *journal.BesideError
			if refused := len(told) > 0 && errors.As(told[0], &beside) && beside.From == 5; refused != tc.refuse {
				t.Errorf("told %v", told)
			}
		})
	}
}
