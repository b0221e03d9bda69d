package gateway

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

// pipe is a ResponseWriter that tells when something was flushed.
type pipe struct {
	mu      sync.Mutex
	header  http.Header
	status  int
	pending string
	flushed []string
	at      []time.Duration
	start   time.Time
}

func (p *pipe) Header() http.Header { return p.header }

func (p *pipe) WriteHeader(status int) { p.status = status }

func (p *pipe) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pending += string(b)
	return len(b), nil
}

func (p *pipe) Flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flushed = append(p.flushed, p.pending)
	p.at = append(p.at, time.Since(p.start))
	p.pending = ""
}

func requestTo(w Wire) (path, body string) {
	switch w {
	case Responses:
		return "/v1/responses", `{"model":"m","input":"q","stream":true}`
	case Messages:
		return "/v1/messages", `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"q"}],"stream":true}`
	case Gemini:
		return "/v1beta/models/m:streamGenerateContent?alt=sse", `{"contents":[{"role":"user","parts":[{"text":"q"}]}]}`
	}
	return "/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"q"}],"stream":true}`
}

// slow serves one request of a wire whose model takes the given time.
func slow(t *testing.T, w Wire, takes time.Duration, err error) *pipe {
	g := newGateway(Options{Patience: 2 * time.Second, KeepAlive: 10 * time.Second}.withDefaults())
	h := open(t, g, Session{Client: modeltest.Func(func(ctx context.Context, _ model.Request) (model.Response, error) {
		select {
		case <-time.After(takes):
		case <-ctx.Done():
			return model.Response{}, model.Interrupted(ctx, "fake")
		}
		return modeltest.Text("the answer").Response, err
	})})
	defer h.Close()
	path, body := requestTo(w)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
	r.Host = "localhost"
	r.Header.Set("Authorization", "Bearer "+h.Key())
	p := &pipe{header: http.Header{}, start: time.Now()}
	g.ServeHTTP(p, r)
	return p
}

func TestKeepAlive(t *testing.T) {
	t.Parallel()
	marks := map[Wire]string{Chat: ": waiting\n\n", Responses: "event: response.in_progress\n", Messages: "event: ping\n", Gemini: "\n\n"}
	for wire, sign := range marks {
		t.Run(string(wire), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := slow(t, wire, 30*time.Second, nil)
				want := []time.Duration{2 * time.Second, 12 * time.Second, 22 * time.Second, 30 * time.Second}
				if diff := cmp.Diff(want, p.at); diff != "" {
					t.Fatalf("flushed at (-want +got):\n%s", diff)
				}
				for i, s := range p.flushed[:3] {
					if !strings.Contains(s, sign) {
						t.Errorf("sign %d is %q", i, s)
					}
				}
				if p.status != 200 || !strings.HasPrefix(p.header.Get("Content-Type"), "text/event-stream") {
					t.Errorf("status %d, %v", p.status, p.header)
				}
				if !strings.Contains(p.flushed[3], "the answer") {
					t.Errorf("the end is %q", p.flushed[3])
				}
			})
		})
	}
}

func TestQuickAnswersComeAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := slow(t, Messages, time.Second, nil)
		if len(p.flushed) != 1 || strings.Contains(p.flushed[0], "ping") {
			t.Errorf("%q", p.flushed)
		}
	})
}

// TestLateFailures come within the stream; early ones have their own status.
func TestLateFailures(t *testing.T) {
	t.Parallel()
	fault := &model.Error{Code: model.RateLimit, Endpoint: "up", Err: errors.New("slow down")}
	marks := map[Wire]string{
		Chat: `data: {"error":{"message":"rate_limit from up`, Responses: "event: response.failed\n", Messages: "event: error\n",
		Gemini: `data: {"error":{"code":429`,
	}
	for wire, sign := range marks {
		t.Run(string(wire), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				late := slow(t, wire, 5*time.Second, fault)
				if last := late.flushed[len(late.flushed)-1]; late.status != 200 || !strings.Contains(last, sign) {
					t.Errorf("late: status %d, %q", late.status, last)
				}
				early := slow(t, wire, time.Second, fault)
				if early.status != 429 || !strings.Contains(early.pending, "slow down") {
					t.Errorf("early: status %d, %q", early.status, early.pending)
				}
			})
		})
	}
}
