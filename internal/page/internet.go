package page

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"time"
)

// This file distinguishes addresses of the internet from those of this machine and of local
// networks, and connects to no others.
//
// It knows nothing of HTTP, and nothing of what is asked of a server.

// ErrPrivate says that a name represents an address that is none of the internet.
var ErrPrivate = errors.New("the address is private")

// Public reports whether an address is one of the internet: none of this machine, of a
// local network, of a provider's own one, of a group, or reserved.
func Public(a netip.Addr) bool {
	a = a.Unmap()
	if netip.MustParsePrefix("64:ff9b::/96").Contains(a) { // a network of IPv6 alone reaches the others by it
		b := a.As16()
		a = netip.AddrFrom4([4]byte(b[12:]))
	}
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.Zone() != "" {
		return false
	}
	for _, reserved := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fec0::/10",
	} {
		if netip.MustParsePrefix(reserved).Contains(a) {
			return false
		}
	}
	return true
}

// Dial opens a connection, as that of a net.Dialer.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// Dialer returns what connects within a time, and to the internet alone: the address is
// looked at when it is connected to, so a name cannot mean one when it is looked at and
// another one then. Hosts that are trusted, each with its port, may be anywhere.
func Dialer(within time.Duration, trusted ...string) Dial {
	public := &net.Dialer{Timeout: within, Control: onlyPublic}
	anywhere := &net.Dialer{Timeout: within}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		for _, host := range trusted {
			if strings.EqualFold(host, address) {
				return anywhere.DialContext(ctx, network, address)
			}
		}
		return public.DialContext(ctx, network, address)
	}
}

func onlyPublic(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("read the address %s: %w", address, err)
	}
	if !Public(at.Addr()) {
		return fmt.Errorf("%w: %s", ErrPrivate, at.Addr())
	}
	return nil
}
