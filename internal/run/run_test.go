package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/result"
)

// options open a run with the identity seed=1.
func options(dir string) OpenOptions {
	return OpenOptions{
		Dir: dir, Name: filepath.Base(dir), Version: "v1", Identity: map[string]string{"seed": "1"}, Simulated: true,
		Now: func() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 8, time.UTC) },
		Compare: func(old, now map[string]string) []string {
			var out []string
			for _, k := range slices.Sorted(maps.Keys(now)) {
				if old[k] != now[k] {
					out = append(out, fmt.Sprintf("%s: was %s, is %s", k, old[k], now[k]))
				}
			}
			return out
		},
	}
}

func opened(t *testing.T, o OpenOptions) *Run {
	t.Helper()
	r, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func closed(t *testing.T, r *Run) {
	t.Helper()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r.Journal, r.lock = nil, nil
}

// pay records calls.
func pay(t *testing.T, r *Run, keys ...string) {
	t.Helper()
	for _, key := range keys {
		err := r.Journal.Append(t.Context(), journal.Record{Key: key, Kind: journal.Call, Input: journal.Input{Own: []byte(key)}, Result: []byte("{}")})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestOpenBeginsAndResumes(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "runs", "one")
	r := opened(t, options(dir))
	if r.Resumed || r.Manifest.Status != "running" || r.Manifest.Name != "one" || !r.Manifest.Simulated {
		t.Errorf("begun: %+v", r.Manifest)
	}
	pay(t, r, "a", "b")
	if err := r.SetStatus("completed"); err != nil {
		t.Fatal(err)
	}
	id := r.Manifest.RunID
	closed(t, r)
	m, found, err := ReadManifest(dir)
	if err != nil || !found || m.HighWater != 2 || m.Status != "completed" || m.RunID != id || !m.CreatedAt.Equal(time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)) {
		t.Errorf("manifest %+v, %v", m, err)
	}
	r = opened(t, options(dir))
	if ok := r.Journal.Has("b"); !r.Resumed || r.Manifest.RunID != id || r.Manifest.Status != "running" || !ok {
		t.Errorf("resumed: %v, %+v", r.Resumed, r.Manifest)
	}
}

func TestOpenIsExclusive(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := opened(t, options(dir))
	var locked *LockedError
	if _, err := Open(t.Context(), options(dir)); !errors.As(err, &locked) || locked.Dir != dir || !strings.Contains(err.Error(), dir) {
		t.Errorf("got %v", err)
	}
	if _, err := Fork(t.Context(), options(dir), filepath.Join(t.TempDir(), "fork")); !errors.As(err, &locked) {
		t.Errorf("a fork of an open run: %v", err)
	}
	closed(t, r)
	opened(t, options(dir))
}

func TestOpenRefusesAnotherIdentity(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	closed(t, opened(t, options(dir)))
	o := options(dir)
	o.Identity = map[string]string{"seed": "2", "skill": "x"}
	_, err := Open(t.Context(), o)
	var other *IdentityError
	if !errors.As(err, &other) || !cmp.Equal(other.Changes, []string{"seed: was 1, is 2", "skill: was , is x"}) {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{dir, "seed: was 1, is 2", "--fork"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in: %v", want, err)
		}
	}
	opened(t, options(dir)) // the lock is free, nothing has changed
}

// A directory without a manifest is begun anew, unless somebody has paid for
// what is in it.
func TestOpenWithoutManifest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := opened(t, options(dir))
	first := r.Manifest.RunID
	closed(t, r)
	remove := func() {
		if err := os.Remove(filepath.Join(dir, ManifestFile)); err != nil {
			t.Fatal(err)
		}
	}
	remove()
	r = opened(t, options(dir))
	if r.Resumed || r.Manifest.RunID == first {
		t.Errorf("resumed %v as %s", r.Resumed, r.Manifest.RunID)
	}
	pay(t, r, "a")
	closed(t, r)
	remove()
	var damaged *DamagedError
	if _, err := Open(t.Context(), options(dir)); !errors.As(err, &damaged) || !strings.Contains(err.Error(), "1 recorded") {
		t.Errorf("paid calls without a manifest: %v", err)
	}
}

