// Package pyrand draws the random numbers of CPython's random.Random, bit for
// bit, so that splits, batches and minibatches made here from a seed are those
// that a Python program makes from the same seed.
//
// The generator is MT19937 (M. Matsumoto and T. Nishimura, "Mersenne Twister",
// ACM TOMACS 8(1), 1998); seeding, bounded integers, sampling and weighted
// choice follow CPython 3.11. It is no source of secrets. The package knows
// nothing about what is drawn, and reads no clock and no entropy.
package pyrand

import (
	"crypto/sha512"
	"fmt"
	"math/big"
	"math/bits"
)

const (
	stateLen  = 624
	shiftLen  = 397
	upperMask = 0x80000000
	lowerMask = 0x7fffffff
	twist     = 0x9908b0df
)

// Rand is a generator. It is not safe for concurrent use.
type Rand struct {
	state [stateLen]uint32
	next  int // index of the next word of state; stateLen: all are used up
}

// New returns the generator of random.Random(seed). A seed and its negative
// give the same one.
func New(seed int64) *Rand {
	return NewBig(big.NewInt(seed))
}

// NewBig returns the generator of random.Random(seed) for an integer seed of
// any length.
func NewBig(seed *big.Int) *Rand {
	abs := new(big.Int).Abs(seed).Bytes() // big-endian
	key := make([]uint32, max(1, (len(abs)+3)/4))
	for i := range abs {
		b := abs[len(abs)-1-i]
		key[i/4] |= uint32(b) << (8 * (i % 4))
	}
	r := &Rand{}
	r.seedKey(key)
	return r
}

// NewDecimal returns the generator of random.Random(int(seed)) for a seed in
// decimal digits with an optional sign.
func NewDecimal(seed string) (*Rand, error) {
	n, ok := new(big.Int).SetString(seed, 10)
	if !ok {
		return nil, fmt.Errorf("seed %q is not a decimal integer", seed)
	}
	return NewBig(n), nil
}

// NewString returns the generator of random.Random(seed) for a text seed. The
// text "42" is another seed than the number 42.
func NewString(seed string) *Rand {
	sum := sha512.Sum512([]byte(seed))
	return NewBig(new(big.Int).SetBytes(append([]byte(seed), sum[:]...)))
}

// seedKey seeds the generator as init_by_array of the reference implementation of MT19937 does.
func (r *Rand) seedKey(key []uint32) {
	r.seedWord(19650218)
	i, j := 1, 0
	for range max(stateLen, len(key)) {
		prev := r.state[i-1]
		r.state[i] = (r.state[i] ^ (prev^prev>>30)*1664525) + key[j] + uint32(j)
		i = r.wrap(i + 1)
		j = (j + 1) % len(key)
	}
	for range stateLen - 1 {
		prev := r.state[i-1]
		r.state[i] = (r.state[i] ^ (prev^prev>>30)*1566083941) - uint32(i)
		i = r.wrap(i + 1)
	}
	r.state[0] = 1 << 31
	r.next = stateLen
}

func (r *Rand) seedWord(seed uint32) {
	r.state[0] = seed
	for i := 1; i < stateLen; i++ {
		prev := r.state[i-1]
		r.state[i] = 1812433253*(prev^prev>>30) + uint32(i)
	}
}

// wrap takes an index past the end back to 1, carrying the last word to the
// front.
func (r *Rand) wrap(i int) int {
	if i < stateLen {
		return i
	}
	r.state[0] = r.state[stateLen-1]
	return 1
}

// word returns the next 32 bits.
func (r *Rand) word() uint32 {
	if r.next >= stateLen {
		r.refill()
	}
	w := r.state[r.next]
	r.next++
	w ^= w >> 11
	w ^= w << 7 & 0x9d2c5680
	w ^= w << 15 & 0xefc60000
	return w ^ w>>18
}

func (r *Rand) refill() {
	for i := range r.state {
		w := r.state[i]&upperMask | r.state[(i+1)%stateLen]&lowerMask
		r.state[i] = r.state[(i+shiftLen)%stateLen] ^ w>>1 ^ twist*(w&1)
	}
	r.next = 0
}

// Random returns a number in [0, 1) with 53 random bits.
func (r *Rand) Random() float64 {
	a, b := r.word()>>5, r.word()>>6
	return (float64(a)*(1<<26) + float64(b)) / (1 << 53)
}

// Uniform returns a number between a and b: a + (b-a) * Random().
func (r *Rand) Uniform(a, b float64) float64 {
	return a + float64((b-a)*r.Random()) // rounded twice: no fused multiply-add
}

// GetRandBits returns an integer of k random bits; k = 0 gives 0 and draws
// nothing. It panics if k is negative.
func (r *Rand) GetRandBits(k int) *big.Int {
	if k < 0 {
		panic("pyrand: GetRandBits of a negative number of bits")
	}
	n, word := new(big.Int), new(big.Int)
	for shift := 0; shift < k; shift += 32 {
		w := r.word()
		if left := k - shift; left < 32 {
			w >>= 32 - left
		}
		word.SetUint64(uint64(w))
		n.Or(n, word.Lsh(word, uint(shift)))
	}
	return n
}

// bits64 returns what GetRandBits returns for 1 <= k <= 64, without the allocation.
func (r *Rand) bits64(k int) uint64 {
	if k <= 32 {
		return uint64(r.word() >> (32 - k))
	}
	low := uint64(r.word())
	return low | uint64(r.word()>>(64-k))<<32
}

// RandBelow returns an integer in [0, n). It panics if n < 1.
func (r *Rand) RandBelow(n int) int {
	if n < 1 {
		panic("pyrand: RandBelow of an empty range")
	}
	return int(r.uint64n(uint64(n)))
}

func (r *Rand) uint64n(n uint64) uint64 {
	k := bits.Len64(n)
	for {
		if v := r.bits64(k); v < n {
			return v
		}
	}
}

// RandInt returns an integer in [a, b], both ends included. It panics if b < a
// and if the range has 2^64 values.
func (r *Rand) RandInt(a, b int) int {
	width := uint64(b) - uint64(a) + 1
	if b < a || width == 0 {
		panic("pyrand: RandInt of an empty or too wide range")
	}
	return int(uint64(a) + r.uint64n(width))
}

// Choice returns the index that random.choice takes of n items. It panics if
// n < 1.
func (r *Rand) Choice(n int) int { return r.RandBelow(n) }
