package score

import "math"

// Interval is the range in which a true value is believed to lie.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Z95 is the normal quantile of a two-sided 95 % interval.
const Z95 = 1.959963984540054

// Wilson returns the score interval of a proportion p, 0..1, seen in n trials,
// at the normal quantile z (E. B. Wilson, "Probable Inference, the Law of
// Succession, and Statistical Inference", JASA 22, 1927). For the mean of scores
// between 0 and 1 it is wider than need be. n < 1 gives [0, 1].
func Wilson(p float64, n int, z float64) Interval {
	if n < 1 {
		return Interval{Low: 0, High: 1}
	}
	size, zz := float64(n), z*z
	centre := (p + zz/(2*size)) / (1 + zz/size)
	half := z / (1 + zz/size) * math.Sqrt(p*(1-p)/size+zz/(4*size*size))
	// The bounds include p itself; rounding may put them an ulp away from it.
	return Interval{Low: max(0, min(p, centre-half)), High: min(1, max(p, centre+half))}
}
