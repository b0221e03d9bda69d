package check

import (
	"fmt"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/internal/similar"
)

// maxANLSGold bounds what an answer costs: as many steps as it has characters, times those
// of the gold answer, by 64.
const maxANLSGold = 16 << 10

// anlsRule is the average normalised Levenshtein similarity (A. F. Biten et al., "Scene Text
// Visual Question Answering", ICCV 2019) of one answer.
type anlsRule struct {
	threshold float64 // a text that differs in this share of its characters, or more, is another text
	form      normalizer
}

// buildANLS compiles anls: the score is the similarity, and it passes from hard on.
func buildANLS(s *spec, n *node) {
	r := anlsRule{threshold: s.number("threshold", 0.5, 0, 1), form: findNormalizer(s.choice("normalize", append(formNames(), "none", "trim", "casefold", "text", "squad")...))}
	hard := s.number("hard", 0.999, 0, 1)
	if hard == 0 {
		s.fail("hard", "0 is not allowed, since every answer would pass; a number above it is, up to 1")
	}
	fixed := s.operands(true)
	n.gold = fixed == nil
	n.holds = fmt.Sprintf("has an ANLS of %v or more with %s", hard, newOperandSet(fixed, r.form).describe())
	n.fit = r.fit
	for _, f := range fixed {
		if err := r.fit(f); err != nil {
			s.fail("value", "%v", err)
		}
	}
	n.judge = func(answer string, gold []string) verdict {
		if fixed != nil {
			gold = fixed
		}
		best, closest := r.best(answer, gold)
		v := verdict{score: best, pass: len(gold) > 0 && best >= hard, saw: fmt.Sprintf("ANLS %.3f with %s", best, quote(closest))}
		if !v.pass {
			v.reason, v.cause = fmt.Sprintf("%s (ANLS %.3f, %v is needed)", mismatch(answer, gold), best, hard), Difference(answer, gold)
		}
		return v
	}
}

func (r anlsRule) fit(gold string) error {
	if n := utf8.RuneCountInString(r.form(gold)); n > maxANLSGold {
		return fmt.Errorf("%s has %d characters, anls compares with up to %d: f1 compares longer texts by their words", quote(excerpt(gold, 40)), n, maxANLSGold)
	}
	return nil
}

// best returns the largest similarity of an answer with any of gold, and the closest of gold.
func (r anlsRule) best(answer string, gold []string) (best float64, closest string) {
	a := []rune(r.form(answer))
	for i, g := range gold {
		if s := r.similarity(a, []rune(r.form(g))); s > best || i == 0 {
			best, closest = s, g
		}
	}
	return best, closest
}

// similarity returns 1 less the share of characters that differ, 0 from the threshold on. A
// difference in length alone is such a share: it does not look at one text that is much longer than
// the other.
func (r anlsRule) similarity(a, b []rune) float64 {
	longer, shorter := max(len(a), len(b)), min(len(a), len(b))
	switch {
	case longer == 0:
		return 1
	case shorter == 0, float64(longer-shorter)/float64(longer) >= r.threshold:
		return 0
	}
	share := float64(similar.Levenshtein(a, b)) / float64(longer)
	if share >= r.threshold {
		return 0
	}
	return 1 - share
}

// ANLS returns the largest similarity of an answer and any of gold as DocVQA measures it:
// case and white space do not matter, and a text that differs in half of its characters or
// more counts 0.
func ANLS(answer string, gold []string) float64 {
	best, _ := anlsRule{threshold: 0.5, form: docvqaForm}.best(answer, gold)
	return best
}
