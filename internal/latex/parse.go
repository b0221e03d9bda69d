package latex

import (
	"math"
	"math/big"
	"strings"
)

// reader evaluates an expression of numbers: + - * / ^, \frac, \sqrt, \pi, brackets, a sign of
// multiplication that is left out, and what follows it as a unit.
type reader struct {
	s     string
	i     int
	depth int
}

func (r *reader) space() {
	for r.i < len(r.s) && r.s[r.i] == ' ' {
		r.i++
	}
}

func (r *reader) has(prefix string) bool {
	r.space()
	return strings.HasPrefix(r.s[r.i:], prefix)
}

func (r *reader) take(prefix string) bool {
	if !r.has(prefix) {
		return false
	}
	r.i += len(prefix)
	return true
}

// command takes a command of LaTeX as a whole: \pi, not \pickle.
func (r *reader) command(name string) bool {
	if !r.has(name) {
		return false
	}
	if end := r.i + len(name); end < len(r.s) && isLetter(r.s[end]) {
		return false
	}
	r.i += len(name)
	return true
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func (r *reader) enter() error {
	if r.depth++; r.depth > maxDepth {
		return errNoValue
	}
	return nil
}

// sum reads terms.
func (r *reader) sum() (value, error) {
	if err := r.enter(); err != nil {
		return value{}, err
	}
	defer func() { r.depth-- }()
	negative := false
	for {
		if r.take("-") {
			negative = !negative
		} else if !r.take("+") {
			break
		}
	}
	v, err := r.product()
	if err != nil {
		return value{}, err
	}
	if negative {
		v = v.neg()
	}
	for {
		minus := false
		switch {
		case r.take("+"):
		case r.take("-"):
			minus = true
		default:
			return v, nil
		}
		w, err := r.product()
		if err != nil {
			return value{}, err
		}
		if minus {
			w = w.neg()
		}
		if v, err = v.add(w); err != nil {
			return value{}, err
		}
	}
}

// product reads factors, also those without a sign between them.
func (r *reader) product() (value, error) {
	v, err := r.power()
	for err == nil {
		var w value
		switch {
		case r.take("*"):
			if w, err = r.signedFactor(); err == nil {
				v, err = v.mul(w)
			}
		case r.take("/"):
			if w, err = r.signedFactor(); err == nil {
				v, err = v.div(w)
			}
		case r.hasFactor():
			if w, err = r.power(); err == nil {
				v, err = v.mul(w)
			}
		default:
			return v, nil
		}
	}
	return value{}, err
}

// signedFactor reads a factor that may have a sign of its own: 2*-3.
func (r *reader) signedFactor() (value, error) {
	if r.take("-") {
		v, err := r.power()
		return v.neg(), err
	}
	return r.power()
}

// hasFactor reports whether a factor follows without a sign: a root, a fraction, \pi, a bracket;
// never a number, which would be another one.
func (r *reader) hasFactor() bool {
	return r.has("(") || r.has(`\sqrt`) || r.has(`\frac`) || r.has(`\pi`) || r.has("{")
}

func (r *reader) power() (value, error) {
	v, err := r.atom()
	if err != nil || !r.take("^") {
		return v, err
	}
	var w value
	if r.has("{") {
		w, err = r.group("{", "}")
	} else {
		w, err = r.one()
	}
	if err != nil {
		return value{}, err
	}
	if r.has("^") {
		return value{}, errNoValue // towers
	}
	return v.pow(w)
}

// one reads the argument of a command that has no braces: a single digit, a sign and one, \pi
// or a command of its own.
func (r *reader) one() (value, error) {
	r.space()
	if r.take("-") {
		v, err := r.one()
		return v.neg(), err
	}
	if r.i < len(r.s) && isDigit(r.s[r.i]) {
		r.i++
		if r.i < len(r.s) && isDigit(r.s[r.i]) && !strings.Contains(r.s, `\frac`) {
			// Outside of LaTeX 2^10 is two to the power of ten.
			r.i--
			return r.number()
		}
		return whole(int64(r.s[r.i-1] - '0')), nil
	}
	if r.has(`\`) || r.has("(") {
		return r.atom()
	}
	return value{}, errNoValue
}

func (r *reader) atom() (value, error) {
	if err := r.enter(); err != nil {
		return value{}, err
	}
	defer func() { r.depth-- }()
	r.space()
	switch {
	case r.i >= len(r.s):
		return value{}, errNoValue
	case r.has("("):
		return r.group("(", ")")
	case r.has("{"):
		return r.group("{", "}")
	case r.command(`\frac`):
		return r.fraction()
	case r.command(`\sqrt`), r.command("sqrt"):
		return r.squareRoot()
	case r.command(`\pi`), r.command("pi"):
		return near(math.Pi)
	case isDigit(r.s[r.i]) || r.s[r.i] == '.':
		return r.mixedNumber()
	}
	return value{}, errNoValue
}

func (r *reader) group(open, shut string) (value, error) {
	if !r.take(open) {
		return value{}, errNoValue
	}
	v, err := r.sum()
	if err == nil && !r.take(shut) {
		err = errNoValue
	}
	return v, err
}

func (r *reader) argument() (value, error) {
	if r.has("{") {
		return r.group("{", "}")
	}
	return r.one()
}

func (r *reader) fraction() (value, error) {
	above, err := r.argument()
	if err != nil {
		return value{}, err
	}
	below, err := r.argument()
	if err != nil {
		return value{}, err
	}
	return above.div(below)
}

func (r *reader) squareRoot() (value, error) {
	degree := whole(2)
	if r.take("[") {
		var err error
		if degree, err = r.sum(); err != nil || !r.take("]") {
			return value{}, errNoValue
		}
	}
	v, err := r.radicand()
	if err != nil {
		return value{}, err
	}
	if degree.exact == nil || !degree.exact.IsInt() || !degree.exact.Num().IsInt64() {
		return value{}, errNoValue
	}
	return v.root(degree.exact.Num().Int64())
}

// radicand reads what is in braces or brackets, or a number as a whole: people write √12.
func (r *reader) radicand() (value, error) {
	switch {
	case r.has("{"):
		return r.group("{", "}")
	case r.has("("):
		return r.group("(", ")")
	case r.has(`\`):
		return r.atom()
	}
	return r.number()
}

// mixedNumber reads a number, and one like 2\frac{1}{2}, which is 2 and a half.
func (r *reader) mixedNumber() (value, error) {
	v, err := r.number()
	if err != nil || !r.has(`\frac`) || v.exact == nil || !v.exact.IsInt() {
		return v, err
	}
	from := r.i
	r.take(`\frac`)
	w, err := r.fraction()
	if err != nil {
		return value{}, err
	}
	if w.exact != nil && w.exact.Sign() > 0 && w.exact.Cmp(big.NewRat(1, 1)) < 0 {
		return v.add(w)
	}
	r.i = from
	return v, nil
}

// number reads a decimal. Commas separate thousands where all groups have three digits.
func (r *reader) number() (value, error) {
	r.space()
	var digits strings.Builder
	start := r.i
	for r.i < len(r.s) && isDigit(r.s[r.i]) {
		digits.WriteByte(r.s[r.i])
		r.i++
	}
	for first := r.i - start; first >= 1 && first <= 3 && r.thousands(); {
		digits.WriteString(r.s[r.i+1 : r.i+4])
		r.i += 4
	}
	if r.i+1 < len(r.s) && r.s[r.i] == '.' && isDigit(r.s[r.i+1]) {
		digits.WriteByte('.')
		for r.i++; r.i < len(r.s) && isDigit(r.s[r.i]); r.i++ {
			digits.WriteByte(r.s[r.i])
		}
	} else if digits.Len() > 0 && r.i < len(r.s) && r.s[r.i] == '.' {
		r.i++ // 5.
	}
	r.exponent(&digits)
	if digits.Len() == 0 || digits.Len() > maxDigits {
		return value{}, errNoValue
	}
	n, ok := new(big.Rat).SetString(digits.String())
	if !ok {
		return value{}, errNoValue
	}
	return rational(n)
}

// thousands reports whether a comma and exactly three digits follow.
func (r *reader) thousands() bool {
	s := r.s[r.i:]
	if len(s) < 4 || s[0] != ',' || !isDigit(s[1]) || !isDigit(s[2]) || !isDigit(s[3]) {
		return false
	}
	return len(s) == 4 || !isDigit(s[4])
}

// exponent reads e5 and E-3, of at most three digits.
func (r *reader) exponent(digits *strings.Builder) {
	i := r.i
	if digits.Len() == 0 || i >= len(r.s) || r.s[i] != 'e' && r.s[i] != 'E' {
		return
	}
	i++
	if i < len(r.s) && (r.s[i] == '+' || r.s[i] == '-') {
		i++
	}
	from := i
	for i < len(r.s) && isDigit(r.s[i]) {
		i++
	}
	if i == from || i-from > 3 {
		return
	}
	digits.WriteString(r.s[r.i:i])
	r.i = i
}
