package modeltest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/model"
)

// testContext has the server hang, before and within its response.
func testContext(t *testing.T, h Harness) {
	hangs := map[string]func(w http.ResponseWriter){
		"before the response": func(http.ResponseWriter) {},
		"within the body": func(w http.ResponseWriter) {
			good := h.Write(Reply{Text: "half", Finish: model.FinishStop})
			w.Header().Set("Content-Length", strconv.Itoa(len(good)))
			writeJSON(w, http.StatusOK, good[:len(good)/2])
			flush(w)
		},
	}
	for name, begin := range hangs {
		t.Run("deadline "+name, func(t *testing.T) {
			t.Parallel()
			srv, _ := startHanging(t, h, begin)
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			_, err := srv.client(t).Generate(ctx, question("q"))
			if model.CodeOf(err) != model.Timeout || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v, want a %s that wraps the deadline", err, model.Timeout)
			}
		})
		t.Run("cancel "+name, func(t *testing.T) {
			t.Parallel()
			srv, arrived := startHanging(t, h, begin)
			ctx, cancel := context.WithCancelCause(t.Context())
			go func() {
				<-arrived
				cancel(errors.New("the user stopped it"))
			}()
			_, err := srv.client(t).Generate(ctx, question("q"))
			checkCancelled(t, err)
		})
	}
	t.Run("cancelled before", func(t *testing.T) {
		t.Parallel()
		srv := reply(t, h, Reply{Text: "t", Finish: model.FinishStop})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := srv.client(t).Generate(ctx, question("q"))
		checkCancelled(t, err)
		if n := srv.count(); n > 0 {
			t.Errorf("%d requests were sent", n)
		}
	})
}

// startHanging starts a server that begins its response and then waits until the
// client has gone away. The channel is closed when the first request is there.
func startHanging(t *testing.T, h Harness, begin func(http.ResponseWriter)) (*server, <-chan struct{}) {
	t.Helper()
	arrived := make(chan struct{})
	var once sync.Once
	srv := newServer(t, h, func(w http.ResponseWriter, r *http.Request, _ Seen) {
		begin(w)
		once.Do(func() { close(arrived) })
		<-r.Context().Done()
	})
	return srv, arrived
}

func checkCancelled(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
	if code := model.CodeOf(err); code != "" {
		t.Errorf("a cancelled call has the class %s: it is no failure of the endpoint", code)
	}
}

// testConcurrency has 64 goroutines share a client; each must get its own
// answer.
func testConcurrency(t *testing.T, h Harness) {
	t.Parallel()
	const goroutines, rounds = 64, 5
	srv := newServer(t, h, func(w http.ResponseWriter, _ *http.Request, s Seen) {
		asked := s.Messages[len(s.Messages)-1].Content
		writeJSON(w, http.StatusOK, h.Write(Reply{Text: asked + "!" + s.Header.Get("X-Stage"), Finish: model.FinishStop}))
	})
	c := h.New(t, Settings{URL: srv.URL, Key: testKey, Headers: map[string]string{"X-Stage": "{{stage}}"}})
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range rounds {
				req := question(fmt.Sprintf("question %d.%d", g, i))
				req.Tags.Stage = fmt.Sprintf("stage%d", g)
				res, err := c.Generate(t.Context(), req)
				if want := fmt.Sprintf("question %d.%d!stage%d", g, i, g); err != nil || res.Text != want {
					t.Errorf("got %q, %v, want %q", res.Text, err, want)
				}
			}
		})
	}
	wg.Wait()
	if n := srv.count(); n != goroutines*rounds {
		t.Errorf("%d requests arrived, want %d", n, goroutines*rounds)
	}
}
