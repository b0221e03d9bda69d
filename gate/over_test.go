package gate

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// A trial over some items is decided as one that has no others, and touches no others.
func TestATrialOverSomeItemsSeesNoOthers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 30).Draw(t, "items")
		items := make([]int, n)
		for i := range items {
			items[i] = i
		}
		over := rapid.Permutation(items).Draw(t, "order")[:rapid.IntRange(2, n).Draw(t, "in")]
		slices.Sort(over)
		solved := rapid.SliceOfN(rapid.Bool(), 4*n, 4*n).Draw(t, "answers")
		whole, part := Trial{Projection: score.Projection{Metric: score.Hard}, Seed: 1}, Trial{Projection: score.Projection{Metric: score.Hard}, Seed: 1}
		for i := range n {
			id := fmt.Sprint("t", i)
			known := trajectory.Outcome{ID: id, Status: score.Unmeasured}
			if rapid.Bool().Draw(t, "known") {
				known = trajectory.Outcome{ID: id, Status: score.OK, Hard: 1}
			}
			whole.Items, whole.Incumbent = append(whole.Items, id), append(whole.Incumbent, known)
			if slices.Contains(over, i) {
				part.Items, part.Incumbent = append(part.Items, id), append(part.Incumbent, known)
			}
		}
		answer := func(items []string) Measure {
			return func(_ context.Context, item int, arm Arm, sample int) (trajectory.Outcome, error) {
				out := trajectory.Outcome{ID: items[item], Status: score.OK}
				var i int
				_, _ = fmt.Sscanf(out.ID, "t%d", &i)
				if solved[4*i+2*(sample%2)+map[Arm]int{Candidate: 0, Incumbent: 1}[arm]] {
					out.Hard = 1
				}
				return out, nil
			}
		}
		var p Policy = NoWorse{}
		if rapid.Bool().Draw(t, "strict") {
			p = Strict{}
		}
		got, err := RunOver(t.Context(), whole, over, p, answer(whole.Items))
		if err != nil {
			t.Fatal(err)
		}
		want, err := Run(t.Context(), part, p, answer(part.Items))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.Verdict, got.Verdict); diff != "" {
			t.Fatalf("verdicts (-of a trial of its own +over its items):\n%s", diff)
		}
		for i := range n {
			at := slices.Index(over, i)
			if at < 0 && (got.Candidate[i].Status.Measured() || !cmp.Equal(got.Incumbent[i], whole.Incumbent[i])) {
				t.Fatalf("item %d is not of the trial, and is known now", i)
			}
			if at >= 0 && (!cmp.Equal(got.Candidate[i], want.Candidate[at]) || got.Pooled[Incumbent][i] != want.Pooled[Incumbent][at]) {
				t.Fatalf("item %d: %+v, want %+v", i, got.Candidate[i], want.Candidate[at])
			}
		}
	})
}
