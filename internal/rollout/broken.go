package rollout

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/env"
)

// Prober is a Program that can be started without a task; *env.Env is one.
type Prober interface {
	// Probe starts the program and gives it settle to show that it waits for a task. A
	// program that does not is an *env.Error. What it does afterwards is parting.
	Probe(ctx context.Context, settle time.Duration) (parting string, err error)
}

const (
	// fewBroken is after how many different tasks in a row that a program broke off at it
	// is started without a task: one that ends then as well is broken, whatever the
	// tasks are.
	fewBroken = 3
	// manyBroken is the number of such tasks that say the same of a program which lives
	// until it has a task.
	manyBroken = 10
	// A probe takes twice as long as the program lived with its last task, and this.
	probeMargin, probeMost = 250 * time.Millisecond, 30 * time.Second
)

// broken knows at which tasks a program broke off (it ended, or said what is no answer)
// since it last answered one. Its methods may be called concurrently.
//
// A program that breaks off at some tasks and answers others must not end a run: those
// tasks are not measured. It breaks off at them again when they are tried again, with
// nothing between them; so a task says nothing more of the program once others were
// answered after it.
type broken struct {
	mu     sync.Mutex
	inside int // tasks under way, each of which may yet be answered
	row    map[string]struct{}
	odd    map[string]struct{} // tasks that it broke off at before it answered others
	found  error               // why it is no use to continue
}

// begin registers a task, unless the program is known to be broken.
func (b *broken) begin() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.found == nil {
		b.inside++
	}
	return b.found
}

// end notes how a task ended. suspect asks for a probe, many says that there are enough
// tasks without one.
func (b *broken) end(id string, err error) (suspect, many bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inside--
	var fault *env.Error
	switch {
	case err == nil:
		b.noteAnswer(id)
		return false, false
	case !errors.As(err, &fault) || !fault.Kind.IsProgramFault():
		return false, false // the time, or what the program depends on
	}
	if b.row == nil {
		b.row = map[string]struct{}{}
	}
	before := len(b.row)
	if _, known := b.odd[id]; !known {
		b.row[id] = struct{}{}
	}
	n := len(b.row)
	// Those under way may be the ones that it can do, and takes its time for.
	return n > before && n == fewBroken, n >= manyBroken && n >= 2*b.inside
}

func (b *broken) noteAnswer(id string) {
	if b.odd == nil {
		b.odd = map[string]struct{}{}
	}
	maps.Copy(b.odd, b.row)
	delete(b.odd, id)
	clear(b.row)
}

// tell keeps why it is no use to continue, for the tasks to come.
func (b *broken) tell(what string, err error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.found == nil {
		b.found = &caller.StoppedError{Endpoint: "the environment", Useless: what, Err: err}
	}
	return b.found
}

// supervise carries out a task and returns its error, or one that ends the run when the
// program turns out to be broken.
func (e *Env) supervise(ctx context.Context, id string, run func() error) error {
	if e.Program == nil {
		return run()
	}
	if err := e.broken.begin(); err != nil {
		return err
	}
	began := time.Now()
	err := run()
	suspect, many := e.broken.end(id, err)
	if many {
		return e.broken.tell(fmt.Sprintf("broke off at each of %d different tasks in a row", manyBroken), cause(err))
	}
	if suspect && e.endsAlone(ctx, time.Since(began)) {
		return e.broken.tell(fmt.Sprintf("fails whenever it is started: at %d tasks in a row, and without a task", fewBroken), cause(err))
	}
	return err
}

// endsAlone reports whether the program ends, or talks, before it has a task. It gets
// as long for it as it had with its last one.
func (e *Env) endsAlone(ctx context.Context, lived time.Duration) bool {
	p, ok := e.Program.(Prober)
	if !ok {
		return false
	}
	_, err := p.Probe(ctx, min(2*lived+probeMargin, probeMost))
	var fault *env.Error
	return errors.As(err, &fault) && fault.Kind.IsProgramFault()
}

// cause returns what a program did, without the mark of a task that was not measured: the run would
// continue without such a task.
func cause(err error) error {
	var fault *env.Error
	if errors.As(err, &fault) {
		return fault
	}
	return err
}
