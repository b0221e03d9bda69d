package modeltest

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/model"
)

// patient is an idle limit that nothing reaches by accident, quick one that is
// reached at once.
const (
	patient = 3 * time.Second
	quick   = 50 * time.Millisecond
)

// testStreams asks for answers as streams.
func testStreams(t *testing.T, h Harness) {
	if h.Stream == nil {
		t.Skip("the protocol lacks streams")
	}
	t.Run("asked for", func(t *testing.T) {
		t.Parallel()
		if !sent(t, h, Settings{Stream: true}, question("q")).Stream || sent(t, h, Settings{}, question("q")).Stream {
			t.Error("a stream must be asked for if it is wanted, and only then")
		}
	})
	t.Run("response", func(t *testing.T) { testAnswers(t, h, Settings{Key: testKey, Stream: true}) })
	t.Run("idle", func(t *testing.T) { testIdle(t, h) })
	t.Run("cut", func(t *testing.T) { testStreamCuts(t, h) })
	t.Run("fault", func(t *testing.T) { testStreamFaults(t, h) })
	t.Run("context", func(t *testing.T) { testStreamContext(t, h) })
}

// longReply returns a reply whose stream has a middle.
func longReply() Reply {
	return Reply{Text: strings.Repeat("All is well, and the answer is long. ", 4), Finish: model.FinishStop, Input: 9, Output: 9}
}

// callStream starts a server that answers as respond says, and calls it.
func callStream(t *testing.T, h Harness, s Settings, respond func(w http.ResponseWriter, r *http.Request)) (model.Response, error) {
	t.Helper()
	srv := newServer(t, h, func(w http.ResponseWriter, r *http.Request, _ Seen) { respond(w, r) })
	s.URL, s.Key, s.Stream = srv.URL, testKey, true
	res, err := h.New(t, s).Generate(t.Context(), question("q"))
	srv.only(t)
	return res, err
}

// testIdle checks that what counts is how long a stream is silent, not how long it takes.
func testIdle(t *testing.T, h Harness) {
	events := h.Stream(longReply())
	for name, begin := range map[string][]string{"from the start": nil, "in the middle": events[:len(events)/2]} {
		t.Run("silent "+name, func(t *testing.T) {
			t.Parallel()
			_, err := callStream(t, h, Settings{Idle: quick}, func(w http.ResponseWriter, r *http.Request) {
				writeEvents(w, begin)
				<-r.Context().Done()
			})
			if model.CodeOf(err) != model.Timeout {
				t.Errorf("error %v, want %s", err, model.Timeout)
			}
		})
	}
	t.Run("slow but alive", func(t *testing.T) {
		t.Parallel()
		alive := h.KeepAlive
		if alive == "" {
			alive = ": keep-alive\n\n"
		}
		res, err := callStream(t, h, Settings{Idle: patient}, func(w http.ResponseWriter, r *http.Request) {
			writeEvents(w, events[:1])
			for range 36 { // together longer than the limit
				pause(r.Context(), patient/30)
				writeEvent(w, alive)
			}
			for _, e := range events[1:] {
				writeEvent(w, e)
			}
		})
		if err != nil || res.Text != longReply().Text {
			t.Errorf("got %q, %v, want the whole answer", res.Text, err)
		}
	})
}

// pause waits for d on the server's side.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// testStreamCuts has streams end after every write: no part of an answer may
// pass for an answer.
func testStreamCuts(t *testing.T, h Harness) {
	replies := map[string]Reply{"text": longReply()}
	if !h.Lacks.Tools {
		replies["calls"] = Reply{Text: "t", Calls: callCases()[1].reply.Calls, Finish: model.FinishTools, Input: 9, Output: 9}
	}
	for name, r := range replies {
		events := h.Stream(r)
		for n := range events {
			t.Run(name+" after "+strconv.Itoa(n), func(t *testing.T) {
				t.Parallel()
				_, err := callStream(t, h, Settings{}, func(w http.ResponseWriter, _ *http.Request) { writeEvents(w, events[:n]) })
				if code := model.CodeOf(err); code != model.Truncated {
					t.Errorf("after %d of %d writes: error %v, want %s", n, len(events), err, model.Truncated)
				}
			})
		}
	}
	t.Run("connection lost", func(t *testing.T) {
		t.Parallel()
		events := h.Stream(longReply())
		_, err := callStream(t, h, Settings{}, func(w http.ResponseWriter, r *http.Request) {
			writeEvents(w, events[:len(events)/2])
			hangUp(w)
		})
		if code := model.CodeOf(err); code != model.Truncated && code != model.Network {
			t.Errorf("error %v, want %s or %s", err, model.Truncated, model.Network)
		}
	})
}

