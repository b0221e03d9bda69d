package stream

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/wording"
)

const (
	heartbeat  = 15 * time.Second // of a stream on which nothing happens
	patience   = 10 * time.Second // with who does not take a frame
	frameBytes = 256 << 10        // from which a frame takes no further line
)

// Serve answers with the events of the run in dir that come after a number, and with how far
// it is, until the run has ended or is gone, the client leaves or is too slow, or the hub is
// closed. A negative number counts from the end: -100 begins with the last 100 events there
// are. A client that is dropped continues from the last number that it has.
func (h *Hub) Serve(w http.ResponseWriter, r *http.Request, dir string, after int64) error {
	f, err := h.join(dir)
	if err != nil {
		return err
	}
	defer h.leave(dir, f)
	head := w.Header()
	head.Set("Content-Type", "text/event-stream")
	head.Set("Cache-Control", "no-store")
	head.Set("X-Accel-Buffering", "no")
	out := &client{w: w, control: http.NewResponseController(w), f: f, n: after}
	_ = out.control.SetReadDeadline(time.Time{}) // nothing more is read but that the client has gone
	out.write("retry: 1000\n\n")
	out.serve(r.Context())
	return nil
}

// client is one who looks at a run.
type client struct {
	w       http.ResponseWriter
	control *http.ResponseController
	f       *follower
	n       int64 // number of the last event that it has
	version int   // of the progress that it has
	problem string
	err     error // it has gone, or is too slow
}

// serve sends frames, no more than one in readEvery.
func (c *client) serve(ctx context.Context) {
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for c.err == nil && ctx.Err() == nil {
		now := c.f.snapshot()
		if c.frame(ctx, now) {
			if !pause(ctx, readEvery) {
				return
			}
			continue // with more, perhaps
		}
		switch now.state {
		case ended:
			c.write("event: ended\ndata: {}\n\n")
			return
		case gone:
			c.write("event: gone\ndata: {}\n\n")
			return
		case closed:
			return
		}
		select {
		case <-now.changed:
		case <-beat.C:
			c.write(": \n\n")
		case <-ctx.Done():
		}
	}
}

// pause waits, unless the context ends before.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// frame sends what has come, and reports whether anything had.
func (c *client) frame(ctx context.Context, now seen) bool {
	var b bytes.Buffer
	if now.version != c.version {
		c.version = now.version
		fmt.Fprintf(&b, "event: progress\ndata: %s\n\n", now.progress)
	}
	if now.problem != c.problem {
		if c.problem = now.problem; c.problem != "" {
			text, _ := json.Marshal(map[string]string{"message": wording.Escape(c.problem)}) // of texts
			fmt.Fprintf(&b, "event: problem\ndata: %s\n\n", text)
		}
	}
	if now.begun {
		c.events(&b, c.due(ctx, now))
	}
	if b.Len() == 0 {
		return false
	}
	c.write(b.String())
	return true
}

// due returns the next events that the client has not got: those that the follower keeps, or those
// of the log if the client is further back.
func (c *client) due(ctx context.Context, now seen) []Line {
	if c.n < 0 {
		c.n = max(0, now.last+c.n)
	}
	if c.n >= now.last {
		return nil
	}
	if len(now.lines) > 0 && c.n >= now.lines[0].N-1 {
		at := len(now.lines) - int(now.last-c.n) // numbers have no gap
		if at < 0 || now.lines[at].N != c.n+1 {
			at = 0
			for now.lines[at].N <= c.n {
				at++
			}
		}
		return now.lines[at:]
	}
	list, err := c.f.log.After(ctx, c.n, readLines)
	if err != nil {
		c.err = err
		return nil
	}
	for i := range list {
		list[i].JSON = sound(list[i])
	}
	if len(list) == 0 { // they are gone: what is there is that what comes now
		c.n = now.last
	}
	return list
}

// events writes a frame of events, as many as it takes.
func (c *client) events(b *bytes.Buffer, list []Line) {
	if len(list) == 0 {
		return
	}
	b.WriteString("event: events\ndata: [")
	from := b.Len()
	for i, l := range list[:min(len(list), readLines)] {
		if b.Len()-from > frameBytes {
			break
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(wording.Escape(string(bytes.ToValidUTF8(l.JSON, []byte("\ufffd")))))
		c.n = l.N
	}
	b.WriteString("]\nid: " + strconv.FormatInt(c.n, 10) + "\n\n")
}

// write sends text at once. Who does not take it in time has gone.
func (c *client) write(text string) {
	if c.err != nil {
		return
	}
	_ = c.control.SetWriteDeadline(time.Now().Add(patience)) // a writer without deadlines has none to set
	if _, c.err = c.w.Write([]byte(text)); c.err == nil {
		c.err = c.control.Flush()
	}
}
