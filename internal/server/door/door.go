// Package door decides who may ask the server: by which names it is called, from which
// pages, with which token or session, how often and how much. It writes the headers that every
// answer has, and the answer of a request that it refuses.
//
// It knows nothing of runs, or of what is asked.
package door

import (
	"crypto/sha256"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// MaxBody is the largest body of a request, in bytes, unless more is allowed to it.
const MaxBody = 64 << 10

// Options say whom a Door lets in.
type Options struct {
	Token  string   // that programs send, and that a page trades for a session
	Key    []byte   // that signs sessions: kept, so that they outlive the server
	Addr   string   // host and port that the server listens on, as the link has them
	Hosts  []string // further names of the server, without a port
	Secure bool     // it is reached by TLS
	Now    func() time.Time
}

// Door lets requests in or refuses them. It may be used concurrently.
type Door struct {
	token   [sha256.Size]byte
	key     []byte
	port    string
	hosts   map[string]bool // with the port, in lower case
	any     bool            // it listens on all interfaces: addresses are names of it, too
	scheme  string
	now     func() time.Time
	callers *callers
}

// New returns a door.
func New(o Options) (*Door, error) {
	host, port, err := net.SplitHostPort(o.Addr)
	if err != nil {
		return nil, err
	}
	d := &Door{token: sha256.Sum256([]byte(o.Token)), key: o.Key, port: port, hosts: map[string]bool{}, scheme: "http", now: o.Now, callers: newCallers(o.Now)}
	standard := "80"
	if o.Secure {
		d.scheme, standard = "https", "443"
	}
	for _, name := range append([]string{host, "localhost", "127.0.0.1", "::1"}, o.Hosts...) {
		name = strings.ToLower(name)
		d.hosts[net.JoinHostPort(name, port)] = true
		if port == standard && !strings.Contains(name, ":") {
			d.hosts[name] = true
		}
	}
	ip := net.ParseIP(host)
	d.any = ip != nil && ip.IsUnspecified()
	return d, nil
}

// CookieName returns the name of the session's cookie. Cookies know no ports, so each server has a name of its own.
func (d *Door) CookieName() string { return "skillopt_" + d.port }

// names reports whether the server goes by a Host header. A name that resolves to it all the
// same may be that of a page elsewhere, which had its name changed to this machine.
func (d *Door) names(host string) bool {
	host = strings.ToLower(host)
	if d.hosts[host] {
		return true
	}
	name, port, err := net.SplitHostPort(host)
	return err == nil && d.any && port == d.port && net.ParseIP(name) != nil // an address is no one's name
}

// Guard lets through what is addressed to the server and not too much, with the headers that
// every answer has. most returns how large the body of a request may be.
func (d *Door) Guard(next http.Handler, most func(*http.Request) int64) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.headers(w.Header())
		bound := max(MaxBody, most(r))
		switch {
		case !d.names(r.Host):
			(&Refusal{Status: http.StatusForbidden, Kind: Forbidden, Message: "this server does not answer to the name " + strconv.Quote(cut(r.Host)), Help: "open the link that skillopt serve printed; through ssh forward the same port: ssh -L " + d.port + ":127.0.0.1:" + d.port + " HOST"}).Write(w)
			return
		case r.ContentLength > bound:
			TooBig(bound).Write(w)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, bound)
		next.ServeHTTP(w, r)
	})
}

// Public lets anybody through, within a rate. The connection of someone with a session is kept, whatever is asked first.
func (d *Door) Public(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !d.callers.lets(address(r), anybody) {
			tooOften().Write(w)
			return
		}
		if c, err := r.Cookie(d.CookieName()); err == nil {
			if _, _, ok := d.session(c.Value); ok {
				welcome(r)
			}
		}
		next.ServeHTTP(w, r)
	})
}

// cut shortens what a stranger said.
func cut(text string) string { return text[:min(len(text), 100)] }

// address returns the address of the client, without its port.
func address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// policy lets a page load its own files and nothing else, and run no script that is in it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func (d *Door) headers(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
	h.Set("X-Frame-Options", "DENY")
}
