package wording

import "testing"

func TestPlural(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{-1: "-1 replies", 0: "0 replies", 1: "1 reply", 2: "2 replies", 11: "11 replies"} {
		if got := Plural(n, "reply", "replies"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
