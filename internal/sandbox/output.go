package sandbox

import (
	"io"
	"strings"
	"sync"
)

// maxStderr is how much of standard error is kept, in bytes.
const maxStderr = 64 << 10

// meter counts what a program writes and says when it is too much. It is safe
// for concurrent use.
type meter struct {
	limit int64
	stop  chan struct{} // closed when the program is to be ended

	mu   sync.Mutex
	n    int64
	over bool
	err  error // of the first writer that failed
}

func newMeter(limit int64) *meter {
	if limit <= 0 {
		limit = defaultOutput
	}
	return &meter{limit: limit, stop: make(chan struct{})}
}

// copy passes on what comes from r until it ends, is closed, or is too much.
func (m *meter) copy(w io.Writer, r io.Reader) {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		n, more := m.take(n)
		if n > 0 {
			if _, err := w.Write(buf[:n]); err != nil {
				m.fail(err)
				return
			}
		}
		if err != nil || !more {
			return // an error is that of a pipe that we closed
		}
	}
}

// take counts n bytes and returns how many of them are within the limit.
func (m *meter) take(n int) (within int, more bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if left := m.limit - m.n; int64(n) > left {
		n, m.over = int(left), true
		m.halt()
	}
	m.n += int64(n)
	return n, !m.over
}

func (m *meter) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err == nil {
		m.err = err
	}
	m.halt()
}

// halt asks for the end of the program. The caller holds the lock.
func (m *meter) halt() {
	select {
	case <-m.stop:
	default:
		close(m.stop)
	}
}

func (m *meter) total() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.n
}

func (m *meter) isOver() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.over
}

func (m *meter) failure() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err
}

// tail keeps the end of what is written to it.
type tail struct {
	buf []byte
	cut bool
}

// Write never fails.
func (t *tail) Write(b []byte) (int, error) {
	t.buf = append(t.buf, b...)
	if over := len(t.buf) - maxStderr; over > 0 {
		t.buf, t.cut = append(t.buf[:0], t.buf[over:]...), true
	}
	return len(b), nil
}

// String returns what was kept, as valid UTF-8.
func (t *tail) String() string { return strings.ToValidUTF8(string(t.buf), "\uFFFD") }
