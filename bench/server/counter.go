package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/seed-f4525e22/skillopt/model"
)

// call is one line of the log. Times are seconds since the server started.
type call struct {
	T0, T1 float64
	Stage  string
	Hash   string // equal for attempts of one call
	Status int
	Item   string `json:",omitempty"` // of the target
}

// counter counts and logs calls.
type counter struct {
	next  http.Handler
	start time.Time

	mu    sync.Mutex
	log   *json.Encoder
	calls int
}

func newCounter(next http.Handler, log io.Writer) *counter {
	return &counter{next: next, start: time.Now(), log: json.NewEncoder(log)}
}

// handler returns the routes: chat completions, and /calls with their number so far.
func (c *counter) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", c.serve)
	mux.HandleFunc("GET /calls", c.count)
	return mux
}

func (c *counter) count(w http.ResponseWriter, _ *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = fmt.Fprintln(w, c.calls) // the client may be gone
}

func (c *counter) serve(w http.ResponseWriter, r *http.Request) {
	one := call{T0: time.Since(c.start).Seconds(), Status: http.StatusOK}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	var wire struct {
		Model    string
		Messages []model.Message
	}
	if err := json.Unmarshal(body, &wire); err != nil {
		http.Error(w, "the request is not JSON", http.StatusBadRequest)
		return
	}
	q := newQuestion(wire.Model, wire.Messages)
	one.Stage, one.Hash = cmp.Or(r.Header.Get("X-Stage"), q.stage()), q.hash()
	if one.Stage == stageRollout {
		one.Item, _ = lastItem(q.user)
	}
	defer func() {
		one.T1 = time.Since(c.start).Seconds()
		c.note(one)
	}()
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.Header.Set("X-Stage", one.Stage)
	c.next.ServeHTTP(&recorder{ResponseWriter: w, status: &one.Status}, r)
}

func (c *counter) note(one call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	if err := c.log.Encode(one); err != nil {
		panic(fmt.Errorf("write the log: %w", err)) // a log with a gap measures nothing
	}
}

// recorder notes the status of a response.
type recorder struct {
	http.ResponseWriter
	status *int
}

func (r *recorder) WriteHeader(status int) {
	*r.status = status
	r.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController find the writer.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
