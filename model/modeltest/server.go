package modeltest

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/seed-f4525e22/skillopt/model"
)

// server is a scripted server: it reads every request by the harness, keeps
// what it saw, and lets the test write the response.
type server struct {
	*httptest.Server
	h Harness

	mu     sync.Mutex
	seen   []Seen
	faults []error
}

// newServer starts a server whose responses are written by respond, which is
// called concurrently.
func newServer(t *testing.T, h Harness, respond func(w http.ResponseWriter, r *http.Request, s Seen)) *server {
	t.Helper()
	srv := &server{h: h}
	srv.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h.Aside != nil && h.Aside(w, r) {
			return
		}
		s, err := srv.read(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusTeapot)
			return
		}
		w.Header().Set("Content-Type", cmp.Or(h.StreamType, "text/event-stream")) // an answer that is no stream sets another
		respond(w, r, s)
	}))
	t.Cleanup(func() {
		srv.Close()
		for _, err := range srv.faults {
			t.Errorf("server: %v", err)
		}
	})
	return srv
}

func (s *server) read(r *http.Request) (Seen, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		err = fmt.Errorf("read the request: %w", err)
	}
	var seen Seen
	if err == nil {
		seen, err = s.h.Read(r, body)
		seen.Header = r.Header.Clone()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.faults = append(s.faults, err)
		return Seen{}, err
	}
	s.seen = append(s.seen, seen)
	return seen, nil
}

// only returns the one request that must have arrived.
func (s *server) only(t *testing.T) Seen {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.seen) != 1 {
		t.Fatalf("%d requests arrived, want 1: an adapter makes one attempt", len(s.seen))
	}
	return s.seen[0]
}

func (s *server) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.seen)
}

// endpoint returns the endpoint that errors name.
func (s *server) endpoint() string { return cmp.Or(s.h.Endpoint, s.Listener.Addr().String()) }

// client returns a client of the server with a key.
func (s *server) client(t *testing.T) model.Client {
	t.Helper()
	return s.h.New(t, Settings{URL: s.URL, Key: testKey})
}

// reply starts a server that gives the same reply to everything, as a stream
// when it is asked for one.
func reply(t *testing.T, h Harness, r Reply) *server {
	t.Helper()
	body := h.Write(r)
	return newServer(t, h, func(w http.ResponseWriter, _ *http.Request, s Seen) {
		if s.Stream {
			writeEvents(w, h.Stream(r))
			return
		}
		writeJSON(w, http.StatusOK, body)
	})
}

// writeEvents writes a stream, one write at a time.
func writeEvents(w http.ResponseWriter, events []string) {
	beginStream(w)
	for _, e := range events {
		writeEvent(w, e)
	}
}

func beginStream(w http.ResponseWriter) {
	w.WriteHeader(http.StatusOK)
	flush(w)
}

func writeEvent(w http.ResponseWriter, event string) {
	_, _ = io.WriteString(w, event) // a client that went away is the test's business
	flush(w)
}

func flush(w http.ResponseWriter) {
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that went away is the test's business
}
