// Package certificate tries out certificates in worlds whose truth is known.
//
// A world here is numbers alone: items with a chance of success each, and a skill that
// shifts these chances. The certificate that is tried is the real one, so the package can say what
// no run can: how often it is wrong. Everything is drawn from a seed, and the results do not
// depend on how much runs at once. The package knows nothing about models, prompts, texts or
// files.
package certificate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
)

// Chances of items to succeed at the start: Beta(0.6, 0.4), many nearly always
// right or nearly always wrong, with a mean of 0.6.
const (
	betaA = 0.6
	betaB = 0.4
	alpha = 0.05 // of the certificates
)

// Estimate is a mean over runs with its standard error.
type Estimate struct {
	Mean float64 `json:"mean"`
	SE   float64 `json:"se"`
}

// Finding is one thing that the gates are to hold, and whether they do.
type Finding struct {
	Claim string `json:"claim"`
	Holds bool   `json:"holds"`
	Why   string `json:"why"`
}

func inWords(n, all int, not []string) string {
	text := fmt.Sprintf("%d of %d", n, all)
	for i, name := range not {
		if i == 0 {
			text += "; not in "
		} else {
			text += ", "
		}
		text += name
	}
	return text
}

func share(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// beta draws from a beta distribution by two gamma ones.
func beta(rng *rand.Rand, a, b float64) float64 {
	x, y := gamma(rng, a), gamma(rng, b)
	return x / (x + y)
}

// mix turns numbers into one that looks random (the finalizer of splitmix64: G.
// Steele, D. Lea and C. Flood, OOPSLA 2014), so that each draw has noise of its
// own whatever was drawn before it.
func mix(parts ...uint64) uint64 {
	var h uint64
	for _, p := range parts {
		h += p + 0x9e3779b97f4a7c15
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}

func (e Estimate) thousandths() string { return fmt.Sprintf("%.3f (%.3f)", e.Mean, e.SE) }

func number(f float64) string { return strconv.FormatFloat(f, 'g', 6, 64) }

// gamma draws from a gamma distribution of unit scale (G. Marsaglia and W. W.
// Tsang, "A Simple Method for Generating Gamma Variables", ACM TOMS 26, 2000).
func gamma(rng *rand.Rand, shape float64) float64 {
	if shape < 1 {
		return gamma(rng, shape+1) * math.Pow(1-rng.Float64(), 1/shape)
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := rng.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(1-rng.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}
