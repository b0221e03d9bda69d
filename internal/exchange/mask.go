package exchange

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/maphash"
	"strings"
	"sync"
)

// Bounds of a text that is kept, in bytes. What is longer keeps its beginning and its end.
const (
	maxText  = 256 << 10
	keptHead = 192 << 10
	keptTail = 32 << 10
	// margin is what is looked at beyond what is kept, so that no secret is cut: those of
	// redact are not longer.
	margin = 64 << 10
	// minBase64 is the length from which characters of base64 in a row are data and no text.
	minBase64 = 2048
)

// Mask makes texts into what is kept of them. Its methods may be called concurrently.
type Mask struct {
	redact func(string) string
	seed   maphash.Seed

	mu    sync.Mutex
	known map[rawKey]string // of texts that are in many episodes; emptied when it is full
}

// Bounds of what a Mask remembers.
const (
	minKnown = 1 << 10
	maxKnown = 64 << 10
	mostKept = 64
)

// NewMask returns a Mask. redact takes secrets out of a text; it may be called
// concurrently.
func NewMask(redact func(string) string) *Mask {
	return &Mask{redact: redact, seed: maphash.MakeSeed(), known: make(map[rawKey]string)}
}

// rawKey represents something as it was said. Its hash has a seed that no one knows.
type rawKey struct {
	sum  uint64
	size int
}

// text returns what is kept of a text.
func (m *Mask) text(s string) string {
	if len(s) < minKnown || len(s) > maxKnown {
		return m.maskText(s)
	}
	key := rawKey{maphash.String(m.seed, s), len(s)}
	m.mu.Lock()
	kept, ok := m.known[key]
	m.mu.Unlock()
	if ok {
		return kept
	}
	kept = m.maskText(s)
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.known) >= mostKept {
		clear(m.known)
	}
	m.known[key] = kept
	return kept
}

func (m *Mask) maskText(s string) string {
	s = withoutBase64(s)
	if len(s) <= maxText {
		return strings.ToValidUTF8(m.redact(s), "\uFFFD")
	}
	head, tail := m.redact(s[:keptHead+margin]), m.redact(s[len(s)-keptTail-margin:])
	// Where the text was cut, part of a secret may be left that is none by itself.
	head, tail = head[:max(0, len(head)-margin)], tail[min(len(tail), margin):]
	s = fmt.Sprintf("%s\n[%d of %d bytes left out, sha256 of all %s]\n%s", head, len(s)-len(head)-len(tail), len(s), sum(s), tail)
	return strings.ToValidUTF8(s, "\uFFFD")
}

// sum returns the SHA-256 of s in hexadecimal digits.
func sum(s string) string { return hashBytes([]byte(s)) }

func hashBytes(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// withoutBase64 replaces long data in base64 with its length and hash, whether it is in one line
// or in many of equal length.
func withoutBase64(s string) string {
	if len(s) < minBase64 {
		return s
	}
	var b strings.Builder
	from := 0 // of what is not written yet
	for i := 0; i < len(s); {
		n := base64Run(s[i:])
		if n >= minBase64 {
			b.WriteString(s[from:i])
			fmt.Fprintf(&b, "[%d bytes of base64 left out, sha256 %s]", n, sum(s[i:i+n]))
			from = i + n
		}
		i += max(n, 1)
	}
	if from == 0 {
		return s
	}
	b.WriteString(s[from:])
	return b.String()
}

// lineOfBase64 is the length from which a whole line of such characters continues in the next.
const lineOfBase64 = 60

// base64Run returns the length of the base64 that s begins with.
func base64Run(s string) int {
	line, end := 0, 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '=' || c == '-' || c == '_':
			line, end = line+1, i+1
		case (c == '\n' || c == '\r' && i+1 < len(s) && s[i+1] == '\n') && line >= lineOfBase64:
			if c == '\r' {
				i++
			}
			line = 0
		default:
			return end
		}
	}
	return end
}

// Bounds of the pieces that a text is kept in, in bytes.
const (
	shortText = 256 // below it a reference saves nothing
	minPiece  = 2 << 10
	maxPiece  = 32 << 10
)

// pieces cuts a text where lines of its own say so: texts that differ in one place are
// equal in the pieces before it and, from the next such line on, behind it.
func pieces(s string) []string {
	var out []string
	for len(s) > 2*minPiece {
		n := pieceLength(s)
		out, s = append(out, s[:n]), s[n:]
	}
	if s != "" {
		out = append(out, s)
	}
	return out
}

// pieceLength returns the length of the first piece of s.
func pieceLength(s string) int {
	const oneIn = 16 // lines end a piece
	bound := min(len(s), maxPiece)
	sum := uint32(2166136261)
	for i := range bound {
		sum = (sum ^ uint32(s[i])) * 16777619
		if s[i] != '\n' {
			continue
		}
		if i+1 >= minPiece && sum>>16%oneIn == 0 {
			return i + 1
		}
		sum = 2166136261
	}
	for bound < len(s) && bound > minPiece && s[bound]&0xC0 == 0x80 { // within a character
		bound--
	}
	return bound
}
