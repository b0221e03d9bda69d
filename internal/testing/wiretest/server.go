// Package wiretest is a server for tests that speaks the Chat Completions
// protocol over real HTTP. Any model.Client answers behind it; on the way it can
// delay, spoil or refuse answers, and it counts what it saw.
//
// It knows nothing about training, skills or what the answers mean.
package wiretest

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/seed-f4525e22/skillopt/model"
)

// Options say how a server answers.
type Options struct {
	Client model.Client // gives the answers
	Faults Faults
	Seed   uint64 // of the faults and of the jitter

	// Latency is how long an answer takes; Jitter, 0 to 1, is its spread.
	Latency time.Duration
	Jitter  float64

	// OnRequest, if set, is called with the number of each request, from 1, when
	// it has arrived and before it is answered. It may block.
	OnRequest func(n int)
}

// StageHeader is the header in which a client names the stage of a request.
const StageHeader = "X-Stage"

// Stats are what a server has seen so far.
type Stats struct {
	Calls    int // requests that arrived
	Distinct int // different ones among them, by model, messages and seed
	Answered int // requests that got a whole, unspoilt answer
	InFlight int // requests that are being answered
	Peak     int // most requests that were being answered at once
	ByStage  map[string]int
	ByFault  map[string]int
}

// Server is a running server. Its methods may be called concurrently.
type Server struct {
	opts Options
	http *httptest.Server

	mu      sync.Mutex
	stats   Stats
	seen    map[uint64]int
	conns   map[net.Conn]struct{}
	changed chan struct{} // closed and replaced when conns changes
	closing chan struct{} // ends hangs
}

// Start starts a server on a loopback port. Whoever starts it closes it.
func Start(o Options) *Server {
	s := &Server{
		opts: o, seen: map[uint64]int{}, conns: map[net.Conn]struct{}{}, changed: make(chan struct{}), closing: make(chan struct{}),
		stats: Stats{ByStage: map[string]int{}, ByFault: map[string]int{}},
	}
	s.http = httptest.NewUnstartedServer(s)
	s.http.Config.ConnState = s.connState
	s.http.Start()
	return s
}

// URL is the base URL for clients.
func (s *Server) URL() string { return s.http.URL + "/v1" }

// Close ends all requests and the server.
func (s *Server) Close() {
	close(s.closing)
	s.http.CloseClientConnections()
	s.http.Close()
}

// Stats returns a copy of what was counted.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.stats
	out.ByStage, out.ByFault = copied(s.stats.ByStage), copied(s.stats.ByFault)
	return out
}

func copied(m map[string]int) map[string]int {
	out := make(map[string]int, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

// Idle waits until every connection is closed, so that nothing a client sent
// before it died is still on its way.
func (s *Server) Idle(ctx context.Context) error {
	// Connections are accepted in order: those made before this one are known
	// when it is answered.
	if err := s.probe(ctx); err != nil {
		return err
	}
	for {
		s.mu.Lock()
		n, changed := len(s.conns), s.changed
		s.mu.Unlock()
		if n == 0 {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("%d connections are still open: %w", n, context.Cause(ctx))
		}
	}
}

func (s *Server) probe(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.http.URL, nil)
	if err != nil {
		return fmt.Errorf("probe the server: %w", err)
	}
	req.Close = true
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return fmt.Errorf("probe the server: %w", err)
	}
	return res.Body.Close()
}

func (s *Server) connState(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch state {
	case http.StateNew:
		s.conns[c] = struct{}{}
	case http.StateClosed, http.StateHijacked:
		delete(s.conns, c)
	default:
		return
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

// wireRequest is the part of a request that is read.
type wireRequest struct {
	Model     string          `json:"model"`
	Messages  []model.Message `json:"messages"`
	Seed      *int64          `json:"seed"`
	MaxTokens int             `json:"max_tokens"`
}

// id names the request: equal ones have equal ids.
func (q wireRequest) id() uint64 {
	data, err := json.Marshal(q)
	if err != nil {
		return 0 // strings and numbers can always be encoded
	}
	sum := sha256.Sum256(data)
	return binary.BigEndian.Uint64(sum[:8])
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/v1/chat/completions" {
		http.NotFound(w, r)
		return
	}
	var q wireRequest
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, "the request is not JSON", http.StatusBadRequest)
		return
	}
	stage := r.Header.Get(StageHeader)
	n, id, nth := s.arrived(q, stage)
	defer s.left()
	if s.opts.OnRequest != nil {
		s.opts.OnRequest(n)
	}
	d := draw{seed: s.opts.Seed, id: id, nth: uint64(nth)}
	if !s.pause(r.Context(), s.latency(d)) {
		return
	}
	s.answer(w, r, exchange{wireRequest: q, stage: stage, fault: s.opts.Faults.pick(d, stage, n)})
}

func (s *Server) arrived(q wireRequest, stage string) (n int, id uint64, nth int) {
	id = q.id()
	s.mu.Lock()
	defer s.mu.Unlock()
	nth = s.seen[id]
	s.seen[id] = nth + 1
	st := &s.stats
	st.Calls++
	st.InFlight++
	st.Peak = max(st.Peak, st.InFlight)
	st.Distinct = len(s.seen)
	st.ByStage[stage]++
	return st.Calls, id, nth
}

func (s *Server) left() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.InFlight--
}

func (s *Server) latency(d draw) time.Duration {
	spread := 1 + s.opts.Jitter*(2*d.chance(purposeLatency)-1)
	return time.Duration(float64(s.opts.Latency) * spread)
}

// pause waits, and reports whether the client is still there.
func (s *Server) pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-s.closing:
	case <-ctx.Done():
	}
	return false
}
