// Package stream follows runs for those who look at them: one follower for each run that is
// looked at, however many look, and what it has read as frames of server-sent events.
//
// It knows numbered lines and documents of progress. It knows nothing of what an event means,
// of other runs, or of who may look.
package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/eventlog"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/run"
)

// Line is an event of a run as its log has it.
type Line = eventlog.Line

// Log reads the events of a run while others write them. It may be used concurrently.
type Log interface {
	// After returns up to most events with numbers above n, in order. There are none
	// of a run without a log.
	After(ctx context.Context, n int64, most int) ([]Line, error)
	// Last is the highest number.
	Last(ctx context.Context) (int64, error)
}

// Looker looks at a run again and again. One goroutine uses it at a time.
type Looker interface {
	Look(ctx context.Context) (record.Progress, error)
}

// How often a run is read.
const (
	readEvery = 100 * time.Millisecond // its events; frames are no more frequent either
	lookEvery = time.Second            // how far it is
)

// Hub holds the followers of runs. It may be used concurrently.
type Hub struct {
	open   func(dir string) (Log, Looker)
	encode func(any) ([]byte, error) // of progress

	mu    sync.Mutex
	at    map[string]*follower // by directory
	work  sync.WaitGroup
	ended bool
}

// NewHub returns a hub. open opens a run's log, and a looker; nothing is read yet. encode makes
// a document of progress that may be shown.
func NewHub(open func(dir string) (Log, Looker), encode func(any) ([]byte, error)) *Hub {
	return &Hub{open: open, encode: encode, at: map[string]*follower{}}
}

// ErrClosed says that the hub follows nothing any more.
var ErrClosed = errors.New("the server is ending")

// join returns the follower of a run, which leave must be called for.
func (h *Hub) join(dir string) (*follower, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return nil, ErrClosed
	}
	f := h.at[dir]
	if f == nil {
		ctx, cancel := context.WithCancel(context.Background())
		f = &follower{cancel: cancel, changed: make(chan struct{})}
		f.log, f.looker = h.open(dir)
		h.at[dir] = f
		h.work.Go(func() { f.runSafely(ctx, h.encode) })
	}
	f.watchers++
	return f, nil
}

// leave ends a follower that no one looks at any more.
func (h *Hub) leave(dir string, f *follower) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f.watchers--; f.watchers > 0 {
		return
	}
	f.cancel()
	if h.at[dir] == f {
		delete(h.at, dir)
	}
}

// CountRuns returns how many runs are followed.
func (h *Hub) CountRuns() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.at)
}

// Close ends all followers and waits for them.
func (h *Hub) Close() {
	h.mu.Lock()
	h.ended = true
	for _, f := range h.at {
		f.cancel()
	}
	h.mu.Unlock()
	h.work.Wait()
}

// state is the condition of a run that is followed.
type state int

const (
	live state = iota
	ended
	gone
	closed // the server is ending
)

// Bounds of the lines that a follower keeps. Who is further behind reads the log.
const (
	keptLines = 8192
	keptBytes = 8 << 20
	readLines = 1000 // at once
)

// follower reads a run for all who look at it.
type follower struct {
	cancel   context.CancelFunc
	watchers int // under the lock of the hub
	log      Log
	looker   Looker

	mu       sync.Mutex
	changed  chan struct{} // closed by the next change
	begun    bool          // first and last are known
	lines    []Line
	bytes    int
	last     int64 // number of the last line that was read
	progress []byte
	version  int // of progress
	problem  string
	state    state
}

// seen is what a follower has read so far. Its lines are not changed any more.
type seen struct {
	begun    bool
	lines    []Line
	last     int64
	progress []byte
	version  int
	problem  string
	state    state
	changed  <-chan struct{}
}

func (f *follower) snapshot() seen {
	f.mu.Lock()
	defer f.mu.Unlock()
	return seen{f.begun, f.lines, f.last, f.progress, f.version, f.problem, f.state, f.changed}
}

// change changes what has been read, and notifies those who wait.
func (f *follower) change(how func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	how()
	close(f.changed)
	f.changed = make(chan struct{})
}

