package door

import (
	"context"
	"net"
	"net/http"
	"time"
)

// patience is how long a connection that shows neither the token nor a session is kept.
const patience = 5 * time.Second

// Guests returns a listener whose connections end after 5 s, if none of their requests has shown the token or a session
// by then: they are bounded in number, and may not keep out who has one. Its user remembers them by Remember.
func Guests(l net.Listener) net.Listener { return &guests{l} }

type guests struct{ net.Listener }

// Accept implements net.Listener.
func (l *guests) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &guest{Conn: c, until: time.Now().Add(patience)}, nil
}

// guest is a connection. Its requests are served one at a time, so that its deadlines have one writer.
type guest struct {
	net.Conn

	until       time.Time // zero: it is known
	read, write time.Time // the deadlines that it has when it is known
}

// SetReadDeadline implements net.Conn.
func (g *guest) SetReadDeadline(t time.Time) error {
	g.read = t
	return g.Conn.SetReadDeadline(g.earlier(t))
}

// SetWriteDeadline implements net.Conn.
func (g *guest) SetWriteDeadline(t time.Time) error {
	g.write = t
	return g.Conn.SetWriteDeadline(g.earlier(t))
}

// earlier returns the deadline that holds; zero is none.
func (g *guest) earlier(t time.Time) time.Time {
	if !g.until.IsZero() && (t.IsZero() || g.until.Before(t)) {
		return g.until
	}
	return t
}

type guestKey struct{}

// Remember returns the context of the requests of a connection, for http.Server.ConnContext.
func Remember(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, guestKey{}, c)
}

// welcome keeps the connection of a request that has shown the token or a session.
func welcome(r *http.Request) {
	if g, ok := r.Context().Value(guestKey{}).(*guest); ok && !g.until.IsZero() {
		g.until = time.Time{}
		_, _ = g.SetReadDeadline(g.read), g.SetWriteDeadline(g.write) // one that is closed is noticed when it is used
	}
}
