package eventlog

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/seed-f4525e22/skillopt/event"
)

// Writer appends events to the log of a run. Its methods may be called concurrently. Only
// the process that holds the lock of the run may have one.
type Writer struct {
	opts Options
	wake chan struct{} // something is to be done
	done chan struct{} // closed when the owner of the files has ended

	mu      sync.Mutex
	next    int64 // number of the next event
	waiting []byte
	first   int64             // number of the first event in waiting
	scratch []byte            // for one line
	before  map[uint64]uint32 // what earlier sessions logged and this one has not sent again
	seen    *seen             // outcomes in the log and in waiting
	held    map[string]held   // the newest of the fleeting events that came too soon
	sent    map[string]time.Time
	hurry   bool
	closed  bool
	failed  error
}

// held is a fleeting event that waits until the next one of its kind is due.
type held struct {
	event event.Event
	at    time.Time
	due   time.Time // by the times of events
}

// Open opens the log of the run in dir for writing, and makes it if there is none. What a
// killed process left of its last line is cut off; numbers continue after the last whole
// one. It returns a *VersionError for a log of another format.
func Open(dir string, o Options) (*Writer, error) {
	o = o.orDefault()
	l, err := openLog(dir, o)
	if err != nil {
		return nil, fmt.Errorf("open the event log: %w", err)
	}
	w := &Writer{
		opts: o, wake: make(chan struct{}, 1), done: make(chan struct{}),
		next: l.next, first: l.next, seen: l.live, before: l.live.count, held: map[string]held{}, sent: map[string]time.Time{},
	}
	l.live = nil // the writer's from here on
	go w.run(l)
	return w, nil
}

// Add appends an event that happened at a time. It never waits for the disk. What cannot
// be written is reported to Options.Failed, and nothing is written from then on.
func (w *Writer) Add(e event.Event, at time.Time) {
	if o, ok := e.(event.OutcomeDone); ok {
		w.addOutcome(&o, at)
		return
	}
	if isFleeting(e.Kind()) {
		w.thin(e, at)
		return
	}
	wire, e := marshalEvent(toLogEvent(e), at)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.failed != nil {
		return
	}
	kind := e.Kind()
	switch {
	case w.isRepeat(kind, wire):
		return
	case kind == kindStage:
		delete(w.held, "progress") // of a stage that is over
	case kind == kindRunDone:
		w.release(at, true)
	}
	w.put(wire)
	w.hurry = w.hurry || urgent(kind)
	w.signal()
}

// addOutcome appends an outcome, unless the log has it.
func (w *Writer) addOutcome(o *event.OutcomeDone, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.failed != nil || w.seen.hasOutcome(outcome{Row: o.Row, Key: o.Key, Status: o.Status}) {
		return
	}
	wire, err := appendOutcome(w.scratch[:0], o, at)
	if w.scratch = wire; err != nil || len(wire) > maxLine-64 {
		wire, _ = tooLong(o, len(wire), err, at)
	}
	w.seen.addOutcome(outcome{Row: o.Row, Key: o.Key, Status: o.Status})
	w.put(wire)
	w.signal()
}

// marshalEvent returns the wire form of an event, or of a warning that it is no line of the log.
func marshalEvent(e event.Event, at time.Time) ([]byte, event.Event) {
	wire, err := event.Marshal(e, at)
	if err != nil || len(wire) > maxLine-64 {
		return tooLong(e, len(wire), err, at)
	}
	return wire, e
}

// tooLong returns the warning that replaces an event which is no line of the log.
func tooLong(e event.Event, size int, err error, at time.Time) ([]byte, event.Event) {
	text := fmt.Sprintf("an event %q of %d bytes is too long for the event log", e.Kind(), size)
	if err != nil {
		text = fmt.Sprintf("an event %q cannot be written: %v", e.Kind(), err)
	}
	instead := event.Warning{Text: text}
	wire, _ := event.Marshal(instead, at) // a text
	return wire, instead
}

// isRepeat reports whether an earlier session has logged the event, and this one has not sent
// it again yet.
func (w *Writer) isRepeat(kind string, wire []byte) bool {
	if len(w.before) == 0 || ofSession(kind) {
		return false
	}
	_, says, ok := content(wire[1:])
	if !ok {
		return false
	}
	s := sum(kind, says)
	n := w.before[s]
	if n > 0 {
		w.before[s] = n - 1
	}
	return n > 0
}

