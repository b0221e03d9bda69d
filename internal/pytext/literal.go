package pytext

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Values that JSON has not, as Literal returns them.
type (
	// Tuple is a sequence in parentheses.
	Tuple []any
	// Set is a set, its members as they were written.
	Set []any
	// Bytes are a string of bytes.
	Bytes string
	// Dict is a mapping in the order in which it was written.
	Dict []Item
	// Complex is the text of an imaginary number.
	Complex string
	// Ellipsis is what three points are.
	Ellipsis struct{}
)

// Item is one entry of a Dict.
type Item struct{ Key, Value any }

// maxLiteral bounds what is read as a literal, maxNested how deep it may nest.
const (
	maxLiteral = 64 << 10
	maxNested  = 100
)

var errLiteral = errors.New("no literal")

// Literal reads a value as ast.literal_eval does: strings, bytes, numbers, None, True, False,
// lists, tuples, sets and dictionaries. Anything else is an error, a name or a sum among it.
// Whole numbers are *big.Int, others float64, lists []any.
func Literal(text string) (any, error) {
	if len(text) > maxLiteral {
		return nil, errLiteral
	}
	l := &literal{s: strings.Trim(text, " \t")}
	v, err := l.sequence(0)
	if err != nil {
		return nil, err
	}
	l.blank()
	if l.i < len(l.s) {
		return nil, errLiteral
	}
	return v, nil
}

// literal reads from s at i. depth counts the brackets: within them a line may end.
type literal struct {
	s     string
	i     int
	depth int
}

// blank passes over white space and comments.
func (l *literal) blank() {
	for l.i < len(l.s) {
		switch c := l.s[l.i]; {
		case c == ' ' || c == '\t' || c == '\f':
			l.i++
		case (c == '\n' || c == '\r') && l.depth > 0:
			l.i++
		case c == '#':
			for l.i < len(l.s) && l.s[l.i] != '\n' {
				l.i++
			}
		default:
			return
		}
	}
}

func (l *literal) take(c byte) bool {
	l.blank()
	if l.i < len(l.s) && l.s[l.i] == c {
		l.i++
		return true
	}
	return false
}

func (l *literal) next(c byte) bool {
	l.blank()
	return l.i < len(l.s) && l.s[l.i] == c
}

// sequence reads a value, or a tuple that is not in parentheses, up to the closing sign (0:
// the end).
func (l *literal) sequence(end byte) (any, error) {
	v, err := l.value()
	if err != nil || !l.next(',') {
		return v, err
	}
	rest, err := l.list(end)
	return append(Tuple{v}, rest...), err
}

