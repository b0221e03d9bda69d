package gateway

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/seed-f4525e22/skillopt/model"
)

// talk is what a session remembers of a conversation: its list as it was
// written, and what it means. It belongs to the memory or to the one request
// that continues it, never to both.
type talk struct {
	wire  Wire
	text  []byte // from after the bracket of the list to the end of the last fold
	folds []fold // where it can be taken up, in order
	done  []model.Message
	calls []called
	left  []string
}

// fold is a place behind an element of a list: how much there is of everything,
// counted from the beginning of the list (text in bytes), and the message to which
// the next element may add something.
type fold struct {
	text, elements, messages, calls, left int
	role                                  string
	parts                                 []model.Part
}

// called names the tool of a call.
type called struct{ id, name string }

// maxRetold is how many elements of a conversation may be told anew for it still
// to be the same one. Claude Code marks the last messages of a request, so that
// they are written otherwise in the next. Where more differs it is another one
// that began alike.
const maxRetold = 4

// maxProbes is how many folds of a conversation, from the last, are tried by a few
// bytes before everything is compared: by the last ones, in which those differ
// that began alike, and the first.
const (
	maxProbes = 8
	probed    = 64
)

// messageSize and foldSize are about what a message takes beside its text, and
// what a fold does, in bytes.
const (
	messageSize = 256
	foldSize    = 80
)

func (t *talk) last() fold {
	if len(t.folds) == 0 {
		return fold{}
	}
	return t.folds[len(t.folds)-1]
}

// size is about what the talk takes in bytes.
func (t *talk) size() int { return 2*len(t.text) + messageSize*(len(t.done)+1) + foldSize*len(t.folds) }

// probe is the last fold before which text has the same last bytes, if it has the
// same first ones too; -1 if there is none among those that are tried.
func (t *talk) probe(text []byte) int {
	if n := min(probed, len(t.text)); len(text) < n || !bytes.Equal(text[:n], t.text[:n]) {
		return -1
	}
	for k := len(t.folds) - 1; k >= max(0, len(t.folds)-maxProbes); k-- {
		end := t.folds[k].text
		if begin := max(0, end-probed); end <= len(text) && bytes.Equal(text[begin:end], t.text[begin:end]) {
			return k
		}
	}
	return -1
}

// until is the last fold within the first n bytes; -1 if there is none.
func (t *talk) until(n int) int {
	k, exact := slices.BinarySearchFunc(t.folds, n, func(f fold, n int) int { return f.text - n })
	if !exact {
		k--
	}
	return k
}

// cut drops what stands behind a fold.
func (t *talk) cut(k int) {
	f := t.folds[k]
	t.folds, t.text = t.folds[:k+1], t.text[:f.text]
	t.done, t.calls, t.left = t.done[:f.messages], t.calls[:f.calls], t.left[:f.left]
}

// fork returns a copy up to a fold.
func (t *talk) fork(k int) *talk {
	f := t.folds[k]
	return &talk{
		wire: t.wire, text: bytes.Clone(t.text[:f.text]), folds: slices.Clone(t.folds[:k+1]),
		done: slices.Clone(t.done[:f.messages]), calls: slices.Clone(t.calls[:f.calls]), left: slices.Clone(t.left[:f.left]),
	}
}

// stretch is how many bytes common compares at once.
const stretch = 1 << 10

// common is how many bytes a and b begin with that are the same.
func common(a, b []byte) int {
	n, i := min(len(a), len(b)), 0
	for i+stretch <= n && bytes.Equal(a[i:i+stretch], b[i:i+stretch]) {
		i += stretch
	}
	for ; i+word <= n; i += word {
		if x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); x != 0 {
			return i + bits.TrailingZeros64(x)/word
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// past is the part of a list that a session remembers.
type past struct {
	talk *talk
	text []byte // the list from after its bracket; the request's own
}
