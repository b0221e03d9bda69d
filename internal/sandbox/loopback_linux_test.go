package sandbox

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

func portOf(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }

// requireAlone skips where programs have no network of their own.
func requireAlone(t *testing.T) {
	t.Helper()
	if can := Probe(); !can.Isolated {
		t.Skipf("programs can have no network of their own here: %s", can.Why)
	}
}

// TestOtherHosts: the port of the gateway is open on this machine and on no other
// host, which is played by another address of loopback.
func TestOtherHosts(t *testing.T) {
	t.Parallel()
	requireAlone(t)
	gateway, _ := listener(t, "tcp4", "127.0.0.1:0")
	other, got := listener(t, "tcp4", fmt.Sprintf("127.0.0.2:%d", portOf(gateway)))
	for address, ok := range map[string]bool{
		gateway.Addr().String():                      true,
		fmt.Sprintf("localhost:%d", portOf(gateway)): true,
		fmt.Sprintf("[::1]:%d", portOf(gateway)):     true,
		other.Addr().String():                        false,
	} {
		s := confined(t, "connect", "tcp", address)
		s.Confine.Ports = []int{portOf(gateway)}
		if r, out := run(t, s); r.Reason != Exited || (out == "done\n") != ok {
			t.Errorf("%s: got %+v, it says %q", address, r, out)
		}
	}
	if len(got) > 0 {
		t.Error("a connection to another host arrived")
	}
}

// TestRelay has much pass through in both directions at once, and both ends of a
// connection end by themselves.
func TestRelay(t *testing.T) {
	t.Parallel()
	requireAlone(t)
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = io.Copy(c, c)
			}()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	s := confined(t, "exchange", l.Addr().String())
	s.Confine.Ports = []int{portOf(l), 1} // one that nobody serves, and for whose like root alone may listen
	if r, out := run(t, s); r.Code != 0 || out != "done\n" {
		t.Errorf("got %+v, it says %q", r, out)
	}
	s.Argv = append(s.Argv[:len(s.Argv)-1], "127.0.0.1:1")
	if r, out := run(t, s); r.Code != 1 || strings.Contains(out, "done") {
		t.Errorf("a port that nobody serves: got %+v, it says %q", r, out)
	}
}

// TestManyAreAlone: each program has a network of its own, with the same port.
func TestManyAreAlone(t *testing.T) {
	t.Parallel()
	requireAlone(t)
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	for i := range 8 {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			s := confined(t, "connect", "tcp", server.Listener.Addr().String())
			s.Confine.Ports = []int{portOf(server.Listener)}
			if r, out := run(t, s); out != "done\n" {
				t.Errorf("got %+v, it says %q", r, out)
			}
		})
	}
}
