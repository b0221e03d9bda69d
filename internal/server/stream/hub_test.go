package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
)

// fakeRun is a run whose events and progress a test says.
type fakeRun struct {
	mu       sync.Mutex
	lines    []Line
	progress record.Progress
	err      error // of looks
	reads    int
}

func (f *fakeRun) After(_ context.Context, n int64, most int) ([]Line, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reads++
	from := min(int(n), len(f.lines))
	return slices.Clone(f.lines[from:min(len(f.lines), from+most)]), nil
}

func (f *fakeRun) Last(context.Context) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return int64(len(f.lines)), nil
}

func (f *fakeRun) Look(context.Context) (record.Progress, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.progress, f.err
}

func (f *fakeRun) add(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for range n {
		at := int64(len(f.lines) + 1)
		f.lines = append(f.lines, Line{N: at, JSON: fmt.Appendf(nil, `{"n":%d,"event":"note"}`, at)})
	}
}

func (f *fakeRun) set(how func(*fakeRun)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	how(f)
}

func hubOf(f *fakeRun) *Hub {
	return NewHub(func(string) (Log, Looker) { return f, f }, func(v any) ([]byte, error) { return json.Marshal(v) })
}

// stream is what a client is sent.
type sent struct {
	mu    sync.Mutex
	text  strings.Builder
	times []time.Time // of writes
	stuck bool        // it takes nothing
}

func (s *sent) Header() http.Header { return http.Header{} }
func (s *sent) WriteHeader(int)     {}
func (s *sent) Flush()              {}
func (s *sent) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stuck {
		return 0, errors.New("deadline exceeded")
	}
	s.times = append(s.times, time.Now())
	return s.text.Write(p)
}

// numbers are those of the events that were sent, and kinds the kinds of frames.
func (s *sent) numbers(t *testing.T) (numbers []int64, kinds []string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for block := range strings.SplitSeq(s.text.String(), "\n\n") {
		kind, data, id := "", "", ""
		for line := range strings.SplitSeq(block, "\n") {
			name, value, _ := strings.Cut(line, ": ")
			switch name {
			case "event":
				kind = value
			case "data":
				data = value
			case "id":
				id = value
			}
		}
		if kind == "" {
			continue
		}
		kinds = append(kinds, kind)
		if kind != "events" {
			continue
		}
		var list []struct{ N int64 }
		if err := json.Unmarshal([]byte(data), &list); err != nil {
			t.Fatalf("%v in %q", err, data)
		}
		for _, e := range list {
			numbers = append(numbers, e.N)
		}
		if want := strconv.FormatInt(list[len(list)-1].N, 10); id != want {
			t.Errorf("id %q of a frame that ends with %s", id, want)
		}
	}
	return numbers, kinds
}

func serve(ctx context.Context, h *Hub, w http.ResponseWriter, after int64) error {
	return h.Serve(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil), "dir", after)
}

func upTo(t *testing.T, got []int64, from, to int64) {
	t.Helper()
	for i, n := range got {
		if n != from+int64(i) {
			t.Fatalf("event %d came at place %d after %d", n, i, from-1)
		}
	}
	if int64(len(got)) != to-from+1 {
		t.Fatalf("%d events from %d, want those to %d", len(got), from, to)
	}
}

// A hundred who look at a run with a hundred events a second get each of them once, in at most
// ten frames a second, and the run is read once for all of them.
func TestHundredFollowers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fakeRun{progress: record.Progress{Status: result.Running}}
		f.add(500)
		h := hubOf(f)
		ctx, cancel := context.WithCancel(t.Context())
		var work sync.WaitGroup
		var all [100]sent
		for i := range all {
			work.Go(func() {
				if err := serve(ctx, h, &all[i], int64(i*5)); err != nil {
					t.Error(err)
				}
			})
		}
		for range 1000 {
			time.Sleep(10 * time.Millisecond)
			f.add(1)
		}
		time.Sleep(time.Second)
		if n := h.CountRuns(); n != 1 {
			t.Errorf("%d followers", n)
		}
		cancel()
		work.Wait()
		for i := range all {
			got, _ := all[i].numbers(t)
			upTo(t, got, int64(i*5)+1, 1500)
			if n := len(all[i].times); n > 10*11+3 {
				t.Errorf("%d frames in 11 seconds", n)
			}
		}
		if f.reads > 400 {
			t.Errorf("the run was read %d times", f.reads)
		}
		if n := h.CountRuns(); n != 0 {
			t.Errorf("%d followers of nobody", n)
		}
		h.Close()
	})
}

