package gateway

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

// statusWith posts a question with a key and returns the status.
func statusWith(t *testing.T, c *http.Client, url, key string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(chatBody))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	res, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Body.Close(); err != nil {
		t.Error(err)
	}
	return res.StatusCode
}

// A key that is bound belongs to one session at a time, and to none between them: what
// comes with it is counted to the session that has it, or refused.
func TestBoundKeysBelongToOneSessionAtATime(t *testing.T) {
	t.Parallel()
	g, c := testGateway(t, Options{}), agent(t)
	url := g.URL() + "/v1/chat/completions"
	own, err := g.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	want := func(key string, status int) {
		t.Helper()
		if got := statusWith(t, c, url, key); got != status {
			t.Errorf("status %d, want %d", got, status)
		}
	}
	want(own, http.StatusUnauthorized) // of nobody yet
	first, second := open(t, g, Session{Client: says("a")}), open(t, g, Session{Client: says("b")})
	if err := first.Bind(own); err != nil {
		t.Fatal(err)
	}
	if err := second.Bind(own); err == nil || strings.Contains(err.Error(), own) {
		t.Errorf("a key of two sessions: %v", err)
	}
	want(own, http.StatusOK)
	want(first.Key(), http.StatusOK)
	first.Unbind(own)
	want(own, http.StatusUnauthorized)
	if err := second.Bind(own); err != nil {
		t.Fatal(err)
	}
	first.Close() // which does not take what is not its own any more
	want(own, http.StatusOK)
	want(first.Key(), http.StatusUnauthorized)
	if err := first.Bind("another-key"); err == nil {
		t.Error("a session that has ended takes keys")
	}
	second.Close()
	want(own, http.StatusUnauthorized)
	if first.Calls() != 2 || second.Calls() != 1 || g.Strangers() != 1 {
		t.Errorf("%d and %d calls, %d strangers", first.Calls(), second.Calls(), g.Strangers())
	}
}

// What the gateway does not serve is told with the session that asked for it, and is no
// failure of it.
func TestUnservedIsTold(t *testing.T) {
	t.Parallel()
	g, c := testGateway(t, Options{}), agent(t)
	h := open(t, g, Session{Client: says("a"), Tags: model.Tags{}})
	for _, path := range []string{"/v1/embeddings", "/v1/images"} {
		if got := statusWith(t, c, g.URL()+path, h.Key()); got != http.StatusNotFound {
			t.Errorf("%s: status %d", path, got)
		}
	}
	if h.UnservedRequest() != "POST /v1/embeddings" || h.Err() != nil {
		t.Errorf("%q, %v", h.UnservedRequest(), h.Err())
	}
}

// Of endlessly many ended sessions the newest keys are known.
func TestPastIsBounded(t *testing.T) {
	t.Parallel()
	var p past
	for i := range 2 * maxPast {
		p.add(keyHash{byte(i), byte(i >> 8), byte(i >> 16)})
	}
	p.add(keyHash{byte(1), byte(maxPast >> 8)}) // again
	if len(p.known) != maxPast || len(p.order) != maxPast || p.has(keyHash{}) || !p.has(keyHash{byte(1), byte(maxPast >> 8)}) {
		t.Errorf("%d are known", len(p.known))
	}
}

// Of a flood no more is read than there is room for, all of it is answered, and what
// waits ends with the session.
func TestAFloodWaitsUnread(t *testing.T) {
	t.Parallel()
	g, c := testGateway(t, Options{}), agent(t)
	gate := make(chan struct{})
	var mu sync.Mutex
	inside, peak := 0, 0
	client := modeltest.Func(func(ctx context.Context, _ model.Request) (model.Response, error) {
		mu.Lock()
		inside++
		peak = max(peak, inside)
		mu.Unlock()
		<-gate
		mu.Lock()
		defer mu.Unlock()
		inside--
		return model.Response{Text: "a", Finish: model.FinishStop}, nil
	})
	h := open(t, g, Session{Client: client})
	const flood = maxHeld + 40
	var wg sync.WaitGroup
	var answered atomic.Int64
	for range flood {
		wg.Go(func() {
			if statusWith(t, c, g.URL()+"/v1/chat/completions", h.Key()) == http.StatusOK {
				answered.Add(1)
			}
		})
	}
	for len(h.room) < maxHeld {
		runtime.Gosched()
	}
	close(gate)
	wg.Wait()
	if answered.Load() != flood || peak > DefaultConcurrency || cap(h.room) != maxHeld || len(h.room) != 0 {
		t.Errorf("%d of %d are answered, %d at once, %d are held", answered.Load(), flood, peak, len(h.room))
	}
	for range maxHeld {
		h.room <- struct{}{}
	}
	done := make(chan error, 1)
	go func() {
		_, err := h.reserve(t.Context())
		done <- err
	}()
	h.Close()
	if err := <-done; !errors.Is(err, errClosed) {
		t.Errorf("what waits ends with %v", err)
	}
}
