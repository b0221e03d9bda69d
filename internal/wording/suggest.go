package wording

import (
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/similar"
)

// This file finds the name that was probably meant by one that is unknown,
// for messages.

// Suggest returns the known name with the fewest edits (by code points, whatever the
// case) to got, the first of several. ok is false if even that one is too far
// away to be a slip of the hand: more than two edits, and more than a third of
// got.
func Suggest(got string, known []string) (name string, ok bool) {
	fewest := max(2, len([]rune(got))/3) + 1
	typed := []rune(strings.ToLower(got))
	for _, k := range known {
		if d := similar.Levenshtein(typed, []rune(strings.ToLower(k))); d < fewest {
			name, fewest, ok = k, d, true
		}
	}
	return name, ok
}
