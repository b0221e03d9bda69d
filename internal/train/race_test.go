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

// raced are options of the racing gate.
func raced() Options {
	o := standard()
	o.Gate, o.Risk, o.Confirm, o.Alpha, o.Deterministic = gate.ModeRace, 0.5, "auto", 0.05, true
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

// With a target that always gives the same answer, survivors are not asked again, and
// what is hopeless is not measured to the end.
func TestRaceOfADeterministicTarget(t *testing.T) {
	t.Parallel()
	w := newWorld(24, 40, 40)
	w.propose = map[int][]string{1: {"rule a"}, 2: {"harm a"}, 3: {"rule b"}}
	o := raced()
	o.Test = true
	r := w.must(t, o)
	if diff := cmp.Diff([]string{"baseline", "accept_new_best", "reject_early", "accept_new_best"}, actions(r)); diff != "" {
		t.Fatalf("actions (-want +got):\n%s", diff)
	}
	n := r.History.Noise
	if n == nil || !n.Deterministic || n.Twice != 8 || len(n.Flips) != 0 || n.Within != 0 {
		t.Errorf("noise: %+v", n)
	}
	if inc, again := w.rolled("e1/s1/gate/inc/")+w.rolled("e1/s3/gate/inc/"), w.rolled("e1/s1/gate/again/"); inc != 0 || again != maxRechecked {
		t.Errorf("the incumbent was asked %d times again, the accepted candidate %d times", inc, again)
	}
	if got := w.rolled("e1/s2/gate/cand/"); got >= 40 {
		t.Errorf("a hopeless candidate was measured on %d of 40 items", got)
	}
	s := r.History.Steps[1]
	if s.Phase != "race" || value(s.Difference) != "0.25" || s.SE == nil || s.Draws[gate.Candidate] != 40 {
		t.Errorf("step 1: %+v", s)
	}
	c := w.candidates(t)
	if got := c["step 3"]; !got.Best || !got.Accepted || value(got.Mean) != "0.5" || len(got.Judged) != 1 || got.Parent != c["step 1"].Hash || len(got.Edits) != 1 {
		t.Errorf("the best candidate: %+v", got)
	}
	if got := c["step 2"]; got.Accepted || got.Judged[0].Action != "reject_early" || !strings.Contains(got.Text, "harm a") {
		t.Errorf("a rejected candidate: %+v", got)
	}
	f := r.History.Final
	if f.Certificate == nil || !f.Certificate.Certified || value(f.Certificate.Difference) != "0.5" || f.Certificate.Wins != 20 || f.Certificate.Losses != 0 {
		t.Errorf("certificate: %+v", f.Certificate)
	}
	if f.Reported == nil || f.Reported.Pooled != 0.5 || f.Reported.Naive != 0.5 || f.Reported.Items != 40 || f.Reported.Evaluations != 44 || f.Reported.Fresh != nil {
		t.Errorf("reported: %+v", f.Reported)
	}
}

// A target whose answers change is found out; then evidence is pooled over fresh
// samples, and a sample is never drawn twice.
func TestRaceOfANoisyTarget(t *testing.T) {
	t.Parallel()
	w := newWorld(24, 60, 20)
	w.seed = "# Skill\nrule c\nrule d\n"
	w.propose = map[int][]string{1: {"rule a"}, 2: {"nothing"}, 3: {"rule b"}}
	w.forgets = noisy(0.2)
	r := w.must(t, raced())
	n := r.History.Noise
	if n.Deterministic || len(n.Flips) == 0 || n.Within == 0 || n.Detectable <= 1.0/60 {
		t.Errorf("noise: %+v", n)
	}
	if s := r.History.Steps[1]; s.Phase != "confirm" || s.Draws[gate.Incumbent] == 0 {
		t.Errorf("step 1 was not confirmed: %+v", s)
	}
	seen := map[string]bool{}
	for _, key := range w.rollouts {
		if seen[key] {
			t.Errorf("%s was rolled out twice", key)
		}
		seen[key] = true
	}
	c := w.candidates(t)["step 1"]
	most := 0
	for i, p := range c.Pooled {
		most = max(most, p.N)
		if c.Next[i] < p.N {
			t.Errorf("item %d: %d evaluations, the next sample is number %d", i, p.N, c.Next[i])
		}
	}
	if most < 2 {
		t.Error("no item of the accepted candidate was evaluated twice")
	}
	if rep := r.Reported; rep == nil || rep.Fresh == nil || rep.Evaluations <= rep.Items || rep.Low >= rep.Pooled || rep.High <= rep.Pooled {
		t.Errorf("reported: %+v", rep)
	}
}

// A lucky first look does not last: answers that change after acceptance end the
// trust in single evaluations.
func TestRecheckFindsOut(t *testing.T) {
	t.Parallel()
	w := newWorld(16, 20, 0)
	w.propose = map[int][]string{1: {"rule a"}, 2: {"rule b"}}
	w.forgets = func(key string) bool { return strings.Contains(key, "/gate/again/") }
	r := w.must(t, raced())
	if !r.History.Noise.Deterministic {
		t.Fatalf("noise: %+v", r.History.Noise)
	}
	if s := r.History.Steps[2]; s.Phase != "confirm" {
		t.Errorf("step 2 was decided in phase %s, want confirm", s.Phase)
	}
	if !w.warned("answered otherwise") {
		t.Errorf("nobody was told: %v", w.events)
	}
}

// Where no answer changed, and several could have, survivors are not confirmed, whatever
// the settings of sampling are; the first answer that changes ends that.
func TestQuietTargetsAreNotConfirmed(t *testing.T) {
	t.Parallel()
	const solves = "# Skill\nrule c\nrule d\n"
	for name, tt := range map[string]struct {
		seed, confirm, forgets string
		phase                  string // of the first step
		ends                   bool   // the trust ends there
	}{
		"quiet":                {solves, "measured", "none", "race", false},
		"nothing could change": {"# Skill\nrule c\n", "measured", "none", "confirm", false},
		"as before":            {solves, "auto", "none", "confirm", false},
		"an answer changes":    {solves, "measured", "seed/selection/again/s03/", "confirm", false},
		"an answer does later": {solves, "measured", "e1/s1/gate/again/", "race", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(16, 20, 0)
			w.seed = tt.seed
			w.propose = map[int][]string{1: {"rule a"}, 2: {"rule b"}}
			w.forgets = func(key string) bool { // two items are lost: no candidate is far ahead
				return strings.Contains(key, tt.forgets) || strings.Contains(key, "/gate/cand/s02/") || strings.Contains(key, "/gate/cand/s06/")
			}
			o := raced()
			o.Deterministic, o.Confirm = false, tt.confirm
			if got := w.must(t, o).History.Steps[1].Phase; got != tt.phase {
				t.Errorf("step 1 was decided in phase %s, want %s", got, tt.phase)
			}
			if told := w.warned("answered otherwise though none had before"); told != tt.ends {
				t.Errorf("told that answers change: %v", told)
			}
		})
	}
}

