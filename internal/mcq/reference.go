package mcq

import (
	"fmt"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/pytext"
)

// Forms returns the ways to read which choice an answer names, the default first: our own, and
// those of the evaluations of LiveMathematicianBench, MathVerse and MMRB.
func Forms() []string { return []string{"robust", "reference", "mathverse", "mmrb"} }

// Parse reads which choice an answer names, by one of Forms. gold is the label of the right
// choice, as Gold returns it: MMRB takes an answer for it before it looks at texts. why says
// what is wrong with an answer that names none; the label is then what the answer has instead, or "".
func Parse(form, answer, gold string, choices []Choice) (label, why string) {
	switch form {
	case "reference":
		label = referenceLabel(answer, choices)
	case "mathverse":
		label = Normal(answer)
	case "mmrb":
		label = mmrbLabel(answer, gold, choices)
	default:
		return robust(answer, choices)
	}
	if _, ok := find(label, choices); !ok {
		why = fmt.Sprintf("no choice is named; the labels are %s", Labels(choices))
	}
	return label, why
}

// Gold reads an accepted answer: a label, or the text of a choice. label is the label in the
// form in which Parse returns one.
func Gold(form, gold string, choices []Choice) (label string, ok bool) {
	label = Normal(gold)
	if form == "robust" {
		label = clean(gold)
	}
	for _, c := range choices {
		if own := Normal(c.Label); own == label || form == "robust" && clean(c.Label) == label {
			return labelIn(form, c), true
		}
	}
	if form == "robust" {
		i, _ := newParser(choices).exact(gold)
		if i >= 0 {
			return labelIn(form, choices[i]), true
		}
		return "", false
	}
	for _, c := range choices {
		if c.Text != "" && trim(c.Text) == trim(gold) {
			return labelIn(form, c), true
		}
	}
	return label, false
}

func labelIn(form string, c Choice) string {
	if form == "robust" {
		return c.Label
	}
	return Normal(c.Label)
}

// Text returns the text of the choice that a label of a reference form represents.
func Text(label string, choices []Choice) string {
	c, _ := find(label, choices)
	return trim(c.Text)
}

func find(label string, choices []Choice) (Choice, bool) {
	for _, c := range choices {
		if Normal(c.Label) == label {
			return c, true
		}
	}
	return Choice{}, false
}

// Normal returns a label as the reference forms compare it: in capitals, without ".", ")" and ":"
// at its end.
func Normal(label string) string {
	return strings.TrimRight(cases.Upper(language.Und).String(trim(label)), ".):")
}

func trim(s string) string { return strings.TrimFunc(s, pytext.IsSpace) }

func lower(s string) string { return cases.Lower(language.Und).String(s) }

// referenceLabel takes the whole answer as a label, as the text of a choice, or its first
// word as a label.
func referenceLabel(answer string, choices []Choice) string {
	label := Normal(answer)
	if _, ok := find(label, choices); ok {
		return label
	}
	for _, c := range choices {
		if t := trim(c.Text); t != "" && lower(t) == lower(answer) {
			return Normal(c.Label)
		}
	}
	if words := strings.FieldsFunc(answer, pytext.IsSpace); len(words) > 0 {
		if _, ok := find(Normal(words[0]), choices); ok {
			return Normal(words[0])
		}
	}
	return label
}

// mmrbMark is the label that MMRB finds in an option.
var mmrbMark = pattern.New(`^\(?([A-Z])\)`)

// mmrbLabel takes the whole answer as a label, or as the text of a choice without punctuation.
func mmrbLabel(answer, gold string, choices []Choice) string {
	label := Normal(answer)
	if label == gold {
		return label
	}
	if want := plain(answer); want != "" {
		for _, c := range choices {
			t := c.Text
			if m := mmrbMark.FindStringSubmatch(t); m != nil && m[1] == Normal(c.Label) && len(m[0]) < len(t) {
				t = t[len(m[0]):]
			}
			if plain(strings.Trim(t, " .:-")) == want {
				return Normal(c.Label)
			}
		}
	}
	return label
}

// plain returns a text in lower case without ASCII punctuation, with one space between words.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x80 && strings.ContainsRune("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", r) {
			return -1
		}
		return r
	}, lower(s))
	return strings.Join(strings.FieldsFunc(s, pytext.IsSpace), " ")
}
