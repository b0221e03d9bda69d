// Package lab tries out decisions in worlds whose truth is known.
//
// A world here is numbers alone: items with a chance of success each, a skill
// that shifts these chances, and an optimizer whose edits help, harm or do
// nothing in known shares. The gate that is tried is the real one. So the lab can
// say what no run can: how much better a skill truly became, and how far the
// score that was reported is from it.
//
// Everything is drawn from a seed, and the results do not depend on how much runs
// at once. The package knows nothing about models, prompts, texts or files: what
// it measures is the gate's share in a result, not the optimizer's.
package lab

import (
	"math"
	"math/rand/v2"
)

// World says what the edits of an optimizer do. The shares of good and bad edits
// add up to at most 1; the rest does nothing.
type World struct {
	Name      string  `json:"name"`
	Good      float64 `json:"good"`       // share of edits that help
	GoodShift float64 `json:"good_shift"` // what one adds to the logit of each item
	Bad       float64 `json:"bad"`        // share of edits that harm
	BadShift  float64 `json:"bad_shift"`  // what one takes from the logit of each item
	Spread    float64 `json:"spread"`     // deviation of a good or bad edit's shift from item to item
}

// Chances of items to succeed at the start: Beta(0.6, 0.4), many nearly always
// right or nearly always wrong, with a mean of 0.6.
const (
	betaA = 0.6
	betaB = 0.4
	edge  = 0.001 // no item is closer to 0 or 1
)

// skillState is a skill as the items see it.
type skillState struct {
	id     uint64 // names its noise
	logits []float64
	chance []float64
}

func newSkill(id uint64, logits []float64) *skillState {
	s := &skillState{id: id, logits: logits, chance: make([]float64, len(logits))}
	for i, l := range logits {
		s.chance[i] = 1 / (1 + math.Exp(-l))
	}
	return s
}

// truth is the mean chance of success of the first n items: what an endless
// number of passes over them would show.
func (s *skillState) truth(n int) float64 {
	var sum float64
	for _, p := range s.chance[:n] {
		sum += p
	}
	return sum / float64(n)
}

// startSkill draws items and how a skill does on them at the start.
func startSkill(rng *rand.Rand, n int) *skillState {
	logits := make([]float64, n)
	for i := range logits {
		p := min(1-edge, max(edge, beta(rng, betaA, betaB)))
		logits[i] = math.Log(p / (1 - p))
	}
	return newSkill(0, logits)
}

// edit draws the next edit and returns the skill with it.
func (w World) edit(rng *rand.Rand, s *skillState, id uint64) *skillState {
	kind := rng.Float64()
	var shift float64
	switch {
	case kind < w.Good:
		shift = w.GoodShift
	case kind < w.Good+w.Bad:
		shift = -w.BadShift
	}
	logits := make([]float64, len(s.logits))
	for i, l := range s.logits {
		logits[i] = l
		if kind < w.Good+w.Bad {
			logits[i] += shift + w.Spread*rng.NormFloat64()
		}
	}
	return newSkill(id, logits)
}

// beta draws from a beta distribution by two gamma ones.
func beta(rng *rand.Rand, a, b float64) float64 {
	x, y := gamma(rng, a), gamma(rng, b)
	return x / (x + y)
}

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

// unit turns a mixed number into one in [0, 1).
func unit(h uint64) float64 { return float64(h>>11) / (1 << 53) }
