package gateway

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Values that Options have unless they say otherwise.
const (
	DefaultAddr      = "127.0.0.1:0"
	DefaultMaxBody   = 64 << 20
	DefaultPatience  = 2 * time.Second
	DefaultKeepAlive = 10 * time.Second
)

// How long a connection may take over what it sends, and idle between requests.
const (
	headerTimeout = 10 * time.Second
	bodyTimeout   = time.Minute
	writeTimeout  = time.Minute // of one write, to an agent that does not read
	idleTimeout   = 5 * time.Minute
	maxHeader     = 256 << 10
)

// Options say how a gateway listens.
type Options struct {
	// Addr is host:port; "" means DefaultAddr. Port 0 takes a free one.
	Addr string
	// Remote allows an address that other machines can reach. Anybody there who
	// has a session's key can then spend its money.
	Remote bool
	// Rand makes keys and the ids of answers; nil means crypto/rand. It may be
	// read by one goroutine at a time.
	Rand io.Reader
	// Now is the clock of dates and durations; nil means time.Now.
	Now func() time.Time
	// Patience is how long an answer that is wanted as events may take until the
	// stream is opened, with status 200. A failure before that has its own status;
	// a later one is an event. 0 means DefaultPatience.
	Patience time.Duration
	// KeepAlive is the time between signs of life on an open stream; 0 means
	// DefaultKeepAlive.
	KeepAlive time.Duration
	// MaxBody bounds a request in bytes; 0 means DefaultMaxBody.
	MaxBody int64
}

// withDefaults returns a copy in which everything is set.
func (o Options) withDefaults() Options {
	if o.Addr == "" {
		o.Addr = DefaultAddr
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Patience <= 0 {
		o.Patience = DefaultPatience
	}
	if o.KeepAlive <= 0 {
		o.KeepAlive = DefaultKeepAlive
	}
	if o.MaxBody <= 0 {
		o.MaxBody = DefaultMaxBody
	}
	return o
}

// Gateway is a model server for agents. It is safe for concurrent use.
type Gateway struct {
	opts   Options
	routes []route
	listen net.Listener
	server *http.Server
	served chan struct{} // closed when the server has stopped

	random    sync.Mutex   // guards opts.Rand
	strangers atomic.Int64 // requests with a key that never was that of a session

	mu       sync.Mutex
	closed   bool
	handlers sync.WaitGroup
	sessions map[keyHash]*Handle // by the hashes of their keys
	past     past                // keys of sessions that have ended
}

// New listens and serves until Close.
func New(o Options) (*Gateway, error) {
	o = o.withDefaults()
	if err := checkAddr(o); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", o.Addr)
	if err != nil {
		return nil, fmt.Errorf("gateway: %w", err)
	}
	g := newGateway(o)
	g.listen = l
	g.server = &http.Server{
		Handler: g, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	go func() {
		defer close(g.served)
		_ = g.server.Serve(l) // always ends with Close, which is no failure
	}()
	return g, nil
}

func newGateway(o Options) *Gateway {
	return &Gateway{opts: o, routes: routes(), served: make(chan struct{}), sessions: map[keyHash]*Handle{}}
}

// checkAddr refuses an address that other machines can reach.
func checkAddr(o Options) error {
	host, _, err := net.SplitHostPort(o.Addr)
	if err != nil {
		return fmt.Errorf("gateway: the address %q is no host:port: %w", o.Addr, err)
	}
	if !o.Remote && !loopback(host) {
		return fmt.Errorf("gateway: %q is not on the loopback interface: other machines could use the models behind it", o.Addr)
	}
	return nil
}

// loopback reports whether a host is this machine and nothing else.
func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return ip != nil && ip.IsLoopback()
}

// URL returns the root, such as http://127.0.0.1:41234. Agents of the two wires of OpenAI get it
// with /v1 after it, the others as it is.
func (g *Gateway) URL() string { return "http://" + g.listen.Addr().String() }

// Open begins a session. It fails for a key that is in use or too weak, and once
// the gateway is closed.
func (g *Gateway) Open(s Session) (*Handle, error) {
	if s.Client == nil {
		return nil, errors.New("gateway: a session needs a client")
	}
	key := s.Key
	if key == "" {
		var err error
		if key, err = g.NewKey(); err != nil {
			return nil, err
		}
	}
	h := g.newHandle(s, key)
	if err := g.register(h, key); err != nil {
		return nil, err
	}
	return h, nil
}

// enter counts a request in, unless the gateway is closed.
func (g *Gateway) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.handlers.Add(1)
	return true
}

// id returns a random name of n bytes in hexadecimal.
func (g *Gateway) id(n int) (string, error) {
	b := make([]byte, n)
	g.random.Lock()
	defer g.random.Unlock()
	if _, err := io.ReadFull(g.opts.Rand, b); err != nil {
		return "", err
	}
	return hex.EncodeToString(b), nil
}

// Drain refuses all that comes from now on with why, in the form of a budget that
// is spent, and returns when what is in flight is answered and passed on, or
// when ctx is done. Only Close is of use after it.
func (g *Gateway) Drain(ctx context.Context, why error) error {
	g.mu.Lock()
	for _, h := range g.sessions {
		h.drain(why)
	}
	g.mu.Unlock()
	if err := g.server.Shutdown(ctx); err != nil {
		return fmt.Errorf("gateway: drain: %w", err)
	}
	return nil
}

// Close ends all sessions and the server, and returns when no goroutine of
// either is left. It may be called again.
func (g *Gateway) Close() error {
	g.mu.Lock()
	g.closed = true
	var open []*Handle
	for _, h := range g.sessions {
		open = append(open, h)
	}
	g.mu.Unlock()
	for _, h := range open {
		h.cancel()
	}
	err := g.server.Close() // wakes handlers that wait for their agent
	for _, h := range open {
		h.Close()
	}
	g.handlers.Wait()
	<-g.served
	if err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("gateway: close: %w", err)
	}
	return nil
}
