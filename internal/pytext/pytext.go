// Package pytext reads and writes values of JSON as programs in Python do, so that what comes from files and replies
// of the reference implementations means the same here.
//
// It knows nothing about what the values are for. It is pure.
package pytext

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// IsSpace reports what Python's str.strip removes: Unicode white space and the four information separators.
func IsSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

// Truthy reports whether a value counts as true in a condition.
func Truthy(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case float64:
		return v != 0
	case json.Number:
		f, err := v.Float64()
		return err != nil || f != 0
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return true
}

// Text returns a value as text: a string as it is, others by their notation.
func Text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return Notation(v)
}

// Notation returns a value as repr writes it. It sorts the members of an object: their order in the file is not known.
func Notation(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		if v {
			return "True"
		}
		return "False"
	case string:
		return Quoted(v)
	case float64:
		return float(v)
	case json.Number:
		return number(v)
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = Notation(e)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		for i, key := range keys {
			keys[i] = Quoted(key) + ": " + Notation(v[key])
		}
		return "{" + strings.Join(keys, ", ") + "}"
	}
	if text, ok := literalNotation(v); ok {
		return text
	}
	return fmt.Sprint(v)
}

// number writes whole numbers digit by digit.
func number(n json.Number) string {
	if i, ok := new(big.Int).SetString(n.String(), 10); ok {
		return i.String()
	}
	f, err := n.Float64() // out of range: ±Inf
	if err != nil && !math.IsInf(f, 0) {
		return n.String()
	}
	return float(f)
}

// float returns the shortest text that reads back as the same number.
func float(f float64) string {
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

// Quoted returns a string between quotes: single ones, unless it holds those and no double one.
func Quoted(s string) string {
	quote := '\''
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	var b strings.Builder
	b.WriteRune(quote)
	for _, r := range s {
		switch {
		case r == quote || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r): // the space too, no other white space
			b.WriteRune(r)
		case r <= 0xff:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteRune(quote)
	return b.String()
}

// Groups rewrites named groups of a pattern, (?P<name>...) and (?P=name), to the spelling of .NET and of regexp2.
func Groups(pattern string) string {
	if !strings.Contains(pattern, "(?P") {
		return pattern
	}
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		rest := pattern[i:]
		switch {
		case rest[0] == '\\' && len(rest) > 1:
			b.WriteString(rest[:2])
			i++
		case strings.HasPrefix(rest, "(?P<"):
			b.WriteString("(?<")
			i += 3
		case strings.HasPrefix(rest, "(?P=") && strings.Contains(rest, ")"):
			name, _, _ := strings.Cut(rest[4:], ")")
			b.WriteString(`\k<` + name + ">")
			i += 4 + len(name)
		default:
			b.WriteByte(rest[0])
		}
	}
	return b.String()
}
