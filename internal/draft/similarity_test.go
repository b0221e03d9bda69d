package draft

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/internal/similar"
)

func TestWords(t *testing.T) {
	t.Parallel()
	tests := map[string][]string{
		"Pay 12.50 EUR, by 3:30 pm.": {"pay", "12.50", "eur", "by", "3:30", "pm"},
		"  «Été» — naïve? ":          {"été", "naïve"},
		"A-1/B_2. c":                 {"a-1/b_2", "c"},
		"...":                        nil,
		"":                           nil,
	}
	for text, want := range tests {
		if diff := cmp.Diff(want, words(text)); diff != "" {
			t.Errorf("%q:\n%s", text, diff)
		}
	}
}

func TestLikeness(t *testing.T) {
	t.Parallel()
	tests := []struct {
		a, b    string
		similar bool
	}{
		{"When is the invoice due?", "when is THE invoice due", true},
		{"When is the invoice due?", "Which carrier takes the crate to the port of Leith today?", false},
		{
			"Parcels of 2 kg, 3 kg and 4 kg leave at nine with the van to Hull. What do they weigh?",
			"Parcels of 2 kg, 3 kg and 5 kg leave at nine with the van to Hull. What do they weigh?", true,
		},
		{
			"Parcels of 2 kg, 3 kg and 4 kg leave at nine with the van to Hull. What do they weigh?",
			"Crates of 7 kg, 8 kg and 9 kg leave at noon with the train to York. What do they weigh?", false,
		},
		{"", "", true},
	}
	for _, tt := range tests {
		if got := similar.Near(similar.Words(tt.a), similar.Words(tt.b)); got != tt.similar {
			t.Errorf("%q and %q: alike %v, want %v", tt.a, tt.b, got, tt.similar)
		}
	}
}

// TestLongestRun compares with the plain way of finding it.
func TestLongestRun(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"a", "b", "c"})
		a := rapid.SliceOfN(word, 0, 12).Draw(t, "a")
		b := rapid.SliceOfN(word, 0, 12).Draw(t, "b")
		want := 0
		for n := 1; n <= len(a); n++ {
			for _, run := range wordRuns(a, n) {
				if strings.Contains(" "+strings.Join(b, " ")+" ", " "+run+" ") {
					want = n
				}
			}
		}
		if got := longestRun(a, b); got != want {
			t.Fatalf("longestRun(%v, %v) = %d, want %d", a, b, got, want)
		}
		if got := holds(b, a); got != (len(a) > 0 && want == len(a)) {
			t.Fatalf("holds(%v, %v) = %v", b, a, got)
		}
	})
}
