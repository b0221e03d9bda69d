package schedule

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestStepsPerEpoch(t *testing.T) {
	t.Parallel()
	tests := []struct{ train, batch, accumulation, want int }{
		{400, 40, 1, 10},
		{401, 40, 1, 11},
		{400, 40, 3, 4},
		{0, 40, 1, 0},
		{5, 0, 0, 5},
	}
	for _, tt := range tests {
		if got := StepsPerEpoch(tt.train, tt.batch, tt.accumulation); got != tt.want {
			t.Errorf("StepsPerEpoch(%d, %d, %d) = %d, want %d", tt.train, tt.batch, tt.accumulation, got, tt.want)
		}
	}
}

func TestEpochPassesOverTrainOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cfg := EpochConfig{
			Train:        rapid.IntRange(1, 200).Draw(t, "train"),
			BatchSize:    rapid.IntRange(1, 50).Draw(t, "batch size"),
			Accumulation: rapid.IntRange(1, 4).Draw(t, "accumulation"),
			Epoch:        rapid.IntRange(1, 9).Draw(t, "epoch"),
			Seed:         rapid.Int64Range(0, 1<<40).Draw(t, "seed"),
		}
		cfg.Steps = StepsPerEpoch(cfg.Train, cfg.BatchSize, cfg.Accumulation)
		batches := Epoch(cfg)
		if len(batches) != cfg.Steps*cfg.Accumulation {
			t.Fatalf("%d batches", len(batches))
		}
		var pass []int
		for i, b := range batches {
			if len(b.Items) == 0 || len(b.Items) > cfg.BatchSize {
				t.Fatalf("batch %d has %d items", i, len(b.Items))
			}
			if want := cfg.Seed + int64(cfg.Epoch)*1000 + int64(i) + 1; b.Seed != want {
				t.Fatalf("batch %d has seed %d, not %d", i, b.Seed, want)
			}
			if len(pass) < cfg.Train {
				pass = append(pass, b.Items...)
			}
		}
		slices.Sort(pass)
		if len(slices.Compact(pass)) != cfg.Train {
			t.Fatalf("one pass holds %d of %d tasks", len(slices.Compact(pass)), cfg.Train)
		}
	})
}

func TestEpochOfNothing(t *testing.T) {
	t.Parallel()
	got := Epoch(EpochConfig{Train: 0, BatchSize: 4, Accumulation: 1, Steps: 2, Epoch: 1})
	for _, b := range got {
		if len(b.Items) != 0 {
			t.Errorf("batch of an empty train split: %v", b)
		}
	}
	if got := Epoch(EpochConfig{Train: 3, BatchSize: 1, Accumulation: 1, Steps: -1}); len(got) != 0 {
		t.Errorf("negative steps give %v", got)
	}
}

func TestBatchesShareNoMemory(t *testing.T) {
	t.Parallel()
	cfg := EpochConfig{Train: 6, BatchSize: 3, Accumulation: 1, Steps: 2, Epoch: 1}
	batches := Epoch(cfg)
	_ = append(batches[0].Items, -1)
	batches[0].Items[0] = -1
	if diff := cmp.Diff(Epoch(cfg)[1], batches[1]); diff != "" {
		t.Errorf("the second batch changed (-want +got):\n%s", diff)
	}
}

func TestTrainBatch(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ n, size, want int }{{17, 4, 4}, {3, 40, 3}, {0, 4, 0}, {3, -1, 0}, {-1, 2, 0}} {
		if got := TrainBatch(tt.n, tt.size, 1); len(got) != tt.want {
			t.Errorf("TrainBatch(%d, %d) = %v", tt.n, tt.size, got)
		}
	}
}

func TestEvalBatch(t *testing.T) {
	t.Parallel()
	counts := Counts{Train: 3, Selection: 2, Test: 4}
	tests := []struct {
		name  string
		limit int
		want  []int
		ok    bool
	}{
		{"train", 0, []int{0, 1, 2}, true},
		{"valid_seen", 1, []int{0}, true},
		{"selection", 9, []int{0, 1}, true},
		{"test", -1, []int{0, 1, 2, 3}, true},
		{"zzz", 1, nil, false},
	}
	for _, tt := range tests {
		got, err := EvalBatch(counts, tt.name, tt.limit)
		if diff := cmp.Diff(tt.want, got); diff != "" || (err == nil) != tt.ok {
			t.Errorf("EvalBatch(%q, %d): %v (-want +got):\n%s", tt.name, tt.limit, err, diff)
		}
	}
	if got := counts.Of("other"); got != 0 {
		t.Errorf("size of an unknown split is %d", got)
	}
}

func TestSeedPlanShufflesTheBase(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cfg := EpochConfig{
			Accumulation: rapid.IntRange(0, 3).Draw(t, "accumulation"),
			Steps:        rapid.IntRange(0, 40).Draw(t, "steps"),
			Epoch:        rapid.IntRange(1, 5).Draw(t, "epoch"),
			Seed:         rapid.Int64Range(0, 1<<40).Draw(t, "seed"),
		}
		base, shuffled := SeedPlan(cfg)
		slices.Sort(shuffled)
		if diff := cmp.Diff(base, shuffled); diff != "" {
			t.Fatalf("other seeds (-base +shuffled):\n%s", diff)
		}
	})
}
