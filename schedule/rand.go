package schedule

// Rand is the chance that draws take. It need not be safe for concurrent use.
type Rand interface {
	Random() float64     // in [0, 1)
	RandBelow(n int) int // in [0, n), n at least 1
	// Choices draws k of n indices with replacement, by their weights; nil weights: all
	// are as likely. Weights that cannot be drawn by are an error.
	Choices(n, k int, weights []float64) ([]int, error)
}
