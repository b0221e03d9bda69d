package journal

import "crypto/sha256"

// keyID represents a key in memory. Two keys with the same one do not exist.
type keyID [16]byte

func hashKey(key string) keyID {
	sum := sha256.Sum256([]byte(key))
	return keyID(sum[:])
}

// place is where a result is: the number of its row, and what is counted of it.
type place uint64

const (
	placeInherited place = 1 << 3 // next to the kind in the lower three bits
	placeBits            = 4
)

func newPlace(r *Record) place {
	p := place(r.Seq)<<placeBits | kindBits(r.Kind)
	if r.Code == CodeInherited {
		p |= placeInherited
	}
	return p
}

func (p place) seq() int64        { return int64(p >> placeBits) }
func (p place) isInherited() bool { return p&placeInherited != 0 }

// kindBits numbers the kinds of results.
func kindBits(k Kind) place {
	switch k {
	case Call:
		return 0
	case Episode:
		return 1
	case Decision:
		return 2
	case Unmeasured:
		return 3
	default: // Check
		return 4
	}
}

// isAnswer reports whether the result is an answer: decisions are none.
func (p place) isAnswer() bool {
	kind := p & (placeInherited - 1)
	return kind != kindBits(Decision) && kind != kindBits(Unmeasured)
}

// Counts are how many results there are.
type Counts struct {
	Results   int
	Answers   int // of them, those that are no decisions
	Inherited int // of them, those that another run paid for

	// Revised is how many results of this run others have taken the place of. It only
	// rises: what was added up of results is no longer true when it has.
	Revised int
}

func (c *Counts) add(p place, n int) {
	c.Results += n
	if p.isAnswer() {
		c.Answers += n
	}
	if p.isInherited() {
		c.Inherited += n
	}
}

// place makes a durable result known.
func (s *state) place(r *Record) {
	id, p := hashKey(r.Key), newPlace(r)
	if old, ok := s.index[id]; ok {
		s.counts.add(old, -1)
		if !old.isInherited() {
			s.counts.Revised++
		}
	}
	s.counts.add(p, 1)
	s.index[id] = p
	if r.Kind == Decision {
		kept := *r
		kept.Input, kept.Replace = Input{}, false
		s.decided[id] = kept
	} else {
		delete(s.decided, id)
	}
}

// Counts returns how many results there are.
func (j *Journal) Counts() Counts {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.counts
}

// Has reports whether there is a result under key. It reads nothing.
func (j *Journal) Has(key string) bool {
	_, ok := j.Row(key)
	return ok
}

// Decision returns the decision recorded under key. It reads nothing.
func (j *Journal) Decision(key string) (r Record, ok bool) {
	id := hashKey(key)
	j.mu.RLock()
	defer j.mu.RUnlock()
	r, ok = j.decided[id]
	return r, ok
}

// Row returns the number of the entry that is the result under key.
func (j *Journal) Row(key string) (seq int64, ok bool) {
	id := hashKey(key)
	j.mu.RLock()
	defer j.mu.RUnlock()
	p, ok := j.index[id]
	return p.seq(), ok
}

// stands reports whether an entry is the result under its key, and no other has taken
// its place.
func (j *Journal) stands(r *Record) bool {
	seq, ok := j.Row(r.Key)
	return ok && seq == r.Seq
}
