package check

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/score"
)

// defaultRel is the relative tolerance of numbers unless a check states one:
// wide enough for decimal fractions in binary, too narrow for any other slip.
const defaultRel = 1e-9

// quantity is a number as people write it: "-1,250.50 EUR", "12 %", "3 million".
type quantity struct {
	value   float64 // with scale words applied, a percentage as its fraction
	percent bool
	unit    string // casefolded text before or after the digits
}

// numberRule is how two quantities are compared.
type numberRule struct {
	abs, rel float64
	unit     string // "match", "strict" or "ignore"; "" is match
}

// buildNumber compiles number. A unit that the gold states must be in the
// answer; where it states none, any is accepted (unit: match). strict wants
// equal units, none included; ignore drops units and percent signs.
func buildNumber(s *spec, n *node) {
	r := numberRule{
		abs:  s.number("abs", 0, 0, math.MaxFloat64),
		rel:  s.number("rel", -1, 0, math.MaxFloat64),
		unit: s.choice("unit", "match", "strict", "ignore"),
	}
	if r.rel < 0 {
		r.rel = defaultRel
		if r.abs > 0 {
			r.rel = 0 // the tolerance that was asked for, and no other
		}
	}
	fixed := s.operands(true)
	n.gold = fixed == nil
	numberNode(s, n, fixed, r)
}

func numberNode(s *spec, n *node, fixed []string, r numberRule) {
	for _, f := range fixed {
		if err := isNumber(f); err != nil {
			s.fail("value", "%v", err)
		}
	}
	n.holds = "is the number " + newOperandSet(fixed, strings.TrimSpace).describe()
	if fixed == nil {
		n.fit = isNumber
	}
	n.judge = func(answer string, gold []string) verdict {
		if fixed != nil {
			gold = fixed
		}
		return r.judge(answer, gold)
	}
}

func isNumber(text string) error {
	q, ok := parseNumber(text)
	if !ok {
		return fmt.Errorf("%s is not a number", quote(text))
	}
	if math.IsInf(q.value, 0) {
		return fmt.Errorf("%s is too large a number to compare with", quote(text))
	}
	return nil
}

func (r numberRule) judge(answer string, accepted []string) verdict {
	got, reason := onlyNumber(answer)
	if reason != "" {
		v := verdict{reason: fmt.Sprintf("%s, expected %s", reason, quoteTexts(accepted)), cause: Difference(answer, accepted)}
		if len(numbersIn(answer)) == 0 {
			v.cause = score.NoAnswer
		}
		return v
	}
	v := verdict{saw: "the number " + got.text(), reason: "there is nothing to compare with: the task has no gold answer"}
	for i, text := range accepted {
		want, _ := parseNumber(text)
		cause, why := r.differ(got, want)
		if why == "" {
			return verdict{score: 1, pass: true, saw: v.saw}
		}
		if i == 0 {
			v.reason, v.cause = fmt.Sprintf("got %s, expected %s: %s", quote(answer), quoteTexts(accepted), why), cause
		}
	}
	return v
}

// text returns a quantity as it was read.
func (q quantity) text() string {
	const digits = 12 // what rounding leaves behind them is no part of the answer
	out := strconv.FormatFloat(q.bare(), 'g', digits, 64)
	if q.percent {
		out += " %"
	}
	return strings.TrimSpace(out + " " + excerpt(q.unit, 40))
}

// differ says why got is not want, "" if it is.
func (r numberRule) differ(got, want quantity) (score.Cause, string) {
	g, w := got.value, want.value
	if r.unit == "ignore" {
		g, w = got.bare(), want.bare()
	}
	near := r.near(g, w)
	if r.unit != "ignore" && r.unit != "strict" && got.percent && !want.percent && want.unit == "" {
		near = near || r.near(got.bare(), w) // asked for in percent, gold 12, answered 12 %
	}
	if !near {
		return score.OtherNumber, fmt.Sprintf("off by %+.6g", g-w)
	}
	if got.unit != want.unit && (r.unit == "strict" || r.unit != "ignore" && want.unit != "") {
		return score.OtherUnit, fmt.Sprintf("the unit is %s, expected %s", quote(got.unit), quote(want.unit))
	}
	return "", ""
}

func (q quantity) bare() float64 {
	if q.percent {
		return q.value * 100
	}
	return q.value
}

