package yamlx

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// What YAML 1.1 takes for numbers.
var (
	integerForm = pattern.New(`^[-+]?(?:0b[0-1_]+|0[0-7_]+|0|[1-9][0-9_]*|0x[0-9a-fA-F_]+|[1-9][0-9_]*(?::[0-5]?[0-9])+)$`)
	numberForm  = pattern.New(`^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`)
)

// Plain11 reads a scalar without quotes by the rules of YAML 1.1, as PyYAML has them:
// on and off are truth values, 010 is 8, 1:30 is 90, 1e3 is text, and so are dates. The
// result is nil, a bool, int64, *big.Int, float64 or string.
func Plain11(text string) any {
	switch text {
	case "", "~", "null", "Null", "NULL":
		return nil
	case "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON":
		return true
	case "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF":
		return false
	}
	if n, ok := plainInteger(text); ok {
		return n
	}
	if f, ok := plainFloat(text); ok {
		return f
	}
	return text
}

func plainInteger(text string) (any, bool) {
	if !integerForm.MatchString(text) {
		return nil, false
	}
	digits := strings.ReplaceAll(strings.TrimLeft(text, "+-"), "_", "")
	sign := ""
	if text[0] == '-' {
		sign = "-"
	}
	switch {
	case strings.Contains(digits, ":"):
		f := sexagesimal(digits)
		if math.Abs(f) >= 1<<53 {
			return nil, false
		}
		return integer(sign+strconv.FormatInt(int64(f), 10), 10)
	case strings.HasPrefix(digits, "0b"):
		return integer(sign+digits[2:], 2)
	case strings.HasPrefix(digits, "0x"):
		return integer(sign+digits[2:], 16)
	case len(digits) > 1 && digits[0] == '0':
		return integer(sign+digits, 8)
	}
	return integer(sign+digits, 10)
}

func plainFloat(text string) (float64, bool) {
	if !numberForm.MatchString(text) {
		return 0, false
	}
	sign := 1.0
	if text[0] == '-' {
		sign = -1
	}
	digits := strings.ReplaceAll(strings.TrimLeft(text, "+-"), "_", "")
	switch strings.ToLower(digits) {
	case ".inf":
		return math.Inf(int(sign)), true
	case ".nan":
		return math.NaN(), true
	}
	return sign * sexagesimal(digits), true
}

// sexagesimal reads parts between ":" as digits to the base 60, the last with
// its fraction. Without ":" it reads a number.
func sexagesimal(text string) float64 {
	value := 0.0
	for part := range strings.SplitSeq(text, ":") {
		f, _ := strconv.ParseFloat(part, 64) // the form was checked; beyond the range it is infinite
		value = value*60 + f
	}
	return value
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
