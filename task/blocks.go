package task

// blocks is a long list that grows without being copied: twice what it holds would
// be in memory each time.
type blocks[T any] struct {
	full [][]T // of blockLen each, the last one perhaps less
	n    int
}

const blockLen = 1024

func (b *blocks[T]) add(v T) {
	if b.n%blockLen == 0 {
		b.full = append(b.full, nil)
	}
	last := &b.full[len(b.full)-1]
	*last = append(*last, v)
	b.n++
}

func (b *blocks[T]) at(i int) *T { return &b.full[i/blockLen][i%blockLen] }

// cut leaves the first n.
func (b *blocks[T]) cut(n int) {
	if n >= b.n {
		return
	}
	b.full = b.full[:(n+blockLen-1)/blockLen]
	if rest := n % blockLen; rest > 0 {
		last := &b.full[len(b.full)-1]
		clear((*last)[rest:])
		*last = (*last)[:rest]
	}
	b.n = n
}

// join returns all as one slice, and leaves none.
func (b *blocks[T]) join() []T {
	all := make([]T, 0, b.n)
	for i, block := range b.full {
		all = append(all, block...)
		b.full[i] = nil
	}
	*b = blocks[T]{}
	return all
}
