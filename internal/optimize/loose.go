package optimize

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
)

// Models do not keep to types: a count comes as "4", a note as a number, a
// reason as null. The functions of this file read such values as Python's own
// conversions do, so that a reply means the same here as in SkillOpt.

// isSpace reports what Python's str.strip removes: Unicode white space and the
// four information separators.
func isSpace(r rune) bool {
	return unicode.IsSpace(r) || (r >= 0x1c && r <= 0x1f)
}

func trimSpace(s string) string { return strings.TrimFunc(s, isSpace) }

func trimRightSpace(s string) string { return strings.TrimRightFunc(s, isSpace) }

// truthy reports whether a JSON value counts as true in a condition.
func truthy(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
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

// asText turns a JSON value into text: strings as they are, other values in
// Python's notation.
func asText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	var b strings.Builder
	writeNotation(&b, v)
	return b.String()
}

func writeNotation(b *strings.Builder, v any) {
	switch v := v.(type) {
	case nil:
		b.WriteString("None")
	case bool:
		if v {
			b.WriteString("True")
		} else {
			b.WriteString("False")
		}
	case json.Number:
		b.WriteString(numberText(v))
	case string:
		writeQuoted(b, v)
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteString(", ")
			}
			writeNotation(b, e)
		}
		b.WriteByte(']')
	case map[string]any:
		b.WriteByte('{')
		for i, k := range sortedKeys(v) {
			if i > 0 {
				b.WriteString(", ")
			}
			writeQuoted(b, k)
			b.WriteString(": ")
			writeNotation(b, v[k])
		}
		b.WriteByte('}')
	}
}

// numberText writes whole numbers digit by digit and others as the shortest
// decimal that reads back as the same float64.
func numberText(n json.Number) string {
	if i, ok := new(big.Int).SetString(n.String(), 10); ok {
		return i.String()
	}
	f, _ := n.Float64() // out of range: ±Inf, as in Python
	switch {
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

func writeQuoted(b *strings.Builder, s string) {
	quote := '\''
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
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
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			writeEscape(b, r)
		}
	}
	b.WriteRune(quote)
}

func writeEscape(b *strings.Builder, r rune) {
	h := strconv.FormatInt(int64(r), 16)
	switch {
	case r < 0x100:
		b.WriteString(`\x` + strings.Repeat("0", 2-len(h)) + h)
	case r < 0x10000:
		b.WriteString(`\u` + strings.Repeat("0", 4-len(h)) + h)
	default:
		b.WriteString(`\U` + strings.Repeat("0", 8-len(h)) + h)
	}
}

// asCount reads a positive count out of a JSON value. What is absent, zero,
// negative or no number gives 1: somebody stands behind every proposal.
func asCount(v any) int {
	switch v := v.(type) {
	case int:
		return max(1, v)
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return clampCount(float64(i))
		}
		f, err := v.Float64()
		if err != nil {
			return 1
		}
		return clampCount(f)
	case string:
		i, err := strconv.ParseInt(trimSpace(v), 10, 64)
		if err != nil {
			return 1
		}
		return clampCount(float64(i))
	}
	return 1
}

func clampCount(f float64) int { return int(min(max(1, f), math.MaxInt32)) }

// asIndex reads a whole number. Python counts true as 1, which no model means;
// 2.0 and "2" are no indices either.
func asIndex(v any) (int, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	i, err := strconv.Atoi(n.String())
	return i, err == nil
}
