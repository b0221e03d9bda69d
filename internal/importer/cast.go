package importer

import (
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// Cast reads the value of a setting of the command line the way Python does:
// true and yes, false and no in any case; whole numbers (int64, or *big.Int
// beyond) and floats with what Python's int and float allow: white space around,
// digits of any script, "_" between digits, inf and nan; else the text as it is.
func Cast(text string) any {
	switch strings.ToLower(text) {
	case "true", "yes":
		return true
	case "false", "no":
		return false
	}
	plain := asciiDigits(strings.TrimFunc(text, isSpace))
	if n, ok := wholeNumber(plain); ok {
		return n
	}
	if f, ok := floatNumber(plain); ok {
		return f
	}
	return text
}

// What Python's int and float read, once digits are ASCII and spaces are gone.
var (
	wholeForm = pattern.New(`^[+-]?[0-9](?:_?[0-9])*$`)
	floatForm = pattern.New(`^[+-]?(?:(?:[0-9](?:_?[0-9])*\.?(?:[0-9](?:_?[0-9])*)?|\.[0-9](?:_?[0-9])*)(?:[eE][+-]?[0-9](?:_?[0-9])*)?|(?i:inf|infinity))$`)
)

// maxDigits is the most digits that Python reads as a whole number.
const maxDigits = 4300

func wholeNumber(text string) (any, bool) {
	if !wholeForm.MatchString(text) {
		return nil, false
	}
	digits := strings.ReplaceAll(text, "_", "")
	if len(strings.TrimLeft(digits, "+-")) > maxDigits {
		return nil, false
	}
	return integer(digits, 10)
}

// integer returns an int64, or a *big.Int beyond.
func integer(digits string, base int) (any, bool) {
	n, ok := new(big.Int).SetString(digits, base)
	if !ok {
		return nil, false
	}
	if n.IsInt64() {
		return n.Int64(), true
	}
	return n, true
}

func floatNumber(text string) (float64, bool) {
	if strings.EqualFold(strings.TrimLeft(text, "+-"), "nan") && len(text) <= len("-nan") {
		return math.NaN(), true
	}
	if !floatForm.MatchString(text) {
		return 0, false
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	return f, err == nil || errors.Is(err, strconv.ErrRange) // out of range: infinite, or 0
}

// asciiDigits writes decimal digits of any script as 0 to 9.
func asciiDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII || !unicode.Is(unicode.Nd, r) {
			return r
		}
		return '0' + digit(r)
	}, text)
}

// digit returns the value of a decimal digit. Unicode keeps those of a script
// together and in order.
func digit(r rune) rune {
	for _, span := range unicode.Nd.R16 {
		if rune(span.Lo) <= r && r <= rune(span.Hi) {
			return (r - rune(span.Lo)) % 10
		}
	}
	for _, span := range unicode.Nd.R32 {
		if rune(span.Lo) <= r && r <= rune(span.Hi) {
			return (r - rune(span.Lo)) % 10
		}
	}
	return 0
}

// isSpace is Python's idea of white space: Unicode's and four separators.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }
