package gate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// answering answers by what each arm passes on each item: a chance, or -1 where no answer
// can be measured. It notes the draws.
type answering struct {
	t          *testing.T
	ids        []string
	candidate  []float64
	incumbent  []float64
	freshFrom  int // sample from which on missing counts
	missing    map[string]bool
	rng        *rand.Rand
	mu         sync.Mutex
	drawn      map[Draw]int
	freshDrawn int
}

func (a *answering) measure(_ context.Context, item int, arm Arm, sample int) (trajectory.Outcome, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.drawn == nil {
		a.drawn = map[Draw]int{}
	}
	a.drawn[Draw{item, arm, sample}]++
	p := a.candidate[item]
	if arm == Incumbent {
		p = a.incumbent[item]
	}
	o := trajectory.Outcome{ID: a.ids[item], Status: score.OK}
	if sample >= a.freshFrom && a.freshFrom > 0 {
		a.freshDrawn++
		if a.missing[string(arm)] || a.missing[string(arm)+o.ID] {
			o.Status = score.Unmeasured
			return o, nil
		}
	}
	if p >= 1 || p > 0 && a.rng.Float64() < p {
		o.Hard, o.Soft = 1, 1
	}
	return o, nil
}

// arms makes n items: the incumbent passes the first won of them, the candidate all but the
// first lost.
func arms(t *testing.T, n, won, lost int) (*answering, Trial) {
	a := &answering{t: t, rng: rand.New(rand.NewPCG(1, 2)), freshFrom: 1}
	trial := Trial{Projection: score.Projection{Metric: score.Hard}, AtOnce: 1}
	for i := range n {
		id := fmt.Sprintf("t%d", i)
		a.ids, a.candidate, a.incumbent = append(a.ids, id), append(a.candidate, 1), append(a.incumbent, 0)
		known := trajectory.Outcome{ID: id, Status: score.OK}
		if i < won {
			a.incumbent[i], known.Hard, known.Soft = 1, 1, 1
		}
		if i < lost {
			a.candidate[i] = 0
		}
		trial.Incumbent = append(trial.Incumbent, known)
	}
	trial.Items = a.ids
	return a, trial
}

