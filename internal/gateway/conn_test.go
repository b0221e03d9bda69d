package gateway

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"
)

// accepted is a connection of the gateway's listener, and its other end.
func accepted(t *testing.T) (*conn, *net.TCPConn) {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	peer, err := net.DialTCP("tcp", nil, l.Addr().(*net.TCPAddr))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { peer.Close() })
	c, err := watched{l, newWatch(time.Millisecond)}.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c.(*conn), peer
}

// It times out as any other does.
func TestConn(t *testing.T) {
	t.Parallel()
	c, peer := accepted(t)
	b := make([]byte, 1)
	err := c.SetDeadline(time.Now().Add(time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(b); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("read: %v, want a deadline", err)
	}
	var timeout net.Error
	for err = nil; err == nil; _, err = c.Write(make([]byte, 1<<20)) { // nobody reads
	}
	if !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Fatalf("write: %v, want a deadline", err)
	}
	if err := c.SetDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	if _, err := peer.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Read(b); n != 1 || err != nil {
		t.Fatalf("read: %d, %v after the deadline was taken back", n, err)
	}
}

// What is gathered goes out at once, when it is released and not before.
func TestGather(t *testing.T) {
	t.Parallel()
	c, peer := accepted(t)
	write := func(s string) {
		if n, err := c.Write([]byte(s)); n != len(s) || err != nil {
			t.Fatalf("write: %d, %v", n, err)
		}
	}
	read := func() string {
		b := make([]byte, 100)
		n, err := peer.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		return string(b[:n])
	}
	room := make([]byte, 3, 20)
	c.gather(room)
	write("one ")
	write("two")
	if got := string(c.gathered); got != "one two" {
		t.Errorf("%q is gathered", got)
	}
	back, err := c.release()
	if err != nil || &back[0] != &room[0] {
		t.Errorf("%v, or other room than was given", err)
	}
	if got := read(); got != "one two" {
		t.Errorf("%q", got)
	}
	write("three")
	if got := read(); got != "three" {
		t.Errorf("%q", got)
	}
	c.Close()
	c.gather(nil)
	write("lost")
	if _, err := c.release(); err == nil {
		t.Error("written to a connection that is closed")
	}
}
