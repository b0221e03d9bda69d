package gate

import (
	"context"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

func TestForesight(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		incumbent string
		candidate string // in the order of the items; . is not known yet
		orEqual   bool
		accepted  bool
		settled   bool
	}{
		{name: "nothing known", incumbent: "1100", candidate: "...."},
		{name: "nothing known, nothing to win", incumbent: "1111", candidate: "...."},
		{name: "too much missing to decide at all", incumbent: "0001", candidate: "11.."},
		{name: "ahead by more than can be lost", incumbent: "0001", candidate: "110.", accepted: true, settled: true},
		{name: "ahead by as much as can be lost", incumbent: "0011", candidate: "110."},
		{name: "a tie may pass", incumbent: "0011", candidate: "110.", orEqual: true, accepted: true, settled: true},
		{name: "behind by more than can be won", incumbent: "1110", candidate: "010.", settled: true},
		{name: "behind by as much as can be won", incumbent: "1000", candidate: "000.", settled: true},
		{name: "a tie may pass, and may come", incumbent: "1000", candidate: "000.", orEqual: true},
		{name: "nothing left to win", incumbent: "0011", candidate: "001.", settled: true},
		{name: "one before the other is missing", incumbent: "1110", candidate: "0.00", settled: true},
		{name: "all known, above", incumbent: "0011", candidate: "0111", accepted: true, settled: true},
		{name: "all known, equal", incumbent: "0011", candidate: "0011", settled: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := NewForesight(Trial{Items: ids(4), Incumbent: outcomes(tt.incumbent), Projection: hard()}, Strict{OrEqual: tt.orEqual})
			for i, o := range outcomes(tt.candidate) {
				f.Learn(i, o)
				if o.Status.Measured() {
					f.Learn(i, outcomes("aaaa")[i]) // a second measurement does not count
				}
			}
			accepted, settled := f.Settled()
			if accepted != tt.accepted || settled != tt.settled {
				t.Errorf("accepted %v, settled %v, want %v, %v", accepted, settled, tt.accepted, tt.settled)
			}
		})
	}
}

func TestForesightNeedsTheIncumbent(t *testing.T) {
	t.Parallel()
	for name, trial := range map[string]Trial{
		"never measured":     {Items: ids(2), Projection: hard()},
		"partly measured":    {Items: ids(2), Incumbent: outcomes("1x"), Projection: hard()},
		"the texts weigh in": {Items: ids(2), Incumbent: outcomes("11"), Projection: score.Projection{Metric: score.Hard, DensityWeight: 0.1}},
	} {
		if f := NewForesight(trial, Strict{}); f != nil {
			t.Errorf("%s: there is a foresight", name)
		}
	}
}

// TestForesightIsRight makes comparisons whose answers come in any order, some of
// them never, and holds what was foreseen against the verdict.
func TestForesightIsRight(t *testing.T) {
	t.Parallel()
	scores := rapid.OneOf(rapid.SampledFrom([]float64{0, 1}), rapid.Float64Range(0, 1))
	metrics := rapid.SampledFrom([]score.Projection{hard(), {Metric: score.Soft}, {Metric: score.Mixed, MixedWeight: 0.3}})
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "items")
		s := Strict{OrEqual: rapid.Bool().Draw(t, "ties pass")}
		trial := Trial{Items: ids(n), Projection: metrics.Draw(t, "metric")}
		plain := rapid.Bool().Draw(t, "hard scores only")
		draw := func(name string) trajectory.Outcome {
			if plain {
				return trajectory.Outcome{Status: score.OK, Hard: float64(rapid.IntRange(0, 1).Draw(t, name))}
			}
			return trajectory.Outcome{Status: score.OK, Hard: scores.Draw(t, name), Soft: scores.Draw(t, name)}
		}
		candidate := make([]trajectory.Outcome, n)
		for i := range n {
			trial.Incumbent = append(trial.Incumbent, draw("incumbent"))
			candidate[i] = draw("candidate")
			if rapid.IntRange(0, 40).Draw(t, "lost") == 0 {
				candidate[i] = trajectory.Outcome{Status: score.Unmeasured}
			}
		}
		res, err := Run(context.Background(), trial, s, func(_ context.Context, item int, _ Arm, _ int) (trajectory.Outcome, error) {
			return candidate[item], nil
		})
		if err != nil {
			t.Fatal(err)
		}
		f := NewForesight(trial, s)
		for _, i := range rapid.Permutation(order(n)).Draw(t, "order") {
			f.Learn(i, candidate[i])
			accepted, settled := f.Settled()
			if settled && accepted != res.Verdict.Action.Accepted() {
				t.Fatalf("with %d items missing: foreseen %v, but %s: %s", f.missing, accepted, res.Verdict.Action, res.Verdict.Reason)
			}
		}
		if _, settled := f.Settled(); plain && trial.Projection.Metric == score.Hard && f.missing == 0 && !settled {
			t.Fatal("not settled though everything is known")
		}
	})
}

func order(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
