package schedule

import "github.com/seed-f4525e22/skillopt/internal/pyrand"

// Rand is the chance that draws take. It need not be safe for concurrent use.
type Rand interface {
	Random() float64     // in [0, 1)
	RandBelow(n int) int // in [0, n), n at least 1
	// Choices draws k of n indices with replacement, by their weights; nil weights: all
	// are as likely. Weights that cannot be drawn by are an error.
	Choices(n, k int, weights []float64) ([]int, error)
}

// NewRand returns the generator of the reference implementations: the same seed draws the
// same there and here.
func NewRand(seed int64) Rand { return pyrand.New(seed) }
