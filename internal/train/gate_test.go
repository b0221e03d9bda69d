package train

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/result"
)

// fresh are options of the strict gate that measure noise and end with a fresh pass.
func fresh() Options {
	o := standard()
	o.Gate, o.Fresh, o.Alpha, o.Deterministic = gate.ModeStrict, true, 0.05, true
	return o
}

// noisy makes rollouts forget the skill, by key and sample, in that share.
func noisy(share float64) func(key string) bool {
	return func(key string) bool {
		h := fnv.New64a()
		h.Write([]byte(key)) // never fails
		return float64(h.Sum64()%1000)/1000 < share
	}
}

func (w *world) candidates(t *testing.T) map[string]result.Candidate {
	t.Helper()
	var c result.Candidates
	if err := json.Unmarshal([]byte(w.files["candidates.json"]), &c); err != nil {
		t.Fatal(err)
	}
	out := map[string]result.Candidate{}
	for _, x := range c.Candidates {
		out[x.Origin] = x
	}
	return out
}

// Another model behind the same name makes all that was measured worthless: the
// incumbent is measured again before anything is compared with it.
func TestDriftIsMeasuredAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(24, 20, 0)
	w.propose = map[int][]string{1: {"rule a"}, 2: {"rule b"}, 3: {"rule c"}}
	w.served = func(key string) string {
		if strings.HasPrefix(key, "seed/") || strings.HasPrefix(key, "e1/s1/") {
			return "model-1"
		}
		return "model-2 fp"
	}
	r := w.must(t, fresh())
	want := []result.Drift{{At: "e1/s2/gate", From: []string{"model-1"}, To: []string{"model-2 fp"}}}
	if diff := cmp.Diff(want, r.History.Drift); diff != "" {
		t.Errorf("drift (-want +got):\n%s", diff)
	}
	if got := w.rolled("e1/s2/gate/drift/current/"); got != 20 {
		t.Errorf("the incumbent was measured on %d items again, want 20", got)
	}
	if !w.warned("model-2 fp") || !slices.Equal(actions(r), []string{"baseline", "accept_new_best", "accept_new_best", "accept_new_best"}) {
		t.Errorf("%v; %v", actions(r), w.events)
	}
}

// Fingerprints that differ from answer to answer say nothing, and a server that
// goes to and fro is not measured for ever.
func TestDriftIsNotSeenEverywhere(t *testing.T) {
	t.Parallel()
	calls := 0
	w := newWorld(24, 20, 0)
	w.propose = map[int][]string{1: {"rule a"}, 2: {"rule b"}, 3: {"rule c"}}
	var mu sync.Mutex
	w.served = func(string) string {
		mu.Lock()
		defer mu.Unlock()
		calls++
		return fmt.Sprintf("model-1 fp-%d", calls)
	}
	if r := w.must(t, fresh()); len(r.History.Drift) != 0 {
		t.Errorf("drift: %+v", r.History.Drift)
	}
	w = newWorld(8*6, 20, 0)
	for step := range 6 {
		w.propose[step+1] = []string{fmt.Sprintf("nothing %d", step)}
	}
	w.served = func(key string) string {
		var step int
		_, _ = fmt.Sscanf(key, "e1/s%d", &step) // 0 for the seed skill
		return fmt.Sprintf("model-%d", step)
	}
	r := w.must(t, fresh())
	if n := w.rolled("e1/s4/gate/drift/"); len(r.History.Drift) != 6 || n != 0 || w.rolled("e1/s3/gate/drift/") == 0 {
		t.Errorf("%d drifts, %d rollouts to measure again after the fourth", len(r.History.Drift), n)
	}
	if !w.warned("keeps changing") {
		t.Error("nobody was told")
	}
}

// The test split is opened once; with the record of another opening, for other
// skills, it stays closed unless it is said to be opened again.
func TestTheTestIsSealed(t *testing.T) {
	t.Parallel()
	first := newWorld(8, 20, 20)
	first.propose[1] = []string{"rule a"}
	o := fresh()
	o.Test = true
	if f := first.must(t, o).History.Final; f.TestOpenings != 0 || f.TestRefused || f.Test == nil {
		t.Fatalf("first opening: %+v", f)
	}
	again := func(line string, reopen bool) (*world, *Result) {
		w := newWorld(8, 20, 20)
		w.propose[1], w.recorded, w.before = []string{line}, first.recorded, read(0)
		o := o
		o.Reopen = reopen
		return w, w.must(t, o)
	}
	if _, r := again("rule a", false); r.History.Final.TestOpenings != 0 || r.History.Final.TestRefused || r.Certificate.N != 20 {
		t.Errorf("the same opening once more: %+v", r.History.Final)
	}
	if w, r := again("rule b", false); !r.History.Final.TestRefused || r.History.Final.Test != nil || w.rolled("final/test") != 0 || !w.warned("--reopen-test") {
		t.Errorf("other skills: %+v after %d rollouts", r.History.Final, w.rolled("final/test"))
	}
	w, r := again("rule b", true)
	if r.History.Final.TestOpenings != 2 || r.History.Final.Test == nil || r.Certificate.Certified || !strings.Contains(r.Certificate.Words, "2nd time") {
		t.Errorf("opened again: %+v, %+v", r.History.Final, r.Certificate)
	}
	if w.rolled("final/test/seed/") != 20 || w.rolled("final/test/open2/best/") != 20 {
		t.Error("an arm that was tested before is tested at another place")
	}
	if _, r := again("rule b", false); r.History.Final.TestOpenings != 2 || r.History.Final.TestRefused {
		t.Errorf("a resumed run after that: %+v", r.History.Final)
	}
}

// warned reports whether a warning holds the text.
func (w *world) warned(text string) bool {
	return slices.ContainsFunc(w.events, func(e event.Event) bool {
		v, ok := e.(event.Warning)
		return ok && strings.Contains(v.Text, text)
	})
}

// An optimizer whose edits do nothing, with a target that errs by chance: of 100
// runs at most 5 are certified to have improved anything.
func TestNothingIsSeldomCertified(t *testing.T) {
	t.Parallel()
	certified, changed := 0, 0
	for seed := range 100 {
		w := newWorld(16, 20, 40)
		w.seed, w.before = "# Skill\nrule a\nrule b\n", read(0)
		w.propose = map[int][]string{1: {fmt.Sprintf("nothing %d", seed)}, 2: {"nothing more"}}
		w.forgets = func(key string) bool { return noisy(0.3)(fmt.Sprintf("%d %s", seed, key)) }
		o := fresh()
		o.Test, o.Seed, o.Deterministic = true, int64(seed), false
		r := w.must(t, o)
		if r.Best.Text() != w.seed {
			changed++
		}
		if r.Certificate.Certified {
			certified++
		}
	}
	if changed == 0 {
		t.Error("no edit was ever accepted: there was nothing to certify")
	}
	if certified > 5 {
		t.Errorf("%d of 100 runs are certified, %d shipped a skill that is no better", certified, changed)
	}
	t.Logf("%d certified, %d shipped a changed skill", certified, changed)
}
