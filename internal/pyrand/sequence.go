package pyrand

import (
	"fmt"
	"math"
	"sort"
)

// Shuffle puts n items into random order through swap, which exchanges the
// items at two indices.
func (r *Rand) Shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, r.RandBelow(i+1))
	}
}

// Perm returns the numbers 0..n-1 as Shuffle orders them.
func (r *Rand) Perm(n int) []int {
	p := make([]int, n)
	for i := range p {
		p[i] = i
	}
	r.Shuffle(n, func(i, j int) { p[i], p[j] = p[j], p[i] })
	return p
}

// Sample returns k different indices of n items, in the order drawn. It panics
// unless 0 <= k <= n.
func (r *Rand) Sample(n, k int) []int {
	if k < 0 || k > n {
		panic("pyrand: Sample larger than the population, or negative")
	}
	if n <= poolLimit(k) {
		return r.samplePool(n, k)
	}
	return r.sampleRedraw(n, k)
}

// poolLimit returns the population up to which CPython copies it into a list. Above the limit a set
// of the indices drawn is taken to be smaller. The two ways draw different numbers, so the limit is
// part of the sequence.
func poolLimit(k int) int {
	limit := 21
	if k > 5 {
		table := 1
		for table < 3*k {
			table *= 4
		}
		limit += table
	}
	return limit
}

func (r *Rand) samplePool(n, k int) []int {
	pool := make([]int, n)
	for i := range pool {
		pool[i] = i
	}
	drawn := make([]int, k)
	for i := range drawn {
		j := r.RandBelow(n - i)
		drawn[i] = pool[j]
		pool[j] = pool[n-i-1]
	}
	return drawn
}

func (r *Rand) sampleRedraw(n, k int) []int {
	drawn := make([]int, k)
	seen := make(map[int]bool, k)
	for i := range drawn {
		j := r.RandBelow(n)
		for seen[j] {
			j = r.RandBelow(n)
		}
		seen[j] = true
		drawn[i] = j
	}
	return drawn
}

// Choices returns k indices of n items, drawn with replacement. weights, one
// per item, are relative and need not add up to 1; nil means equal ones. It is
// an error if there is nothing to choose from or the weights do not fit.
func (r *Rand) Choices(n, k int, weights []float64) ([]int, error) {
	if n < 1 || k < 0 {
		return nil, fmt.Errorf("choose %d of %d items: nothing to choose from", k, n)
	}
	if weights == nil {
		return r.choicesEqual(n, k), nil
	}
	if len(weights) != n {
		return nil, fmt.Errorf("choose among %d items: %d weights", n, len(weights))
	}
	cumulative := make([]float64, n)
	total := 0.0
	for i, w := range weights {
		total += w
		cumulative[i] = total
	}
	if !(total > 0) || math.IsInf(total, 0) {
		return nil, fmt.Errorf("choose among %d items: the weights add up to %v, not to a positive number", n, total)
	}
	drawn := make([]int, k)
	for i := range drawn {
		x := r.Random() * total
		drawn[i] = sort.Search(n-1, func(j int) bool { return x < cumulative[j] })
	}
	return drawn, nil
}

func (r *Rand) choicesEqual(n, k int) []int {
	drawn := make([]int, k)
	for i := range drawn {
		drawn[i] = int(math.Floor(r.Random() * float64(n)))
	}
	return drawn
}
