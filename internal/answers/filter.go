package answers

import "encoding/binary"

// filter is a Bloom filter of hashes: what it does not have was never added, and of what was
// never added it has about one in seven thousand. A look-up so asks the index about the one
// run, if any, that has the answer, and not about all of them.
type filter []uint64

const (
	filterBits   = 20 // of a hash
	filterProbes = 8
)

func newFilter(hashes []int64) filter {
	f := make(filter, (len(hashes)*filterBits+63)/64)
	for _, h := range hashes {
		for bit := range f.probes(h) {
			f[bit/64] |= 1 << (bit % 64)
		}
	}
	return f
}

func (f filter) has(hash int64) bool {
	if len(f) == 0 {
		return false
	}
	at, step, bits := uint64(hash)>>32, uint64(hash)&(1<<32-1)|1, uint64(len(f))*64
	for range filterProbes {
		bit := at % bits
		if f[bit/64]&(1<<(bit%64)) == 0 {
			return false
		}
		at += step
	}
	return true
}

// probes yields the bits of a hash, as has looks at them.
func (f filter) probes(hash int64) func(yield func(uint64) bool) {
	return func(yield func(uint64) bool) {
		at, step, bits := uint64(hash)>>32, uint64(hash)&(1<<32-1)|1, uint64(len(f))*64
		for range filterProbes {
			if !yield(at % bits) {
				return
			}
			at += step
		}
	}
}

func (f filter) bytes() []byte {
	out := make([]byte, 0, 8*len(f))
	for _, word := range f {
		out = binary.LittleEndian.AppendUint64(out, word)
	}
	return out
}

func decodeFilter(data []byte) filter {
	f := make(filter, len(data)/8)
	for i := range f {
		f[i] = binary.LittleEndian.Uint64(data[8*i:])
	}
	return f
}