func testStreamFaults(t *testing.T, h Harness) {
	events := h.Stream(longReply())
	for _, f := range h.StreamFaults {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			_, err := callStream(t, h, Settings{}, func(w http.ResponseWriter, _ *http.Request) {
				writeEvents(w, append(events[:1:1], f.Event("about "+testKey+"\nit failed")))
			})
			if code := model.CodeOf(err); code != f.Want {
				t.Errorf("error %v, want %s", err, f.Want)
			}
			if err != nil && (strings.Contains(err.Error(), testKey) || strings.ContainsAny(err.Error(), "\r\n")) {
				t.Errorf("the message shows a credential or is not one line: %q", err)
			}
		})
	}
	for _, status := range []int{401, 404, 429, 500, 503} {
		t.Run("refused with "+strconv.Itoa(status), func(t *testing.T) {
			t.Parallel()
			want := map[int]model.Code{401: model.Auth, 404: model.NotFound, 429: model.RateLimit, 500: model.Server, 503: model.Overloaded}[status]
			_, err := callStream(t, h, Settings{}, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "7")
				writeJSON(w, status, h.Refuse("no"))
			})
			var got *model.Error
			if !errors.As(err, &got) || got.Code != want || got.Status != status || want.Transient() != (got.RetryAfter == 7*time.Second) {
				t.Errorf("error %+v, want %s", err, want)
			}
		})
	}
	t.Run("an event that is no JSON", func(t *testing.T) {
		t.Parallel()
		bad, ok := garbleEvent(events[len(events)/2])
		if !ok {
			t.Skip("the protocol's streams are not server-sent events")
		}
		_, err := callStream(t, h, Settings{}, func(w http.ResponseWriter, _ *http.Request) {
			writeEvents(w, append(events[:len(events)/2:len(events)/2], bad))
		})
		if code := model.CodeOf(err); code != model.Malformed {
			t.Errorf("error %v, want %s", err, model.Malformed)
		}
	})
	t.Run("larger than the limit", func(t *testing.T) {
		t.Parallel()
		long := h.Stream(Reply{Text: strings.Repeat("x", 20_000), Finish: model.FinishStop})
		_, err := callStream(t, h, Settings{MaxBody: 4096}, func(w http.ResponseWriter, _ *http.Request) { writeEvents(w, long) })
		if code := model.CodeOf(err); code != model.Malformed {
			t.Errorf("error %v, want %s", err, model.Malformed)
		}
	})
}

// garbleEvent breaks the data of an event.
func garbleEvent(event string) (string, bool) {
	lines := strings.SplitAfter(event, "\n")
	found := false
	for i, line := range lines {
		if strings.HasPrefix(line, "data:") {
			lines[i], found = "data: {\"a\": oops}\n", true
		}
	}
	return strings.Join(lines, ""), found
}

// testStreamContext has the caller give up within a stream.
func testStreamContext(t *testing.T, h Harness) {
	begin := func(w http.ResponseWriter) {
		events := h.Stream(longReply())
		writeEvents(w, events[:len(events)/2])
	}
	t.Run("cancel", func(t *testing.T) {
		t.Parallel()
		srv, arrived := startHanging(t, h, begin)
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			<-arrived
			cancel(errors.New("the user stopped it"))
		}()
		_, err := h.New(t, Settings{URL: srv.URL, Stream: true}).Generate(ctx, question("q"))
		checkCancelled(t, err)
	})
	t.Run("deadline", func(t *testing.T) {
		t.Parallel()
		srv, _ := startHanging(t, h, begin)
		ctx, cancel := context.WithTimeout(t.Context(), quick)
		defer cancel()
		_, err := h.New(t, Settings{URL: srv.URL, Stream: true}).Generate(ctx, question("q"))
		if model.CodeOf(err) != model.Timeout || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want a %s that wraps the deadline", err, model.Timeout)
		}
	})
}
