package schedule

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Folds are equal in size and in types, and keep clusters together where there are any.
func TestFoldsAreFair(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n, k := rapid.IntRange(4, 60).Draw(t, "tasks"), rapid.IntRange(2, 6).Draw(t, "folds")
		cfg := FoldConfig{Folds: k, Seed: rapid.Int64().Draw(t, "seed")}
		types := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), n, n).Draw(t, "types")
		cfg.Types = types
		folds := Folds(n, cfg)
		if diff := cmp.Diff(folds, Folds(n, cfg)); diff != "" {
			t.Fatal(diff)
		}
		for _, kind := range []string{"", "a", "b", "c"} {
			sizes := make([]int, k)
			for i, f := range folds {
				if kind == "" || types[i] == kind {
					sizes[f]++
				}
			}
			if slices.Max(sizes)-slices.Min(sizes) > 1 {
				t.Fatalf("tasks of type %q by fold: %v", kind, sizes)
			}
		}
		cfg.Clusters = make([]string, n)
		for i := range n {
			cfg.Clusters[i] = fmt.Sprint(rapid.IntRange(0, 8).Draw(t, "cluster"))
		}
		of := map[string]int{}
		for i, f := range Folds(n, cfg) {
			if was, ok := of[cfg.Clusters[i]]; ok && was != f {
				t.Fatalf("cluster %s is in folds %d and %d", cfg.Clusters[i], was, f)
			}
			of[cfg.Clusters[i]] = f
		}
	})
}

func TestDefaultFolds(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{0: 0, 7: 0, 8: 1, 59: 1, 60: 0, 1000: 0} {
		if got := DefaultFolds(n); got != want {
			t.Errorf("DefaultFolds(%d) = %d, want %d", n, got, want)
		}
	}
}
