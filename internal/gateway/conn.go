package gateway

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"
)

// watched listens for connections whose deadlines a watch keeps.
type watched struct {
	*net.TCPListener
	watch *watch
}

// Accept waits for a connection.
func (l watched) Accept() (net.Conn, error) {
	c, err := l.AcceptTCP()
	if err != nil {
		return nil, err
	}
	return newConn(c, l.watch), nil
}

// conn is a connection with deadlines of a watch. What waits beyond one fails as
// it does with a deadline of the connection itself.
type conn struct {
	*net.TCPConn
	watch       *watch
	read, write deadline

	mu        sync.Mutex
	gathering bool
	gathered  []byte
}

// deadline is one of a connection's two.
type deadline struct {
	alarm
	set  func(time.Time) error // of the connection itself
	over bool                  // that one has passed
}

func newConn(c *net.TCPConn, w *watch) *conn {
	d := &conn{TCPConn: c, watch: w}
	d.read.init(c.SetReadDeadline)
	d.write.init(c.SetWriteDeadline)
	w.add(&d.read.alarm, &d.write.alarm)
	return d
}

func (d *deadline) init(set func(time.Time) error) {
	d.set = set
	d.ring = func() { _ = d.pass() } // a connection that is closed has none
}

// passed is a time that is over on every clock.
var passed = time.Unix(1, 0)

func (d *deadline) pass() error {
	d.over = true
	return d.set(passed)
}

// until moves the deadline.
func (d *deadline) until(t time.Time) error {
	d.due = time.Time{}
	if !t.IsZero() && !t.After(time.Now()) {
		return d.pass() // net/http wakes its readers so
	}
	d.due = t
	if !d.over {
		return nil
	}
	d.over = false
	return d.set(time.Time{})
}

// SetReadDeadline sets it on the watch.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.watch.mu.Lock()
	defer c.watch.mu.Unlock()
	return c.read.until(t)
}

// SetWriteDeadline sets it on the watch.
func (c *conn) SetWriteDeadline(t time.Time) error {
	c.watch.mu.Lock()
	defer c.watch.mu.Unlock()
	return c.write.until(t)
}

// SetDeadline sets both.
func (c *conn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// Close closes the connection.
func (c *conn) Close() error {
	c.watch.remove(&c.read.alarm, &c.write.alarm)
	return c.TCPConn.Close()
}

// gather has what is written from now on wait for release, in room that may be
// used for it. net/http writes pieces of 4 KB, each with a call of the system that
// wakes the agent.
func (c *conn) gather(room []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gathering, c.gathered = true, room[:0]
}

// release writes what was gathered, and returns the room.
func (c *conn) release() ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	room := c.gathered
	c.gathering, c.gathered = false, nil
	if _, err := c.TCPConn.Write(room); err != nil {
		return room, fmt.Errorf("gateway: write an answer: %w", err)
	}
	return room, nil
}

// Write writes, or gathers.
func (c *conn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gathering {
		c.gathered = append(c.gathered, p...)
		return len(p), nil
	}
	return c.TCPConn.Write(p)
}

// connKey is where the context of a request has its connection.
type connKey struct{}

// withConn is for http.Server.ConnContext.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// connOf is the connection of a request; nil if it did not come over a listener
// of the gateway.
func connOf(ctx context.Context) *conn {
	c, _ := ctx.Value(connKey{}).(*conn)
	return c
}