// One item that can never be measured does not stop, loop or bias a run; it is
// named.
func TestRaceGoesOnWithoutAnItem(t *testing.T) {
	t.Parallel()
	for _, deterministic := range []bool{true, false} {
		t.Run(fmt.Sprintf("steady %v", deterministic), func(t *testing.T) {
			t.Parallel()
			w := newWorld(24, 10, 0)
			w.propose = map[int][]string{1: {"rule a"}, 2: {"harm a"}, 3: {"rule b"}}
			w.fails = failing("/s02/sample")
			o := raced()
			o.Deterministic = deterministic
			r := w.must(t, o)
			if diff := cmp.Diff([]string{"baseline", "accept_new_best", "reject_early", "accept_new_best"}, actions(r)); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
			for _, s := range r.History.Steps[:2] {
				if !cmp.Equal(s.Unmeasured, []string{"s02"}) || s.Retried {
					t.Errorf("step %d goes without %v, retried %v", s.Step, s.Unmeasured, s.Retried)
				}
			}
			// Types a and b have 3 and 3 of the 9 items that are left.
			if s := r.History.Steps[3]; value(s.Candidate) != "0.667" || s.SelectionN != 9 {
				t.Errorf("step 3: %s on %d items", value(s.Candidate), s.SelectionN)
			}
			if !w.warned("s02") {
				t.Error("the item is not named")
			}
			for _, s := range r.History.Steps[1:] {
				if got := w.rolled(fmt.Sprintf("e1/s%d/gate/cand/s02/", s.Step)); got > 2*(gate.MaxRedraws+1) {
					t.Errorf("step %d asked %d times", s.Step, got)
				}
			}
		})
	}
}

// Too many missing items decide nothing; the step is tried once more.
func TestRaceIsIndecisiveOnTooFew(t *testing.T) {
	t.Parallel()
	w := newWorld(8, 8, 0)
	w.propose[1] = []string{"rule a"}
	w.fails = failing("e1/s1/gate/cand/s00/", "e1/s1/gate/cand/s01/")
	r := w.must(t, raced())
	if s := r.History.Steps[1]; s.Action != "accept_new_best" || !s.Retried || r.Rejected != 0 {
		t.Errorf("%s, retried %v, %d rejected", s.Action, s.Retried, r.Rejected)
	}
}

