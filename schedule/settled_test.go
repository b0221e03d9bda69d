package schedule

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/internal/pyrand"
)

func TestATaskIsSettledByLooksInARow(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		after int
		looks []float64
		want  bool
	}{
		{3, []float64{1, 1}, false},
		{3, []float64{1, 1, 1}, true},
		{3, []float64{0, 0, 0, 0}, true},
		{3, []float64{1, 1, 0, 1}, false},
		{3, []float64{1, 1, 1, 0}, false},
		{3, []float64{0, 1, 1, 1}, true},
		{3, []float64{1, 1, 0.5, 1}, false},
		{1, []float64{1}, true},
		{1, nil, false},
		{0, []float64{1, 1, 1, 1}, false},
	} {
		s := NewSettled(SettledConfig{After: tc.after, Weight: 0.25})
		for _, hard := range tc.looks {
			s.Look("a", hard)
		}
		if got := s.Is("a"); got != tc.want {
			t.Errorf("after %d: looks %v give %v", tc.after, tc.looks, got)
		}
	}
}

func TestSettledAreCountedByTheirEnd(t *testing.T) {
	t.Parallel()
	s := NewSettled(SettledConfig{After: 2})
	for key, hard := range map[string]float64{"a": 1, "b": 1, "c": 0} {
		s.Look(key, hard)
		s.Look(key, hard)
	}
	s.Look("d", 0)
	if solved, failed := s.Count(); solved != 2 || failed != 1 {
		t.Errorf("%d solved and %d failed are settled, want 2 and 1", solved, failed)
	}
}

// Whatever was seen: a batch keeps its size, holds no task twice, loses only
// settled tasks and gains only open ones, as long as there are some.
func TestThinningTakesOutSettledTasksOnly(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := NewSettled(SettledConfig{After: rapid.IntRange(0, 3).Draw(t, "after"), Weight: rapid.Float64Range(-0.5, 1.5).Draw(t, "weight")})
		keys := make([]string, rapid.IntRange(1, 30).Draw(t, "tasks"))
		for i := range keys {
			keys[i] = fmt.Sprintf("t%02d", i)
			for range rapid.IntRange(0, 4).Draw(t, "looks") {
				s.Look(keys[i], rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "hard"))
			}
		}
		batch := TrainBatch(len(keys), rapid.IntRange(0, len(keys)).Draw(t, "size"), 1)
		before := append([]int{}, batch...)
		seed := rapid.Int64().Draw(t, "seed")
		got, replaced := s.Thin(pyrand.New(seed), keys, batch)
		if diff := cmp.Diff(before, batch); diff != "" || len(got) != len(batch) {
			t.Fatalf("%d tasks of %d, the batch given changed: %s", len(got), len(batch), diff)
		}
		seen, changed := map[int]bool{}, 0
		for at, i := range got {
			if seen[i] {
				t.Fatalf("task %d comes twice", i)
			}
			seen[i] = true
			if i != batch[at] {
				changed++
				if !s.Is(keys[batch[at]]) || s.Is(keys[i]) {
					t.Fatalf("%s made room for %s", keys[batch[at]], keys[i])
				}
			}
		}
		if changed != replaced {
			t.Fatalf("%d places changed, %d are told", changed, replaced)
		}
		again, _ := s.Thin(pyrand.New(seed), keys, batch)
		if diff := cmp.Diff(got, again); diff != "" {
			t.Fatalf("the same seed thins differently:\n%s", diff)
		}
	})
}

// Over many batches a settled task keeps the share of its draws that the weight
// says, within five standard errors.
func TestASettledTaskKeepsItsWeight(t *testing.T) {
	t.Parallel()
	const weight, draws = 0.25, 20000
	s := NewSettled(SettledConfig{After: 1, Weight: weight})
	keys := []string{"settled", "a", "b", "c"}
	s.Look("settled", 1)
	kept := 0
	rng := pyrand.New(11)
	for range draws {
		got, _ := s.Thin(rng, keys, []int{0, 1})
		if got[0] == 0 {
			kept++
		}
		if got[1] != 1 {
			t.Fatal("a task that is not settled lost its place")
		}
	}
	if share := float64(kept) / draws; math.Abs(share-weight) > 5*math.Sqrt(weight*(1-weight)/draws) {
		t.Errorf("a settled task keeps %.4f of its draws, want %v", share, weight)
	}
}
