package record

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
)

// opened is a run that a test writes.
func opened(t *testing.T, dir string) *run.Run {
	t.Helper()
	r, err := run.Open(t.Context(), run.OpenOptions{
		Dir: dir, Name: "x", Kind: result.Train, Version: "test", Now: time.Now, Identity: map[string]string{"train.batch_size": "4", "gate.group": `""`, "gate.density_weight": "0"},
		Operational: map[string]string{"limits.calls": "50", "limits.usd": "2.5", "limits.tokens": "null", "limits.time": `"2h0m0s"`},
		Compare:     func(_, _ map[string]string) []string { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func appendTo(t *testing.T, r *run.Run, records ...journal.Record) {
	t.Helper()
	if err := r.Journal.Append(t.Context(), records...); err != nil {
		t.Fatal(err)
	}
}

// answer is a call that ended at a time.
func answer(key, stage string, at time.Time) journal.Record {
	cost := int64(1_000_000)
	return journal.Record{
		Kind: journal.Call, Key: key, Input: journal.Input{Own: []byte(key)}, Result: []byte(`{"text":"x"}`),
		Spend: journal.Spend{Stage: stage, Role: "target", Model: "m", Usage: journal.Usage{Input: 10, Output: 2}, Cost: &cost, StartedAt: at.Add(-time.Second), Took: time.Second},
	}
}

func look(t *testing.T, w *Watcher) Progress {
	t.Helper()
	p, err := w.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A run is watched from its beginning to its end, beside the process that writes it.
func TestWatchARun(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "x")
	r := opened(t, dir)
	now := time.Now().Truncate(time.Second)
	w := Watch(dir, func() time.Time { return now })
	if p := look(t, w); p.Status != result.Running || p.Killed || p.LastEntry != nil || p.Ended() || p.Plan != nil {
		t.Errorf("at its beginning: %+v", p)
	}
	if err := r.SetPlan(run.Plan{Train: 9, Selection: 7, Test: 5, Steps: 3}); err != nil {
		t.Fatal(err)
	}
	appendTo(t, r, answer("seed/selection/a/sample0/attempt0/turn1", "rollout", now.Add(-2*time.Minute)))
	appendTo(t, r, answer("seed/selection/b/sample0/attempt0/turn1", "rollout", now.Add(-10*time.Second)), answer("e1/s1/mb0/rollout/a/sample0/attempt0/turn1", "rollout", now))
	p := look(t, w)
	if p.Calls != 3 || p.LastMinute != 2 || p.Tokens.Input != 30 || p.USD == nil || *p.USD != 0.003 || *p.Ceilings.Calls != 50 || *p.Ceilings.USD != 2.5 || p.Ceilings.Tokens != nil || p.Ceilings.Time != "2h0m0s" {
		t.Errorf("what was spent: %+v", p.Spending)
	}
	if diff := cmp.Diff([]Work{
		{Place: Place{Step: 1, Epoch: 1, At: "mb0/rollout"}, Stage: "rollout", Answered: 1, Of: 4}, {Place: Place{At: "seed/selection"}, Stage: "rollout", Answered: 2, Of: 7},
	}, p.Work); diff != "" {
		t.Error(diff)
	}
	failed := journal.Record{Kind: journal.Fault, Key: "e1/s1/mb0/rollout/b/sample0/attempt0/turn1", Code: "rate_limit", Spend: journal.Spend{Stage: "rollout", Role: "target", StartedAt: now, Estimate: true}}
	if err := r.Journal.Charge(t.Context(), failed); err != nil { // it waits for nobody
		t.Fatal(err)
	}
	appendTo(t, r, journal.Record{Kind: journal.Decision, Key: "train/start", Result: []byte(`{"warm":6}`)})
	score := 0.5
	known := result.Candidates{Items: []string{"a", "b"}, Candidates: []result.Candidate{{Origin: "seed", Best: true, Mean: &score, Pooled: []gate.Pooled{{Sum: 1, N: 1}, {N: 1}}}}}
	if err := r.WriteJSON("candidates.json", known); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteJSON(run.HistoryFile, result.History{Steps: []result.StepRecord{{Action: result.ActionBaseline, Metric: "hard", Current: &score, Best: &score, CurrentOrigin: "seed", BestOrigin: "seed"}}}); err != nil {
		t.Fatal(err)
	}
	p = look(t, w)
	if len(p.Faults) != 1 || p.Faults[0].Task != "b" || p.Faults[0].Code != "rate_limit" || p.Failed["rate_limit"] != 1 || p.Calls != 3 || p.Entries != 5 || p.Work[0].Of != 6 {
		t.Errorf("a failed attempt: %+v", p)
	}
	if p.Best == nil || *p.Best.Score != 0.5 || p.Best.N != 2 || len(p.Decisions) != 1 || p.SilentS == nil {
		t.Errorf("a decision: %+v", p)
	}
	if err := r.SetStatus(result.Completed); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if p = look(t, w); !p.Ended() || len(p.Work) != 0 || p.SilentS != nil || p.Calls != 3 {
		t.Errorf("at its end: %+v", p)
	}
	if _, err := os.Stat(filepath.Join(dir, "run.db-shm")); err == nil {
		t.Error("the watcher has left an index of the log")
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	var none *run.MissingError
	if _, err := w.Look(t.Context()); !errors.As(err, &none) {
		t.Errorf("a run that is gone: %v", err)
	}
}

// A process that died leaves a run that says it is at work.
func TestWatchTellsAKilledRun(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "x")
	r := opened(t, dir)
	appendTo(t, r, answer("seed/selection/a/sample0/attempt0/turn1", "rollout", time.Now()))
	w := Watch(dir, time.Now)
	if p := look(t, w); p.Killed {
		t.Error("killed while its process works")
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if p := look(t, w); !p.Killed || !p.Ended() || p.Status != result.Running {
		t.Errorf("%+v", p)
	}
}

// Another run in the place of the one that was watched is read from its beginning.
func TestWatchBeginsAnew(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "x")
	w := Watch(dir, time.Now)
	for _, n := range []int{5, 2} {
		r := opened(t, dir)
		for i := range n {
			appendTo(t, r, answer(fmt.Sprintf("seed/selection/t%d/sample0/attempt0/turn1", i), "rollout", time.Now()))
		}
		if p := look(t, w); p.Calls != int64(n) || p.Entries != int64(n) {
			t.Errorf("%d calls, %d entries, want %d", p.Calls, p.Entries, n)
		}
		if err := errors.Join(r.Close(), os.RemoveAll(dir)); err != nil {
			t.Fatal(err)
		}
	}
}

// A record that cannot be read is an error, and no run that has ended.
func TestWatchADamagedRecord(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "x")
	r := opened(t, dir)
	appendTo(t, r, answer("seed/selection/a/sample0/attempt0/turn1", "rollout", time.Now()))
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, run.DBFile), []byte("no database at all, but longer than one page of it would be"), 0o600); err != nil {
		t.Fatal(err)
	}
	var damaged *run.DamagedError
	if _, err := Watch(dir, time.Now).Look(t.Context()); !errors.As(err, &damaged) {
		t.Errorf("%v", err)
	}
}

// A record that cannot be a run's is not counted to its end: the entry that is missing is named, and so is that there
// are more stages or codes than any run has.
func TestWatchAnImpossibleRecord(t *testing.T) {
	t.Parallel()
	many := func(change func(*journal.Record, int)) (out []journal.Record) {
		for i := range 1500 {
			r := answer(fmt.Sprintf("seed/selection/t%d/sample0", i), "rollout", time.Now())
			change(&r, i)
			out = append(out, r)
		}
		return out
	}
	for name, tc := range map[string]struct {
		entries []journal.Record
		faults  bool
		script  string
		says    string
	}{
		"possible":         {entries: many(func(*journal.Record, int) {})},
		"an entry missing": {entries: many(func(*journal.Record, int) {}), script: "DELETE FROM entries WHERE seq = 7", says: "entry 7 is missing"},
		"stages":           {entries: many(func(r *journal.Record, i int) { r.Stage = fmt.Sprint("s", i) }), says: "more stages, codes or lost tries"},
		"codes": {entries: many(func(r *journal.Record, i int) {
			r.Kind, r.Result, r.Input, r.Code = journal.Fault, nil, journal.Input{}, fmt.Sprint("c", i)
		}), faults: true, says: "more stages, codes or lost tries"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "x")
			r := opened(t, dir)
			put := r.Journal.Append
			if tc.faults {
				put = r.Journal.Charge
			}
			if err := errors.Join(put(t.Context(), tc.entries...), r.Close()); err != nil {
				t.Fatal(err)
			}
			if tc.script != "" {
				db, err := sql.Open("sqlite", filepath.Join(dir, run.DBFile))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := db.ExecContext(t.Context(), tc.script); err != nil {
					t.Fatal(err)
				}
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
			}
			_, err := Watch(dir, time.Now).Look(t.Context())
			var damaged *run.DamagedError
			if tc.says == "" && err != nil || tc.says != "" && (!errors.As(err, &damaged) || !strings.Contains(err.Error(), tc.says)) {
				t.Errorf("looked at: %v", err)
			}
		})
	}
}

