package score

import (
	"fmt"
	"math"
)

// Metric names what of a measurement decides.
type Metric string

const (
	Hard  Metric = "hard"  // the hard score
	Soft  Metric = "soft"  // the soft score
	Mixed Metric = "mixed" // a weighted mean of the two
)

// Valid reports whether the metric is one of the constants.
func (m Metric) Valid() bool { return m == Hard || m == Soft || m == Mixed }

// Projection maps a measurement to the one number that skills are compared by.
type Projection struct {
	Metric        Metric
	MixedWeight   float64 // share of the soft score in Mixed, 0..1
	DensityWeight float64 // bonus per unit of directive density; 0: none
}

// Validate reports an unknown metric, with Mixed a weight outside [0, 1], and a
// density weight that is no finite number: no skill would beat another by it. A
// zero Projection is not valid: the metric must be chosen.
func (p Projection) Validate() error {
	if !p.Metric.Valid() {
		return fmt.Errorf("metric %q is unknown: use %s, %s or %s", p.Metric, Hard, Soft, Mixed)
	}
	if p.Metric == Mixed && !(p.MixedWeight >= 0 && p.MixedWeight <= 1) {
		return fmt.Errorf("mixed weight %v is out of range: use 0 (only hard) to 1 (only soft)", p.MixedWeight)
	}
	if math.IsNaN(p.DensityWeight) || math.IsInf(p.DensityWeight, 0) {
		return fmt.Errorf("density weight %v is out of range: use a finite number, 0 for none", p.DensityWeight)
	}
	return nil
}

// Of projects a measurement. density is the share of directive words in the
// skill that was measured, 0..1; it adds DensityWeight * density, so that the
// result can leave [0, 1]. A MixedWeight outside [0, 1] acts as the nearest
// bound, an unknown metric as Hard.
func (p Projection) Of(measured Pair, density float64) float64 {
	// Each product is rounded before it is added: a fused multiply-add would
	// make strict comparisons depend on the processor.
	return p.base(measured) + float64(p.DensityWeight*density)
}

func (p Projection) base(measured Pair) float64 {
	switch p.Metric {
	case Soft:
		return measured.Soft
	case Mixed:
		w := min(1, max(0, p.MixedWeight))
		return float64((1-w)*measured.Hard) + float64(w*measured.Soft)
	}
	return measured.Hard
}
