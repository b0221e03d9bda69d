package sim

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// maxDecimals is how many decimals a computed number keeps.
const maxDecimals = 9

// maxDigits bounds the length of a number in a task: exact arithmetic on longer
// ones would cost more than it is worth.
const maxDigits = 60

// number reads a decimal number exactly.
func number(text string) (*big.Rat, error) {
	t := strings.TrimSpace(text)
	if len(t) > maxDigits || strings.ContainsAny(t, "eEpPxX_/") {
		return nil, fmt.Errorf("%q is no decimal number", text)
	}
	r, ok := new(big.Rat).SetString(t)
	if !ok {
		return nil, fmt.Errorf("%q is no decimal number", text)
	}
	return r, nil
}

// decimal writes a number with as many decimals as it needs, at most
// maxDecimals.
func decimal(r *big.Rat) string {
	s := r.FloatString(maxDecimals)
	s = strings.TrimRight(s, "0")
	s = strings.TrimSuffix(s, ".")
	if s == "-0" {
		return "0"
	}
	return s
}

// toRat returns a number of the world file as an exact one.
func toRat(f float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'f', -1, 64))
	if !ok {
		return new(big.Rat)
	}
	return r
}
