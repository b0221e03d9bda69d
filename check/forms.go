package check

import (
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pytext"
)

// formNames returns the names of the normal forms of benchmarks, next to those that answers of any kind need.
func formNames() []string { return []string{"docvqa", "mathtext", "sealqa", "officeqa", "plain"} }

// benchmarkForm returns a normal form by its name, nil if it is none of formNames.
func benchmarkForm(name string) normalizer {
	switch name {
	case "docvqa":
		return docvqaForm
	case "mathtext":
		return mathtextForm
	case "sealqa":
		return sealqaForm
	case "officeqa":
		return officeqaForm
	case "plain":
		return plainForm
	}
	return nil
}

// squeeze replaces each stretch of white space with one space, as Python's split and join do.
func squeeze(s string) string { return strings.Join(split(s), " ") }

// docvqaForm returns the form of the ANLS of DocVQA: case and white space do not matter, punctuation does.
func docvqaForm(s string) string { return squeeze(lower(s)) }

// mathtextForm returns what MathVerse compares before it asks a judge: text without dollar signs, braces and \mathrm.
func mathtextForm(s string) string {
	s = strings.TrimFunc(s, pytext.IsSpace)
	for _, drop := range []string{"$", `\mathrm`, "{", "}"} {
		s = strings.ReplaceAll(s, drop, "")
	}
	for _, gap := range []string{"~", `\,`, `\ `} {
		s = strings.ReplaceAll(s, gap, " ")
	}
	return lower(squeeze(s))
}

// sealqaForm keeps words, white space, and the percent signs, points and dashes that numbers and dates have.
func sealqaForm(s string) string {
	return strings.TrimFunc(strings.Map(func(r rune) rune {
		if isWord(r) || pytext.IsSpace(r) || strings.ContainsRune("%.-", r) {
			return r
		}
		return -1
	}, squeeze(lower(s))), pytext.IsSpace)
}

// officeqaForm keeps digits, points, dashes and percent signs of punctuation, and leaves out units of money:
// "$1,234.5 million" is 1234.5.
func officeqaForm(s string) string {
	units := []string{"million", "millions", "billion", "billions", "dollars", "dollar", "nominal"}
	s = strings.Map(func(r rune) rune {
		if isPunctuation(r) && !strings.ContainsRune(".-%", r) {
			return -1
		}
		return r
	}, lower(s))
	return squeeze(dropWords(s, false, func(word string) bool { return slices.Contains(units, word) }))
}

// plainForm returns a text without ASCII punctuation, as SquadNormalize does, but keeps articles.
func plainForm(s string) string {
	return squeeze(strings.Map(func(r rune) rune {
		if isPunctuation(r) {
			return -1
		}
		return r
	}, lower(s)))
}
