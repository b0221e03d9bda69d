package sleeptasks

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// What values of JSON are as text, numbers and names of types to the program whose files
// these are, which is written in Python.

// kindOf is the name of a value's type.
func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "NoneType"
	case bool:
		return "bool"
	case string:
		return "str"
	case []any:
		return "list"
	case map[string]any:
		return "dict"
	case json.Number:
		if isWhole(v) {
			return "int"
		}
	}
	return "float"
}

// isWhole reports whether a number is written as one without a fraction.
func isWhole(n json.Number) bool { return !strings.ContainsAny(string(n), ".eE") }

// truthy reports whether a value counts as something.
func truthy(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	f, err := floatOf(v)
	return err != nil || f != 0
}

func floatOf(v any) (float64, error) {
	switch v := v.(type) {
	case float64:
		return v, nil
	case json.Number:
		return v.Float64()
	}
	return 0, fmt.Errorf("%s is no number", kindOf(v))
}

// textOf is a value as text: a string as it is, others as they are written.
func textOf(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return written(v)
}

// written is a value as it is written in a program.
func written(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		if v {
			return "True"
		}
		return "False"
	case string:
		return quoted(v)
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = written(e)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		keys := make([]string, 0, len(v))
		for key := range v {
			keys = append(keys, key)
		}
		slices.Sort(keys) // the order of the file is not known any more
		for i, key := range keys {
			keys[i] = quoted(key) + ": " + written(v[key])
		}
		return "{" + strings.Join(keys, ", ") + "}"
	case json.Number:
		if isWhole(v) {
			if n, ok := new(big.Int).SetString(string(v), 10); ok {
				return n.String()
			}
		}
	}
	f, err := floatOf(v)
	if err != nil && !math.IsInf(f, 0) {
		return fmt.Sprint(v)
	}
	return writtenFloat(f)
}

// writtenFloat is the shortest text that gives the number again.
func writtenFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	if size := math.Abs(f); size != 0 && (size < 1e-4 || size >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// quoted is a string between quotes: single ones, unless it holds those and no double one.
func quoted(s string) string {
	quote := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	var b strings.Builder
	b.WriteByte(quote)
	for _, r := range s {
		switch {
		case r == rune(quote) || r == '\\':
			b.WriteRune('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == ' ' || unicode.IsPrint(r):
			b.WriteRune(r)
		case r <= 0xff:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte(quote)
	return b.String()
}

// isSpace reports whether white space is taken off the ends of texts.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

func trim(s string) string { return strings.TrimFunc(s, isSpace) }

// lower is a text in small letters, by the rules of whole words.
func lower(s string) string { return cases.Lower(language.Und).String(s) }

// fold is a text in which letters that differ by case alone are equal.
func fold(s string) string { return cases.Fold().String(s) }

// errNoWhole says that a text is no whole number.
var errNoWhole = errors.New("no whole number")

// wholeOf reads digits of any script behind a sign, with white space around.
func wholeOf(s string, underscores bool) (*big.Int, error) {
	s = trim(s)
	sign := ""
	if strings.HasPrefix(s, "+") || strings.HasPrefix(s, "-") {
		sign, s = s[:1], s[1:]
	}
	var digits strings.Builder
	last := '_'
	for _, r := range s {
		d := digitOf(r)
		switch {
		case d >= 0:
			digits.WriteByte('0' + byte(d))
		case !underscores || r != '_' || last == '_':
			return nil, errNoWhole
		}
		last = r
	}
	n, ok := new(big.Int).SetString(strings.TrimPrefix(sign, "+")+digits.String(), 10)
	if !ok || last == '_' {
		return nil, errNoWhole
	}
	return n, nil
}

// digitOf is the value of a decimal digit of any script, -1 of anything else.
func digitOf(r rune) int {
	for _, in := range unicode.Nd.R16 {
		if rune(in.Lo) <= r && r <= rune(in.Hi) {
			return int(r-rune(in.Lo)) % 10
		}
	}
	for _, in := range unicode.Nd.R32 {
		if rune(in.Lo) <= r && r <= rune(in.Hi) {
			return int(r-rune(in.Lo)) % 10
		}
	}
	return -1
}
