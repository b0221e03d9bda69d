package fakemodel

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"

	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Server is a running server. Its methods are safe for concurrent use.
type Server struct {
	*httptest.Server

	play func(*Request)

	mu       sync.Mutex
	requests int
	answers  int
	usage    trajectory.Usage
	bodies   []string
	tools    []string // names offered in the last request that was answered
}

// New starts a server that has play answer each request, by one call of Answer, Refuse or
// Wait. play is called by several requests at a time. Stop ends the server.
func New(play func(*Request)) *Server {
	s := &Server{play: play}
	s.Server = httptest.NewServer(s)
	return s
}

// Stop ends the server and its connections.
func (s *Server) Stop() {
	s.CloseClientConnections()
	s.Close()
}

// Count returns how many requests came and were answered, the sum of what the answers cost,
// and the names of the tools that the last answered request offered.
func (s *Server) Count() (requests, answers int, u trajectory.Usage, tools []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests, s.answers, s.usage, s.tools
}

// Bodies returns the bodies of the requests so far.
func (s *Server) Bodies() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.bodies)
}

// Seen reports whether a text was in any request.
func (s *Server) Seen(text string) bool {
	return slices.ContainsFunc(s.Bodies(), func(b string) bool { return strings.Contains(b, text) })
}

// grant is what one answer costs: all parts differ, and those of the next
// answer differ from those of the last.
func (s *Server) grant() (n int, u trajectory.Usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers++
	k := int64(s.answers)
	u = trajectory.Usage{Input: 100 + 10*k, Cached: 60 + k, Output: 7 + k, Reasoning: 2}
	s.usage = s.usage.Add(u)
	return s.answers, u
}

func (s *Server) came(body []byte) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	s.bodies = append(s.bodies, string(body))
	return s.requests
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	by := wireOf(r.URL.Path)
	if by == nil || r.Method != http.MethodPost {
		http.Error(w, `{"error":{"message":"no such route"}}`, http.StatusNotFound)
		return
	}
	raw, err := io.ReadAll(r.Body)
	var body obj
	if err != nil || json.Unmarshal(raw, &body) != nil {
		http.Error(w, `{"error":{"message":"no JSON"}}`, http.StatusBadRequest)
		return
	}
	req := &Request{N: s.came(raw), Body: string(raw), Tools: offered(body), W: w, server: s, http: r, wire: by, stream: body["stream"] == true}
	req.Worked = strings.Contains(req.Body, by.result())
	req.model, _ = body["model"].(string)
	s.play(req)
}

// Request is a request that waits for its answer.
type Request struct {
	N      int      // from 1
	Body   string   // as it came
	Tools  []string // the names of the tools that it offers, sorted
	Worked bool     // it holds the result of a tool
	W      http.ResponseWriter

	server *Server
	http   *http.Request
	wire   wire
	model  string
	stream bool
}

// Reply is one answer.
type Reply struct {
	Text  string
	Think string // "": nothing is thought aloud
	Calls []Call

	n      int
	model  string
	usage  trajectory.Usage
	stream bool
}

// Call is a call of a tool.
type Call struct {
	Tool string
	Args map[string]any
}

// Answer answers. Ids of calls never come again.
func (r *Request) Answer(a Reply) {
	r.server.mu.Lock()
	r.server.tools = r.Tools
	r.server.mu.Unlock()
	a.n, a.usage = r.server.grant()
	a.model, a.stream = r.model, r.stream
	r.wire.write(r.W, r.http, a)
}

// Refuse answers with an error, in the protocol's own form: status is 400 (the prompt is too
// long), 401, 429 or 500.
func (r *Request) Refuse(status int, text string) { refuse(r.W, status, text, r.wire) }

// Wait answers nothing until the client gives up.
func (r *Request) Wait() { <-r.http.Context().Done() }
