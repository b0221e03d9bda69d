package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2"

	"github.com/seed-f4525e22/skillopt/internal/mcq"
	"github.com/seed-f4525e22/skillopt/internal/pytext"
	"github.com/seed-f4525e22/skillopt/score"
)

// operandSet is what a check compares with: fixed texts, or the task's gold.
type operandSet struct {
	fixed []string // as given; nil represents gold
	forms []string // of fixed
	form  normalizer
}

func newOperandSet(fixed []string, form normalizer) operandSet {
	o := operandSet{fixed: fixed, form: form}
	for _, f := range fixed {
		o.forms = append(o.forms, form(f))
	}
	return o
}

// of returns the texts as given and their forms.
func (o operandSet) of(gold []string) (texts, forms []string) {
	if o.fixed != nil {
		return o.fixed, o.forms
	}
	forms = make([]string, len(gold))
	for i, g := range gold {
		forms[i] = o.form(g)
	}
	return gold, forms
}

func (o operandSet) describe() string {
	if o.fixed == nil {
		return "the gold answer"
	}
	return quoteTexts(o.fixed)
}

// quoteTexts lists texts for a message.
func quoteTexts(texts []string) string {
	const shown = 3
	quoted := make([]string, 0, shown)
	for _, t := range texts[:min(shown, len(texts))] {
		quoted = append(quoted, quote(t))
	}
	list := strings.Join(quoted, " or ")
	if len(texts) > shown {
		list += fmt.Sprintf(" or one of %d more", len(texts)-shown)
	}
	return list
}

func quote(s string) string { return fmt.Sprintf("%q", excerpt(s, 200)) }

// excerpt returns at most limit characters of s.
func excerpt(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit]) + "..."
}

// buildEquals compiles equals, and one-of, which differs in that letter case
// does not matter and values are the usual form.
func buildEquals(s *spec, n *node) {
	fallback := "trim"
	if s.kind == "one-of" {
		fallback = "casefold"
	}
	normalize := s.choice("normalize", normalizers(fallback)...)
	inside := s.choice("inside", "never", "words", "either")
	fixed := s.operands(true)
	n.gold = fixed == nil
	if normalize == "number" && inside != "never" {
		s.fail("inside", "%q does not go with normalize: number", inside)
	}
	if normalize == "number" {
		numberNode(s, n, fixed, numberRule{rel: defaultRel})
		return
	}
	set := newOperandSet(fixed, findNormalizer(normalize))
	n.form = set.form
	n.holds = "equals " + set.describe()
	n.inside = n.gold && inside != "never"
	n.judge = func(answer string, gold []string) verdict {
		texts, forms := set.of(gold)
		form := set.form(answer)
		for i, f := range forms {
			same := f == form
			if f == "" && !n.mayBeEmpty { // of "A" the form of SQuAD leaves nothing
				same = casefold(answer) == casefold(texts[i])
			}
			if same && (f != "" || inside == "never") || stands(inside, form, f) {
				return verdict{score: 1, pass: true}
			}
		}
		return unequal(answer, texts)
	}
}

// stands reports whether a value is in an answer, both in their form: as whole words and
// whole numbers, or, either, one in the other as any part of it.
func stands(inside, answer, value string) bool {
	if strings.TrimSpace(answer) == "" || strings.TrimSpace(value) == "" {
		return false
	}
	switch inside {
	case "either":
		return strings.Contains(answer, value) || strings.Contains(value, answer)
	case "words":
		return mcq.Holds(answer, value)
	}
	return false
}

// buildContains compiles the six contains checks.
func buildContains(s *spec, n *node) {
	kind, fold := strings.CutPrefix(s.kind, "i")
	form := func(t string) string { return t }
	if fold {
		form = casefold
	}
	if kind == "contains" {
		if _, ok := s.m["values"]; ok {
			s.fail("values", "contains takes one value; use contains-any or contains-all for several")
		}
	}
	set := newOperandSet(s.operands(true), form)
	s.noneEmpty(set.forms)
	n.gold = set.fixed == nil
	all := kind == "contains-all"
	n.inside, n.list = n.gold, n.gold && all
	n.holds = "contains " + set.describe()
	n.judge = func(answer string, gold []string) verdict {
		texts, forms := set.of(gold)
		body := form(answer)
		var missing []string
		for i, f := range forms {
			if !strings.Contains(body, f) {
				missing = append(missing, texts[i])
			}
		}
		return containsVerdict(answer, all, len(forms), missing)
	}
}

func containsVerdict(answer string, all bool, total int, missing []string) verdict {
	found := total - len(missing)
	if !all {
		if found > 0 {
			return verdict{score: 1, pass: true}
		}
		return verdict{reason: "does not contain " + quoteTexts(missing) + got(answer), cause: lackCause(answer, missing)}
	}
	if len(missing) == 0 && total > 0 {
		return verdict{score: 1, pass: true}
	}
	v := verdict{score: float64(found) / float64(max(1, total)), reason: fmt.Sprintf("%d of %d are missing: %s%s", len(missing), total, quoteTexts(missing), got(answer))}
	if v.cause = lackCause(answer, missing); found > 0 {
		v.cause = score.PartialAnswer
	}
	return v
}

// lackCause returns why an answer does not hold one of the texts.
func lackCause(answer string, missing []string) score.Cause {
	if slices.ContainsFunc(missing, func(m string) bool { return strings.Contains(casefold(answer), casefold(m)) }) {
		return score.LetterCase
	}
	return Difference(answer, missing)
}

