package server

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// An answer is worked out once, however many ask at once, and again when the run has changed;
// one that failed is not kept.
func TestKept(t *testing.T) {
	t.Parallel()
	dir := copied(t)
	s, err := New(Options{Folders: []string{dir}, Addr: "127.0.0.1:1", Token: testToken, Key: []byte("key"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	request := func() *http.Request {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/x?a=1", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.SetPathValue("run", "runs:small-1")
		return r
	}
	var asked atomic.Int64
	fail := atomic.Bool{}
	next := func(http.ResponseWriter, *http.Request) (any, error) {
		n := asked.Add(1)
		if fail.Load() {
			return nil, errors.New("no")
		}
		return map[string]int64{"n": n}, nil
	}
	var work sync.WaitGroup
	for range 50 {
		work.Go(func() {
			if text, err := s.answerOnce(nil, request(), next); err != nil || string(text) != `{"n":1}` {
				t.Errorf("%s %v", text, err)
			}
		})
	}
	work.Wait()
	touch := func() {
		at := filepath.Join(dir, "small-1", "history.json")
		text, err := os.ReadFile(at)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	touch()
	if text, err := s.answerOnce(nil, request(), next); err != nil || string(text) != `{"n":2}` {
		t.Errorf("a run that has changed: %s %v", text, err)
	}
	touch()
	fail.Store(true)
	if _, err := s.answerOnce(nil, request(), next); err == nil {
		t.Error("a failure is answered")
	}
	fail.Store(false)
	if text, err := s.answerOnce(nil, request(), next); err != nil || string(text) != `{"n":4}` {
		t.Errorf("after a failure: %s %v", text, err)
	}
}

// What is kept is bounded, and what was used last stays.
func TestKeptIsBounded(t *testing.T) {
	t.Parallel()
	var k kept
	large := []byte(strings.Repeat("x", keptMost))
	for i := range 20 {
		a, mine := k.take(strings.Repeat("q", i+1), "s")
		if !mine {
			t.Fatal("it was never asked")
		}
		k.settle(a, large)
		if first, mine := k.take("q", "s"); mine {
			t.Fatal("what is used is gone")
		} else if first.text == nil {
			t.Fatal("it is empty")
		}
	}
	if k.bytes > keptBytes || len(k.list) > keptBytes/keptMost {
		t.Errorf("%d bytes of %d answers", k.bytes, len(k.list))
	}
	a, _ := k.take("larger", "s")
	k.settle(a, append(large, 'x'))
	if _, mine := k.take("larger", "s"); !mine {
		t.Error("what is too large is kept")
	}
}
