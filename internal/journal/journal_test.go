package journal_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/internal/journal"
)

func TestMain(m *testing.M) {
	if path := os.Getenv("JOURNAL_TEST_CHILD"); path != "" {
		os.Exit(appendForever(path))
	}
	goleak.VerifyTestMain(m)
}

func open(t testing.TB, path string) *journal.Journal {
	t.Helper()
	j, err := journal.Open(t.Context(), path, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}

func reopen(t testing.TB, j *journal.Journal, path string) *journal.Journal {
	t.Helper()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return open(t, path)
}

func appendAll(t testing.TB, j *journal.Journal, records ...journal.Record) {
	t.Helper()
	if err := j.Append(t.Context(), records...); err != nil {
		t.Fatal(err)
	}
}

var cmpInput = cmp.Comparer(func(a, b journal.Blob) bool { return a.Text() == b.Text() })

func TestARecordComesBackAsItWas(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a run?#%.db")
	j := open(t, path)
	cost := int64(1234)
	want := journal.Record{
		Key: "e1/s1/rollout/ä/attempt0/turn0", Kind: journal.Call,
		Input:  journal.Input{Shared: []journal.Blob{journal.NewBlob("system"), journal.NewBlob("schema")}, Own: []byte(`{"q":1}`)},
		Result: []byte("answer"),
		Spend: journal.Spend{
			Stage: "rollout", Role: "target", Model: "m",
			Usage: journal.Usage{Input: 10, Output: 2, Cached: 3, Reasoning: 1}, Cost: &cost,
			StartedAt: time.UnixMicro(1700000000123456), Took: 1500 * time.Microsecond,
		},
	}
	appendAll(t, j, want)
	want.Seq, want.Digest = 1, want.Input.Digest()
	for _, when := range []string{"at once", "after reopening"} {
		got, ok := lookup(t, j, want.Key)
		if !ok {
			t.Fatalf("%s: the record is gone", when)
		}
		in, err := j.Input(t.Context(), want.Key)
		if err != nil {
			t.Fatal(err)
		}
		got.Input = in
		if diff := cmp.Diff(want, got, cmpInput); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
		j = reopen(t, j, path)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a closed journal has a log beside it: %v", err)
	}
	j = open(t, path)
	if ok := j.Has("elsewhere"); ok {
		t.Error("found a key that was never recorded")
	}
	if _, err := j.Input(t.Context(), "elsewhere"); err == nil {
		t.Error("read the input of a key that was never recorded")
	}
}

func TestSharedPartsAreStoredOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run.db")
	j := open(t, path)
	skill := strings.Repeat("a rule of the skill. ", 2000)
	for i := range 100 {
		if i == 50 {
			j = reopen(t, j, path)
		}
		appendAll(t, j, call(int64(i), journal.NewBlob(skill), []byte("q"), []byte("a")))
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if limit := int64(3 * len(skill)); info.Size() > limit {
		t.Errorf("100 records with a shared part of %d bytes take %d bytes, want at most %d", len(skill), info.Size(), limit)
	}
}

func TestRefusedRecords(t *testing.T) {
	t.Parallel()
	j := open(t, filepath.Join(t.TempDir(), "run.db"))
	ctx := t.Context()
	appendAll(t, j, decision("a", "1"))

	var dup *journal.DuplicateError
	if err := j.Append(ctx, decision("b", "1"), decision("a", "2")); !errors.As(err, &dup) || dup.Key != "a" {
		t.Errorf("a second result for a key: %v", err)
	}
	if err := j.Append(ctx, decision("c", "1"), decision("c", "2")); !errors.As(err, &dup) || dup.Key != "c" {
		t.Errorf("one key twice in a batch: %v", err)
	}
	for _, key := range []string{"b", "c"} {
		if ok := j.Has(key); ok {
			t.Errorf("%q was recorded although its batch was refused", key)
		}
		appendAll(t, j, decision(key, "1"))
	}
	if err := j.Append(ctx, journal.Record{Key: "x", Kind: journal.Fault}); err == nil {
		t.Error("Append took a ledger entry")
	}
	if err := j.Append(ctx, journal.Record{Key: "x", Kind: "rumour"}); err == nil {
		t.Error("Append took an unknown kind")
	}
	if err := j.Charge(ctx, decision("x", "1")); err == nil {
		t.Error("Charge took a result")
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if err := j.Append(done, decision("x", "1")); !errors.Is(err, context.Canceled) {
		t.Errorf("Append with an ended context: %v", err)
	}
	if err := j.Charge(done, journal.Record{Key: "x", Kind: journal.Fault}); !errors.Is(err, context.Canceled) {
		t.Errorf("Charge with an ended context: %v", err)
	}
}

func decision(key, result string) journal.Record {
	return journal.Record{Key: key, Kind: journal.Decision, Result: []byte(result)}
}

func TestReplaceTakesThePlaceOfAnEarlierResult(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run.db")
	j := open(t, path)
	appendAll(t, j, decision("a", "1"), decision("b", "1"))
	later := decision("a", "2")
	later.Replace = true
	appendAll(t, j, later)
	for range 2 {
		if r, _ := lookup(t, j, "a"); string(r.Result) != "2" || r.Seq != 3 {
			t.Errorf("a = %q at %d, want the later result at 3", r.Result, r.Seq)
		}
		var keys []string
		for r, err := range j.Results(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			keys = append(keys, r.Key)
		}
		if diff := cmp.Diff([]string{"b", "a"}, keys); diff != "" {
			t.Error(diff)
		}
		j = reopen(t, j, path)
	}
}

func TestClosedAndReadOnlyJournalsTakeNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run.db")
	j := open(t, path)
	appendAll(t, j, decision("a", "1"))
	reader, err := journal.Open(t.Context(), path, journal.Options{ReadOnly: true})
	if err != nil {
		t.Fatalf("read beside a writer: %v", err)
	}
	if ok := reader.Has("a"); !ok {
		t.Error("a reader does not see what is durable")
	}
	if err := reader.Append(t.Context(), decision("b", "1")); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("append to a read-only journal: %v", err)
	}
	if err := errors.Join(reader.Close(), j.Close(), j.Close()); err != nil {
		t.Fatal(err)
	}
	if err := j.Append(t.Context(), decision("b", "1")); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("append to a closed journal: %v", err)
	}
	if err := j.Charge(t.Context(), journal.Record{Kind: journal.Fault}); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("charge to a closed journal: %v", err)
	}
	reader, err = journal.Open(t.Context(), path, journal.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	in, err := reader.Input(t.Context(), "a")
	if err != nil || len(in.Own) != 0 {
		t.Errorf("input of a decision: %v, %v", in, err)
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestMetaAndVerify(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run.db")
	j := open(t, path)
	ctx := t.Context()
	for _, v := range []string{"old", "", `{"seed":1}`} {
		if err := j.SetMeta(ctx, "identity", v); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(j.SetMeta(ctx, "nothing", ""), j.SetMeta(ctx, journal.MetaRunID, "run-1")); err != nil {
		t.Fatal(err)
	}
	appendAll(t, j, decision("a", "1"))
	j = reopen(t, j, path)
	if v, ok := j.Meta("identity"); !ok || v != `{"seed":1}` {
		t.Errorf("identity = %q, %v", v, ok)
	}
	if v, ok := j.Meta("nothing"); !ok || len(v) != 0 {
		t.Errorf("an empty value came back as %q, %v", v, ok)
	}
	tests := []struct {
		id   string
		seq  int64
		want string // part of the message, "" = fits
	}{
		{"run-1", 0, ""},
		{"run-1", 1, ""},
		{"run-1", 2, "the end of the journal is lost"},
		{"run-2", 0, `belongs to run "run-1" and the manifest to run "run-2"`},
	}
	for _, tt := range tests {
		err := j.Verify(tt.id, tt.seq)
		var mismatch *journal.MismatchError
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("Verify(%s, %d): %v", tt.id, tt.seq, err)
		case tt.want != "" && (!errors.As(err, &mismatch) || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("Verify(%s, %d) = %v, want %q", tt.id, tt.seq, err, tt.want)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	script := func(query string) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.ExecContext(t.Context(), query); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	write := func(name, text string) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			if err := os.WriteFile(path+name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	tests := []struct {
		name    string
		prepare func(t *testing.T, path string)
		opts    journal.Options
		want    string
	}{
		{"newer", script("PRAGMA user_version = 99"), journal.Options{}, "has format 99, and this program reads format 3: use the program that wrote it"},
		{"older", script("PRAGMA user_version = 2"), journal.Options{}, "has format 2, and this program reads format 3"},
		{"foreign", script("CREATE TABLE cats (id)"), journal.Options{}, "another program's database"},
		{"no database", write("", strings.Repeat("text ", 1000)), journal.Options{}, "cannot be read"},
		{"only a log", write("-wal", "frames"), journal.Options{}, "its write-ahead log is not"},
		{"missing", func(*testing.T, string) {}, journal.Options{Existing: true}, "missing or empty"},
		{"missing, to read", func(*testing.T, string) {}, journal.Options{ReadOnly: true}, "missing or empty"},
		{"empty", write("", ""), journal.Options{Existing: true}, "missing or empty"},
		{"directory", func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}, journal.Options{}, "is a directory"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "run.db")
			tt.prepare(t, path)
			before, _ := os.ReadFile(path)
			j, err := journal.Open(t.Context(), path, tt.opts)
			if err == nil {
				t.Fatal(errors.Join(errors.New("it was opened"), j.Close()))
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %q, want %q in it", err, tt.want)
			}
			after, _ := os.ReadFile(path)
			if string(before) != string(after) {
				t.Error("the refused file was changed")
			}
		})
	}
}

func TestOpenInADirectoryThatIsNotThere(t *testing.T) {
	t.Parallel()
	_, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "no", "run.db"), journal.Options{})
	var we *journal.WriteError
	if !errors.As(err, &we) || we.Full || !errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v, want a *WriteError", err)
	}
}

