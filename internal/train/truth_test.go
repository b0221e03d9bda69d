package train

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/prompt"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// What is measured again because another model answers must be a fresh sample:
// at temperature 0 a sample that was drawn before is answered from the record, by
// the old model.
func TestDriftDrawsFreshSamples(t *testing.T) {
	t.Parallel()
	w := newWorld(24, 20, 0)
	w.propose = map[int][]string{1: {"rule a"}, 2: {"harm a"}, 3: {"rule c"}}
	w.served = func(key string) string {
		if strings.HasPrefix(key, "seed/") || strings.HasPrefix(key, "e1/s1/") {
			return "model-1"
		}
		return "model-2"
	}
	w.must(t, fresh())
	drawn := map[string]string{} // skill, task and sample -> key
	for _, key := range w.rollouts {
		if strings.Contains(key, "/rollout/") {
			continue // of the train split
		}
		id := key[strings.LastIndex(key[:strings.LastIndex(key, "/")], "/"):]
		what := w.skills[key] + id
		if other, ok := drawn[what]; ok {
			t.Fatalf("%s is the same sample as %s", key, other)
		}
		drawn[what] = key
	}
	if w.rolled("e1/s2/gate/drift/") == 0 {
		t.Error("nothing was measured again")
	}
}

// A text that was rejected and is proposed again stands where it was accepted.
func TestACandidateProposedAgainStandsWhereItWasAccepted(t *testing.T) {
	t.Parallel()
	w := newWorld(24, 40, 0)
	w.seed = "# Skill\nrule a\n"
	w.propose = map[int][]string{1: {"rule b", "rule c", "rule d"}, 2: {"rule b", "rule c", "rule d"}, 3: {"rule b", "rule c", "rule d"}}
	w.forgets = func(key string) bool { return strings.HasPrefix(key, "e1/s1/gate/cand/") }
	r := w.must(t, fresh())
	if got := actions(r); got[1] != "reject" || got[2] != "accept_new_best" {
		t.Fatalf("actions: %v", got)
	}
	if c, ok := w.candidates(t)["step 2"]; !ok || c.Step != 2 || !c.Accepted || len(c.Judged) != 2 {
		t.Errorf("accepted in step 2, stored as %+v", w.candidates(t))
	}
}

// A text that was accepted and is proposed again, by other edits of another skill,
// comes from where it was accepted.
func TestAnAcceptedCandidateKeepsItsEdits(t *testing.T) {
	t.Parallel()
	for _, mode := range []gate.Mode{"strict"} {
		w := newWorld(24, 40, 0)
		w.propose = map[int][]string{1: {"rule a"}, 2: {"rule b"}}
		w.undo = map[int]string{3: "\n\nrule b"}
		o := fresh()
		o.Gate = mode
		r := w.must(t, o)
		if got := actions(r); got[1] != "accept_new_best" || got[2] != "accept_new_best" || !strings.HasPrefix(got[3], "reject") {
			t.Fatalf("%s: actions: %v", mode, got)
		}
		first, again := r.History.Steps[1], r.History.Steps[3]
		if again.CandidateHash != first.CandidateHash {
			t.Fatalf("%s: step 3 proposed another text than step 1", mode)
		}
		c := w.candidates(t)["step 1"]
		if diff := cmp.Diff(first.Edits, c.Edits); diff != "" || c.Parent != skill.New(w.seed).Hash() {
			t.Errorf("%s: made of %s by (-want +got):\n%s", mode, c.Parent, diff)
		}
	}
}

// Looking once more with other skills opens the test for every skill that is shipped
// afterwards, also for the first one.
func TestAnOpeningInBetweenCounts(t *testing.T) {
	t.Parallel()
	first := newWorld(8, 20, 20)
	o := fresh()
	o.Test = true
	run := func(line string, reopen bool) (*result.FinalRecord, *result.Certificate) {
		w := newWorld(8, 20, 20)
		w.propose[1], w.recorded, w.before = []string{line}, first.recorded, read(0)
		o := o
		o.Reopen = reopen
		r := w.must(t, o)
		return r.History.Final, r.Certificate
	}
	run("rule a", false)
	if f, _ := run("rule b", true); f.TestOpenings != 2 {
		t.Fatalf("opened again: %+v", f)
	}
	for _, reopen := range []bool{false, true} {
		if f, c := run("rule a", reopen); f.TestOpenings != 2 || f.TestRefused || f.Test == nil || c.Certified {
			t.Errorf("back at the first skill, --reopen-test %v: %d openings, refused %v, %+v", reopen, f.TestOpenings, f.TestRefused, c)
		}
	}
}