// got appends what was answered to a reason, if it is short enough to help.
func got(answer string) string {
	if strings.TrimSpace(answer) == "" {
		return "; the answer is empty"
	}
	if utf8.RuneCountInString(answer) > 120 {
		return ""
	}
	return "; got " + quote(answer)
}

func (s *spec) noneEmpty(texts []string) {
	for _, t := range texts {
		if t == "" {
			s.fail("value", "is empty; every answer would pass")
		}
	}
}

func buildPrefix(s *spec, n *node) {
	form := strings.TrimSpace
	if s.kind == "istarts-with" {
		form = casefold
	}
	set := newOperandSet(s.operands(true), form)
	s.noneEmpty(set.forms)
	n.gold = set.fixed == nil
	n.inside = n.gold
	n.holds = "starts with " + set.describe()
	n.judge = func(answer string, gold []string) verdict {
		texts, forms := set.of(gold)
		body := form(answer)
		for _, f := range forms {
			if strings.HasPrefix(body, f) {
				return verdict{score: 1, pass: true}
			}
		}
		v := verdict{reason: fmt.Sprintf("must start with %s, starts with %s", quoteTexts(texts), quote(excerpt(body, 40))), cause: Difference(answer, texts)}
		if slices.ContainsFunc(texts, func(t string) bool { return strings.HasPrefix(casefold(body), casefold(t)) }) {
			v.cause = score.LetterCase
		}
		return v
	}
}

// buildRegex compiles a pattern in the syntax of Python and .NET, which has
// look-around; the match is anywhere in the answer unless it is anchored.
func buildRegex(s *spec, n *node, timeout time.Duration) {
	pattern, _ := s.get("value")
	text, ok := pattern.(string)
	if !ok || text == "" {
		s.fail("value", "a pattern expected, found %s", describe(pattern))
		return
	}
	re := s.regex("value", text, s.text("flags", ""), timeout)
	if re == nil {
		return
	}
	n.holds = "matches /" + text + "/"
	n.judge = func(answer string, _ []string) verdict {
		ok, err := re.MatchString(answer)
		if err != nil {
			return undecidedVerdict(text, timeout)
		}
		if !ok {
			return verdict{reason: fmt.Sprintf("does not match /%s/%s", excerpt(text, 200), got(answer))}
		}
		return verdict{score: 1, pass: true}
	}
}

// undecidedVerdict returns the verdict when a pattern runs out of time. How long it takes is a
// matter of the machine too, so that it says nothing of the answer.
func undecidedVerdict(pattern string, timeout time.Duration) verdict {
	return verdict{undecided: fmt.Sprintf("the pattern /%s/ was not decided within %v, which measures nothing: simplify it", excerpt(pattern, 80), timeout)}
}

// errLate says that patterns took too long together.
var errLate = errors.New("out of time")

// regex compiles a pattern with the flags i, m, s and x.
func (s *spec) regex(key, pattern, flags string, timeout time.Duration) *regexp2.Regexp {
	var opt regexp2.RegexOptions
	for _, f := range flags {
		switch f {
		case 'i':
			opt |= regexp2.IgnoreCase
		case 'm':
			opt |= regexp2.Multiline
		case 's':
			opt |= regexp2.Singleline
		case 'x':
			opt |= regexp2.IgnorePatternWhitespace
		default:
			s.fail("flags", "%q is not a flag; i (any case), m (^ and $ at lines), s (. matches line breaks), x (spaces and comments) are", f)
		}
	}
	re, err := regexp2.Compile(pytext.Groups(pattern), opt)
	if err != nil {
		s.fail(key, "%v", err)
		return nil
	}
	re.MatchTimeout = timeout
	return re
}

func buildF1(s *spec, n *node) {
	form := findNormalizer(s.choice("normalize", append([]string{"squad", "text", "casefold"}, formNames()...)...))
	threshold := s.number("threshold", 0.5, 0, 1)
	fixed := s.operands(true)
	n.gold = fixed == nil
	n.holds = fmt.Sprintf("has an F1 of %v or more with %s", threshold, newOperandSet(fixed, form).describe())
	n.judge = func(answer string, gold []string) verdict {
		if fixed != nil {
			gold = fixed
		}
		f, closest := bestF1(answer, gold, form)
		if f >= threshold {
			return verdict{score: f, pass: true}
		}
		return verdict{score: f, cause: Difference(answer, gold), reason: fmt.Sprintf("the words agree by F1 %.2f with %s, %.2f is needed%s", f, quote(closest), threshold, got(answer))}
	}
}

func buildCount(s *spec, n *node) {
	lo, hi := s.count("min"), s.count("max")
	if lo < 0 && hi < 0 {
		s.fail("min", "is missing; %s needs min or max, or both", s.kind)
	}
	if hi >= 0 && lo > hi {
		s.fail("min", "%d is above max %d", lo, hi)
	}
	unit, count := "characters", utf8.RuneCountInString
	if s.kind == "word-count" {
		unit, count = "words", func(t string) int { return len(strings.Fields(t)) }
	}
	n.holds = fmt.Sprintf("has %s %s", bounds(lo, hi), unit)
	n.judge = func(answer string, _ []string) verdict {
		c := count(strings.TrimSpace(answer))
		if c >= lo && (hi < 0 || c <= hi) {
			return verdict{score: 1, pass: true}
		}
		return verdict{reason: fmt.Sprintf("has %d %s, %s are allowed", c, unit, bounds(lo, hi))}
	}
}

func bounds(lo, hi int) string {
	switch {
	case hi < 0:
		return fmt.Sprintf("%d or more", lo)
	case lo < 0:
		return fmt.Sprintf("at most %d", hi)
	}
	return fmt.Sprintf("%d to %d", lo, hi)
}