func TestOpenRefusesADamagedRun(t *testing.T) {
	t.Parallel()
	write := func(name, text string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, damage := range map[string]func(*testing.T, string){
		"manifest of another format": write(ManifestFile, `{"format": 99}`),
		"manifest of an old format":  write(ManifestFile, `{"format": 1}`),
		"manifest cut":               write(ManifestFile, `{"format": 2, "run_`),
		"manifest empty":             write(ManifestFile, ""),
		"record empty":               write(DBFile, ""),
		"record of something else":   write(DBFile, strings.Repeat("no database ", 1000)),
		"record missing": func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, DBFile)); err != nil {
				t.Fatal(err)
			}
		},
		"record of another run": func(t *testing.T, dir string) {
			other := t.TempDir()
			r := opened(t, options(other))
			pay(t, r, "a", "b", "c", "d")
			closed(t, r)
			data, err := os.ReadFile(filepath.Join(other, DBFile))
			if err != nil {
				t.Fatal(err)
			}
			write(DBFile, string(data))(t, dir)
		},
		"record shorter than it was": func(t *testing.T, dir string) {
			data, err := os.ReadFile(filepath.Join(dir, ManifestFile))
			if err != nil {
				t.Fatal(err)
			}
			write(ManifestFile, strings.Replace(string(data), `"high_water": 2`, `"high_water": 9`, 1))(t, dir)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			r := opened(t, options(dir))
			pay(t, r, "a", "b")
			if err := r.SetStatus("stopped"); err != nil {
				t.Fatal(err)
			}
			closed(t, r)
			damage(t, dir)
			before := listing(t, dir)
			_, err := Open(t.Context(), options(dir))
			var damaged *DamagedError
			if !errors.As(err, &damaged) || damaged.Dir != dir || damaged.Unwrap() == nil || !strings.Contains(err.Error(), dir) {
				t.Fatalf("got %v", err)
			}
			if diff := cmp.Diff(before, listing(t, dir)); diff != "" {
				t.Errorf("a refused run was changed (-before +after):\n%s", diff)
			}
			if _, err := Fork(t.Context(), options(dir), filepath.Join(t.TempDir(), "fork")); err == nil {
				t.Error("it was forked")
			}
		})
	}
}

// listing is what a directory holds.
func listing(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(data)
	}
	return out
}

func TestOpenNamesWhatTheDiskSays(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), options(filepath.Join(file, "run"))); err == nil || !strings.Contains(err.Error(), "make run directory") {
		t.Errorf("got %v", err)
	}
	var damaged *DamagedError
	if _, err := Fork(t.Context(), options(t.TempDir()), filepath.Join(file, "fork")); err == nil || errors.As(err, &damaged) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, options(t.TempDir())); err == nil {
		t.Error("an ended context opened a run")
	}
}