// Guidance that does no harm passes, and harmful guidance does not.
func TestGuidanceIsRacedForNonInferiority(t *testing.T) {
	t.Parallel()
	for guidance, want := range map[string]string{"be careful": "accept", "rule b": "accept_new_best", "harm a": "reject_early"} {
		w := newWorld(8, 40, 0)
		w.propose[1], w.guidance[2] = []string{"rule a"}, guidance
		o := raced()
		o.Epochs, o.SlowUpdate = 2, true
		r := w.must(t, o)
		if e := r.History.Epochs[0]; e.SlowUpdate != want {
			t.Errorf("guidance %q: %s, want %s", guidance, e.SlowUpdate, want)
		}
	}
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
	r := w.must(t, raced())
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
	if r := w.must(t, raced()); len(r.History.Drift) != 0 {
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
	r := w.must(t, raced())
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
	o := raced()
	o.Test = true
	if f := first.must(t, o).History.Final; f.TestOpenings != 0 || f.TestRefused || f.Test == nil {
		t.Fatalf("first opening: %+v", f)
	}
	again := func(line string, reopen bool) (*world, *result.FinalRecord) {
		w := newWorld(8, 20, 20)
		w.propose[1], w.recorded = []string{line}, first.recorded
		o := o
		o.Reopen = reopen
		return w, w.must(t, o).History.Final
	}
	if _, f := again("rule a", false); f.TestOpenings != 0 || f.TestRefused || !f.Certificate.Certified && f.Certificate.N != 20 {
		t.Errorf("the same opening once more: %+v", f)
	}
	if w, f := again("rule b", false); !f.TestRefused || f.Test != nil || w.rolled("final/test") != 0 || !w.warned("--reopen-test") {
		t.Errorf("other skills: %+v after %d rollouts", f, w.rolled("final/test"))
	}
	w, f := again("rule b", true)
	if f.TestOpenings != 2 || f.Test == nil || f.Certificate.Certified || !strings.Contains(f.Certificate.Words, "2nd time") {
		t.Errorf("opened again: %+v, %+v", f, f.Certificate)
	}
	if w.rolled("final/test/seed/") != 20 || w.rolled("final/test/open2/best/") != 20 {
		t.Error("an arm that was tested before is tested at another place")
	}
	if _, f := again("rule b", false); f.TestOpenings != 2 || f.TestRefused {
		t.Errorf("a resumed run after that: %+v", f)
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
		w.seed = "# Skill\nrule a\nrule b\n"
		w.propose = map[int][]string{1: {fmt.Sprintf("nothing %d", seed)}, 2: {"nothing more"}}
		w.forgets = func(key string) bool { return noisy(0.3)(fmt.Sprintf("%d %s", seed, key)) }
		o := raced()
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

// Before one is shipped the best are compared on fresh passes: luck that lasted
// through training does not last through those.
func TestTheBestIsSelectedAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(24, 40, 0)
	w.seed = "# Skill\nrule a\n"
	w.propose = map[int][]string{1: {"rule b"}, 2: {"rule c"}, 3: {"be nice"}}
	w.forgets = func(key string) bool {
		if strings.HasPrefix(key, "e1/s3/gate/cand/") {
			return false // the last candidate is lucky and never errs
		}
		return noisy(0.3)(key)
	}
	o := raced()
	o.Reselect, o.Risk, o.Deterministic = 3, 0, false
	r := w.must(t, o)
	f := r.History.Final
	if len(f.Reselect) != 2 || len(f.Reselect[0].Skills) != 3 || len(f.Reselect[1].Skills) != 2 || f.Reselect[0].Items != 40 {
		t.Fatalf("rounds: %+v", f.Reselect)
	}
	if got := r.Best.Hash(); got != f.Reselect[1].Skills[0] {
		t.Errorf("shipped is %s, the last round was won by %s", got, f.Reselect[1].Skills[0])
	}
	if f.Reselect[1].Fresh[0] < f.Reselect[1].Fresh[1] || f.BestStep != r.BestStep {
		t.Errorf("rounds: %+v, best of step %d and %d", f.Reselect, f.BestStep, r.BestStep)
	}
	if n := w.rolled("final/reselect/"); n != 3*40+2*40 {
		t.Errorf("%d rollouts, want 200", n)
	}
	if !w.candidates(t)[fmt.Sprintf("step %d", r.BestStep)].Best {
		t.Error("candidates.json names another best")
	}
	deterministic := newWorld(8, 20, 0)
	deterministic.propose[1] = []string{"rule a"}
	o.Deterministic = true
	if deterministic.must(t, o); deterministic.rolled("final/reselect/") != 0 {
		t.Error("a steady target was asked again though its answers are known")
	}
}
