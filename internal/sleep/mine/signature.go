package mine

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/seed-f4525e22/skillopt/internal/draft"
	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
)

// facet is one side from which two inputs, or two outcomes, are compared: a letter, and digests.
type facet byte

// The facets of an input and of an outcome.
const (
	facetFiles   facet = 'f' // names of files: those that a request names, or that were written
	facetLines   facet = 'l' // of material
	facetFigures facet = 's' // figures, and names of code
	facetNames   facet = 'n' // words that begin with a capital inside of a sentence
	facetValues  facet = 'd' // figures of the expected answer
	facetWords   facet = 'w' // words of the expected answer
	facetCommand facet = 'c' // that passed
	facetSaid    facet = 'a' // words of the accepted answer, where nothing else reports the result
)

// maxDigests is how many digests of a facet are kept: those of the lowest value, which are the
// same in equal sets.
const maxDigests = 48

// signature is what is compared: digests by facet. Its text is that of wish.Task.Input and
// Outcome: "f:1a2b3c4d,5e6f7a8b;s:...".
type signature map[facet][]string

func (s signature) add(f facet, list ...string) {
	for _, one := range list {
		if d := digest(one)[:8]; !slices.Contains(s[f], d) {
			s[f] = append(s[f], d)
		}
	}
}

func (s signature) String() string {
	var parts []string
	for _, f := range []facet{facetFiles, facetLines, facetFigures, facetNames, facetValues, facetWords, facetCommand, facetSaid} {
		if list := slices.Sorted(slices.Values(s[f])); len(list) > 0 {
			parts = append(parts, string(f)+":"+strings.Join(list[:min(len(list), maxDigests)], ","))
		}
	}
	return strings.Join(parts, ";")
}

// parseSignature reads the text of a signature. What is none has no facets.
func parseSignature(text string) signature {
	s := signature{}
	for part := range strings.SplitSeq(text, ";") {
		if name, list, ok := strings.Cut(part, ":"); ok && len(name) == 1 && list != "" {
			s[facet(name[0])] = slices.Compact(slices.Sorted(strings.SplitSeq(list, ",")))
		}
	}
	return s
}

// inputSignature returns what was to be worked on: nothing of it depends on the words of the request.
func (w *weighing) inputSignature(d *draftedTask) string {
	s := signature{}
	for _, turn := range d.asked {
		own, others := splitMessage(w.t.Turns[turn].User)
		s.add(facetFiles, fileNames(own)...)
		s.add(facetFigures, findFigures(own)...)
		s.add(facetNames, findNames(own)...)
		s.add(facetLines, splitLines(others)...)
	}
	s.add(facetLines, splitLines(d.input)...)
	return s.String()
}

// outcomeSignature returns what is expected.
func (w *weighing) outcomeSignature(d *draftedTask) string {
	s := signature{}
	switch d.trust {
	case wish.ByCommand:
		s.add(facetCommand, collapseSpaces(d.command))
		s.add(facetFiles, d.written...)
	case wish.ByFiles:
		for name, text := range d.texts {
			s.add(facetFiles, name)
			s.add(facetLines, splitLines(text)...)
		}
	case wish.ByCorrection:
		for _, g := range d.gold {
			s.answer(g)
		}
		if len(d.gold) == 0 {
			s.add(facetSaid, stems(w.t.Turns[d.accepted].Agent)...)
		}
	case wish.ByRubric:
		if len(d.place.Files) > 0 {
			s.add(facetFiles, d.written...)
			break
		}
		s.add(facetSaid, stems(w.t.Turns[d.accepted].Agent)...)
	}
	return s.String()
}

// answer adds an expected answer: its figures, and its words.
func (s signature) answer(text string) {
	for _, word := range draft.Words(text) {
		if hasDigit(word) {
			s.add(facetValues, number(word))
		}
	}
	s.add(facetWords, stems(text)...)
}

