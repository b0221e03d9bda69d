package optimize

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bounds, in code points, of the texts that go into prompts. They keep one
// runaway trajectory or reply from crowding out everything else.
const (
	maxTrajectory = 12_000 // the conversation of one trajectory
	maxField      = 4_000  // any other field of a trajectory
	maxReasoning  = 600    // the reason given for a patch
	maxItemLine   = 1_500  // content of an item in a list
	maxTargetLine = 300    // target of an item in a list
)

// clip shortens s to at most limit code points by cutting out of its middle, and
// says so at the place of the cut. Beginnings hold the question, ends the
// answer, so both stay.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	n := utf8.RuneCountInString(s)
	if n <= limit {
		return s
	}
	head := limit / 2
	tail := limit - head
	from, to := runeOffset(s, head), runeOffset(s, n-tail)
	return fmt.Sprintf("%s\n[... %d characters cut out ...]\n%s", s[:from], n-limit, s[to:])
}

// oneLine writes s on one line, line breaks escaped, and at most limit code
// points of it.
func oneLine(s string, limit int) string {
	if utf8.RuneCountInString(s) > limit {
		s = s[:runeOffset(s, limit)] + "..."
	}
	if !strings.ContainsAny(s, "\r\n") {
		return s // as nearly always; a Replacer takes longer to build than to use
	}
	return strings.NewReplacer("\r\n", `\n`, "\n", `\n`, "\r", `\n`).Replace(s)
}

// runeOffset returns the byte offset of the n-th code point.
func runeOffset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}
