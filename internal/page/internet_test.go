package page_test

import (
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/page"
)

func TestPublic(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"1.1.1.1": true, "93.184.216.34": true, "2606:4700::1111": true, "::ffff:1.1.1.1": true, "64:ff9b::101:101": true,
		"127.0.0.1": false, "127.8.8.8": false, "0.0.0.0": false, "10.1.2.3": false, "172.16.0.1": false, "192.168.1.1": false,
		"169.254.169.254": false, "100.64.0.1": false, "198.18.0.1": false, "192.0.2.1": false, "224.0.0.1": false, "255.255.255.255": false, "240.0.0.1": false,
		"::": false, "::1": false, "fe80::1": false, "fe80::1%eth0": false, "fc00::1": false, "fd12::1": false, "ff02::1": false, "fec0::1": false,
		"::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "::127.0.0.1": false, "64:ff9b::7f00:1": false, "64:ff9b::a9fe:a9fe": false, "64:ff9b:1::101:101": false, "2002:7f00:1::": false, "2001:db8::1": false, "2001::1": false,
	} {
		if got := page.Public(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// A name is looked at when it is connected to: what it stands for decides, not how it reads.
func TestDialer(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	at := l.Addr().String()
	_, port, _ := net.SplitHostPort(at)
	for _, address := range []string{at, "localhost:" + port, "[::ffff:127.0.0.1]:" + port} {
		if _, err := page.Dialer(time.Minute, "127.0.0.1:1")(t.Context(), "tcp", address); !errors.Is(err, page.ErrPrivate) {
			t.Errorf("%s: %v", address, err)
		}
	}
	conn, err := page.Dialer(time.Minute, at)(t.Context(), "tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
}
