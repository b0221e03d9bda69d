package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Kind says what an entry is.
type Kind string

// The kinds of results, which Lookup finds by their key.
const (
	Call       Kind = "call"       // one model call with its reply
	Episode    Kind = "episode"    // one whole episode, whose calls are Inner entries
	Decision   Kind = "decision"   // a decision by money or clock, or one that gave items up
	Unmeasured Kind = "unmeasured" // an item that a decision gave up
	Check      Kind = "check"      // what a check found that cannot be computed again
)

// The kinds of ledger entries, which are counted and never looked up.
const (
	Inner Kind = "inner" // a model call inside an episode
	Fault Kind = "fault" // an attempt that gave no result
)

// CodeInherited marks a result that another run paid for: it was copied from the run that
// this one was forked from, or taken from where its Origin says.
const CodeInherited = "inherited"

// Origin is where a result was taken from that another run paid for: the id of that run,
// and the number of the entry there. The zero value: it is not known, or this run paid.
type Origin struct {
	Run   string
	Entry int64
}

// Marks of an origin in the code of an entry, in the file. It is part of the code there, as
// the mark of an estimate is.
const (
	originMark = "@"
	entryMark  = "#"
)

// code returns the code of an entry with an origin, as the file has it.
func (o Origin) code(code string) string {
	if o == (Origin{}) {
		return code
	}
	return code + originMark + o.Run + entryMark + strconv.FormatInt(o.Entry, 10)
}

// cutOrigin returns the code and the origin that Origin.code has joined. What is not an origin stays part of the code.
func cutOrigin(stored string) (code string, o Origin) {
	code, rest, _ := strings.Cut(stored, originMark)
	at := strings.LastIndex(rest, entryMark)
	if at < 0 {
		return stored, Origin{}
	}
	entry, err := strconv.ParseInt(rest[at+len(entryMark):], 10, 64)
	if err != nil {
		return stored, Origin{}
	}
	return code, Origin{Run: rest[:at], Entry: entry}
}

// CodeCut marks an Inner call whose answer was cut at the output limit. Another code of one
// is the cause for which it was refused.
const CodeCut = "length"

// estimateMark ends the code of an entry whose usage is an estimate, in the file,
// where it is part of the code.
const estimateMark = "~"

// storedCode returns the code as the file has it.
func (r *Record) storedCode() string {
	code := r.Origin.code(r.Code)
	if r.Estimate {
		return code + estimateMark
	}
	return code
}

// ledger reports whether entries of this kind only count.
func (k Kind) ledger() bool { return k == Inner || k == Fault }

// InTry reports whether entries of this kind may be of one try of an episode, and say in
// Attempt which.
func (k Kind) InTry() bool { return k == Inner || k == Fault || k == Episode }

// isKnown reports whether k is one of the kinds above.
func (k Kind) isKnown() bool {
	switch k {
	case Call, Episode, Decision, Unmeasured, Check, Inner, Fault:
		return true
	}
	return false
}

// Record is one entry of the journal.
type Record struct {
	Seq     int64  // place in the order of commits, from 1; set by the journal
	Key     string // logical place in the run; unique among results
	Kind    Kind
	Attempt int    // of an episode, from 0: which try this is, or belongs to
	Ordinal int    // of an Inner call: its place in the episode, from 0
	Code    string // of a Fault: its class; CodeInherited for a copied result; CodeCut or a refusal of an Inner call
	Origin  Origin // of a result with CodeInherited, where that is known

	// Input is what the result depends on. Lookup and Range leave it empty, see
	// Journal.Input. Digest is Input.Digest(); Append computes it when it is zero.
	Input  Input
	Digest Digest

	Result []byte // the answer; no one may change it once it was appended

	// Replace lets this result take the place of an earlier one with its key.
	// Without it a second result for a key is refused.
	Replace bool

	// Exchange is what was said in a call inside an episode, of a ledger entry. Nothing
	// reads it back but View.ReadExchanges. Nil: it is not kept.
	Exchange *Exchange

	Spend
}

// Spend is what an entry cost, and on whose behalf.
type Spend struct {
	Stage string
	Role  string
	Model string
	Usage Usage
	Cost  *int64 // billionths of a US dollar, nil when no price is known
	// Estimate says that no one knows what was used: Usage and Cost are the most that
	// it can have been, and none where there is no bound. Of a Fault they always are.
	Estimate  bool
	StartedAt time.Time
	Took      time.Duration // kept in microseconds
}

// Usage counts tokens.
type Usage = trajectory.Usage

// addUsage adds v to u, or takes it away.
func addUsage(u *Usage, v Usage, sign int64) {
	u.Input += sign * v.Input
	u.Output += sign * v.Output
	u.Cached += sign * v.Cached
	u.Reasoning += sign * v.Reasoning
	u.CacheWrite += sign * v.CacheWrite
}

// Digest is a SHA-256 sum.
type Digest [sha256.Size]byte

// IsZero reports whether d was never computed.
func (d Digest) IsZero() bool { return d == Digest{} }

// String returns the first half of d in hexadecimal digits.
func (d Digest) String() string { return hex.EncodeToString(d[:len(d)/2]) }

// Blob is a part of an input that is likely to repeat: it is stored once,
// however many inputs hold it. Make one with NewBlob, which hashes the text,
// and keep it for as long as the text is used.
type Blob struct {
	hash Digest
	text string
}

// NewBlob returns the blob of text.
func NewBlob(text string) Blob {
	return Blob{hash: sha256.Sum256([]byte(text)), text: text}
}

// Text returns what the blob holds.
func (b Blob) Text() string { return b.text }

// Input is what a result depends on: parts shared with other inputs, in order,
// and the part of its own.
type Input struct {
	Shared []Blob
	Own    []byte
}

// Digest returns the digest of the input. Two inputs with equal digests are
// taken for equal.
func (in Input) Digest() Digest {
	h := sha256.New()
	for _, b := range in.Shared {
		h.Write([]byte{1})
		h.Write(b.hash[:])
	}
	h.Write([]byte{0})
	h.Write(in.Own)
	var d Digest
	h.Sum(d[:0])
	return d
}

func (in Input) empty() bool { return len(in.Shared) == 0 && len(in.Own) == 0 }
