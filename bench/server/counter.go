package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
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

	mu      sync.Mutex
	log     *json.Encoder
	calls   int
	byStage map[string]int
	over    chan struct{} // closed when a call came after the last that is answered
}

func newCounter(next http.Handler, ceiling int, log io.Writer) *counter {
	return &counter{next: next, ceiling: ceiling, start: time.Now(), log: json.NewEncoder(log), byStage: map[string]int{}, over: make(chan struct{})}
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
	_ = json.NewEncoder(w).Encode(map[string]any{"calls": c.calls, "by_stage": c.byStage, "over": c.isOver()})
}

func (c *counter) isOver() bool {
	select {
	case <-c.over:
		return true
	default:
		return false
	}
}

// admit reports whether a call is to be answered, and counts it if it is.
func (c *counter) admit(stage string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ceiling > 0 && c.calls >= c.ceiling {
		if !c.isOver() {
			close(c.over)
		}
		return false
	}
	c.calls++
	c.byStage[stage]++
	return true
}

func (c *counter) serve(w http.ResponseWriter, r *http.Request) {
	one := call{T0: time.Since(c.start).Seconds(), Status: http.StatusOK}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	q := readBody(body)
	one.Stage = r.Header.Get("X-Stage")
	if one.Stage == "" {
		one.Stage = q.stage()
	}
	one.Hash = q.hash()
	if one.Stage == stageRollout {
		one.Item, _ = lastItem(q.user)
	}
	if !c.admit(one.Stage) {
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

// readBody reads the texts of a request; one that is no request has none.
func readBody(body []byte) question {
	var wire struct {
		Model    string
		Messages []struct{ Role, Content string }
	}
	if json.Unmarshal(body, &wire) != nil {
		return question{}
	}
	q := question{model: wire.Model}
	var system, user strings.Builder
	for _, m := range wire.Messages {
		into := &user
		if m.Role == "system" || m.Role == "developer" {
			into = &system
		}
		into.WriteString(m.Content + "\n")
	}
	q.system, q.user = system.String(), user.String()
	return q
}
