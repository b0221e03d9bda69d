package check

import (
	"fmt"
	"slices"
	"strings"
)

// mismatch says how an answer differs from what was accepted. The property that
// differs (letter case, punctuation, words around it) is what an analyst can
// turn into a rule, so it is named when there is one.
func mismatch(answer string, accepted []string) string {
	if len(accepted) == 0 {
		return "there is nothing to compare with: the task has no gold answer"
	}
	if strings.TrimSpace(answer) == "" {
		return "the answer is empty, expected " + oneOf(accepted)
	}
	reason := fmt.Sprintf("got %s, expected %s", quote(answer), oneOf(accepted))
	for _, a := range accepted {
		if p := property(answer, a); p != "" {
			return reason + ": " + p
		}
	}
	return reason
}

// property names what alone keeps answer from being want, "" if it is more than
// one thing.
func property(answer, want string) string {
	noSpace := func(s string) string { return strings.Join(strings.Fields(s), "") }
	a, w := casefold(answer), casefold(want)
	switch {
	case noSpace(answer) == noSpace(want):
		return "only white space differs"
	case a == w:
		return "only letter case differs"
	case noSpace(a) == noSpace(w):
		return "only white space and letter case differ"
	case lettersOf(a) == lettersOf(w) && lettersOf(a) != "":
		return "only punctuation differs"
	case sameNumber(answer, want):
		return "the same number, written differently"
	case w != "" && strings.Contains(a, w):
		return "the expected text stands inside a longer answer"
	case strings.Contains(w, a):
		return "it is only a part of what is expected"
	case sameWords(a, w):
		return "the same words in another order"
	}
	return ""
}

// lettersOf keeps the characters that are part of words, numbers apart: 3.5 and
// 35 differ in more than punctuation.
func lettersOf(s string) string {
	return strings.Join(strings.Fields(dropPunctuation(s)), " ")
}

func sameNumber(answer, want string) bool {
	a, okA := parseNumber(answer)
	w, okW := parseNumber(want)
	return okA && okW && a.value == w.value && a.unit == w.unit
}

func sameWords(a, w string) bool {
	x, y := split(dropPunctuation(a)), split(dropPunctuation(w))
	slices.Sort(x)
	slices.Sort(y)
	return len(x) > 1 && slices.Equal(x, y)
}