func bases(list []string) []string {
	out := make([]string, len(list))
	for i, name := range list {
		out[i] = strings.ToLower(path.Base(strings.ReplaceAll(name, `\`, "/")))
	}
	return out
}

var (
	fileName = newPattern(`(?i)[\w./\\@-]*[\w-]\.(` + extensions + `)\b`)
	// codeName is a name of code: with an inner capital, an underscore, or called.
	codeName = newPattern(`\b([a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|\w+_\w+|\w+\(\))`)
	capital  = newPattern(`([.!?:\n]\s*|^\s*)?\b(\p{Lu}[\p{L}\d]+)`)
)

func fileNames(text string) []string { return bases(fileName().FindAllString(text, -1)) }

// findFigures returns the figures and names of code in a text, without file names.
func findFigures(text string) []string {
	text = fileName().ReplaceAllString(text, " ")
	var out []string
	for _, word := range draft.Words(text) {
		if hasDigit(word) {
			out = append(out, number(word))
		}
	}
	for _, name := range codeName().FindAllString(text, -1) {
		out = append(out, strings.ToLower(strings.TrimSuffix(name, "()")))
	}
	return out
}

// findNames returns the words that begin with a capital and do not begin a sentence.
func findNames(text string) []string {
	var out []string
	text = fileName().ReplaceAllString(text, " ")
	for _, m := range capital().FindAllStringSubmatchIndex(text, -1) {
		if m[2] < 0 {
			out = append(out, stem(strings.ToLower(text[m[4]:m[5]])))
		}
	}
	return out
}

// splitLines returns the lines of a material, without what is around their words.
func splitLines(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if list := draft.Words(line); len(list) > 0 && !fenceLine().MatchString(line) {
			out = append(out, strings.Join(list, " "))
		}
	}
	return out
}

func hasDigit(word string) bool { return strings.ContainsFunc(word, unicode.IsDigit) }

var (
	thousands   = newPattern(`^\d{1,3}(,\d{3})+(\.\d+)?$`)
	pointed     = newPattern(`^\d{1,3}(\.\d{3})+,\d+$`)
	commaNumber = newPattern(`^\d+,\d{1,2}$`)
)

// number writes a number in one way: "1,250.50" and "1.250,50" are 1250.5.
func number(word string) string {
	plain := word
	switch {
	case thousands().MatchString(word):
		plain = strings.ReplaceAll(word, ",", "")
	case pointed().MatchString(word):
		plain = strings.ReplaceAll(strings.ReplaceAll(word, ".", ""), ",", ".")
	case commaNumber().MatchString(word):
		plain = strings.ReplaceAll(word, ",", ".")
	}
	if v, err := strconv.ParseFloat(plain, 64); err == nil {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return word
}

// stopWords say nothing of what a text is about.
var stopWords = set(strings.Fields(`a an and are as at be been but by can could do does did for from give had has have he her him his how i if in into is it its just let me
	more my need no not now of on one only or our out please she should show so some tell than thanks that the their them then there these they this those to too up us use
	want was we were what when where which who why will with would yes you your make get got also about like still again instead ok okay hi hello hey
	der die das ein eine und ist nicht mit von zu den dem bitte für auf im in es ich du wir le la les un une et est pas avec de du des pour que qui el los las una y es no con por`)...)

// stems returns the words of a text that say what it is about, cut to what their forms share.
// Scripts without spaces between words give pairs of letters.
func stems(text string) []string {
	var out []string
	for _, word := range draft.Words(text) {
		switch {
		case stopWords[word] || hasDigit(word):
		case strings.ContainsFunc(word, ideographic):
			runes := []rune(word)
			for i := 0; i+1 < len(runes); i++ {
				out = append(out, string(runes[i:i+2]))
			}
		default:
			out = append(out, stem(word))
		}
	}
	return out
}

func ideographic(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

// stemLength is how many letters of a word are compared.
const stemLength = 5

func stem(word string) string {
	r := []rune(word)
	return string(r[:min(len(r), stemLength)])
}

// checkPromptWords returns the share of the words of a prompt that are in what was asked. foreign
// is a figure of it that is nowhere in the user's words.
func checkPromptWords(prompt, asked, all string) (share float64, foreign string) {
	have := set(stems(asked)...)
	said := map[string]bool{}
	for _, w := range draft.Words(all) {
		said[number(w)] = true
	}
	for _, w := range draft.Words(prompt) {
		if hasDigit(w) && !said[number(w)] && !strings.Contains(strings.ToLower(all), w) {
			return 0, w
		}
	}
	own := stems(prompt)
	if len(own) == 0 {
		return 1, ""
	}
	n := 0
	for _, w := range own {
		if have[w] {
			n++
		}
	}
	return float64(n) / float64(len(own)), ""
}

// areRelated reports whether two texts have a word or a figure in common that says what they are about.
func areRelated(a, b string) bool {
	have := set(stems(a)...)
	for _, w := range draft.Words(a) {
		if hasDigit(w) {
			have[number(w)] = true
		}
	}
	for _, w := range stems(b) {
		if have[w] {
			return true
		}
	}
	for _, w := range draft.Words(b) {
		if hasDigit(w) && have[number(w)] {
			return true
		}
	}
	return false
}
