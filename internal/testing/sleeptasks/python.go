package sleeptasks

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"github.com/seed-f4525e22/skillopt/internal/pytext"
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

func floatOf(v any) (float64, error) {
	switch v := v.(type) {
	case float64:
		return v, nil
	case json.Number:
		return v.Float64()
	}
	return 0, fmt.Errorf("%s is no number", kindOf(v))
}

func trim(s string) string { return strings.TrimFunc(s, pytext.IsSpace) }

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