// near reports whether a is b within the tolerance. A number beyond the range is
// near nothing: every distance from it would be within its share.
func (r numberRule) near(a, b float64) bool {
	if math.IsInf(a, 0) || math.IsInf(b, 0) {
		return false
	}
	d := math.Abs(a - b)
	return a == b || d <= r.abs || d <= r.rel*math.Abs(b)
}

// onlyNumber reads an answer that is a number, or a sentence with exactly one
// number in it.
func onlyNumber(answer string) (quantity, string) {
	if q, ok := parseNumber(answer); ok {
		return q, ""
	}
	if strings.TrimSpace(answer) == "" {
		return quantity{}, "the answer is empty"
	}
	found := numbersIn(answer)
	switch len(found) {
	case 0:
		return quantity{}, "no number in " + quote(answer)
	case 1:
		return found[0], ""
	}
	return quantity{}, fmt.Sprintf("%d numbers in %s, so that it is not clear which is meant", len(found), quote(answer))
}

// numbersIn returns the numbers in running text, each with the currency sign
// before it or the word after it as its unit.
func numbersIn(text string) []quantity {
	var found []quantity
	for i := 0; i < len(text); {
		if !startsNumber(text[i:]) {
			_, size := utf8.DecodeRuneInString(text[i:])
			i += size
			continue
		}
		before := text[:i]
		value, n := scanDigits(text[i:])
		i += n
		q := quantity{}
		q.value, q.unit = applySign(before, value)
		rest := strings.TrimLeft(text[i:], " \u00a0")
		word := rest[:wordLen(rest)]
		switch factor, isScale := scale(word); {
		case strings.HasPrefix(rest, "%"):
			q.value, q.percent = q.value/100, true
		case isScale:
			q.value *= factor
		case q.unit == "":
			q.unit = casefold(word)
		}
		found = append(found, q)
	}
	return found
}

func wordLen(s string) int {
	for i, r := range s {
		if !unicode.IsLetter(r) {
			return i
		}
	}
	return len(s)
}

func startsNumber(s string) bool {
	return isDigit(s[0]) || s[0] == '.' && len(s) > 1 && isDigit(s[1])
}

// applySign reads what is before a number: a currency sign, a minus.
func applySign(before string, value float64) (v float64, currency string) {
	for _, c := range []string{"$", "\u20ac", "\u00a3", "\u00a5"} {
		if rest, ok := strings.CutSuffix(before, c); ok {
			before, currency = rest, c
		}
	}
	for _, minus := range []string{"-", "\u2212"} {
		if rest, ok := strings.CutSuffix(before, minus); ok && !endsInWord(rest) {
			return -value, currency
		}
	}
	return value, currency
}

