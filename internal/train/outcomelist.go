package train

import (
	"bytes"
	"compress/flate"
	"encoding/gob"
	"fmt"

	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// outcomeList holds the first measured outcome of each item for one candidate. One that
// is not in use is kept compressed, about a twentieth of its size: a run of a hundred
// steps compares each of its candidates for a while, and returns to few of them.
// It is not safe for concurrent use.
type outcomeList struct {
	open   []trajectory.Outcome // nil: packed, or nothing is measured
	packed []byte
	shared bool // open was given to a caller: it does not change any more
}

// all returns what is known of each item. It is shared: no one changes it, and what is
// set later does not either.
func (l *outcomeList) all(items []string) []trajectory.Outcome {
	l.unpack(items)
	l.shared = true
	return l.open
}

// set takes in the outcome of an item.
func (l *outcomeList) set(items []string, item int, o trajectory.Outcome) {
	l.unpack(items)
	if l.shared {
		l.open, l.shared = append([]trajectory.Outcome(nil), l.open...), false
	}
	l.open[item] = o
}

// pack compresses the list. One that cannot be compressed stays as it is.
func (l *outcomeList) pack() {
	if l.open == nil {
		return
	}
	var b bytes.Buffer
	if encodeOutcomes(&b, l.open) == nil {
		*l = outcomeList{packed: bytes.Clone(b.Bytes())}
	}
}

func (l *outcomeList) unpack(items []string) {
	if l.open != nil {
		return
	}
	open := make([]trajectory.Outcome, len(items))
	if l.packed == nil {
		for i, id := range items {
			open[i] = unmeasuredOutcome(id)
		}
	} else if err := decodeOutcomes(l.packed, open); err != nil {
		// The bytes were made by pack and have not left the process.
		panic("train: reading outcomes that were kept compressed: " + err.Error())
	}
	*l = outcomeList{open: open}
}

func unmeasuredOutcome(id string) trajectory.Outcome {
	return trajectory.Outcome{ID: id, Status: score.Unmeasured}
}

// encodeOutcomes writes all fields of each outcome; of an empty list and one that is not
// there both are read back as the latter, as in JSON.
func encodeOutcomes(b *bytes.Buffer, of []trajectory.Outcome) error {
	z, err := flate.NewWriter(b, flate.BestSpeed)
	if err != nil {
		return fmt.Errorf("compressing outcomes: %w", err)
	}
	enc := gob.NewEncoder(z)
	for i := range of {
		if err := enc.Encode(&of[i]); err != nil {
			return fmt.Errorf("compressing the outcome of %s: %w", of[i].ID, err)
		}
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("compressing outcomes: %w", err)
	}
	return nil
}

func decodeOutcomes(packed []byte, into []trajectory.Outcome) error {
	dec := gob.NewDecoder(flate.NewReader(bytes.NewReader(packed)))
	for i := range into {
		if err := dec.Decode(&into[i]); err != nil {
			return fmt.Errorf("item %d of %d: %w", i, len(into), err)
		}
	}
	return nil
}