// runSafely reads a run. A panic, which an unexpected file may cause, becomes a problem of who
// looks: the program may be training at the same time.
func (f *follower) runSafely(ctx context.Context, encode func(any) ([]byte, error)) {
	defer func() {
		if what := recover(); what != nil {
			f.change(func() { f.problem, f.state = fmt.Sprintf("reading the run failed: %v", what), closed })
		}
	}()
	f.run(ctx, encode)
}

// run reads until the run has ended or is gone, or no one looks.
func (f *follower) run(ctx context.Context, encode func(any) ([]byte, error)) {
	tick := time.NewTicker(readEvery)
	defer tick.Stop()
	l := looks{f: f, encode: encode}
	for look := time.Duration(0); ; look -= readEvery {
		now := live
		if look <= 0 {
			look = lookEvery
			if now = l.look(ctx); l.unread {
				look = 0
			}
		}
		if err := f.read(ctx); err != nil && ctx.Err() == nil {
			f.tell(err.Error())
		}
		if ctx.Err() != nil {
			now = closed
		}
		if now != live {
			f.change(func() { f.state = now })
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// tell notes a problem, once.
func (f *follower) tell(problem string) {
	if f.snapshot().problem != problem {
		f.change(func() { f.problem = problem })
	}
}

// read reads the events that have come.
func (f *follower) read(ctx context.Context) error {
	if !f.begun { // by this goroutine alone
		last, err := f.log.Last(ctx)
		if err != nil {
			return err
		}
		f.change(func() { f.begun, f.last = true, last })
	}
	for {
		list, err := f.log.After(ctx, f.last, readLines)
		if len(list) > 0 {
			f.change(func() { f.keep(list) })
		}
		if err != nil || len(list) < readLines {
			return err
		}
	}
}

// keep adds lines, and lets go of the oldest. Slices that were given out stay as they are.
func (f *follower) keep(list []Line) {
	for i := range list {
		list[i].JSON = sound(list[i])
		f.bytes += len(list[i].JSON)
	}
	f.last = list[len(list)-1].N
	f.lines = append(f.lines, list...)
	for len(f.lines) > keptLines || f.bytes > keptBytes && len(f.lines) > 1 {
		f.bytes -= len(f.lines[0].JSON)
		f.lines = f.lines[1:]
	}
}

// sound returns the JSON of a line, or of its number alone if it is damaged.
func sound(l Line) []byte {
	if json.Valid(l.JSON) {
		return l.JSON
	}
	text, _ := json.Marshal(map[string]any{"n": l.N, "event": "damaged"}) // of a number and a text
	return text
}

// looks are the looks of one follower.
type looks struct {
	f      *follower
	encode func(any) ([]byte, error)
	failed int
	unread bool   // the record is read in parts
	last   string // what was shown last, but for the time
}

// mostFailed is how many looks may fail one after the other: files change while they are read.
const mostFailed = 3

// look looks once, and returns the state of the run. A run that was killed may continue.
func (l *looks) look(ctx context.Context) state {
	p, err := l.f.looker.Look(ctx)
	if err != nil {
		var none *run.MissingError
		if l.failed++; errors.As(err, &none) && l.failed >= mostFailed {
			return gone
		}
		if l.failed >= mostFailed && ctx.Err() == nil {
			l.f.tell(err.Error())
		}
		return live
	}
	l.failed, l.unread = 0, p.Unread > 0
	if l.unread {
		return live
	}
	l.show(p)
	if p.Ended() && !p.Killed {
		return ended
	}
	return live
}

// show makes a document of progress if it has changed.
func (l *looks) show(p record.Progress) {
	still := p
	still.At, still.SilentS = time.Time{}, nil
	text, err := l.encode(still)
	if err == nil && string(text) == l.last {
		return
	}
	l.last = string(text)
	if text, err = l.encode(p); err != nil {
		l.f.tell(err.Error())
		return
	}
	l.f.change(func() { l.f.progress, l.f.problem = text, ""; l.f.version++ })
}