// Guidance that was forced in and that later comparisons have measured is put to
// the gate before the end like any that was not.
func TestForcedGuidanceThatIsKnownIsRacedAtTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(8, 20, 0)
	w.guidance = map[int]string{2: "rule a"}
	w.propose = map[int][]string{3: {"nothing"}} // read to the end, so that all of the guidance is known
	o := fresh()
	o.Epochs, o.SlowUpdate, o.SlowGated = 3, true, false
	r := w.must(t, o)
	if got := r.History.Epochs[0].SlowUpdate; got != "forced" {
		t.Fatalf("guidance: %s; %v", got, actions(r))
	}
	if !r.History.Final.Promoted || !strings.Contains(r.Best.Text(), "rule a") {
		t.Errorf("final %+v, best of step %d:\n%s", r.History.Final, r.BestStep, r.Best.Text())
	}
}

// inClusters gives the selection tasks documents: those of one hold the given
// numbers of tasks.
func inClusters(w *world, sizes ...int) {
	i := 0
	for c, n := range sizes {
		for range n {
			w.data.Selection[i].Data = map[string]any{"doc": fmt.Sprintf("doc %d", c)}
			i++
		}
	}
}

// Items of one cluster count as one for the score that the best is chosen by, as
// they do for the gate.
func TestScoresCountClustersOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(16, 20, 0)
	for i := range w.data.Selection { // a for the one document with many tasks
		w.data.Selection[i].Type = string(rune('b' + i%3))
		if i >= 10 {
			w.data.Selection[i].Type = "a"
		}
		w.data.Selection[i].Prompt = "do " + w.data.Selection[i].Type
	}
	inClusters(w, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 10)
	w.propose = map[int][]string{1: {"rule a"}, 2: {"rule b", "harm a"}}
	o := fresh()
	o.Cluster = "doc"
	r := w.must(t, o)
	s := r.History.Steps[2] // wins 4 of 10 documents, loses the one with ten tasks
	if s.Action != "accept_new_best" || s.Candidate == nil || s.Current == nil || *s.Candidate != *s.Current || value(s.Current) != fmt.Sprintf("%.3g", 4.0/11) {
		t.Errorf("step 2: %s, candidate %s, current %s", s.Action, value(s.Candidate), value(s.Current))
	}
	if rep := r.Reported; rep.Pooled != 4.0/11 || rep.Low != score.Wilson(4.0/11, 11, score.Z95).Low {
		t.Errorf("reported: %+v", rep)
	}
}

// Words of a certificate say no more than is so.
func TestWordsOfTheCertificate(t *testing.T) {
	t.Parallel()
	pair := func(d float64, cluster string) gate.Pair { return gate.Pair{Candidate: d, Cluster: cluster} }
	clustered := []gate.Pair{pair(1, "x"), pair(0, "x"), pair(1, "y"), pair(1, "y")}
	first := Level{Test: gate.LookBound, Alpha: 0.05, Reading: 1, Level: 0.04}
	if c := lookOnce("hard", clustered, first, 1, false); c.N != 2 || !strings.Contains(c.Words, "on 4 test tasks in 2 groups") {
		t.Errorf("%d pairs: %s", c.N, c.Words)
	}
	if c := lookOnce("hard", clustered, first, 1, true); strings.Contains(c.Words, "accepted") {
		t.Errorf("a change may have been accepted and not be the best: %s", c.Words)
	}
	if c := lookOnce("hard", []gate.Pair{pair(0, "")}, first, 1, false); !strings.Contains(c.Words, "on 1 test task;") {
		t.Errorf("one pair: %s", c.Words)
	}
}