// list reads what follows a first value.
func (l *literal) list(end byte) (all []any, err error) {
	for l.take(',') {
		if l.blank(); l.i >= len(l.s) || end != 0 && l.s[l.i] == end {
			break
		}
		v, err := l.value()
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

func (l *literal) value() (any, error) {
	l.blank()
	if l.i >= len(l.s) {
		return nil, errLiteral
	}
	switch c := l.s[l.i]; {
	case c == '[' || c == '(' || c == '{':
		return l.bracket(c)
	case c == '\'' || c == '"' || (c|0x20 == 'r' || c|0x20 == 'b' || c|0x20 == 'u') && l.quoteAhead():
		return l.strings()
	case strings.HasPrefix(l.s[l.i:], "..."):
		l.i += 3
		return Ellipsis{}, nil
	case c >= '0' && c <= '9' || c == '.' || c == '-' || c == '+':
		return l.number()
	}
	for word, v := range map[string]any{"None": nil, "True": true, "False": false} {
		if rest, ok := strings.CutPrefix(l.s[l.i:], word); ok && (rest == "" || !isName(rest)) {
			l.i += len(word)
			return v, nil
		}
	}
	return nil, errLiteral
}

func isName(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= utf8.RuneSelf
}

func (l *literal) bracket(open byte) (any, error) {
	l.i++
	if l.depth++; l.depth > maxNested {
		return nil, errLiteral
	}
	defer func() { l.depth-- }()
	shut := map[byte]byte{'[': ']', '(': ')', '{': '}'}[open]
	if l.take(shut) {
		return map[byte]any{'[': []any{}, '(': Tuple{}, '{': Dict{}}[open], nil
	}
	first, err := l.value()
	if err != nil {
		return nil, err
	}
	if open == '{' && l.next(':') {
		return l.dict(first)
	}
	comma := l.next(',')
	rest, err := l.list(shut)
	if err != nil || !l.take(shut) {
		return nil, errLiteral
	}
	all := append([]any{first}, rest...)
	switch {
	case open == '[':
		return all, nil
	case open == '{':
		return distinct(all), nil
	case comma:
		return Tuple(all), nil
	}
	return first, nil
}

func (l *literal) dict(key any) (any, error) {
	var d Dict
	for {
		if !l.take(':') {
			return nil, errLiteral
		}
		v, err := l.value()
		if err != nil {
			return nil, err
		}
		d = d.with(key, v)
		if !l.take(',') || l.next('}') {
			break
		}
		if key, err = l.value(); err != nil {
			return nil, err
		}
	}
	if !l.take('}') {
		return nil, errLiteral
	}
	return d, nil
}

// distinct leaves out members that a set has already.
func distinct(all []any) Set {
	seen := map[string]bool{}
	var s Set
	for _, v := range all {
		if name := Notation(v); !seen[name] {
			seen[name] = true
			s = append(s, v)
		}
	}
	return s
}

// with adds an entry. One of a key that is there takes its place.
func (d Dict) with(key, value any) Dict {
	name := Notation(key)
	for i := range d {
		if Notation(d[i].Key) == name {
			d[i].Value = value
			return d
		}
	}
	return append(d, Item{key, value})
}

// quoteAhead reports whether up to two letters of a prefix and then a quote follow.
func (l *literal) quoteAhead() bool {
	rest := strings.TrimLeft(l.s[l.i:min(len(l.s), l.i+3)], "rRbBuU")
	return rest != "" && (rest[0] == '\'' || rest[0] == '"')
}

// strings reads strings that are side by side, which are one.
func (l *literal) strings() (any, error) {
	var b strings.Builder
	bytes := 0
	for n := 0; ; n++ {
		l.blank()
		if n > 0 && (l.i >= len(l.s) || l.s[l.i] != '\'' && l.s[l.i] != '"' && !l.quoteAhead()) {
			break
		}
		isBytes, err := l.oneString(&b)
		if err != nil {
			return nil, err
		}
		if isBytes {
			bytes++
		}
		if bytes > 0 && bytes != n+1 {
			return nil, errLiteral
		}
	}
	if bytes > 0 {
		return Bytes(b.String()), nil
	}
	return b.String(), nil
}

func (l *literal) oneString(b *strings.Builder) (isBytes bool, err error) {
	raw := false
	prefix := ""
	for l.s[l.i] != '\'' && l.s[l.i] != '"' {
		prefix += string(l.s[l.i] | 0x20)
		l.i++
	}
	switch prefix {
	case "", "u":
	case "r":
		raw = true
	case "b":
		isBytes = true
	case "br", "rb":
		isBytes, raw = true, true
	default:
		return false, errLiteral
	}
	quote := l.s[l.i : l.i+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(l.s[l.i:], triple) {
		quote = triple
	}
	l.i += len(quote)
	for {
		switch {
		case l.i >= len(l.s), len(quote) == 1 && l.s[l.i] == '\n', isBytes && l.s[l.i] >= utf8.RuneSelf:
			return false, errLiteral
		case strings.HasPrefix(l.s[l.i:], quote):
			l.i += len(quote)
			return isBytes, nil
		case l.s[l.i] == '\\' && l.i+1 < len(l.s):
			if raw {
				b.WriteString(l.s[l.i : l.i+2])
				l.i += 2
			} else if err := l.escape(b, isBytes); err != nil {
				return false, err
			}
		default:
			b.WriteByte(l.s[l.i])
			l.i++
		}
	}
}

func (l *literal) escape(b *strings.Builder, isBytes bool) error {
	c := l.s[l.i+1]
	l.i += 2
	if plain := strings.IndexByte(`\'"abfnrtv`, c); plain >= 0 {
		b.WriteByte("\\'\"\a\b\f\n\r\t\v"[plain])
		return nil
	}
	size := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
	switch {
	case c == '\n':
		return nil
	case c >= '0' && c <= '7':
		from := l.i - 1
		for l.i < len(l.s) && l.i < from+3 && l.s[l.i] >= '0' && l.s[l.i] <= '7' {
			l.i++
		}
		n, _ := strconv.ParseUint(l.s[from:l.i], 8, 32)
		write(b, rune(n), isBytes)
		return nil
	case size > 0 && (c == 'x' || !isBytes):
		if l.i+size > len(l.s) {
			return errLiteral
		}
		n, err := strconv.ParseUint(l.s[l.i:l.i+size], 16, 32)
		if err != nil || n > utf8.MaxRune {
			return errLiteral
		}
		l.i += size
		write(b, rune(n), isBytes)
		return nil
	case c == 'N' && !isBytes:
		return errLiteral // names of characters are not known here
	}
	b.WriteByte('\\')
	b.WriteByte(c)
	return nil
}

func write(b *strings.Builder, r rune, isByte bool) {
	if isByte {
		b.WriteByte(byte(r))
		return
	}
	b.WriteRune(r)
}

// number reads a whole or decimal number with at most one sign, and an imaginary one.
func (l *literal) number() (any, error) {
	sign := ""
	if c := l.s[l.i]; c == '-' || c == '+' {
		l.i++
		l.blank()
		sign = strings.TrimLeft(string(c), "+")
	}
	from := l.i
	for l.i < len(l.s) && (isName(l.s[l.i:]) || l.s[l.i] == '.' || (l.s[l.i] == '-' || l.s[l.i] == '+') && exponentAt(l.s[from:l.i])) {
		l.i++
	}
	text := l.s[from:l.i]
	if text == "" || text[0] != '.' && (text[0] < '0' || text[0] > '9') || strings.HasSuffix(text, "_") || strings.Contains(text, "__") {
		return nil, errLiteral
	}
	return parseNumber(sign, text)
}

// exponentAt reports whether a sign may follow, as in 1e-5.
func exponentAt(text string) bool {
	if text == "" || strings.HasPrefix(strings.ToLower(text), "0x") {
		return false
	}
	return text[len(text)-1]|0x20 == 'e'
}

func parseNumber(sign, text string) (any, error) {
	lower := strings.ToLower(text)
	if len(lower) > 1 && lower[0] == '0' && strings.IndexByte("xob", lower[1]) >= 0 {
		n, ok := new(big.Int).SetString(sign+lower, 0)
		if !ok {
			return nil, errLiteral
		}
		return n, nil
	}
	plain := strings.ReplaceAll(lower, "_", "")
	if strings.Trim(plain, "0123456789") == "" {
		const longest = 4300 // digits, as Python has it
		if strings.TrimLeft(plain, "0") != "" && plain[0] == '0' || len(plain) > longest {
			return nil, errLiteral
		}
		n, _ := new(big.Int).SetString(sign+plain, 10)
		return n, nil
	}
	mantissa, imaginary := strings.CutSuffix(plain, "j")
	f, err := strconv.ParseFloat(mantissa, 64)
	if err != nil && !math.IsInf(f, 0) || strings.ContainsAny(mantissa, "xpin") {
		return nil, errLiteral
	}
	if sign == "-" {
		f = -f
	}
	if imaginary && sign == "-" {
		return Complex("(-0" + strings.TrimSuffix(float(f), ".0") + "j)"), nil
	}
	if imaginary {
		return Complex(strings.TrimSuffix(float(f), ".0") + "j"), nil
	}
	return f, nil
}

// literalNotation returns the notation of what Literal returns and JSON does not have.
func literalNotation(v any) (string, bool) {
	switch v := v.(type) {
	case *big.Int:
		return v.String(), true
	case Complex:
		return string(v), true
	case Ellipsis:
		return "Ellipsis", true
	case Bytes:
		return "b" + quotedBytes(string(v)), true
	case Tuple:
		if len(v) == 1 {
			return "(" + Notation(v[0]) + ",)", true
		}
		return "(" + notations(v) + ")", true
	case Set:
		return "{" + notations(v) + "}", true
	case Dict:
		parts := make([]string, len(v))
		for i, item := range v {
			parts[i] = Notation(item.Key) + ": " + Notation(item.Value)
		}
		return "{" + strings.Join(parts, ", ") + "}", true
	}
	return "", false
}

func notations(list []any) string {
	parts := make([]string, len(list))
	for i, v := range list {
		parts[i] = Notation(v)
	}
	return strings.Join(parts, ", ")
}

func quotedBytes(s string) string {
	quote := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	var b strings.Builder
	b.WriteByte(quote)
	for i := range len(s) {
		switch c := s[i]; {
		case c == quote || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < 0x20 || c >= 0x7f:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte(quote)
	return b.String()
}