// What a check says of a run, whole and damaged in several ways.
func TestCheck(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		damage func(t *testing.T, dir string)
		want   map[string]State
	}{
		"whole":            {func(*testing.T, string) {}, map[string]State{"manifest.json": Intact, "run.db": Intact, "run.db-mark": Intact, "config.yaml": Missing}},
		"an entry changed": {overwrite("run.db", "turn1", "turn7"), map[string]State{"manifest.json": Intact, "run.db": Damaged, "config.yaml": Missing}},
		"another run": {func(t *testing.T, dir string) {
			t.Helper()
			m, _, err := run.ReadManifest(dir)
			if err != nil {
				t.Fatal(err)
			}
			m.RunID = "another"
			data, err := json.Marshal(m)
			if err = errors.Join(err, os.WriteFile(filepath.Join(dir, run.ManifestFile), data, 0o600)); err != nil {
				t.Fatal(err)
			}
		}, map[string]State{"manifest.json": Intact, "run.db": Differs, "config.yaml": Missing}},
		"no record":        {remove("run.db"), map[string]State{"manifest.json": Intact, "run.db": Missing}},
		"no manifest":      {remove("manifest.json"), map[string]State{"manifest.json": Missing, "run.db": Intact, "run.db-mark": Intact}},
		"damaged manifest": {write("manifest.json", "{"), map[string]State{"manifest.json": Damaged, "run.db": Intact, "run.db-mark": Intact}},
		"damaged history":  {write("history.json", "["), map[string]State{"manifest.json": Intact, "run.db": Intact, "run.db-mark": Intact, "history.json": Damaged}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "x")
			r := opened(t, dir)
			appendTo(t, r, answer("seed/selection/a/sample0/attempt0/turn1", "rollout", time.Now()))
			if err := errors.Join(r.SetStatus(result.Stopped), r.Close()); err != nil {
				t.Fatal(err)
			}
			tt.damage(t, dir)
			c, err := Check(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]State{}
			for _, f := range c.Findings {
				got[f.File] = f.State
				if f.State != Intact && f.Help == "" {
					t.Errorf("%s: nothing is said that helps", f.File)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s\n%+v", diff, c.Findings)
			}
		})
	}
	var none *run.MissingError
	if _, err := Check(context.Background(), t.TempDir()); !errors.As(err, &none) {
		t.Errorf("no run: %v", err)
	}
}

// overwrite changes bytes within a file.
func overwrite(name, old, now string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		path := filepath.Join(dir, name)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		changed := []byte{}
		for i := 0; i < len(data); i++ {
			if i+len(old) <= len(data) && string(data[i:i+len(old)]) == old {
				changed = append(changed, now...)
				i += len(old) - 1
				continue
			}
			changed = append(changed, data[i])
		}
		if string(changed) == string(data) {
			t.Fatalf("%s does not hold %q", name, old)
		}
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
