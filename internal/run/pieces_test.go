package run

import (
	"bytes"
	"testing"
)

func TestPiecesHoldWhatWasWritten(t *testing.T) {
	t.Parallel()
	var p pieces
	var want, got bytes.Buffer
	for _, size := range []int{0, 1, pieceSize - 1, 1, pieceSize, 3*pieceSize + 7, 10} {
		data := bytes.Repeat([]byte{byte('a' + size%26)}, size)
		want.Write(data)
		if n, err := p.Write(data); n != size || err != nil {
			t.Fatalf("write of %d bytes: %d, %v", size, n, err)
		}
		clear(data) // it belongs to the caller
	}
	if err := p.to(&got); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Error("the content is another")
	}
	if p.size() != want.Len() {
		t.Errorf("size %d, want %d", p.size(), want.Len())
	}
	for i, piece := range p {
		if cap(piece) != pieceSize {
			t.Errorf("piece %d takes %d bytes, want %d", i, cap(piece), pieceSize)
		}
	}
}
