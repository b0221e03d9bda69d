package run

import "io"

// pieces are the content of a file. A long one is in pieces, so that neither it nor
// its growth takes memory in one block.
type pieces [][]byte

// pieceSize is for how much of what is written to pieces there is room in one.
const pieceSize = 64 << 10

// Write implements io.Writer. It never fails.
func (p *pieces) Write(data []byte) (int, error) {
	n := len(data)
	for len(data) > 0 {
		last := p.last()
		room := min(len(data), cap(*last)-len(*last))
		*last, data = append(*last, data[:room]...), data[room:]
	}
	return n, nil
}

// last is the piece that has room, which is begun if there is none.
func (p *pieces) last() *[]byte {
	if n := len(*p); n == 0 || len((*p)[n-1]) == cap((*p)[n-1]) {
		*p = append(*p, make([]byte, 0, pieceSize))
	}
	return &(*p)[len(*p)-1]
}

// size is how many bytes there are.
func (p pieces) size() int {
	n := 0
	for _, piece := range p {
		n += len(piece)
	}
	return n
}

// to writes the content to w.
func (p pieces) to(w io.Writer) error {
	for _, piece := range p {
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
	return nil
}