// Who comes back goes on behind the last number that it has, also where the follower does
// not keep that any more.
func TestGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fakeRun{progress: record.Progress{Status: result.Running}}
		h := hubOf(f)
		defer h.Close()
		ctx, cancel := context.WithCancel(t.Context())
		var first, second, tail sent
		var work sync.WaitGroup
		work.Go(func() { _ = serve(ctx, h, &first, 0) })
		synctest.Wait()
		for range 30 {
			f.add(keptLines / 10)
			time.Sleep(readEvery)
		}
		time.Sleep(5 * time.Second)
		last := int64(30 * (keptLines / 10))
		work.Go(func() { _ = serve(ctx, h, &second, 17) })
		work.Go(func() { _ = serve(ctx, h, &tail, -3) })
		time.Sleep(10 * time.Second)
		cancel()
		work.Wait()
		for _, c := range []struct {
			s    *sent
			from int64
		}{{&first, 1}, {&second, 18}, {&tail, last - 2}} {
			got, _ := c.s.numbers(t)
			upTo(t, got, c.from, last)
		}
	})
}

// A run that ends ends its streams when all is sent; one that was killed may go on; one that
// vanishes is told.
func TestEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		how  func(*fakeRun)
		want string // the last frame
		ends bool
	}{
		"ended":  {func(f *fakeRun) { f.progress.Status = result.Completed }, "ended", true},
		"gone":   {func(f *fakeRun) { f.err = &run.MissingError{Dir: "dir"} }, "gone", true},
		"killed": {func(f *fakeRun) { f.progress.Killed = true }, "progress", false},
		"broken": {func(f *fakeRun) { f.err = errors.New("no disk") }, "problem", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := &fakeRun{progress: record.Progress{Status: result.Running}}
				h := hubOf(f)
				var s sent
				ended := make(chan error, 1)
				go func() { ended <- serve(t.Context(), h, &s, 0) }()
				time.Sleep(3 * time.Second)
				f.add(2500)
				f.set(c.how)
				time.Sleep(10 * time.Second)
				got, kinds := s.numbers(t)
				upTo(t, got, 1, 2500)
				kinds = slices.DeleteFunc(kinds, func(kind string) bool { return kind == "events" })
				if last := kinds[len(kinds)-1]; last != c.want {
					t.Errorf("the last frame is %s", last)
				}
				select {
				case <-ended:
					if !c.ends {
						t.Error("the stream has ended")
					}
				default:
					if c.ends {
						t.Error("the stream goes on")
					}
				}
				h.Close()
				synctest.Wait()
				if !c.ends {
					<-ended
				}
			})
		})
	}
}

// Who takes nothing is dropped and holds up nobody; a beat comes where nothing happens.
func TestSlowAndSilent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fakeRun{progress: record.Progress{Status: result.Running}}
		h := hubOf(f)
		slow, good := sent{stuck: true}, sent{}
		dropped := make(chan struct{})
		go func() { _ = serve(t.Context(), h, &slow, 0); close(dropped) }()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { _ = serve(ctx, h, &good, 0); close(ended) }()
		<-dropped
		f.add(10)
		time.Sleep(time.Minute)
		cancel()
		<-ended
		got, _ := good.numbers(t)
		upTo(t, got, 1, 10)
		if n := strings.Count(good.text.String(), "\n: \n") + strings.Count(good.text.String(), "\n\n: \n"); n < 3 {
			t.Errorf("%d beats in a minute", n)
		}
		h.Close()
		if err := serve(t.Context(), h, &good, 0); !errors.Is(err, ErrClosed) {
			t.Errorf("a closed hub: %v", err)
		}
	})
}

// A damaged line is sent as one, and nothing in a line ends a frame or steers a terminal.
func TestDamagedLines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fakeRun{progress: record.Progress{Status: result.Completed}}
		for i, text := range []string{`{"n":1,"text":"a\u001bb"}`, "{\"n\":2,\n\ndata: x", "{\"n\":3,\"text\":\"\u202e\u009b\"}", "\xff\xfe", ""} {
			f.lines = append(f.lines, Line{N: int64(i + 1), JSON: []byte(text)})
		}
		h := hubOf(f)
		defer h.Close()
		var s sent
		if err := serve(t.Context(), h, &s, 0); err != nil {
			t.Fatal(err)
		}
		got, _ := s.numbers(t)
		upTo(t, got, 1, 5)
		if strings.ContainsAny(s.text.String(), "\u202e\u009b\x1b\ufffd") {
			t.Errorf("%q", s.text.String())
		}
	})
}