// thin logs a fleeting event if the last of its kind is long enough ago, and else holds
// it instead of an older one.
func (w *Writer) thin(e event.Event, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.failed != nil {
		return
	}
	kind := e.Kind()
	last, any := w.sent[kind]
	if since := at.Sub(last); any && since >= 0 && since < w.opts.Thin {
		w.held[kind] = held{event: e, at: at, due: last.Add(w.opts.Thin)}
		w.signal()
		return
	}
	w.send(kind, held{event: e, at: at}, at)
	w.signal()
}

// send logs a fleeting event. The caller holds the mutex.
func (w *Writer) send(kind string, h held, now time.Time) {
	delete(w.held, kind)
	w.sent[kind] = now
	wire, _ := marshalEvent(h.event, h.at)
	w.put(wire)
}

// release logs the held events that are due by a time, or all. The caller holds the mutex.
func (w *Writer) release(at time.Time, all bool) {
	for _, kind := range []string{"progress", "in_flight"} {
		if h, ok := w.held[kind]; ok && (all || !at.Before(h.due)) {
			w.send(kind, h, at)
		}
	}
}

// put gives a line its number. The caller holds the mutex.
func (w *Writer) put(wire []byte) {
	w.waiting = appendLine(w.waiting, w.next, wire)
	w.next++
	if len(w.waiting) > maxWaiting {
		w.failed = fmt.Errorf("%d MB of events wait for the disk", maxWaiting>>20)
		w.waiting = nil
	}
}

// signal wakes the owner of the files.
func (w *Writer) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Close writes what waits and closes the log. It may be called again. What went wrong has
// been reported to Options.Failed.
func (w *Writer) Close() {
	w.mu.Lock()
	if !w.closed {
		w.release(time.Time{}, true)
		w.closed = true
	}
	w.mu.Unlock()
	w.signal()
	<-w.done
}

// run owns the files.
func (w *Writer) run(l *log) {
	defer close(w.done)
	w.write(l)
	if err := l.close(); err != nil {
		w.fail(err)
	}
	w.mu.Lock()
	err := w.failed
	w.mu.Unlock()
	if err != nil && w.opts.Failed != nil {
		w.opts.Failed(err)
	}
}

// write writes what comes until the writer is closed or has failed.
func (w *Writer) write(l *log) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		data, first, state := w.take()
		if len(data) > 0 {
			if err := l.append(data, first); err != nil {
				w.fail(err)
				return
			}
		}
		switch state {
		case ended:
			return
		case idle:
			<-w.wake
		case holding:
			pause.Reset(w.opts.Thin)
			select {
			case <-w.wake:
			case <-pause.C:
				w.dueNow()
			}
		}
		w.rest(pause)
	}
}

// rest waits until the next write, unless somebody is in a hurry.
func (w *Writer) rest(pause *time.Timer) {
	pause.Reset(w.opts.Every)
	for !w.needsHurry() {
		select {
		case <-pause.C:
			return
		case <-w.wake:
		}
	}
}

func (w *Writer) needsHurry() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.hurry || w.closed || w.failed != nil || len(w.waiting) > 1<<20
}

// dueNow releases what is held: its time has passed.
func (w *Writer) dueNow() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range w.held {
		w.release(h.due, false)
	}
}

// state says what the owner of the files does next.
type state int

const (
	idle    state = iota // wait for an event
	holding              // wait for one, or until what is held is due
	ended                // all is written
)

// take takes what waits.
func (w *Writer) take() (data []byte, first int64, next state) {
	w.mu.Lock()
	defer w.mu.Unlock()
	data, first = w.waiting, w.first
	w.waiting, w.first, w.hurry = nil, w.next, false
	switch {
	case w.closed || w.failed != nil:
		next = ended
	case len(w.held) > 0:
		next = holding
	}
	return data, first, next
}

// fail notes why nothing is written any more.
func (w *Writer) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed == nil {
		w.failed, w.waiting = err, nil
	}
}

// learnAll returns a function that learns what the log's owner learns from a segment.
func learnAll(s *seen) func(fields, line []byte) error {
	return func(fields, line []byte) error {
		var bad *json.UnmarshalTypeError
		var none *json.SyntaxError
		if err := s.learn(fields, line); err != nil && !errors.As(err, &bad) && !errors.As(err, &none) {
			return err
		}
		return nil // a line that is damaged or of another program's making is one to show, and no more
	}
}
