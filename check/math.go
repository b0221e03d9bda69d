package check

import (
	"math"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/latex"
)

// buildMathEqual compiles math-equal: the answer is the same number, tuple or set as a value,
// or the same expression; in the form reference the same text, as MathVerse compares before
// it asks a judge.
func buildMathEqual(s *spec, n *node) {
	reference := s.choice("form", "robust", "reference") == "reference"
	o := latex.Options{Rel: s.number("rel", 0, 0, math.MaxFloat64), Unit: s.choice("unit", "match", "strict", "ignore")}
	if reference {
		for _, key := range []string{"rel", "unit"} {
			if _, given := s.m[key]; given {
				s.fail(key, "does not go with form: reference, which compares texts")
			}
		}
	}
	fixed := s.operands(true)
	n.gold = fixed == nil
	n.holds = "is mathematically " + newOperandSet(fixed, strings.TrimSpace).describe()
	n.form = mathtextForm
	if !reference {
		n.form = mathForm
	}
	for _, f := range fixed {
		if mathForm(f) == "" {
			s.fail("value", "%s holds nothing to compare with: a number, an expression or a text is needed", quote(f))
		}
	}
	n.judge = func(answer string, gold []string) verdict {
		if fixed != nil {
			gold = fixed
		}
		return mathVerdict(answer, gold, reference, o)
	}
}

// mathForm returns the form of a text that says something: a number, an expression or words. It returns "" for any other, such as "$".
func mathForm(s string) string {
	if !latex.Says(s) {
		return ""
	}
	return mathtextForm(s)
}

func mathVerdict(answer string, gold []string, reference bool, o latex.Options) verdict {
	why := ""
	for _, g := range gold {
		same, reason := mathtextForm(answer) == mathtextForm(g) && mathtextForm(g) != "", ""
		switch {
		case reference:
		case mathForm(g) == "":
			same = casefold(answer) == casefold(g)
		default:
			same, reason = latex.Equal(answer, g, o)
		}
		if same {
			return verdict{score: 1, pass: true}
		}
		if why == "" {
			why = reason
		}
	}
	v := unequal(answer, gold)
	if why != "" && strings.TrimSpace(answer) != "" && len(gold) > 0 {
		v.reason += "; " + why
	}
	return v
}
