package header

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"
)

// errIdle is why a stream was given up.
var errIdle = errors.New("the stream fell silent")

// Watch gives up a stream whose server falls silent. It belongs to one call.
type Watch struct {
	limit  time.Duration
	cancel context.CancelCauseFunc
	cause  func() error
	timer  *time.Timer
}

// NewWatch returns a watch and the context to make the call with; limit is how
// long the body may bring nothing. Stop must be called.
func NewWatch(ctx context.Context, limit time.Duration) (context.Context, *Watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, &Watch{limit: limit, cancel: cancel, cause: func() error { return context.Cause(ctx) }}
}

// Body begins to watch: every byte read from the body it returns counts as life.
func (w *Watch) Body(body io.ReadCloser) io.ReadCloser {
	w.timer = time.AfterFunc(w.limit, func() { w.cancel(errIdle) })
	return &timedBody{ReadCloser: body, timer: w.timer, limit: w.limit}
}

// Idle returns an error that reports the silence, or nil if that is not what
// ended the call.
func (w *Watch) Idle() error {
	if errors.Is(w.cause(), errIdle) {
		return fmt.Errorf("%w for %s", errIdle, w.limit)
	}
	return nil
}

// Stop releases the watch and ends what is left of the call.
func (w *Watch) Stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
	w.cancel(nil)
}

type timedBody struct {
	io.ReadCloser

	timer *time.Timer
	limit time.Duration
}

func (w *timedBody) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if n > 0 {
		w.timer.Reset(w.limit)
	}
	return n, err
}

// Sniff distinguishes a stream of events from any other document: servers exist that
// answer a request for the one with the other. Whatever it looked at is still in
// the reader that it returns. An empty body counts as a stream: one cut early.
func Sniff(body io.Reader) (r io.Reader, events bool) {
	b := bufio.NewReader(body)
	for n := 1; ; n++ {
		head, err := b.Peek(n)
		if head = bytes.TrimLeft(head, " \t\r\n"); len(head) > 0 {
			return b, strings.ContainsRune(":deir", rune(head[0]))
		}
		if err != nil {
			return b, true
		}
	}
}

// Event is one server-sent event. Type is "" where the server names none.
type Event struct {
	Type string
	Data []byte
}

// Events reads server-sent events and gives those that have data. An event that its
// empty line does not end is io.ErrUnexpectedEOF. The error of the reader comes as it
// is, after the events before it.
func Events(r io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		var e Event
		open := false // an event is begun
		b := bufio.NewReader(r)
		for {
			line, err := b.ReadBytes('\n')
			if err != nil {
				if errors.Is(err, io.EOF) {
					err = nil
					if open || len(line) > 0 {
						err = io.ErrUnexpectedEOF
					}
				}
				if err != nil {
					yield(Event{}, err)
				}
				return
			}
			line = bytes.TrimRight(line, "\r\n")
			if len(line) == 0 {
				if len(e.Data) > 0 && !yield(e, nil) {
					return
				}
				e, open = Event{}, false
				continue
			}
			open = open || line[0] != ':'
			e.add(line)
		}
	}
}

// add takes a line of the event.
func (e *Event) add(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		e.Type = string(value)
	case "data":
		if len(e.Data) > 0 {
			e.Data = append(e.Data, '\n')
		}
		e.Data = append(e.Data, value...)
	}
}
