package evaluate

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// twoPasses are two passes over n tasks of which the given ones change.
func twoPasses(n int, flips ...int) [2][]trajectory.Outcome {
	var out [2][]trajectory.Outcome
	for i := range n {
		o := trajectory.Outcome{ID: fmt.Sprint("t", i), Status: score.OK, Hard: float64(i % 2)}
		out[0], out[1] = append(out[0], o), append(out[1], o)
	}
	for _, i := range flips {
		out[1][i].Hard = 1 - out[1][i].Hard
	}
	return out
}

// scoring are two passes over n tasks that score so much both times, and more with other scores.
func scoring(score float64, n int, more ...float64) [2][]trajectory.Outcome {
	out := twoPasses(n + len(more))
	for _, pass := range out {
		for i := range pass {
			pass[i].Hard = score
			if i >= n {
				pass[i].Hard = more[i-n]
			}
		}
	}
	return out
}

func TestNoise(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		passes   [2][]trajectory.Outcome
		within   float64 // sum of squared differences over twice the number of tasks
		seen     float64 // below 0: this skill cannot show it
		tooSmall bool
		advice   string
	}{
		"nothing changes":    {twoPasses(40), 0, 1.0 / 40, false, "from 2.5 points are more than chance: 40 selection tasks are enough for that\nno score changed; with this number of tasks up to 7 % of the scores"},
		"a few of many":      {twoPasses(400, 0, 1, 2, 3), math.Sqrt(4.0 / 800), 2.8015 * math.Sqrt(2*4.0/800/400), false, "400 selection tasks are enough"},
		"a few of a few":     {twoPasses(20, 0, 1, 2, 3), math.Sqrt(4.0 / 40), 2.8015 * math.Sqrt(2*4.0/40/20), true, "more items: 157 selection tasks"},
		"too few for chance": {twoPasses(5), 0, 0.2, true, "more items: 10 selection tasks"},
		"one":                {twoPasses(1), 0, -1, true, "cannot decide anything"},
		"at the floor":       {scoring(0, 30), 0, -1, false, "cannot be measured with this skill"},
		"at the ceiling":     {scoring(1, 30), 0, -1, false, "cannot be measured with this skill"},
		"eight at the floor": {scoring(0, 8), 0, -1, false, "cannot be measured with this skill"},
		"one is not":         {scoring(0, 29, 1), 0, -1, false, "cannot be measured with this skill"},
		"two are not":        {scoring(0, 28, 1, 1), 0, 1.0 / 30, false, "from 3.3 points are"},
		"halfway":            {scoring(0.5, 30), 0, 1.0 / 30, false, "from 3.3 points are"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var n result.Noise
			if err := compare(&n, tc.passes, score.Projection{Metric: "hard"}); err != nil {
				t.Fatal(err)
			}
			if n.TooSmall != tc.tooSmall || tc.seen < 0 != (n.Detectable == nil && n.Within == nil) {
				t.Fatalf("%+v, too small %v, want %v", n, n.TooSmall, tc.tooSmall)
			}
			if tc.seen >= 0 && (math.Abs(*n.Within-tc.within) > 1e-9 || math.Abs(*n.Detectable-tc.seen) > 1e-3) {
				t.Errorf("within %.4f, seen %.4f; want %.4f, %.4f", *n.Within, *n.Detectable, tc.within, tc.seen)
			}
			if text := strings.Join(n.Advice, "\n"); !strings.Contains(text, tc.advice) {
				t.Errorf("advice %q, want %q", text, tc.advice)
			}
		})
	}
}

// What could not be measured is named and is no score.
func TestNoiseWithoutATask(t *testing.T) {
	t.Parallel()
	two := twoPasses(10)
	two[1][3] = trajectory.Outcome{ID: "t3", Status: score.Unmeasured, FailReason: "the line is dead"}
	var n result.Noise
	if err := compare(&n, two, score.Projection{Metric: "hard"}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"t3"}, n.Unmeasured); diff != "" || n.Items != 9 || len(n.Flips) != 0 {
		t.Errorf("%s %+v", diff, n)
	}
	for i := range 4 {
		two[1][i].Status = score.Unmeasured
	}
	if err := compare(new(result.Noise), two, score.Projection{Metric: "hard"}); err == nil {
		t.Error("4 of 10 tasks are missing, and nobody says so")
	}
}
