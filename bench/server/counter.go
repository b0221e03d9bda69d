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

// counter counts and logs calls, and answers no more of them than the ceiling.
type counter struct {
	next    http.Handler
	ceiling int
	start   time.Time

	mu    sync.Mutex
	log   *json.Encoder
	calls int
	over  bool // a call came after the last that is answered
}

func newCounter(next http.Handler, ceiling int, log io.Writer) *counter {
	return &counter{next: next, ceiling: ceiling, start: time.Now(), log: json.NewEncoder(log)}
}

// handler returns the routes: chat completions, and /stats with the counts so far.
func (c *counter) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", c.serve)
	mux.HandleFunc("GET /stats", c.stats)
	return mux
}

func (c *counter) stats(w http.ResponseWriter, _ *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	// The client may be gone.
	_ = json.NewEncoder(w).Encode(map[string]any{"calls": c.calls, "over": c.over})
}

// admit reports whether a call is to be answered, and counts it if it is.
func (c *counter) admit() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ceiling > 0 && c.calls >= c.ceiling {
		c.over = true
		return false
	}
	c.calls++
	return true
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
	if !c.admit() {
		<-r.Context().Done()
		return
	}
	defer func() {
		one.T1 = time.Since(c.start).Seconds()
		c.write(one)
	}()
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.Header.Set("X-Stage", one.Stage)
	c.next.ServeHTTP(&recorder{ResponseWriter: w, status: &one.Status}, r)
}

func (c *counter) write(one call) {
	c.mu.Lock()
	defer c.mu.Unlock()
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