func decideBy(t *testing.T, p Policy, trial Trial, a *answering) Result {
	t.Helper()
	res, err := Run(t.Context(), trial, p, a.measure)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func policiesWithKeep() map[string]Policy {
	return map[string]Policy{
		"strict": Keep{Strict{}},
	}
}

func TestKeepRejectsWhatIsLost(t *testing.T) {
	t.Parallel()
	for name, policy := range policiesWithKeep() {
		a, trial := arms(t, 40, 20, 2)
		if name == "confirmed" {
			a.freshFrom = 2
		}
		res := decideBy(t, policy, trial, a)
		v := res.Verdict
		if v.Action != Reject || v.Phase != PhaseKeep {
			t.Errorf("%s: %s in phase %q: %s", name, v.Action, v.Phase, v.Reason)
		}
		want := []Loss{
			{ID: "t0", State: LossConfirmed, Candidate: Passed{0, 6}, Current: Passed{6, 6}},
			{ID: "t1", State: LossConfirmed, Candidate: Passed{0, 6}, Current: Passed{6, 6}},
		}
		if diff := cmp.Diff(want, v.Losses); diff != "" {
			t.Errorf("%s: losses (-want +got):\n%s", name, diff)
		}
		if !strings.Contains(v.Reason, "t0 (passes 0 of 6, the current skill 6 of 6), t1") {
			t.Errorf("%s: reason %q", name, v.Reason)
		}
		for d, n := range a.drawn {
			if n > 1 {
				t.Errorf("%s: %+v was drawn %d times", name, d, n)
			}
		}
		// What was asked about losses is in no sum.
		b, trial := arms(t, 40, 20, 2)
		without := decideBy(t, policy.(Keep).Policy, trial, b)
		if diff := cmp.Diff(without.Pooled, res.Pooled); diff != "" || len(res.Kept) != 24 {
			t.Errorf("%s: %d fresh answers; pooled:\n%s", name, len(res.Kept), diff)
		}
		without.Next[Candidate][0] += 6
		if got, want := res.Next[Candidate][0], without.Next[Candidate][0]; got != want {
			t.Errorf("%s: the next sample of a lost item is %d, want %d", name, got, want)
		}
	}
}

func TestKeepLeavesTheOthersAlone(t *testing.T) {
	t.Parallel()
	for name, policy := range policiesWithKeep() {
		a, trial := arms(t, 40, 20, 0)
		kept := decideBy(t, policy, trial, a)
		b, _ := arms(t, 40, 20, 0)
		other := decideBy(t, policy.(Keep).Policy, trial, b)
		if diff := cmp.Diff(other, kept); diff != "" {
			t.Errorf("%s: without a loss the result differs:\n%s", name, diff)
		}
		worse, trial := arms(t, 40, 40, 20) // rejected anyway: nothing is asked afresh
		if res := decideBy(t, policy, trial, worse); res.Verdict.Action.Accepted() || len(res.Kept) > 0 || res.Verdict.Losses != nil {
			t.Errorf("%s: %+v", name, res.Verdict)
		}
	}
}

func TestKeepDropsWhatWasLuck(t *testing.T) {
	t.Parallel()
	a, trial := arms(t, 20, 10, 0)
	trial.Candidate = make([]trajectory.Outcome, 20)
	for i, id := range trial.Items {
		trial.Candidate[i] = trajectory.Outcome{ID: id, Status: score.OK, Hard: 1, Soft: 1}
	}
	trial.Candidate[3].Hard, trial.Candidate[3].Soft = 0, 0 // once
	res := decideBy(t, Keep{Strict{}}, trial, a)
	v := res.Verdict
	want := []Loss{{ID: "t3", State: LossDropped, Candidate: Passed{3, 3}, Current: Passed{3, 3}}}
	if diff := cmp.Diff(want, v.Losses); diff != "" || !v.Action.Accepted() {
		t.Errorf("%s, %s\n%s", v.Action, v.Reason, diff)
	}
	if !strings.Contains(v.Reason, "1 item that seemed to be lost") {
		t.Errorf("reason %q", v.Reason)
	}
}

// TestKeepWithoutFreshAnswers: what cannot be confirmed for want of answers rejects nobody,
// and is said.
func TestKeepWithoutFreshAnswers(t *testing.T) {
	t.Parallel()
	for _, arm := range []Arm{Candidate, Incumbent} {
		a, trial := arms(t, 20, 10, 2)
		a.missing = map[string]bool{string(arm) + "t0": true}
		v := decideBy(t, Keep{Strict{}}, trial, a).Verdict
		if v.Losses[0].State != LossUnknown || v.Losses[1].State != LossConfirmed || v.Action != Reject || !cmp.Equal(v.Unmeasured, []string{"t0"}) {
			t.Errorf("without %s on one: %+v, unmeasured %v", arm, v.Losses, v.Unmeasured)
		}
		a, trial = arms(t, 20, 10, 2)
		a.missing = map[string]bool{string(arm): true}
		v = decideBy(t, Keep{Strict{}}, trial, a).Verdict
		if !v.Action.Accepted() || v.Losses[0].State != LossUnknown || !strings.Contains(v.Reason, "is not known") || !cmp.Equal(v.Unmeasured, []string{"t0", "t1"}) {
			t.Errorf("without %s: %s, %s, %+v, unmeasured %v", arm, v.Action, v.Reason, v.Losses, v.Unmeasured)
		}
	}
}

func TestKeepKnowsWhatWasWonByAllAnswers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		won, of, passed, n int // of the incumbent and the candidate
		lost               bool
	}{
		{1, 1, 0, 1, true},
		{3, 4, 1, 2, true},
		{2, 3, 0, 1, false}, // the current skill does not win it
		{2, 2, 2, 3, false}, // the candidate does not lose it
		{4, 4, 0, 0, false}, // nobody knows
	}
	for _, tt := range tests {
		trial := Trial{
			Items: []string{"a"}, Projection: score.Projection{Metric: score.Soft},
			Past:   map[Arm][]Pooled{Candidate: {{Sum: 0, N: tt.n}}, Incumbent: {{Sum: 0.2, N: tt.of}}},
			Passed: map[Arm][]int{Candidate: {tt.passed}, Incumbent: {tt.won}},
		}
		e, err := newEvidence(trial)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(e.lostItems()) == 1; got != tt.lost {
			t.Errorf("%+v: lost %v", tt, got)
		}
	}
	if _, err := newEvidence(Trial{Items: []string{"a"}, Passed: map[Arm][]int{Candidate: {1, 2}}}); err == nil {
		t.Error("counts of other items are accepted")
	}
}

