package answers_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/answers"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/sqlstore"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
)

const answered = `{"text":"an answer","finish":"stop","usage":{"input":5,"output":1},"model":"m-1"}`

// call is an entry that may answer others.
func call(i int) journal.Record {
	return journal.Record{
		Kind: journal.Call, Key: fmt.Sprintf("e1/s1/mb0/rollout/task-%d/sample0/attempt0/turn1", i), Input: question(1, i), Result: []byte(answered),
		Spend: journal.Spend{Stage: "rollout", Role: model.Target, Model: "m", StartedAt: time.Unix(int64(i)+1, 0)},
	}
}

func record(t testing.TB, records ...journal.Record) func(j *journal.Journal) {
	return func(j *journal.Journal) {
		if err := j.Append(t.Context(), records...); err != nil {
			t.Fatal(err)
		}
	}
}

func asking(i int) answers.Question {
	in := question(1, i)
	return answers.Question{Endpoint: "e", Role: model.Target, Model: "m", Input: in, Digest: in.Digest()}
}

func finds(t testing.TB, folder string, q answers.Question) bool {
	t.Helper()
	a, ok := open(t, folder).Find(t.Context(), q)
	if ok && (string(a.Result) != answered || a.Origin.Run == "" || a.Origin.Entry == 0) {
		t.Errorf("%s from %+v", a.Result, a.Origin)
	}
	return ok
}

func TestFindsWhatIsEqual(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	made(t, filepath.Join(folder, "x-1"), record(t, call(0), call(1)))
	if !finds(t, folder, asking(0)) || !finds(t, folder, asking(1)) {
		t.Error("what was recorded is not found")
	}
	for name, change := range map[string]func(q *answers.Question){
		"endpoint":  func(q *answers.Question) { q.Endpoint = "other" },
		"role":      func(q *answers.Question) { q.Role = model.Judge },
		"model":     func(q *answers.Question) { q.Model = "other" },
		"question":  func(q *answers.Question) { q.Input = question(1, 9); q.Digest = q.Input.Digest() },
		"full text": func(q *answers.Question) { q.Input = question(1, 9) },
	} {
		q := asking(0)
		change(&q)
		if finds(t, folder, q) {
			t.Errorf("another %s, and it is answered", name)
		}
	}
}

// What is no answer, or has to be asked, is never found.
func TestFindsNothingElse(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(r *journal.Record){
		"test":           func(r *journal.Record) { r.Key = "final/test/best/task-0/sample0/attempt0/turn1" },
		"confirmation":   func(r *journal.Record) { r.Key = "e1/s1/gate/cand/task-0/sample1/attempt0/turn1" },
		"asked again":    func(r *journal.Record) { r.Key = "e1/s1/gate/again/task-0/sample1/attempt0/turn1" },
		"fresh pass":     func(r *journal.Record) { r.Key = "final/fresh/task-0/sample0/attempt0/turn1" },
		"forgotten":      func(r *journal.Record) { r.Key = "e1/s1/p1/anew/gate/cand/task-0/sample0/attempt0/turn1" },
		"id as a place":  func(r *journal.Record) { r.Key = "final/test/best/e1%2Fs1%2Frollout/sample0/attempt0/turn1" },
		"second attempt": func(r *journal.Record) { r.Key = strings.Replace(r.Key, "attempt0", "attempt1", 1) },
		"taken over":     func(r *journal.Record) { r.Code = journal.CodeInherited },
		"cut":            func(r *journal.Record) { r.Result = []byte(`{"text":"an","finish":"length","model":"m-1"}`) },
		"limit":          func(r *journal.Record) { r.Result = []byte(`{"text":"","finish":"","limit":"content_filter"}`) },
		"refusal":        func(r *journal.Record) { r.Result = []byte(`{"text":"no","finish":"refusal","model":"m-1"}`) },
		"no call":        func(r *journal.Record) { r.Kind = journal.Episode },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder, bad := t.TempDir(), call(0)
			change(&bad)
			made(t, filepath.Join(folder, "x-1"), record(t, bad, call(1)))
			if finds(t, folder, asking(0)) || !finds(t, folder, asking(1)) {
				t.Error("it is an answer, or the other one is none")
			}
			// Nor when the index says so.
			q := asking(0)
			forge(t, folder, fmt.Sprintf("INSERT OR IGNORE INTO answers SELECT number, %d, 1 FROM runs; UPDATE runs SET filter = x'%s', count = 2", answers.HashOf(answers.EndpointID("e"), q.Digest), strings.Repeat("ff", 64)))
			if finds(t, folder, q) {
				t.Error("the index made it an answer")
			}
		})
	}
}