func TestFilesStayInside(t *testing.T) {
	t.Parallel()
	r := opened(t, options(t.TempDir()))
	for _, name := range []string{"../out", "/etc/x", "steps/../../out", ""} {
		if err := r.WriteFile(name, nil); err == nil || !strings.Contains(err.Error(), "outside") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestFilesAreThereAtTheEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := opened(t, options(dir))
	if err := errors.Join(r.WriteFile("steps/step_0001/a.md", []byte("one")), r.WriteJSON(HistoryFile, map[string]int{"n": 1}), r.WriteJSON("list.json", list{1, 2})); err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		if err := r.WriteFile(BestFile, fmt.Append(nil, i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.SetStatus("completed"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"steps/step_0001/a.md": "one", HistoryFile: "{\n  \"n\": 1\n}\n", "list.json": "[1\n2]\n", BestFile: "299"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v", name, got, err)
		}
	}
}

// list has a layout of its own.
type list []int

func (l list) WriteLines(w io.Writer) error {
	_, err := fmt.Fprintf(w, "[%d\n%d]", l[0], l[1])
	return err
}

type broken struct{}

func (broken) WriteLines(io.Writer) error { return errors.New("no number") }

func TestWriteFailuresAreTold(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(r *Run) error{
		"a file where a folder is": func(r *Run) error { return r.WriteFile("taken", []byte("x")) },
		"a file below a file":      func(r *Run) error { return r.WriteFile(ManifestFile+"/x", []byte("x")) },
		"what is no JSON":          func(r *Run) error { return r.WriteJSON("x.json", func() {}) },
		"a line that is no JSON":   func(r *Run) error { return r.WriteJSON("x.json", broken{}) },
		"a file that is elsewhere": func(r *Run) error { return r.RemoveFile("../x") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.MkdirAll(filepath.Join(dir, "taken", "full"), 0o755); err != nil {
				t.Fatal(err)
			}
			r, err := Open(t.Context(), options(dir))
			if err != nil {
				t.Fatal(err)
			}
			if err := write(r); err == nil {
				t.Error("no error")
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	same := func(id map[string]string) bool { return id["seed"] == "1" }
	choose := func() (string, bool) {
		t.Helper()
		dir, resumes, err := Choose(base, "demo", same)
		if err != nil {
			t.Fatal(err)
		}
		return filepath.Base(dir), resumes
	}
	begin := func(name, seed, status string, at int) {
		t.Helper()
		o := options(filepath.Join(base, name))
		o.Identity = map[string]string{"seed": seed}
		o.Now = func() time.Time { return time.Unix(int64(at), 0) }
		r := opened(t, o)
		if err := r.SetStatus(result.Status(status)); err != nil {
			t.Fatal(err)
		}
		closed(t, r)
	}
	if name, resumes := choose(); name != "demo-1" || resumes {
		t.Errorf("the first: %s, %v", name, resumes)
	}
	begin("demo-1", "1", "completed", 10)
	begin("demo-2", "1", "stopped", 20)
	begin("demo-7", "1", "failed", 15)
	begin("demo-8", "2", "running", 30)
	if name, resumes := choose(); name != "demo-2" || !resumes {
		t.Errorf("the newest unfinished one of the same identity is demo-2, got %s, %v", name, resumes)
	}
	begin("demo-2", "1", "completed", 20)
	begin("demo-7", "1", "completed", 15)
	for _, name := range []string{"demo-x", "demo-9", "other-11"} {
		if err := os.MkdirAll(filepath.Join(base, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(base, "demo-9", ManifestFile), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if name, resumes := choose(); name != "demo-10" || resumes {
		t.Errorf("the next is demo-10, got %s, %v", name, resumes)
	}
	entries, err := List(base)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, filepath.Base(e.Dir))
		if (e.Err != nil) != (filepath.Base(e.Dir) == "demo-9") {
			t.Errorf("%s: %v", e.Dir, e.Err)
		}
	}
	if diff := cmp.Diff([]string{"demo-9", "demo-1", "demo-7", "demo-2", "demo-8"}, names); diff != "" {
		t.Errorf("runs, oldest first (-want +got):\n%s", diff)
	}
}

func TestListNeedsAFolder(t *testing.T) {
	t.Parallel()
	if got, err := List(filepath.Join(t.TempDir(), "none")); err != nil || len(got) != 0 {
		t.Errorf("a folder that is not there: %v, %v", got, err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := List(file); err == nil {
		t.Error("a file was listed")
	}
	if _, _, err := Choose(file, "demo", func(map[string]string) bool { return true }); err == nil {
		t.Error("a file was chosen from")
	}
}

func TestFork(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "new", "fork")
	r := opened(t, options(from))
	pay(t, r, "a", "b")
	parent := r.Manifest.RunID
	closed(t, r)

	o := options(from)
	o.Identity = map[string]string{"seed": "2"}
	f, err := Fork(t.Context(), o, to)
	if err != nil {
		t.Fatal(err)
	}
	rec, ok := lookup(t, f.Journal, "b")
	if f.Dir != to || f.Manifest.ForkedOf != parent || f.Manifest.RunID == parent || f.Manifest.Name != "fork" || !ok || rec.Code != journal.CodeInherited {
		t.Errorf("fork %+v, record %+v", f.Manifest, rec)
	}
	pay(t, f, "c")
	closed(t, f)
	f, err = Fork(t.Context(), o, to)
	if err != nil {
		t.Fatal(err)
	}
	if ok := f.Journal.Has("c"); !ok || !f.Resumed {
		t.Error("the fork was not resumed")
	}
	closed(t, f)
	r = opened(t, options(from))
	if ok := r.Journal.Has("c"); ok || r.Journal.HighWater() != 2 {
		t.Error("the fork wrote into the run it came from")
	}
}

// A fork that was killed before it had a manifest is begun anew by the same
// command, wherever it was killed.
func TestForkAfterAForkThatWasKilled(t *testing.T) {
	t.Parallel()
	from := t.TempDir()
	r := opened(t, options(from))
	pay(t, r, "a", "b")
	m := r.Manifest
	closed(t, r)
	for name, left := range map[string]func(t *testing.T, to string){
		"while it copied": func(t *testing.T, to string) {
			for _, file := range []string{DBFile + ".part", DBFile + ".part-wal"} {
				if err := os.WriteFile(filepath.Join(to, file), []byte("half"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		},
		"after it had copied": func(t *testing.T, to string) {
			if _, err := copyRecord(t.Context(), OpenOptions{Dir: to}, from, m); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) { // not in parallel: a fork locks the run it is of
			to := t.TempDir()
			left(t, to)
			f, err := Fork(t.Context(), options(from), to)
			if err != nil {
				t.Fatal(err)
			}
			if ok := f.Journal.Has("b"); !ok || f.Journal.HighWater() != 2 || f.Manifest.ForkedOf != m.RunID {
				t.Errorf("the fork holds %d entries, manifest %+v", f.Journal.HighWater(), f.Manifest)
			}
			closed(t, f)
			for _, file := range []string{DBFile + ".part", DBFile + ".part-wal"} {
				if _, err := os.Stat(filepath.Join(to, file)); err == nil {
					t.Errorf("%s is left", file)
				}
			}
			// What the fork paid for is never begun anew.
			f = opened(t, options(to))
			pay(t, f, "c")
			closed(t, f)
			if err := os.Remove(filepath.Join(to, ManifestFile)); err != nil {
				t.Fatal(err)
			}
			var damaged *DamagedError
			if _, err := Fork(t.Context(), options(from), to); !errors.As(err, &damaged) || damaged.Dir != to {
				t.Errorf("paid calls were overwritten: %v", err)
			}
		})
	}
}

// A directory that a killed fork left takes a run that is no fork: it holds
// nothing of the other.
func TestOpenAfterAForkThatWasKilled(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), t.TempDir()
	r := opened(t, options(from))
	pay(t, r, "a")
	m := r.Manifest
	closed(t, r)
	if _, err := copyRecord(t.Context(), OpenOptions{Dir: to}, from, m); err != nil {
		t.Fatal(err)
	}
	r = opened(t, options(to))
	if r.Resumed || r.Manifest.ForkedOf != "" || r.Journal.HighWater() != 0 {
		t.Errorf("it holds %d entries, manifest %+v", r.Journal.HighWater(), r.Manifest)
	}
}

func TestForkIntoAnotherRunIsRefused(t *testing.T) {
	t.Parallel()
	from, other := t.TempDir(), t.TempDir()
	closed(t, opened(t, options(from)))
	closed(t, opened(t, options(other)))
	for to, self := range map[string]bool{other: false, from: true} {
		before := listing(t, to)
		_, err := Fork(t.Context(), options(from), to)
		var refused *ForkError
		if !errors.As(err, &refused) || refused.Dir != to || refused.From != from || refused.Self != self || !strings.Contains(err.Error(), to) {
			t.Errorf("%s: %v", to, err)
		}
		if diff := cmp.Diff(before, listing(t, to)); diff != "" {
			t.Errorf("it was changed (-before +after):\n%s", diff)
		}
	}
	var locked *LockedError
	to := filepath.Join(t.TempDir(), "fork")
	f, err := Fork(t.Context(), options(from), to)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Fork(t.Context(), options(from), to); !errors.As(err, &locked) || locked.Dir != to {
		t.Errorf("a fork that is open: %v", err)
	}
	closed(t, f)
	if err := os.WriteFile(filepath.Join(to, ManifestFile), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	var damaged *DamagedError
	if _, err := Fork(t.Context(), options(from), to); !errors.As(err, &damaged) || damaged.Dir != to {
		t.Errorf("a fork without a readable manifest: %v", err)
	}
}

// The summary has the end of a run: it is removed when the run continues, and only
// then.
func TestTheSummaryGoesWhenARunGoesOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	summary := filepath.Join(dir, SummaryFile)
	r := opened(t, options(dir))
	if err := errors.Join(r.WriteJSON(SummaryFile, 1), r.SetStatus("completed")); err != nil {
		t.Fatal(err)
	}
	closed(t, r)
	o := options(dir)
	o.Identity = map[string]string{"seed": "2"}
	if _, err := Open(t.Context(), o); err == nil {
		t.Fatal("another identity was opened")
	}
	if _, err := os.Stat(summary); err != nil {
		t.Errorf("a refused run has lost its summary: %v", err)
	}
	closed(t, opened(t, options(dir)))
	if _, err := os.Stat(summary); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the summary of an earlier end is left: %v", err)
	}
}

func TestChangesOfOperationalSettingsAreTold(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i, tt := range []struct {
		now     map[string]string
		changed []string
		kept    map[string]string
	}{
		{nil, nil, nil}, // as by a program that keeps none
		{map[string]string{"limits.calls": "10"}, nil, map[string]string{"limits.calls": "10"}},
		{map[string]string{"limits.calls": "10"}, nil, map[string]string{"limits.calls": "10"}},
		{map[string]string{"limits.calls": "20", "out": "x"}, []string{"limits.calls: was 10, is 20", "out: was , is x"}, map[string]string{"limits.calls": "20", "out": "x"}},
		{nil, nil, map[string]string{"limits.calls": "20", "out": "x"}},
	} {
		o := options(dir)
		o.Operational = tt.now
		r := opened(t, o)
		if !cmp.Equal(r.Changed, tt.changed) {
			t.Errorf("session %d: changed %q, want %q", i, r.Changed, tt.changed)
		}
		closed(t, r)
		if m, _, err := ReadManifest(dir); err != nil || !cmp.Equal(m.Operational, tt.kept) {
			t.Errorf("session %d: the manifest keeps %v, %v", i, m.Operational, err)
		}
	}
}

func TestForkNeedsARun(t *testing.T) {
	t.Parallel()
	var missing *MissingError
	if _, err := Fork(t.Context(), options(t.TempDir()), filepath.Join(t.TempDir(), "fork")); !errors.As(err, &missing) || !strings.Contains(err.Error(), ManifestFile) {
		t.Errorf("got %v", err)
	}
	// A folder with the record of something else is not overwritten.
	from, to := t.TempDir(), t.TempDir()
	closed(t, opened(t, options(from)))
	if err := os.WriteFile(filepath.Join(to, DBFile), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Fork(t.Context(), options(from), to); err == nil {
		t.Error("it was overwritten")
	}
	if data, err := os.ReadFile(filepath.Join(to, DBFile)); err != nil || string(data) != "mine" {
		t.Errorf("it holds %q, %v", data, err)
	}
}

func TestDiscard(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		do   func(*testing.T, string, *Run)
		gone bool
	}{
		{"unused", func(*testing.T, string, *Run) {}, true},
		{"paid for", func(t *testing.T, _ string, r *Run) { pay(t, r, "a") }, false},
		{"with something else", func(t *testing.T, dir string, _ *Run) {
			if err := os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "run")
			r, err := Open(t.Context(), options(dir))
			if err != nil {
				t.Fatal(err)
			}
			tt.do(t, dir, r)
			if err := r.Discard(); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) != tt.gone {
				t.Errorf("the directory: %v", err)
			}
			if err := r.Close(); err != nil {
				t.Errorf("closing again: %v", err)
			}
		})
	}
}

func TestWriteExport(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out.jsonl")
	if err := WriteExport(path, []byte("{}\n")); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "{}\n" {
		t.Errorf("got %q, %v", data, err)
	}
	if err := WriteExport(filepath.Join(path, "x"), nil); err == nil || !strings.HasPrefix(err.Error(), "export: ") {
		t.Errorf("got %v", err)
	}
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
