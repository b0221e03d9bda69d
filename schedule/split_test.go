package schedule

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/task"
)

func TestParseRatio(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"2:1:7", " 2 : 1 : 7 ", "2::1:7"} {
		got, err := ParseRatio(text)
		if err != nil || got != (Ratio{2, 1, 7}) || got.String() != "2:1:7" {
			t.Errorf("ParseRatio(%q) = %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "2:1", "2:1:7:1", "a:b:c", "1.5:1:1", "0:1:1", "-1:2:3"} {
		if got, err := ParseRatio(text); err == nil {
			t.Errorf("ParseRatio(%q) = %v", text, got)
		}
	}
}

func TestDefaultCounts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		n    int
		want Counts
	}{
		{0, Counts{}},
		{1, Counts{1, 0, 0}},
		{3, Counts{1, 1, 1}},
		{30, Counts{12, 12, 6}},
		{300, Counts{120, 120, 60}},
		{301, Counts{60, 30, 211}},
		{400, Counts{80, 40, 280}},
		{1000, Counts{600, 100, 300}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, DefaultCounts(tt.n)); diff != "" {
			t.Errorf("%d tasks (-want +got):\n%s", tt.n, diff)
		}
	}
}

func TestDefaultBatch(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{0: 1, 1: 1, 3: 1, 12: 4, 119: 39, 120: 40, 4000: 40} {
		if got := DefaultBatch(n); got != want {
			t.Errorf("DefaultBatch(%d) = %d, want %d", n, got, want)
		}
	}
}

func TestKeepOne(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		n     int
		ratio Ratio
		want  Counts
	}{
		{"all fell to one", 3, Ratio{6, 8, 53}, Counts{1, 1, 1}},
		{"one is empty", 5, Ratio{2, 1, 7}, Counts{1, 1, 3}},
		{"too few", 2, Ratio{2, 1, 7}, Counts{1, 0, 1}},
		{"nothing to do", 10, Ratio{2, 1, 7}, Counts{2, 1, 7}},
	}
	for _, tt := range tests {
		s := RatioSplit(tt.n, SplitConfig{Ratio: tt.ratio, Seed: 1, KeepOne: true})
		got := Counts{len(s.Train), len(s.Selection), len(s.Test)}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestParseSplit(t *testing.T) {
	t.Parallel()
	tests := map[string]task.Split{
		"train": task.Train, "selection": task.Selection, "val": task.Selection, "valid_seen": task.Selection,
		"test": task.Test, "valid_unseen": task.Test,
	}
	for name, want := range tests {
		if got, err := ParseSplit(name); got != want || err != nil {
			t.Errorf("ParseSplit(%q) = %q, %v", name, got, err)
		}
	}
	for _, name := range []string{"", "zzz", "Train"} {
		if got, err := ParseSplit(name); err == nil {
			t.Errorf("ParseSplit(%q) = %q", name, got)
		}
	}
}

func TestSplitsAreDisjointAndComplete(t *testing.T) {
	t.Parallel()
	part := rapid.IntRange(1, 60)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 500).Draw(t, "n")
		cfg := SplitConfig{
			Ratio:   Ratio{part.Draw(t, "train"), part.Draw(t, "selection"), part.Draw(t, "test")},
			Seed:    rapid.Int64().Draw(t, "seed"),
			KeepOne: rapid.Bool().Draw(t, "keep one"),
		}
		s := RatioSplit(n, cfg)
		all := slices.Sorted(slices.Values(slices.Concat(s.Train, s.Selection, s.Test)))
		if len(all) != n {
			t.Fatalf("%d of %d tasks are in a split", len(all), n)
		}
		for i, item := range all {
			if i != item {
				t.Fatalf("task %d is missing or doubled", i)
			}
		}
		if cfg.KeepOne && n >= 3 && (len(s.Train) == 0 || len(s.Selection) == 0 || len(s.Test) == 0) {
			t.Fatalf("%+v leaves a split of %d tasks empty", cfg, n)
		}
		if diff := cmp.Diff(s, RatioSplit(n, cfg)); diff != "" {
			t.Fatalf("the same seed splits differently:\n%s", diff)
		}
		if c := DefaultCounts(n); c.Total() != n || c.Test > 300 {
			t.Fatalf("DefaultCounts(%d) = %+v", n, c)
		}
	})
}

func TestAppendingToASplitLeavesTheNextAlone(t *testing.T) {
	t.Parallel()
	s := Cut(Counts{2, 2, 2}, 1)
	before := slices.Clone(s.Selection)
	_ = append(s.Train, -1)
	if diff := cmp.Diff(before, s.Selection); diff != "" {
		t.Errorf("selection changed (-want +got):\n%s", diff)
	}
}

// A ceiling leaves room for two steps beside what is measured before and after them, and
// never for fewer than a few tasks.
