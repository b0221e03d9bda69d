package task

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestBlocks: blocks are a slice to all who look.
func TestBlocks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var b blocks[int]
		var want []int
		for range rapid.IntRange(1, 6).Draw(t, "rounds") {
			for range rapid.IntRange(0, 2*blockLen).Draw(t, "add") {
				b.add(len(want))
				want = append(want, len(want))
			}
			n := rapid.IntRange(0, len(want)+1).Draw(t, "cut")
			b.cut(n)
			want = want[:min(n, len(want))]
		}
		for i := range want {
			if *b.at(i) != want[i] {
				t.Fatalf("at(%d) = %d", i, *b.at(i))
			}
		}
		if b.n != len(want) || !slices.Equal(b.join(), want) || b.n != 0 {
			t.Fatal("not what was added")
		}
	})
}
