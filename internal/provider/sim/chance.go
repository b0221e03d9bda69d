package sim

// digest names a text: FNV-1a, 64 bits.
func digest(text string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return h
}

// mix folds values into one, each bit of which depends on all of them (the
// finalizer of SplitMix64 after every value).
func mix(values ...uint64) uint64 {
	var h uint64
	for _, v := range values {
		h += 0x9e3779b97f4a7c15 + v
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}

// Purposes keep draws about the same text apart.
const (
	drawNoise uint64 = iota + 1
	drawFlip
	drawHarm
	drawHarmRule
	drawFooled
	drawNote
	drawWording
	drawFault
	drawBreak
	drawLatency
	drawLoad
	drawRead
	drawWrite
	drawMiss
	drawDrop
	drawRepeat
	drawMemorize
)

// chance returns a number in [0, 1) that depends on the seed of the world and
// the values only.
func (w *World) chance(values ...uint64) float64 {
	return float64(mix(w.seed, mix(values...))>>11) / (1 << 53)
}

// pick returns an index below n, n > 0, in the same way.
func (w *World) pick(n int, values ...uint64) int {
	return int(mix(w.seed, mix(values...)) % uint64(n))
}