func TestKeepAsksOnceWhereAnswersNeverChange(t *testing.T) {
	t.Parallel()
	a, trial := arms(t, 20, 10, 1)
	trial.Deterministic = true
	v := decideBy(t, Keep{Strict{}}, trial, a).Verdict
	if v.Action != Reject || !cmp.Equal(v.Losses[0].Candidate, Passed{0, 1}) || a.freshDrawn != 2 {
		t.Errorf("%s: %+v with %d answers", v.Action, v.Losses, a.freshDrawn)
	}
}

// TestKeepOverSomeItems: of the items that do not judge none is asked.
func TestKeepOverSomeItems(t *testing.T) {
	t.Parallel()
	a, trial := arms(t, 20, 10, 2) // t0 and t1 are lost
	res, err := RunOver(t.Context(), trial, []int{1, 5, 12, 13, 14}, Keep{Strict{}}, a.measure)
	if err != nil {
		t.Fatal(err)
	}
	if v := res.Verdict; v.Action != Reject || len(v.Losses) != 1 || v.Losses[0].ID != "t1" || res.Kept[0].Item != 1 || res.Next[Candidate][1] != 6 {
		t.Errorf("%+v, kept %+v", v, res.Kept)
	}
}

// TestKeepRejectsFewThatLoseNothing: whatever an item's chance is, if it is that of both arms
// no more than 5 % of candidates are rejected for a loss.
func TestKeepRejectsFewThatLoseNothing(t *testing.T) {
	t.Parallel()
	const runs, items = 400, 40
	for _, p := range []float64{0.5, 0.8, 0.95} {
		accepted, vetoed := 0, 0
		for seed := range runs {
			a, trial := arms(t, items, items, 0)
			a.rng = rand.New(rand.NewPCG(uint64(seed), uint64(100*p)))
			trial.Incumbent = nil
			for i := range a.candidate {
				a.candidate[i], a.incumbent[i] = p, p
			}
			for i := range 8 { // what it gains
				a.candidate[i], a.incumbent[i] = 1, 0
			}
			v := decideBy(t, Keep{Strict{}}, trial, a).Verdict
			switch {
			case v.Action.Accepted():
				accepted++
			case v.Phase == PhaseKeep:
				vetoed++
			}
		}
		if share := float64(vetoed) / float64(vetoed+accepted); share > 0.05 {
			t.Errorf("chance %v: %d of %d candidates that lose nothing are rejected", p, vetoed, vetoed+accepted)
		}
		if accepted < runs/2 {
			t.Errorf("chance %v: only %d of %d are accepted: the test says little", p, accepted, runs)
		}
	}
}

func TestKeepMost(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{1: 6, 2: 7, 3: 7, 4: 8, 9: 8, 10: 9, 29: 9, 30: 10, 91: 10, 92: 11} {
		if got := freshAnswers(n); got != want {
			t.Errorf("%d losses: %d answers, want %d", n, got, want)
		}
		if got := KeepMost(n); got != 2*n*want {
			t.Errorf("%d items: %d answers at most", n, got)
		}
	}
}
