package check

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/internal/mcq"
	"github.com/seed-f4525e22/skillopt/score"
)

// unequal returns the verdict on an answer that is none of those accepted.
func unequal(answer string, accepted []string) verdict {
	return verdict{reason: mismatch(answer, accepted), cause: Difference(answer, accepted)}
}

// mismatch says how an answer differs from what was accepted. The property that
// differs (letter case, punctuation, words around it) is what an analyst can
// turn into a rule, so it is named when there is one.
func mismatch(answer string, accepted []string) string {
	if len(accepted) == 0 {
		return "there is nothing to compare with: the task has no gold answer"
	}
	if strings.TrimSpace(answer) == "" {
		return "the answer is empty, expected " + quoteTexts(accepted)
	}
	reason := fmt.Sprintf("got %s, expected %s", quote(answer), quoteTexts(accepted))
	for _, a := range accepted {
		if p := property(answer, a); p != score.OtherAnswer {
			return reason + ": " + string(p)
		}
	}
	return reason
}

// Difference returns how an answer differs from the accepted one that it is closest to, ""
// where there is nothing to compare with.
func Difference(answer string, accepted []string) score.Cause {
	if strings.TrimSpace(answer) == "" && len(accepted) > 0 {
		return score.NoAnswer
	}
	var found []score.Cause
	for _, a := range accepted {
		found = append(found, strictProperty(answer, a))
	}
	return closestCause(found)
}

// closestCause returns the cause with the smallest difference, the first if none compares
// answers, "" if there is none.
func closestCause(found []score.Cause) score.Cause {
	for _, c := range score.AnswerCauses() {
		if slices.Contains(found, c) {
			return c
		}
	}
	return append(found, "")[0]
}

// strictProperty returns the property of an answer for what is counted. The result of property is
// enough for an analyst, who sees both texts and can report that 112 is not 12 in a longer answer,
// and that "not" holds no "no". Of equal texts it returns ScoredElsewhere.
func strictProperty(answer, want string) score.Cause {
	p, a, w := property(answer, want), casefold(answer), casefold(want)
	switch {
	case answer == want:
		return score.ScoredElsewhere
	case !slices.Contains([]score.Cause{score.LongerAnswer, score.PartialAnswer, score.OtherOrder, score.OtherAnswer}, p):
		return p
	case otherNumber(answer, want):
		return score.OtherNumber
	case wordLetters(a) == wordLetters(w) && wordLetters(a) != "":
		return score.Punctuation
	case p == score.LongerAnswer && !containsWords(a, w), p == score.PartialAnswer && !containsWords(w, a):
		return score.OtherAnswer
	}
	return p
}

// property returns what alone keeps answer from being want, OtherAnswer if it is more than
// one thing.
func property(answer, want string) score.Cause {
	noSpace := func(s string) string { return strings.Join(strings.Fields(s), "") }
	a, w := casefold(answer), casefold(want)
	switch {
	case noSpace(answer) == noSpace(want):
		return score.Space
	case a == w:
		return score.LetterCase
	case noSpace(a) == noSpace(w):
		return score.SpaceAndCase
	case keepLetters(a) == keepLetters(w) && keepLetters(a) != "":
		return score.Punctuation
	case sameNumber(answer, want):
		return score.NumberForm
	case w != "" && strings.Contains(a, w):
		return score.LongerAnswer
	case strings.Contains(w, a):
		return score.PartialAnswer
	case sameWords(a, w):
		return score.OtherOrder
	}
	return score.OtherAnswer
}

// containsWords reports whether a text holds another one as whole words, or anywhere in a script
// that is written without spaces.
func containsWords(text, part string) bool {
	spaceless := func(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) }
	return mcq.Holds(text, part) || strings.ContainsFunc(part, spaceless) && strings.Contains(text, part)
}

// wordLetters returns what keepLetters does, without the punctuation of other scripts except dashes.
func wordLetters(s string) string {
	other := func(r rune) bool { return r >= utf8.RuneSelf && unicode.IsPunct(r) && !unicode.Is(unicode.Pd, r) }
	return keepLetters(strings.Join(strings.FieldsFunc(s, other), ""))
}

// keepLetters keeps the characters that are part of words, numbers apart: 3.5 and
// 35 differ in more than punctuation.
func keepLetters(s string) string {
	return strings.Join(strings.Fields(dropPunctuation(s)), " ")
}

func sameNumber(answer, want string) bool {
	a, okA := parseNumber(answer)
	w, okW := parseNumber(want)
	return okA && okW && a.value == w.value && a.unit == w.unit
}

// otherNumber reports whether an answer has another number than want where want is one, or
// is the same text but for its digits.
func otherNumber(answer, want string) bool {
	if w, ok := parseNumber(want); ok {
		a, reason := onlyNumber(answer)
		return reason == "" && a.value != w.value
	}
	noDigits := func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsDigit(r) {
				return -1
			}
			return r
		}, casefold(s))
	}
	return noDigits(answer) == noDigits(want) && noDigits(answer) != casefold(answer) && noDigits(want) != casefold(want)
}

func sameWords(a, w string) bool {
	x, y := split(dropPunctuation(a)), split(dropPunctuation(w))
	slices.Sort(x)
	slices.Sort(y)
	return len(x) > 1 && slices.Equal(x, y)
}