// An equal request at another sample is another question: even where the seed of the sample
// is not part of it, and even where the index says that it is answered.
func TestAnAnswerIsToItsSample(t *testing.T) {
	t.Parallel()
	for _, recorded := range []int{0, 1, 2, 999, 1000} {
		t.Run(fmt.Sprintf("recorded at sample %d", recorded), func(t *testing.T) {
			t.Parallel()
			folder, entry := t.TempDir(), call(0)
			entry.Key = fmt.Sprintf("text/0a1b/task-0/sample%d/attempt0/turn1", recorded)
			other := call(1)
			other.Key = "text/0a1b/task-1/sample0/attempt0/turn1"
			madeAs(t, result.Ablate, filepath.Join(folder, "x-1"), record(t, entry, other))
			q := asking(0)
			for _, forged := range []bool{false, true} {
				if forged {
					forge(t, folder, fmt.Sprintf("INSERT OR IGNORE INTO answers SELECT number, %d, 1 FROM runs; UPDATE runs SET filter = x'%s', count = 2", answers.HashOf(answers.EndpointID("e"), q.Digest), strings.Repeat("ff", 64)))
				}
				for _, asked := range []int{0, 1, 2, 10, 999, 1000} {
					q.Sample = asked
					if got, want := finds(t, folder, q), asked == recorded && recorded < 1000; got != want {
						t.Errorf("asked at sample %d, forged %t: found %t", asked, forged, got)
					}
				}
			}
		})
	}
}

// forge changes the index.
func forge(t testing.TB, folder, statement string) {
	t.Helper()
	db := sqlstore.Open(filepath.Join(folder, answers.File), "")
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// An answer counts as long as the model that gave it is the one that answers.
func TestAnotherServedModelIsAnother(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	made(t, filepath.Join(folder, "x-1"), record(t, call(0)))
	x := open(t, folder)
	if before, other := x.Served("e", "m", "m-2"); before != "m-1" || !other {
		t.Errorf("%q, %t", before, other)
	}
	if _, ok := x.Find(t.Context(), asking(0)); ok {
		t.Error("m-1 answers where m-2 is served")
	}
	newer := call(5)
	newer.Key, newer.Result = "final/test/best/task-5/sample0/attempt0/turn1", []byte(strings.Replace(answered, "m-1", "m-2", 1))
	made(t, filepath.Join(folder, "x-2"), record(t, newer))
	if finds(t, folder, asking(0)) {
		t.Error("a later run was answered by m-2, and m-1 still answers")
	}
}

// A copy, a damaged record, another run under the same name: none of them counts, and none is
// an error.
func TestWhatCannotBeTrusted(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(dir string) error{
		"copied": func(dir string) error {
			if err := os.CopyFS(dir+"-copy", os.DirFS(dir)); err != nil {
				return err
			}
			return os.RemoveAll(dir)
		},
		"another record": func(dir string) error {
			data, err := os.ReadFile(filepath.Join(dir, "run.db"))
			if err != nil {
				return err
			}
			if err := os.Rename(filepath.Join(dir, "run.db"), filepath.Join(dir, "old.db")); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, "run.db"), data, 0o600)
		},
		"no record": func(dir string) error { return os.Remove(filepath.Join(dir, "run.db")) },
		"a link":    func(dir string) error { return relink(dir) },
		"damaged": func(dir string) error {
			data, err := os.ReadFile(filepath.Join(dir, "run.db"))
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, "run.db"), []byte(strings.Replace(string(data), "an answer", "no answer", 1)), 0o600)
		},
	} {
		for _, before := range []bool{false, true} { // indexed before
			t.Run(fmt.Sprintf("%s, indexed before %t", name, before), func(t *testing.T) {
				t.Parallel()
				folder := t.TempDir()
				dir := filepath.Join(folder, "x-1")
				made(t, dir, record(t, call(0)))
				if before && !finds(t, folder, asking(0)) {
					t.Fatal("it is not found as it was")
				}
				if err := spoil(dir); err != nil {
					t.Fatal(err)
				}
				if finds(t, folder, asking(0)) {
					t.Error("it answers")
				}
			})
		}
	}
}

