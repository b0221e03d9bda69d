package journal_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/journal"
)

func TestCopyTo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, filepath.Join(dir, "run.db"))
	skill := journal.NewBlob("skill")
	appendAll(t, j, call(1, skill, []byte("q1"), []byte("old")))
	again := call(1, skill, []byte("q1b"), []byte("new"))
	again.Replace = true
	appendAll(t, j, again, decision("d", "1"), call(2, skill, []byte("q2"), []byte("a2")))
	appendAll(t, j, call(3, skill, []byte("q3"), []byte("a3")))

	copied := filepath.Join(dir, "fork.db")
	if err := j.CopyTo(t.Context(), copied, 4); err != nil {
		t.Fatal(err)
	}
	fork := open(t, copied)
	got := map[string]string{}
	err := fork.Each(t.Context(), func(r journal.Record) error {
		got[string(r.Input.Own)] = r.Input.Shared[0].Text() + " " + string(r.Result)
		if r.Usage != (journal.Usage{}) || r.Code != journal.CodeInherited {
			t.Errorf("the copy of %s is charged to the fork", r.Key)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"q1b": "skill new", "q2": "skill a2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("copied (-want +got):\n%s", diff)
	}
	if sum := journal.Sum(fork.Totals()); sum.Calls != 0 || sum.Inherited != 2 {
		t.Errorf("the fork counts %d calls of its own and %d inherited", sum.Calls, sum.Inherited)
	}
	if err := j.CopyTo(t.Context(), copied, 4); err == nil {
		t.Error("a copy went over an existing file")
	}
	stop := errors.New("stop")
	if err := j.Each(t.Context(), func(journal.Record) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("Each hides the error of its function: %v", err)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if err := j.CopyTo(done, filepath.Join(dir, "none.db"), 4); err == nil {
		t.Error("a copy succeeded without its context")
	}
}

// A copy takes over the last result of a key up to its end, also when another came
// after that, and one whose item was given up.
func TestCopyToTakesTheLastResults(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, filepath.Join(dir, "run.db"))
	skill := journal.NewBlob("skill")
	for _, result := range []string{"old", "new", "newer"} {
		r := call(1, skill, []byte("q1"), []byte(result))
		r.Replace = true
		appendAll(t, j, r)
	}
	second := call(2, skill, []byte("q2"), []byte("kept"))
	appendAll(t, j, second, journal.Record{Key: "d", Kind: journal.Decision, Result: []byte("without")})
	appendAll(t, j, journal.Record{Key: second.Key, Kind: journal.Unmeasured, Replace: true})
	for _, tt := range []struct {
		upTo int64
		want []string
	}{{2, []string{"new"}}, {3, []string{"newer"}}, {j.HighWater(), []string{"newer", "kept"}}} {
		copied := filepath.Join(dir, fmt.Sprintf("fork%d.db", tt.upTo))
		if err := j.CopyTo(t.Context(), copied, tt.upTo); err != nil {
			t.Errorf("up to %d: %v", tt.upTo, err)
			continue
		}
		var got []string
		for r, err := range open(t, copied).Results(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(r.Result))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("up to %d (-want +got):\n%s", tt.upTo, diff)
		}
	}
}

// A process that was killed while it copied leaves no file that is taken for a
// whole one, and the next copy begins again.
func TestCopyToAfterACopyThatWasKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, filepath.Join(dir, "run.db"))
	appendAll(t, j, call(1, journal.NewBlob("skill"), []byte("q1"), []byte("a1")))
	copied := filepath.Join(dir, "fork.db")
	half := open(t, copied+".part")
	appendAll(t, half, call(7, journal.NewBlob("skill"), []byte("q7"), []byte("half")))
	if err := half.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(copied+".part-shm", []byte("stale"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := j.CopyTo(t.Context(), copied, 1); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(copied + ".part*"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	fork := open(t, copied)
	if got := results(t, fork); len(got) != 1 || string(got[0].Result) != "a1" {
		t.Errorf("the copy holds %+v", got)
	}
	if !fork.IsInherited() || j.IsInherited() {
		t.Errorf("inherited: the copy %v, the original %v", fork.IsInherited(), j.IsInherited())
	}
	again := call(1, journal.NewBlob("skill"), []byte("q1"), []byte("paid"))
	again.Replace = true
	appendAll(t, fork, again)
	if fork.IsInherited() {
		t.Error("what the fork paid for is taken for inherited")
	}
}
