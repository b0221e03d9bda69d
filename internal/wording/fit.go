package wording

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// This file brings texts into a room that is too small for them: the longest lose
// their middle, the others stay whole.

// Least is the room, in bytes, in which a text keeps something of both of its ends: with
// less a text that is longer may keep its beginning alone, or nothing.
const Least = 128

// FitLimit returns the greatest length to which what is longer can be cut, so that all together
// keep to room; at least 0. If all fit, it returns the length of the longest.
func FitLimit(lengths []int, room int) int {
	sorted := slices.Sorted(slices.Values(lengths))
	room = max(0, room)
	for i, n := range sorted {
		if share := room / (len(sorted) - i); n > share {
			return share
		}
		room -= n
	}
	if len(sorted) == 0 {
		return room
	}
	return sorted[len(sorted)-1]
}

// Middle returns a text of at most room bytes, valid UTF-8: the text itself if it is no
// longer, else its two ends with a mark between them that says how many characters are
// left out. Beginnings hold the question, ends the answer, so both stay.
func Middle(text string, room int) string {
	text = valid(text)
	if len(text) <= room {
		return text
	}
	// The mark for all of the text is as long as any that can be due.
	most := len(mark(utf8.RuneCountInString(text)))
	if room < most {
		return text[:start(text, max(0, room))]
	}
	keep := room - most
	from := start(text, (keep+1)/2)
	to := end(text, len(text)-keep/2)
	return text[:from] + mark(utf8.RuneCountInString(text[from:to])) + text[to:]
}

// Cut returns a text of at most most bytes, with "..." where it was longer. No character is cut
// in two.
func Cut(text string, most int) string {
	const more = "..."
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-len(more)], "") + more
}

// mark returns the text that shows where characters are left out.
func mark(n int) string { return fmt.Sprintf(" [... %d characters left out ...] ", n) }

// start returns the beginning of the character that byte at belongs to.
func start(text string, at int) int {
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

// end returns at, or the beginning of the next character if at is within one.
func end(text string, at int) int {
	for at < len(text) && !utf8.RuneStart(text[at]) {
		at++
	}
	return at
}

func valid(text string) string { return strings.ToValidUTF8(text, string(utf8.RuneError)) }