func TestAFileLeftEmptyByACrashIsBegunAnew(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "PRAGMA journal_mode = WAL; CREATE TABLE x (y); DROP TABLE x"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	appendAll(t, open(t, path), decision("a", "1"))
}

func TestAFullDiskStopsTheJournalAndKeepsWhatWasAcknowledged(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run.db")
	j := open(t, path)
	if err := j.Exec(t.Context(), "PRAGMA max_page_count = 20"); err != nil {
		t.Fatal(err)
	}
	acknowledged := 0
	var err error
	for err == nil && acknowledged < 1000 {
		err = j.Append(t.Context(), call(int64(acknowledged), journal.NewBlob("s"), make([]byte, 2000), []byte("a")))
		if err == nil {
			acknowledged++
		}
	}
	var we *journal.WriteError
	if !errors.As(err, &we) || !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "make room") {
		t.Fatalf("after %d records: %v, want a *WriteError of a full disk", acknowledged, err)
	}
	if again := j.Append(t.Context(), decision("d", "1")); again != err {
		t.Errorf("the journal went on after a failed commit: %v", again)
	}
	if err := j.Close(); !errors.As(err, &we) {
		t.Errorf("Close hides the failure: %v", err)
	}
	j = open(t, path)
	if got := j.HighWater(); got != int64(acknowledged) {
		t.Errorf("%d records after reopening, %d were acknowledged", got, acknowledged)
	}
}

func TestManyCallersAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run.db")
	j := open(t, path)
	var wg sync.WaitGroup
	for c := range 32 {
		wg.Go(func() {
			for i := range 20 {
				key := fmt.Sprintf("c%d/%d", c, i)
				if err := j.Append(t.Context(), decision(key, key)); err != nil {
					t.Error(err)
				}
				if r, ok := lookup(t, j, key); !ok || string(r.Result) != key {
					t.Errorf("%s: an acknowledged record cannot be found", key)
				}
				if err := j.Charge(t.Context(), journal.Record{Key: key, Kind: journal.Fault, Code: "server"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	j = reopen(t, j, path)
	sum := journal.Sum(j.Totals())
	if j.HighWater() != 32*20*2 || sum.FaultCount() != 32*20 || len(results(t, j)) != 32*20 {
		t.Errorf("%d entries, %d faults, %d results", j.HighWater(), sum.FaultCount(), len(results(t, j)))
	}
}

func TestTheLogStaysBounded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run.db")
	j := open(t, path)
	result := make([]byte, 200_000)
	for i := range 300 { // 60 MB
		r := decision(fmt.Sprint(i), "")
		r.Result = result
		appendAll(t, j, r)
	}
	info, err := os.Stat(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 34<<20 {
		t.Errorf("the log has grown to %d bytes", info.Size())
	}
}

func TestLostSpendOfEpisodes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run.db")
	j := open(t, path)
	cost := int64(5)
	inner := func(attempt, ordinal int) journal.Record {
		return journal.Record{
			Key: "ep", Kind: journal.Inner, Attempt: attempt, Ordinal: ordinal,
			Spend: journal.Spend{Stage: "rollout", Role: "target", Usage: journal.Usage{Input: 7, Output: 1}, Cost: &cost},
		}
	}
	charge := func(r journal.Record) {
		if err := j.Charge(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	charge(inner(0, 0))
	charge(inner(0, 1))
	if got := j.Attempts("ep"); got != 1 {
		t.Errorf("%d tries before the commit, want 1", got)
	}
	j = reopen(t, j, path) // the first try is cut off here
	if got := journal.Sum(j.Totals()).Lost; got.Calls != 2 || got.CostNano != 10 {
		t.Errorf("lost before the second try: %+v", got)
	}
	if got := j.Attempts("ep"); got != 1 {
		t.Errorf("%d tries after reopening, want 1", got)
	}
	charge(inner(1, 0))
	appendAll(t, j, journal.Record{
		Key: "ep", Kind: journal.Episode, Attempt: 1, Result: []byte("ok"),
		Spend: journal.Spend{Stage: "rollout", Role: "target"},
	})
	want := []journal.Total{{
		Stage: "rollout", Role: "target", Calls: 3, Episodes: 1, Faults: map[string]int64{},
		Usage: journal.Usage{Input: 21, Output: 3}, CostNano: 15,
		Lost: journal.Loss{Calls: 2, Usage: journal.Usage{Input: 14, Output: 2}, CostNano: 10},
	}}
	for range 2 {
		if diff := cmp.Diff(want, j.Totals()); diff != "" {
			t.Errorf("totals (-want +got):\n%s", diff)
		}
		j = reopen(t, j, path)
	}
	if got := j.Attempts("ep"); got != 2 {
		t.Errorf("%d tries, want 2", got)
	}
}

// What belongs to no stage makes no stage.
func TestDecisionsAreNoStage(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run.db")
	j := open(t, path)
	appendAll(t, j, decision("d", "1"), journal.Record{Key: "item", Kind: journal.Unmeasured})
	for range 2 {
		if got := j.Totals(); len(got) != 0 {
			t.Errorf("totals %+v", got)
		}
		j = reopen(t, j, path)
	}
}

// Tokens that an environment reports for a whole episode count, and so does that
// their price is not known.
func TestReportedSpendOfEpisodes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run.db")
	j := open(t, path)
	cost := int64(30)
	ended := func(key string, usage journal.Usage, cost *int64) journal.Record {
		return journal.Record{
			Key: key, Kind: journal.Episode, Result: []byte("ok"),
			Spend: journal.Spend{Stage: "rollout", Role: "target", Usage: usage, Cost: cost},
		}
	}
	appendAll(t, j, ended("a", journal.Usage{}, nil), ended("b", journal.Usage{Input: 5, Output: 2}, &cost), ended("c", journal.Usage{Input: 1}, nil))
	want := []journal.Total{{
		Stage: "rollout", Role: "target", Episodes: 3, Faults: map[string]int64{},
		Usage: journal.Usage{Input: 6, Output: 2}, CostNano: 30, Unpriced: 1,
	}}
	for range 2 {
		if diff := cmp.Diff(want, j.Totals()); diff != "" {
			t.Errorf("totals (-want +got):\n%s", diff)
		}
		j = reopen(t, j, path)
	}
}

// What is in memory while a run goes on is what a reopened file says.
func TestReopenedStateIsTheLiveState(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "journal")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		path := filepath.Join(dir, "run.db")
		j, err := journal.Open(context.Background(), path, journal.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range rapid.IntRange(0, 30).Draw(t, "entries") {
			if err := put(t, j, i); err != nil {
				t.Fatal(err)
			}
		}
		if err := j.Append(context.Background(), decision("end", "1")); err != nil {
			t.Fatal(err)
		}
		recorded, totals := results(t, j), j.Totals()
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		again, err := journal.Open(context.Background(), path, journal.Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = again.Close() }()
		if diff := cmp.Diff(recorded, results(t, again)); diff != "" {
			t.Errorf("results (-live +reopened):\n%s", diff)
		}
		if diff := cmp.Diff(totals, again.Totals()); diff != "" {
			t.Errorf("totals (-live +reopened):\n%s", diff)
		}
	})
}

func put(t *rapid.T, j *journal.Journal, i int) error {
	pick := func(label string, values ...string) string { return rapid.SampledFrom(values).Draw(t, label) }
	r := journal.Record{
		Key:     fmt.Sprintf("k%d", i),
		Kind:    journal.Kind(pick("kind", "call", "episode", "decision", "unmeasured", "inner", "fault")),
		Attempt: rapid.IntRange(0, 2).Draw(t, "attempt"),
		Result:  rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "result"),
		Input:   journal.Input{Own: rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "own")},
		Spend: journal.Spend{
			Stage: pick("stage", "a", "b"), Role: pick("role", "x", "y"),
			Usage: journal.Usage{Input: rapid.Int64Range(0, 9).Draw(t, "in"), Output: 1},
		},
	}
	if rapid.Bool().Draw(t, "priced") {
		cost := rapid.Int64Range(0, 100).Draw(t, "cost")
		r.Cost = &cost
	}
	if r.Kind == journal.Fault || r.Kind == journal.Inner {
		r.Key, r.Code, r.Input, r.Result = "k1", pick("code", "server", "timeout"), journal.Input{}, nil
		return j.Charge(context.Background(), r)
	}
	return j.Append(context.Background(), r)
}

// lookup returns the result under key.
func lookup(t testing.TB, j *journal.Journal, key string) (journal.Record, bool) {
	t.Helper()
	r, ok, err := j.Lookup(key)
	if err != nil {
		t.Fatal(err)
	}
	return r, ok
}

// results returns all results.
func results(t interface {
	Helper()
	Fatal(...any)
}, j *journal.Journal,
) []journal.Record {
	t.Helper()
	var all []journal.Record
	for r, err := range j.Results(context.Background(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}
