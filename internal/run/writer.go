package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// How much may wait to be written before training waits.
const (
	maxWaiting      = 64       // files
	maxWaitingBytes = 16 << 20 // of their contents; a single file may be longer
)

// writer writes the projections of a run next to training, in order. A run would
// otherwise are still while files are written that no one waits for. Of a file that
// is passed in again before it was written only the newest content is kept.
type writer struct {
	dir  string
	done chan struct{}

	mu      sync.Mutex
	changed *sync.Cond // of all below
	queue   []file     // each name once
	bytes   int        // of the contents in queue
	writing bool
	closed  bool
	err     error // the first failure; nothing is written after it
}

// file is a file to be written.
type file struct {
	name   string
	data   pieces
	indent bool // data is JSON in one piece, to be laid out for eyes
	run    bool // it may be executed
	gone   bool // it is to be removed
}

func newWriter(dir string) *writer {
	w := &writer{dir: dir, done: make(chan struct{})}
	w.changed = sync.NewCond(&w.mu)
	go w.run()
	return w
}

func (w *writer) run() {
	defer close(w.done)
	for {
		f, ok := w.next()
		if !ok {
			return
		}
		w.wrote(w.write(f))
	}
}

// next waits for a file; ok is false when the writer is closed and has written all.
func (w *writer) next() (f file, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.queue) == 0 && !w.closed {
		w.changed.Wait()
	}
	if len(w.queue) == 0 {
		return file{}, false
	}
	f = w.queue[0]
	w.remove(0)
	w.writing = true
	w.changed.Broadcast()
	return f, true
}

func (w *writer) remove(i int) {
	w.bytes -= w.queue[i].data.size()
	w.queue = slices.Delete(w.queue, i, i+1)
}

func (w *writer) wrote(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writing = false
	w.fail(err)
	w.changed.Broadcast()
}

// fail keeps the first failure and drops what waits. The caller holds the mutex.
func (w *writer) fail(err error) {
	if err == nil || w.err != nil {
		return
	}
	w.err, w.queue, w.bytes = err, nil, 0
	w.changed.Broadcast()
}

// write writes a file.
func (w *writer) write(f file) error {
	data := f.data
	if f.indent {
		compact := data[0]
		var out bytes.Buffer
		out.Grow(indentedSize(compact) + 1) // else Indent makes it twice, and grows each in steps
		if err := json.Indent(&out, compact, "", "  "); err != nil {
			return fmt.Errorf("lay out %s: %w", f.name, err)
		}
		out.WriteByte('\n')
		data = pieces{out.Bytes()}
	}
	path := filepath.Join(w.dir, filepath.FromSlash(f.name))
	if f.gone {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove %s: %w", f.name, err)
		}
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make folder of %s: %w", f.name, err)
	}
	mode := os.FileMode(0o644)
	if f.run {
		mode = 0o755
	}
	return disk.ReplaceWith(path, data.to, mode)
}

// add passes in a file, whose data belongs to the writer from then on. The error is that
// of an earlier one.
func (w *writer) add(f file) error {
	if err := w.inside(f.name); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.drop(f.name); w.err == nil && !w.room(f.data.size()); w.drop(f.name) {
		w.changed.Wait()
	}
	if w.err != nil {
		return w.err
	}
	w.queue, w.bytes = append(w.queue, f), w.bytes+f.data.size()
	w.changed.Broadcast()
	return nil
}

// room reports whether a file of that many bytes may wait.
func (w *writer) room(size int) bool {
	return len(w.queue) == 0 || len(w.queue) < maxWaiting && w.bytes+size <= maxWaitingBytes
}

// drop forgets an older content of a file that waits.
func (w *writer) drop(name string) {
	if i := slices.IndexFunc(w.queue, func(f file) bool { return f.name == name }); i >= 0 {
		w.remove(i)
	}
}

func (w *writer) inside(name string) error {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return fmt.Errorf("write %q: outside of the run directory", name)
	}
	return nil
}

// refuse notes that a file could not be encoded: a run without it does not end well.
func (w *writer) refuse(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fail(err)
	return err
}

// settle returns once everything passed in is written, with the first failure.
func (w *writer) settle() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.queue) > 0 || w.writing {
		w.changed.Wait()
	}
	return w.err
}

// close writes what waits and ends the writer.
func (w *writer) close() error {
	err := w.settle()
	w.mu.Lock()
	w.closed = true
	w.changed.Broadcast()
	w.mu.Unlock()
	<-w.done
	return err
}

// indentedSize is how many bytes compact JSON has when it is indented by two spaces.
func indentedSize(data []byte) int {
	size, depth := len(data), 0
	text, open := false, false // within a string; after the beginning of an object or array
	for i := 0; i < len(data); i++ {
		c := data[i]
		if text {
			if c == '\\' {
				i++
			}
			text = c != '"'
			continue
		}
		closes := c == '}' || c == ']'
		if open && !closes {
			depth++
			size += 1 + 2*depth
		}
		if closes && !open {
			depth--
			size += 1 + 2*depth
		}
		open = c == '{' || c == '['
		switch c {
		case '"':
			text = true
		case ',':
			size += 1 + 2*depth
		case ':':
			size++
		}
	}
	return size
}