// relink puts a link to the record in its place.
func relink(dir string) error {
	path := filepath.Join(dir, "run.db")
	if err := os.Rename(path, dir+".db"); err != nil {
		return err
	}
	return os.Symlink(dir+".db", path)
}

// An index that cannot be used says why, at once; one that somebody has spoilt is made anew.
func TestTheIndexIsOnlyAProjection(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	made(t, filepath.Join(folder, "x-1"), record(t, call(0)))
	path := filepath.Join(folder, answers.File)
	for i, text := range []string{"", strings.Repeat("no database ", 1000)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if !finds(t, folder, asking(0)) {
			t.Errorf("%d: nothing is found", i)
		}
	}
	forge(t, folder, "PRAGMA user_version = 9")
	if _, err := answers.Open(t.Context(), folder, "self", time.Now); err == nil || !strings.Contains(err.Error(), "format 9") || !strings.Contains(err.Error(), "may be deleted") {
		t.Errorf("%v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := answers.Open(t.Context(), folder, "self", time.Now); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("%v", err)
	}
}

// Damage that is met in the middle, where nothing looked before, has the index made anew too,
// at once and by anyone who adds a run.
func TestDamageInTheMiddle(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	dir := filepath.Join(folder, "x-1")
	calls := make([]journal.Record, 2000)
	for i := range calls {
		calls[i] = call(i)
	}
	made(t, dir, record(t, calls...))
	for name, use := range map[string]func() error{
		"looked up": func() error {
			return using(t, folder, func(x *answers.Index) error {
				for i := range calls {
					if _, ok := x.Find(t.Context(), asking(i)); !ok {
						return fmt.Errorf("answer %d is not found: %w", i, x.Failed())
					}
				}
				return nil
			})
		},
		"added to": func() error {
			made(t, filepath.Join(folder, "x-2"), record(t, call(0)))
			return answers.Add(t.Context(), folder, filepath.Join(folder, "x-2"), time.Now)
		},
	} {
		whole := func(x *answers.Index) error { // and so closed that all of it is in the file
			if _, ok := x.Find(t.Context(), asking(1999)); !ok {
				return errors.New("it is damaged still")
			}
			return nil
		}
		if err := using(t, folder, whole); err != nil {
			t.Fatal(err)
		}
		if spoilt := spoilLeaves(t, filepath.Join(folder, answers.File)); spoilt == 0 {
			t.Fatal("the index has no part that is only read by looking up")
		}
		if err := use(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := using(t, folder, whole); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// using opens the index for as long as use takes.
func using(t testing.TB, folder string, use func(x *answers.Index) error) error {
	x, err := answers.Open(t.Context(), folder, "self", time.Now)
	if err != nil {
		return err
	}
	return errors.Join(use(x), x.Close())
}

// spoilLeaves overwrites the pages in which the index keeps answers, but for the first of the
// tree, and returns how many.
func spoilLeaves(t testing.TB, path string) (spoilt int) {
	const page, leaf = 4096, 10 // of an index, which a table without row numbers is
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := 5 * page; at < len(data); at += page { // behind the roots of the tables
		if data[at] == leaf {
			clear(data[at : at+page])
			spoilt++
		}
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return spoilt
}

// What a run at work has recorded is found beside it, and what it records later too.
func TestARunAtWork(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	made(t, filepath.Join(folder, "x-1"), func(j *journal.Journal) {
		for i := range 3 {
			record(t, call(i))(j)
			if !finds(t, folder, asking(i)) || finds(t, folder, asking(i+1)) {
				t.Errorf("after entry %d", i+1)
			}
		}
	})
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind result.Kind
		key  string
		role string
		at   answers.At
		may  bool
	}{
		{result.Train, "seed/selection/a%2Fb/sample0/attempt0/turn1", model.Target, answers.At{Task: "a/b"}, true},
		{result.Train, "e1/s2/again/mb0/more1/rollout/t/sample0/attempt0/turn1", model.Target, answers.At{Task: "t"}, true},
		{result.Train, "e1/s2/second/half1/gate/inc/t/sample0/check1/attempt0/turn1", model.Judge, answers.At{Task: "t"}, true},
		{result.Train, "e1/s2/gate/inc/t/sample0/check1/vote2/attempt0/turn1", model.Judge, answers.At{}, false},
		{result.Train, "e1/s2/merge/failure/1/0/attempt0/turn1", model.Optimizer, answers.At{}, true},
		{result.Train, "e1/end/compare/prev/t/sample0/attempt0/turn1", model.Target, answers.At{Task: "t"}, true},
		{result.Train, "final/test/best/t/sample0/attempt0/turn1", model.Target, answers.At{}, false},
		{result.Train, "final/pool/t/sample0/attempt0/turn1", model.Target, answers.At{}, false},
		{result.Train, "e1/s1/gate/drift/current/t/sample0/attempt0/turn1", model.Target, answers.At{}, false},
		{result.Evaluate, "eval/selection/t/sample0/attempt0/turn1", model.Target, answers.At{Task: "t"}, true},
		{result.Evaluate, "eval/selection/t/sample1/attempt0/turn1", model.Target, answers.At{}, false},
		{result.Evaluate, "eval/test/t/sample0/attempt0/turn1", model.Target, answers.At{}, false},
		{result.Ablate, "text/0a1b/t/sample0/attempt0/turn1", model.Target, answers.At{Task: "t"}, true},
		{result.Ablate, "text/0a1b/t/sample1/attempt0/turn1", model.Target, answers.At{Task: "t", Sample: 1}, true},
		{result.Prune, "text/0a1b/t/sample999/attempt0/turn1", model.Target, answers.At{Task: "t", Sample: 999}, true},
		{result.Prune, "text/0a1b/t/sample12/check1/attempt0/turn1", model.Judge, answers.At{Task: "t", Sample: 12}, true},
		{result.Prune, "text/0a1b/t/sample01/attempt0/turn1", model.Target, answers.At{}, false},
		{result.Prune, "text/0a1b/t/sample1x/attempt0/turn1", model.Target, answers.At{}, false},
		{result.Prune, "text/0a1b/t/sample9999/attempt0/turn1", model.Target, answers.At{}, false},
		{result.Ablate, "text/0a1b/t/sample1000/attempt0/turn1", model.Target, answers.At{}, false},
		{result.Train, "text/0a1b/t/sample1/attempt0/turn1", model.Target, answers.At{}, false},
		{result.Train, "e1/s1/rollout/t/sample1/attempt0/turn1", model.Target, answers.At{}, false},
		{result.Prune, "text/0a1b/t/sample1000/attempt0/turn1", model.Target, answers.At{}, false},
		{result.Compare, "compare/a/t/sample0/attempt0/turn1", model.Target, answers.At{}, false},
		{result.MeasureNoise, "noise/t/sample0/attempt0/turn1", model.Target, answers.At{}, false},
	} {
		if at, may := answers.Place(tt.kind, tt.key, tt.role); at != tt.at || may != tt.may {
			t.Errorf("%s %s: %+v, %t", tt.kind, tt.key, at, may)
		}
	}
}
