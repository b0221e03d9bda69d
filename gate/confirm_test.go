package gate

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/score"
)

// A denser text may be ahead though no item differs: there is nothing to draw
// afresh then, and the trial ends all the same.
func TestNothingDiscordantToConfirm(t *testing.T) {
	t.Parallel()
	w := fromWords("1010101010101010", "1010101010101010")
	trial := Trial{Items: ids(16), Projection: score.Projection{Metric: score.Hard, DensityWeight: 1}, Density: Density{Candidate: 0.3, Incumbent: 0.1}}
	got, err := Run(context.Background(), trial, Race{Risk: 0.5, Confirm: ConfirmDiscordant}, w.measure)
	if err != nil {
		t.Fatal(err)
	}
	if v := got.Verdict; v.Action != AcceptNewBest || v.Draws[Candidate] != 16 || v.Difference == nil || math.Abs(*v.Difference-0.2) > 1e-9 {
		t.Errorf("verdict: %+v", v)
	}
}

// What the race lacked was never asked for by a confirmation of other items: it
// is named, and it is no reason to doubt them.
func TestConfirmationIsJudgedByWhatItAsked(t *testing.T) {
	t.Parallel()
	incumbent := "000" + strings.Repeat("1", 37)
	candidate := "111" + strings.Repeat("1", 35) + "xx"
	got := race(t, Trial{Items: ids(40), Incumbent: outcomes(incumbent), Projection: score.Projection{Metric: score.Hard}},
		Race{Risk: 0.5, Confirm: ConfirmDiscordant}, fromWords(candidate, incumbent))
	if v := got.Verdict; v.Action != AcceptNewBest || v.Phase != PhaseConfirm || len(v.Unmeasured) != 2 {
		t.Errorf("3 items are won, 2 of 40 are missing: %+v", v)
	}
}

// Both scores of a verdict are of the same evaluations.
func TestMeanIsOfAllEvaluations(t *testing.T) {
	t.Parallel()
	n := 16
	past := make([]Pooled, n)
	for i := range past {
		past[i] = Pooled{Sum: 1, N: 2} // solved in one of two passes
	}
	trial := Trial{
		Items: ids(n), Projection: score.Projection{Metric: score.Hard},
		Candidate: outcomes(strings.Repeat("1", n)), Incumbent: outcomes(strings.Repeat("0", n)),
		Past: map[Arm][]Pooled{Candidate: past},
	}
	got := race(t, trial, Race{Risk: 0.5, Confirm: ConfirmNone}, fromWords(strings.Repeat("1", n), strings.Repeat("0", n)))
	if v := got.Verdict; v.Candidate == nil || *v.Candidate != 0.5 || v.Mean != nil && v.Mean.Hard != *v.Candidate {
		t.Errorf("the gate score is %v, the hard mean %+v", *v.Candidate, v.Mean)
	}
}
