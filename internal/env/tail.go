package env

import (
	"fmt"
	"strings"
	"sync"
)

// tailSize is how much of the standard error is kept, in bytes.
const tailSize = 4 << 10

// tail is a writer that keeps the end of what it gets.
type tail struct {
	mu   sync.Mutex
	kept []byte
	cut  bool
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	if n > tailSize {
		p, t.cut = p[n-tailSize:], true
	}
	if over := len(t.kept) + len(p) - tailSize; over > 0 {
		t.kept, t.cut = append(t.kept[:0], t.kept[over:]...), true
	}
	t.kept = append(t.kept, p...)
	return n, nil
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := strings.TrimSpace(strings.ToValidUTF8(string(t.kept), "\ufffd"))
	if t.cut {
		s = "..." + s
	}
	return s
}

// excerpt quotes the beginning of a line for a message.
func excerpt(text []byte) string {
	const limit = 200
	s := strings.TrimSpace(string(text))
	if len(s) > limit {
		s = s[:limit] + "..."
	}
	return fmt.Sprintf("%q", s)
}
