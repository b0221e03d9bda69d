package latex

import (
	"errors"
	"math"
	"math/big"
)

// Bounds of what an expression may cost. Beyond them it has no value.
const (
	maxExpression = 4 << 10 // bytes
	maxDepth      = 48
	maxPower      = 512      // of an exact power
	maxBits       = 16 << 10 // of the numerator and the denominator of an exact value
	maxDigits     = 400      // of one number, and the size of its decimal exponent
)

var errNoValue = errors.New("no expression of numbers")

// value is a number: exact where exact is not nil, else nearly f.
type value struct {
	exact *big.Rat
	f     float64
}

func rational(r *big.Rat) (value, error) {
	if r.Num().BitLen() > maxBits || r.Denom().BitLen() > maxBits {
		return value{}, errNoValue
	}
	f, _ := r.Float64()
	return value{exact: r, f: f}, nil
}

func near(f float64) (value, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return value{}, errNoValue
	}
	return value{f: f}, nil
}

func whole(n int64) value {
	return value{exact: new(big.Rat).SetInt64(n), f: float64(n)}
}

func (v value) add(w value) (value, error) {
	if v.exact != nil && w.exact != nil {
		return rational(new(big.Rat).Add(v.exact, w.exact))
	}
	return near(v.f + w.f)
}

func (v value) neg() value {
	if v.exact != nil {
		return value{exact: new(big.Rat).Neg(v.exact), f: -v.f}
	}
	return value{f: -v.f}
}

func (v value) mul(w value) (value, error) {
	if v.exact != nil && w.exact != nil {
		return rational(new(big.Rat).Mul(v.exact, w.exact))
	}
	return near(v.f * w.f)
}

func (v value) div(w value) (value, error) {
	if w.exact != nil && w.exact.Sign() == 0 || w.exact == nil && w.f == 0 {
		return value{}, errNoValue
	}
	if v.exact != nil && w.exact != nil {
		return rational(new(big.Rat).Quo(v.exact, w.exact))
	}
	return near(v.f / w.f)
}

// pow raises v. A power by a small whole number stays exact.
func (v value) pow(w value) (value, error) {
	if w.exact == nil || v.exact == nil || !w.exact.IsInt() || !w.exact.Num().IsInt64() {
		if v.exact != nil && w.exact != nil && w.exact.Denom().IsInt64() && w.exact.Num().IsInt64() {
			return v.rootPower(w.exact.Num().Int64(), w.exact.Denom().Int64())
		}
		return near(math.Pow(v.f, w.f))
	}
	n := w.exact.Num().Int64()
	if n > maxPower || n < -maxPower {
		return near(math.Pow(v.f, w.f))
	}
	base := v
	if n < 0 {
		var err error
		if base, err = whole(1).div(v); err != nil {
			return value{}, err
		}
		n = -n
	}
	result := whole(1)
	for range n {
		var err error
		if result, err = result.mul(base); err != nil {
			return near(math.Pow(v.f, w.f))
		}
	}
	return result, nil
}

// rootPower returns v to the power of n/d.
func (v value) rootPower(n, d int64) (value, error) {
	root, err := v.root(d)
	if err != nil {
		return value{}, err
	}
	return root.pow(whole(n))
}

// root returns a root of v, which is exact where the root is a fraction.
func (v value) root(degree int64) (value, error) {
	if degree < 1 || degree > maxPower {
		return value{}, errNoValue
	}
	odd := degree%2 == 1
	if v.f < 0 && !odd {
		return value{}, errNoValue
	}
	size := math.Pow(math.Abs(v.f), 1/float64(degree))
	if v.exact != nil {
		if n, ok := wholeRoot(new(big.Int).Abs(v.exact.Num()), degree); ok {
			if d, ok := wholeRoot(v.exact.Denom(), degree); ok {
				r := new(big.Rat).SetFrac(n, d)
				if v.exact.Sign() < 0 {
					r.Neg(r)
				}
				return rational(r)
			}
		}
	}
	if v.f < 0 {
		size = -size
	}
	return near(size)
}

// wholeRoot returns the root of n if it is a whole number.
func wholeRoot(n *big.Int, degree int64) (*big.Int, bool) {
	var r *big.Int
	if degree == 2 {
		r = new(big.Int).Sqrt(n)
	} else {
		f, _ := new(big.Float).SetInt(n).Float64()
		guess := math.Round(math.Pow(f, 1/float64(degree)))
		if math.IsInf(guess, 0) || math.IsNaN(guess) || guess > 1e15 {
			return nil, false
		}
		r = big.NewInt(int64(guess))
	}
	if r.BitLen()*int(degree) > 2*maxBits {
		return nil, false
	}
	return r, new(big.Int).Exp(r, big.NewInt(degree), nil).Cmp(n) == 0
}

// equal reports whether two values are the same: exactly where both are exact, else within
// the relative tolerance.
func (v value) equal(w value, tolerance float64) bool {
	if v.exact != nil && w.exact != nil {
		if v.exact.Cmp(w.exact) == 0 {
			return true
		}
		if tolerance <= roundingError {
			return false
		}
	}
	if math.IsInf(v.f, 0) || math.IsInf(w.f, 0) {
		return false
	}
	return v.f == w.f || math.Abs(v.f-w.f) <= tolerance*max(math.Abs(v.f), math.Abs(w.f))
}

// roundingError is the tolerance that is no tolerance: what calculating in floats loses.
const roundingError = 1e-9
