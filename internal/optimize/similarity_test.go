package optimize

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

func failing(id, kind, reason string, length int) trajectory.Outcome {
	return trajectory.Outcome{
		ID: id, Type: kind, Status: score.OK, FailReason: reason,
		Trajectory: []trajectory.Turn{{Role: "assistant", Content: strings.Repeat("x", length)}},
	}
}

// Failures of one kind are read together, the most frequent first, whatever their
// numbers and quotations.
func TestBySimilarityKeepsKindsWhole(t *testing.T) {
	t.Parallel()
	outcomes := []trajectory.Outcome{
		failing("a1", "a", `equals: got "7", expected "EUR 7"`, 10), failing("b1", "b", "no answer", 10),
		failing("a2", "a", `equals: got "12.50", expected "EUR 12.50"`, 10), failing("c1", "", "", 10),
		failing("a3", "a", `equals: got "x y", expected "z"`, 10), failing("b2", "b", "no answer", 10),
		failing("b3", "b", "tool failed", 10), failing("b4", "b", "no answer", 10), failing("a4", "a", `equals: got "", expected "1"`, 10),
	}
	failures, successes := BySimilarity(outcomes, MinibatchOptions{}, View{Window: 60_000})
	if len(failures) != 1 || successes != nil {
		t.Fatalf("%v, %v: want one minibatch of failures", failures, successes)
	}
	var ids []string
	for _, i := range failures[0] {
		ids = append(ids, outcomes[i].ID)
	}
	if diff := cmp.Diff([]string{"a1", "a2", "a3", "a4", "b1", "b2", "b4", "c1", "b3"}, ids); diff != "" {
		t.Error(diff)
	}
}

// Kinds that do not fit into one minibatch together are not cut but where one alone does
// not fit.
func TestBySimilarityCutsBetweenKinds(t *testing.T) {
	t.Parallel()
	var outcomes []trajectory.Outcome
	for i := range 30 {
		outcomes = append(outcomes, failing(fmt.Sprint(i), fmt.Sprint("kind", i%3), "wrong", 4000))
	}
	one := View{}.tokens(outcomes[0])
	failures, _ := BySimilarity(outcomes, MinibatchOptions{}, View{Window: 12 * one})
	var sizes []int
	for _, batch := range failures {
		sizes = append(sizes, len(batch))
		for _, i := range batch {
			if outcomes[i].Type != outcomes[batch[0]].Type {
				t.Errorf("minibatch %v mixes kinds", batch)
			}
		}
	}
	if diff := cmp.Diff([]int{10, 10, 10}, sizes); diff != "" {
		t.Error(diff)
	}
	failures, _ = BySimilarity(outcomes, MinibatchOptions{}, View{Window: 4 * one})
	if len(failures) != 8 { // what is left of a kind shares with the next
		t.Errorf("%d minibatches, want 8", len(failures))
	}
}

// Every measured failure is in one minibatch, none holds more than fits unless it holds
// one alone, and there are no more than the plan says.
func TestBySimilarityLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var outcomes []trajectory.Outcome
		var want []int
		for i := range rapid.IntRange(0, 80).Draw(t, "n") {
			o := failing(fmt.Sprint(i), rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "type"), rapid.SampledFrom([]string{"", "x 1", "x 2", "y"}).Draw(t, "reason"), rapid.IntRange(0, 40_000).Draw(t, "length"))
			switch rapid.IntRange(0, 4).Draw(t, "status") {
			case 0:
				o.Status = score.Unmeasured
			case 1:
				o.Hard = 1
			default:
				want = append(want, i)
			}
			outcomes = append(outcomes, o)
		}
		window := rapid.IntRange(1000, 60_000).Draw(t, "window")
		seed := rapid.Int64().Draw(t, "seed")
		v := View{Whole: rapid.Bool().Draw(t, "whole"), Window: window}
		failures, successes := BySimilarity(outcomes, MinibatchOptions{Seed: &seed}, v)
		got := slices.Sorted(slices.Values(slices.Concat(failures...)))
		if !slices.Equal(got, want) {
			t.Fatalf("failures %v, want %v", got, want)
		}
		for _, batch := range failures {
			sum := 0
			for _, i := range batch {
				sum += v.tokens(outcomes[i])
			}
			if sum > window && len(batch) > leastSimilar(window) {
				t.Fatalf("%d tokens in a minibatch of %d, %d fit", sum, len(batch), window)
			}
		}
		if n, most := len(failures)+len(successes), MaxBySimilarity(len(outcomes), window); n > most {
			t.Fatalf("%d minibatches, the plan says at most %d", n, most)
		}
	})
}
