package env

import (
	"fmt"
	"strings"
	"sync"

	"github.com/seed-f4525e22/skillopt/internal/redact"
)

// tailSize is how much of the standard error is shown, in bytes, and tailKept how
// much is kept for it: secrets are taken out before the rest is cut off.
const (
	tailSize = 4 << 10
	tailKept = 64 << 10
)

// tail is a writer that keeps the end of what it gets.
type tail struct {
	hide *redact.Exact

	mu   sync.Mutex
	kept []byte
	cut  bool
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	if n > tailKept {
		p, t.cut = p[n-tailKept:], true
	}
	if over := len(t.kept) + len(p) - tailKept; over > 0 {
		t.kept, t.cut = append(t.kept[:0], t.kept[over:]...), true
	}
	t.kept = append(t.kept, p...)
	return n, nil
}

// text returns the end of what was written, without secrets.
func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	cut := t.cut || len(t.kept) > tailSize
	text := strings.TrimSpace(strings.ToValidUTF8(t.hide.Tail(string(t.kept), t.cut, tailSize), "\ufffd"))
	if cut {
		text = "..." + text
	}
	return text
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
