package run

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/seed-f4525e22/skillopt/internal/atomicfile"
)

// queueLength is how many files may wait to be written before training waits.
const queueLength = 64

// writer writes the projections of a run beside training, in order. A run would
// otherwise stand still while it lays out files that nobody waits for.
type writer struct {
	dir  string
	jobs chan job
	done chan struct{}

	mu  sync.Mutex
	err error // the first failure; nothing is written after it
}

// job is a file to be written, or a point to be reached when reached is set.
type job struct {
	name    string
	content func() ([]byte, error)
	reached chan struct{}
}

func newWriter(dir string) *writer {
	w := &writer{dir: dir, jobs: make(chan job, queueLength), done: make(chan struct{})}
	go w.run()
	return w
}

func (w *writer) run() {
	defer close(w.done)
	for j := range w.jobs {
		if j.reached != nil {
			close(j.reached)
			continue
		}
		if w.failure() == nil {
			w.fail(w.write(j))
		}
	}
}

func (w *writer) write(j job) error {
	data, err := j.content()
	if err != nil {
		return err
	}
	path := filepath.Join(w.dir, filepath.FromSlash(j.name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make folder of %s: %w", j.name, err)
	}
	return atomicfile.Replace(path, data, 0o644)
}

func (w *writer) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
}

func (w *writer) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// add hands in a file. The error is that of an earlier one.
func (w *writer) add(name string, content func() ([]byte, error)) error {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return fmt.Errorf("write %q: outside of the run directory", name)
	}
	if err := w.failure(); err != nil {
		return err
	}
	w.jobs <- job{name: name, content: content}
	return nil
}

// settle returns once everything handed in is written, with the first failure.
func (w *writer) settle() error {
	reached := make(chan struct{})
	w.jobs <- job{reached: reached}
	<-reached
	return w.failure()
}

// close ends the writer.
func (w *writer) close() error {
	err := w.settle()
	close(w.jobs)
	<-w.done
	return errors.Join(err)
}
