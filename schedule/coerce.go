package schedule

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strings"
	"unicode"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// CoerceBudget reads a number of edits out of decoded JSON, as models give it:
// an integer, a fraction (cut off), or text that holds an integer somewhere.
// What is negative becomes 0, what is too large the largest int. ok is false if
// there is no number: null, truth values, lists, objects, text without digits.
func CoerceBudget(v any) (n int, ok bool) {
	switch v := v.(type) {
	case int:
		return max(0, v), true
	case float64:
		return coerceFloat(v)
	case json.Number:
		if i, isInt := new(big.Int).SetString(v.String(), 10); isInt {
			return coerceInt(i), true
		}
		f, err := v.Float64()
		if err != nil {
			return 0, false
		}
		return coerceFloat(f)
	case string:
		return coerceText(v)
	}
	return 0, false
}

func coerceFloat(f float64) (int, bool) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, false
	}
	i, _ := big.NewFloat(f).Int(nil)
	return coerceInt(i), true
}

func coerceInt(i *big.Int) int {
	if i.Sign() < 0 {
		return 0
	}
	if !i.IsInt64() || i.Int64() > math.MaxInt {
		return math.MaxInt
	}
	return int(i.Int64())
}

var integerText = pattern.New(`-?\p{Nd}+`)

// coerceText takes the first integer in a text, in the digits of any script.
func coerceText(text string) (int, bool) {
	found := integerText.FindString(text)
	if found == "" {
		return 0, false
	}
	if found[0] == '-' {
		return 0, true
	}
	n := 0
	for _, r := range found {
		d := digit(r)
		if n > (math.MaxInt-d)/10 {
			return math.MaxInt, true
		}
		n = 10*n + d
	}
	return n, true
}

// digit returns the value of a decimal digit of any script. Unicode keeps the
// digits of each script together and in order, from 0 to 9.
func digit(r rune) int {
	for _, span := range unicode.Nd.R16 {
		if rune(span.Lo) <= r && r <= rune(span.Hi) {
			return int(r-rune(span.Lo)) % 10
		}
	}
	for _, span := range unicode.Nd.R32 {
		if rune(span.Lo) <= r && r <= rune(span.Hi) {
			return int(r-rune(span.Lo)) % 10
		}
	}
	return 0
}

// Control says who sets the edit budget in configurations that keep this apart
// from the schedule.
type Control string

const (
	Fixed      Control = "fixed"      // the schedule
	Autonomous Control = "autonomous" // the optimizer model, step by step
	None       Control = "none"       // no one: there is no budget
)

// ParseControl reads the name of a control or one of its aliases; empty means
// Fixed. Case and surrounding white space do not matter.
func ParseControl(name string) (Control, error) {
	if name == "" {
		return Fixed, nil
	}
	switch strings.ToLower(strings.TrimFunc(name, isSpace)) {
	case "fixed", "manual", "scheduler", "scheduled":
		return Fixed, nil
	case "autonomous", "auto", "optimizer":
		return Autonomous, nil
	case "none", "off", "no_lr":
		return None, nil
	}
	return "", fmt.Errorf("budget control %q is unknown: use %s, %s or %s", name, Fixed, Autonomous, None)
}

// isSpace is Python's notion of white space: Unicode's, and four ASCII separators.
func isSpace(r rune) bool { return unicode.IsSpace(r) || 0x1c <= r && r <= 0x1f }
