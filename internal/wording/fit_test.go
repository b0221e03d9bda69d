package wording_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/internal/wording"
)

var mark = regexp.MustCompile(` \[\.\.\. (\d+) characters left out \.\.\.\] `)

func TestMiddle(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		room       int
		want       string
	}{
		{"whole", "abc", 3, "abc"},
		{"cut", strings.Repeat("a", 50) + strings.Repeat("b", 50), 44, "aaaaa [... 91 characters left out ...] bbbb"},
		{"characters are not cut", strings.Repeat("é", 100), 46, "ééé [... 95 characters left out ...] éé"},
		{"no room for a mark", "日本語日本語日本語", 7, "日本"},
		{"no room", "abc", 0, ""},
		{"less than none", "abc", -5, ""},
		{"not UTF-8", "a\xffb", 10, "a\ufffdb"},
	} {
		if diff := cmp.Diff(tt.want, wording.Middle(tt.text, tt.room)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestLimit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		lengths    []int
		room, want int
	}{
		{nil, 10, 10},
		{[]int{3, 9, 1}, 13, 9},
		{[]int{3, 9, 1}, 12, 8},
		{[]int{100, 1, 100, 2}, 63, 30},
		{[]int{5, 5}, 3, 1},
		{[]int{5}, -1, 0},
	} {
		if got := wording.FitLimit(tt.lengths, tt.room); got != tt.want {
			t.Errorf("FitLimit(%v, %d) = %d, want %d", tt.lengths, tt.room, got, tt.want)
		}
	}
}

// Whatever the texts: they keep to the room and are valid, none is cut while a longer one
// is whole, and what is cut keeps both ends as far as there is room for them and says how
// much is gone.
func TestTextsLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			unit := rapid.StringOfN(rapid.SampledFrom([]rune("aé日🙂\n")), 1, 8, -1).Draw(t, "unit")
			return unit + strings.Repeat(unit, rapid.IntRange(0, 400).Draw(t, "times"))
		}), 0, 12).Draw(t, "texts")
		room := rapid.IntRange(-1, 6000).Draw(t, "room")
		got := wording.Texts(texts, room)
		total, longestWhole, shortestCut := 0, -1, 1<<30
		for i, g := range got {
			total += len(g)
			if !utf8.ValidString(g) {
				t.Fatalf("%q is no UTF-8", g)
			}
			if g == texts[i] {
				longestWhole = max(longestWhole, len(g))
				continue
			}
			shortestCut = min(shortestCut, len(texts[i]))
		}
		if total > max(0, room) {
			t.Fatalf("%d bytes, there is room for %d", total, room)
		}
		if longestWhole > shortestCut {
			t.Fatalf("a text of %d bytes is cut while one of %d is whole", shortestCut, longestWhole)
		}
		if len(texts) > 0 && room/len(texts) >= wording.Least {
			checkEnds(t, texts, got)
		}
	})
}

func checkEnds(t *rapid.T, texts, got []string) {
	const ends = 32 // bytes of both that Least leaves room for
	for i, g := range got {
		if g == texts[i] {
			continue
		}
		at := mark.FindStringSubmatchIndex(g)
		if at == nil {
			t.Fatalf("no mark in %q", g)
		}
		head, tail := g[:at[0]], g[at[1]:]
		if len(head) < ends || len(tail) < ends || !strings.HasPrefix(texts[i], head) || !strings.HasSuffix(texts[i], tail) {
			t.Fatalf("%q + %q of %q", head, tail, texts[i])
		}
		n, _ := strconv.Atoi(g[at[2]:at[3]])
		if want := utf8.RuneCountInString(texts[i]) - utf8.RuneCountInString(head+tail); n != want {
			t.Fatalf("%d characters are said to be left out, %d are", n, want)
		}
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		most int
		want string
	}{
		{"abcdef", 6, "abcdef"},
		{"abcdefg", 6, "abc..."},
		{"ab\u00e9defg", 6, "ab..."},
		{"", 3, ""},
	} {
		if got := wording.Cut(tt.text, tt.most); got != tt.want {
			t.Errorf("%q to %d: %q, want %q", tt.text, tt.most, got, tt.want)
		}
	}
}
