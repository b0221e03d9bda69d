package check

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// normalizer brings texts into a form in which they are compared.
type normalizer func(string) string

// normalizers returns the names of the ways to normalise, the given default
// first.
func normalizers(first string) []string {
	names := []string{first}
	for _, n := range []string{"none", "trim", "casefold", "text", "squad", "number"} {
		if n != first {
			names = append(names, n)
		}
	}
	return append(names, formNames()...)
}

func findNormalizer(name string) normalizer {
	switch name {
	case "none":
		return func(s string) string { return s }
	case "casefold":
		return casefold
	case "squad":
		return SquadNormalize
	case "text":
		return textForm
	}
	if form := benchmarkForm(name); form != nil {
		return form
	}
	return strings.TrimSpace
}

// casefold folds case in full (ß is ss) and squeezes white space.
func casefold(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return cases.Fold().String(s)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// lower follows the Unicode rules for whole words: a final sigma is not the
// letter that a mapping rune by rune gives.
func lower(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return cases.Lower(language.Und).String(s)
}

const asciiPunctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"

func isPunctuation(r rune) bool {
	return r < utf8.RuneSelf && strings.ContainsRune(asciiPunctuation, r)
}

// SquadNormalize returns a text as the evaluation of SQuAD normalises it: lower case, without ASCII
// punctuation, without the articles a, an and the, white space squeezed (Rajpurkar et al. 2016).
func SquadNormalize(s string) string {
	s = strings.Map(func(r rune) rune {
		if isPunctuation(r) {
			return -1
		}
		return r
	}, lower(s))
	return strings.Join(split(dropWords(s, false, isArticle)), " ")
}

// split cuts at white space as Python does, which counts U+001C to U+001F.
func split(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f })
}

// dropWords replaces words by a space, the last word excepted if keepLast says
// so. Words are runs of letters and digits of any script.
func dropWords(s string, keepLast bool, drop func(word string) bool) string {
	var b strings.Builder
	b.Grow(len(s))
	start := -1
	flush := func(end int) {
		if start < 0 {
			return
		}
		word := s[start:end]
		start = -1
		if drop(word) && !(keepLast && strings.IndexFunc(s[end:], isWord) < 0) {
			b.WriteByte(' ')
			return
		}
		b.WriteString(word)
	}
	for i, r := range s {
		if isWord(r) {
			if start < 0 {
				start = i
			}
			continue
		}
		flush(i)
		b.WriteRune(r)
	}
	flush(len(s))
	return b.String()
}

func isArticle(word string) bool { return word == "a" || word == "an" || word == "the" }

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || r == '_' }

// textForm returns the default form of free answers. It follows SQuAD, except that it keeps what
// makes answers different: points and signs of numbers (-3.5, 10:30 and 1/2 are not 35, 1030 and
// 12), an article as the last word (vitamin A, or just A), and punctuation when there is nothing
// else.
func textForm(s string) string {
	low := lower(strings.TrimSpace(s))
	if form := strings.Join(split(dropWords(dropPunctuation(low), true, isArticle)), " "); form != "" {
		return form
	}
	return low
}

// dropPunctuation drops ASCII punctuation outside of numbers. Within numbers
// only the comma goes, which separates thousands.
func dropPunctuation(s string) string {
	if !strings.ContainsAny(s, asciiPunctuation) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i, r := range s {
		if !isPunctuation(r) || holdsNumber(s, i) {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// holdsNumber reports whether the punctuation at i is part of a number: a point,
// colon, slash or dash between digits, or a sign or point before one.
func holdsNumber(s string, i int) bool {
	if i+1 >= len(s) || !isDigit(s[i+1]) {
		return s[i] == '-' && i+2 < len(s) && s[i+1] == '.' && isDigit(s[i+2])
	}
	switch {
	case i > 0 && isDigit(s[i-1]):
		return strings.IndexByte(".:/-", s[i]) >= 0
	case i > 0 && (s[i-1] >= 'a' && s[i-1] <= 'z' || s[i-1] >= utf8.RuneSelf):
		return false
	}
	return s[i] == '-' || s[i] == '.'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// ExactMatch reports whether the SQuAD forms of prediction and any of gold are
// equal.
func ExactMatch(prediction string, gold []string) bool {
	p := SquadNormalize(prediction)
	for _, g := range gold {
		if SquadNormalize(g) == p {
			return true
		}
	}
	return false
}

// F1 returns the largest F1 of the words of prediction and any of gold, in
// their SQuAD forms, 0..1. Two empty texts agree fully.
func F1(prediction string, gold []string) float64 {
	best, _ := bestF1(prediction, gold, SquadNormalize)
	return best
}

func bestF1(prediction string, gold []string, form normalizer) (best float64, closest string) {
	p := split(form(prediction))
	for i, g := range gold {
		if f := wordF1(p, split(form(g))); f > best || i == 0 {
			best, closest = f, g
		}
	}
	return best, closest
}

func wordF1(p, g []string) float64 {
	if len(p) == 0 || len(g) == 0 {
		if len(p) == len(g) {
			return 1
		}
		return 0
	}
	count := make(map[string]int, len(g))
	for _, w := range g {
		count[w]++
	}
	same := 0
	for _, w := range p {
		if count[w] > 0 {
			count[w]--
			same++
		}
	}
	if same == 0 {
		return 0
	}
	precision := float64(same) / float64(len(p))
	recall := float64(same) / float64(len(g))
	return 2 * precision * recall / (precision + recall)
}