func TestClusterOfATask(t *testing.T) {
	t.Parallel()
	list := []task.Task{{ID: "a", Data: map[string]any{"doc": "x"}}, {ID: "b", Data: map[string]any{"doc": ""}}, {ID: "c", Data: map[string]any{"doc": nil}}, {ID: "d"}}
	if _, got := Strata(list, "doc"); !slices.Equal(got, []string{"x", "", "", ""}) {
		t.Errorf("clusters: %q", got)
	}
}

// The scores by type add up to the whole, also for a run that ends early: all are of
// the same evaluations.
func TestTypesAddUpToTheWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(16, 40, 0)
	w.seed = "# Skill\nrule b\nrule c\n"
	w.propose = map[int][]string{1: {"rule a"}, 2: {"nothing"}}
	w.forgets = noisy(0.3)
	o := fresh()
	o.Deterministic = false
	stop := errors.New("no money is left")
	r, err := w.paced(t, o, func(p Unit) (int, error) {
		if p.Name == UnitFinal {
			return 0, stop
		}
		return p.Tasks, nil
	})
	if !errors.Is(err, stop) {
		t.Fatal(err)
	}
	sum, n := 0.0, 0
	for _, arm := range r.Selection.ByType {
		sum, n = sum+arm.Hard*float64(arm.N), n+arm.N
	}
	if got := sum / float64(n); len(r.Selection.ByType) != 4 || math.Abs(got-r.Selection.Hard) > 1e-9 {
		t.Errorf("by type %.4f, in all %.4f of %d evaluations", got, r.Selection.Hard, r.Reported.Evaluations)
	}
}

// paced trains in the world as long as pace allows.
func (w *world) paced(t *testing.T, o Options, pace func(Unit) (int, error)) (*Result, error) {
	t.Helper()
	return Run(t.Context(), o, Deps{
		Data: w.data, Skill: skill.New(w.seed), Roller: &rollout.Runner{Episode: w, Extra: 2}, Ask: w.ask, Record: w,
		Prompts: prompt.Default(), Files: w, Events: w.event, Pace: pace,
	})
}

// A lower bound is never rounded up: by at least 12.4 points is not what 12.36 says.
func TestALowerBoundIsNotRoundedUp(t *testing.T) {
	t.Parallel()
	for n := 20; n < 60; n++ {
		var pairs []gate.Pair
		for i := range n {
			pairs = append(pairs, gate.Pair{Candidate: float64(min(1, i%4))})
		}
		c := lookOnce("hard", pairs, Level{Test: gate.LookBound, Alpha: 0.05, Reading: 1, Level: 0.04}, 1, false)
		if !c.Certified {
			continue
		}
		var said float64
		at := strings.Index(c.Words, "at least ")
		if at < 0 {
			continue
		}
		if _, err := fmt.Sscanf(c.Words[at:], "at least %f points", &said); err != nil || said > 100**c.AtLeast+1e-6 || said < 100**c.AtLeast-0.1 {
			t.Errorf("%d pairs, at least %.4f: %s", n, 100**c.AtLeast, c.Words)
		}
	}
}

// The difference that can be seen is one of means over clusters, and a cluster of one
// task is as noisy as its task.
func TestDetectableCountsClusters(t *testing.T) {
	t.Parallel()
	w := newWorld(8, 20, 0)
	w.seed = "# Skill\nrule a\nrule b\nrule c\nrule d\n"
	w.forgets = noisy(0.3)
	inClusters(w, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 10)
	o := fresh()
	o.Cluster, o.Deterministic = "doc", false
	n := w.must(t, o).History.Noise
	// The variance of the mean of 11 clusters, ten of one task and one of ten.
	want := 2.8016 * *n.Within * math.Sqrt(2*(10+1.0/10)) / 11
	if *n.Within == 0 || math.Abs(*n.Detectable-want) > 1e-4 {
		t.Errorf("within %.4f, detectable %.4f, want %.4f", *n.Within, *n.Detectable, want)
	}
}