func endsInWord(s string) bool {
	r, size := utf8.DecodeLastRuneInString(s)
	return size > 0 && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// parseNumber reads a text that is one number: sign or accounting parentheses,
// currency or unit before or after, thousands separators, exponent, fraction,
// percent sign, scale word.
func parseNumber(text string) (quantity, bool) {
	s := strings.TrimSpace(text)
	negative := false
	if inner, ok := strings.CutPrefix(s, "("); ok && strings.HasSuffix(inner, ")") {
		s, negative = strings.TrimSpace(strings.TrimSuffix(inner, ")")), true
	}
	at := strings.IndexFunc(s, func(r rune) bool { return r >= '0' && r <= '9' })
	if at < 0 {
		return quantity{}, false
	}
	if at > 0 && s[at-1] == '.' {
		at--
	}
	head, negHead, ok := parseHead(s[:at])
	if !ok {
		return quantity{}, false
	}
	value, n := scanDigits(s[at:])
	q := quantity{value: value}
	if !q.tail(s[at+n:], head) {
		return quantity{}, false
	}
	if negative != negHead {
		q.value = -q.value
	}
	return q, true
}

// parseHead reads what is before the digits: a sign, a currency.
func parseHead(s string) (unit string, negative, ok bool) {
	s = strings.TrimSpace(s)
	for _, minus := range []string{"-", "\u2212"} {
		if strings.Count(s, minus) == 1 && (strings.HasPrefix(s, minus) || strings.HasSuffix(s, minus)) {
			s, negative = strings.Replace(s, minus, "", 1), true
		}
	}
	s = strings.TrimSpace(strings.TrimPrefix(s, "+"))
	return s, negative, isUnit(s) && !strings.Contains(s, " ")
}

// isUnit reports whether s could be a unit: a short word or sign, no sentence.
func isUnit(s string) bool {
	return utf8.RuneCountInString(s) <= 24 && !strings.ContainsAny(s, "0123456789,;:!?()[]{}\"\n=<>") && len(strings.Fields(s)) <= 3
}

// tail reads what follows the digits: percent sign, scale word, unit.
func (q *quantity) tail(s, head string) bool {
	s = strings.TrimSpace(s)
	if rest, ok := strings.CutPrefix(s, "%"); ok {
		q.value, q.percent, s = q.value/100, true, rest
	} else if factor, ok := scale(s[:wordLen(s)]); ok {
		q.value *= factor
		s = s[wordLen(s):]
	}
	s = strings.TrimSuffix(strings.TrimSpace(s), ".")
	if !isUnit(s) {
		return false
	}
	q.unit = casefold(strings.TrimSpace(head + " " + s))
	return true
}

// scale returns the factor of a scale word or suffix. The small letters m, b
// and t are units (metre, byte, tonne).
func scale(word string) (float64, bool) {
	switch word {
	case "K", "k":
		return 1e3, true
	case "M":
		return 1e6, true
	case "B":
		return 1e9, true
	}
	switch strings.ToLower(word) {
	case "thousand":
		return 1e3, true
	case "million", "millions", "mn", "mio":
		return 1e6, true
	case "billion", "billions", "bn":
		return 1e9, true
	case "trillion", "trillions", "tn":
		return 1e12, true
	}
	return 1, false
}

// scanDigits reads the number at the start of s, which starts with a digit or
// with a point and a digit, and returns its value and length: a decimal, or a
// fraction of two. A fraction that continues (1/2/2024) is a date or a path:
// only its first part is read.
func scanDigits(s string) (value float64, n int) {
	value, n = scanDecimal(s)
	rest, ok := fractionPart(s[n:])
	if !ok {
		return value, n
	}
	below, m := scanDecimal(rest)
	if _, more := fractionPart(rest[m:]); more || below == 0 {
		return value, n
	}
	return value / below, n + 1 + m
}

// fractionPart returns what follows a slash, if that is a number.
func fractionPart(s string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(s, "/")
	return rest, ok && rest != "" && isDigit(rest[0])
}

// scanDecimal reads a decimal. Separators of thousands are commas, spaces, thin
// spaces, underscores and apostrophes between groups of three.
func scanDecimal(s string) (value float64, n int) {
	var digits strings.Builder
	n = wholePart(s, &digits)
	if n < len(s)-1 && s[n] == '.' && isDigit(s[n+1]) {
		digits.WriteByte('.')
		for n++; n < len(s) && isDigit(s[n]); n++ {
			digits.WriteByte(s[n])
		}
	}
	n += exponent(s[n:], &digits)
	value, _ = strconv.ParseFloat(digits.String(), 64) // out of range gives an infinity, which is near nothing
	return value, n
}

func wholePart(s string, digits *strings.Builder) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		digits.WriteByte(s[n])
		n++
	}
	if n == 0 || n > 3 {
		return n
	}
	for {
		size := separator(s[n:])
		if size == 0 || !threeDigits(s[n+size:]) {
			return n
		}
		digits.WriteString(s[n+size : n+size+3])
		n += size + 3
	}
}

func separator(s string) int {
	for _, sep := range []string{",", " ", "_", "'", "\u00a0", "\u2009", "\u202f", "\u2019"} {
		if strings.HasPrefix(s, sep) {
			return len(sep)
		}
	}
	return 0
}

// threeDigits reports whether s starts with exactly three digits.
func threeDigits(s string) bool {
	return len(s) >= 3 && isDigit(s[0]) && isDigit(s[1]) && isDigit(s[2]) && (len(s) == 3 || !isDigit(s[3]))
}

func exponent(s string, digits *strings.Builder) int {
	if s == "" || s[0] != 'e' && s[0] != 'E' {
		return 0
	}
	n := 1
	if n < len(s) && (s[n] == '+' || s[n] == '-') {
		n++
	}
	from := n
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	if n == from {
		return 0
	}
	digits.WriteString(s[:n])
	return n
}
