package similar

import (
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestLevenshtein(t *testing.T) {
	t.Parallel()
	tests := []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "abc", 0},
		{"kitten", "sitting", 3},
		{"itc limted", "itc limited", 1},
		{"1/8/93", "1/8/1993", 2},
		{"abcd", "abxy", 2},
		{"größer", "grosser", 3},
		{"日本語", "日本", 1},
		{"flaw", "lawn", 2},
		{strings.Repeat("a", 200), strings.Repeat("b", 130), 200},
	}
	for _, tt := range tests {
		if got := Levenshtein([]rune(tt.a), []rune(tt.b)); got != tt.want {
			t.Errorf("%q and %q: got %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

// table is the definition, cell by cell.
func table(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		corner := row[0]
		row[0] = i + 1
		for j := range b {
			cost := corner
			if a[i] != b[j] {
				cost++
			}
			corner = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// TestAsTheTableSays also where a text has several machine words.
func TestAsTheTableSays(t *testing.T) {
	t.Parallel()
	text := rapid.SliceOfN(rapid.RuneFrom([]rune("abé\u754c ")), 0, 300)
	rapid.Check(t, func(t *rapid.T) {
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		if got, want := Levenshtein(a, b), table(a, b); got != want {
			t.Fatalf("got %d, want %d", got, want)
		}
	})
	random := rand.New(rand.NewPCG(1, 2))
	for range 30 {
		a := make([]rune, 60+random.IntN(10)*64/5)
		for i := range a {
			a[i] = rune('a' + random.IntN(3))
		}
		b := append([]rune("zz"), a...)
		for range random.IntN(40) {
			b[random.IntN(len(b))] = rune('a' + random.IntN(4))
		}
		b = b[:len(b)-random.IntN(20)]
		if got, want := Levenshtein(a, b), table(a, b); got != want {
			t.Fatalf("%s, %s: got %d, want %d", string(a), string(b), got, want)
		}
	}
}
