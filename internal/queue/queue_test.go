package queue

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func opened(t testing.TB) *Queue {
	t.Helper()
	return New(filepath.Join(t.TempDir(), "runs", ".queue"), time.Now)
}

func add(t testing.TB, q *Queue, run string) Entry {
	t.Helper()
	e, err := q.Add(Entry{Words: []string{"train", run}, Run: run, Title: "Train " + run})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// states are the runs of a queue with their states, in its order.
func states(t testing.TB, q *Queue) (out []string) {
	t.Helper()
	list, err := q.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		out = append(out, e.Run+" "+e.State)
	}
	return out
}

func TestOneAfterTheOther(t *testing.T) {
	t.Parallel()
	q := opened(t)
	if _, ok, err := q.Next(); ok || err != nil {
		t.Errorf("next of no queue: %v %v", ok, err)
	}
	a, b := add(t, q, "a"), add(t, q, "b")
	var taken *TakenError
	if _, err := q.Add(Entry{Run: "b"}); !errors.As(err, &taken) || taken.Entry.ID != b.ID {
		t.Errorf("a run twice: %v", err)
	}
	if e, ok, err := q.Next(); !ok || err != nil || e.ID != a.ID {
		t.Errorf("next: %+v %v %v", e, ok, err)
	}
	w, err := q.Begin(t.Context(), a.ID)
	if err != nil {
		t.Fatal(err)
	}
	if e, ok, err := q.Next(); ok || err != nil {
		t.Errorf("next while one is at work: %+v %v %v", e, ok, err)
	}
	if _, err := q.Begin(t.Context(), b.ID); !errors.Is(err, ErrAtWork) {
		t.Errorf("a second one: %v", err)
	}
	var state *StateError
	if err := q.Remove(a.ID); !errors.As(err, &state) || state.State != Begun {
		t.Errorf("remove of what is at work: %v", err)
	}
	if diff := cmp.Diff([]string{"a begun", "b waiting"}, states(t, q)); diff != "" {
		t.Error(diff)
	}
	if err := w.End(3, "it failed"); err != nil {
		t.Fatal(err)
	}
	e, err := q.Find(a.ID)
	if err != nil || e.State != Ended || *e.Exit != 3 || e.Error != "it failed" || e.BegunAt == nil || e.EndedAt == nil || e.Title != "Train a" {
		t.Errorf("the end: %+v %v", e, err)
	}
	if _, err := q.Begin(t.Context(), a.ID); !errors.As(err, &state) || state.State != Ended {
		t.Errorf("begun again: %v", err)
	}
	add(t, q, "a") // it has ended, and is forgotten
	if err := q.Remove(b.ID); err != nil {
		t.Error(err)
	}
	if err := q.Remove(a.ID); !errors.As(err, &state) || state.State != "" {
		t.Errorf("the one that has ended: %v", err)
	}
	if _, err := q.Begin(t.Context(), b.ID); !errors.As(err, &state) || state.State != "" {
		t.Errorf("begun after removal: %v", err)
	}
	if diff := cmp.Diff([]string{"a waiting"}, states(t, q)); diff != "" {
		t.Error(diff)
	}
}

func TestFail(t *testing.T) {
	t.Parallel()
	q := opened(t)
	e := add(t, q, "a")
	if err := q.Fail(e.ID, "no program"); err != nil {
		t.Fatal(err)
	}
	var state *StateError
	if err := q.Fail(e.ID, "again"); !errors.As(err, &state) {
		t.Errorf("failed twice: %v", err)
	}
	if got, err := q.Find(e.ID); err != nil || got.State != Ended || got.Exit != nil || got.Error != "no program" {
		t.Errorf("%+v %v", got, err)
	}
}

// Of many that try to begin the same entries at once, each entry has one.
func TestBegunOnce(t *testing.T) {
	t.Parallel()
	q := opened(t)
	ids := []string{add(t, q, "a").ID, add(t, q, "b").ID, add(t, q, "c").ID}
	var (
		mu     sync.Mutex
		begun  []string
		active int
		all    sync.WaitGroup
	)
	for range 6 {
		all.Go(func() {
			for _, id := range ids {
				w, err := New(q.dir, time.Now).Begin(t.Context(), id)
				for errors.Is(err, ErrAtWork) {
					w, err = New(q.dir, time.Now).Begin(t.Context(), id)
				}
				if err != nil {
					continue
				}
				mu.Lock()
				begun, active = append(begun, id), active+1
				if active > 1 {
					t.Error("two at once")
				}
				active--
				mu.Unlock()
				if err := w.End(0, ""); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	slices.Sort(begun)
	if diff := cmp.Diff(ids, begun); diff != "" {
		t.Error(diff)
	}
}

// helper is the variable that has the test program be a process that works: DIR, id and how it ends.
const helper = "SKILLOPT_QUEUE_HELPER"

func TestMain(m *testing.M) {
	dir, rest, ok := strings.Cut(os.Getenv(helper), "|")
	if !ok {
		os.Exit(m.Run())
	}
	id, _, _ := strings.Cut(rest, "|")
	if _, err := New(dir, time.Now).Begin(context.Background(), id); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("begun")
	select {}
}

// The process of an entry is killed: that is seen, and the next entry begins.
func TestKilled(t *testing.T) {
	t.Parallel()
	q := opened(t)
	a, b := add(t, q, "a"), add(t, q, "b")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self)
	c.Env = append(os.Environ(), helper+"="+q.dir+"|"+a.ID+"|")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, len("begun"))
	if _, err := out.Read(line); err != nil || string(line) != "begun" {
		t.Fatalf("%q %v", line, err)
	}
	if diff := cmp.Diff([]string{"a begun", "b waiting"}, states(t, q)); diff != "" {
		t.Error(diff)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	e, err := q.Find(a.ID)
	if err != nil || e.State != Ended || e.Exit != nil || e.Error != Killed {
		t.Errorf("the killed one: %+v %v", e, err)
	}
	next, ok, err := q.Next()
	if !ok || err != nil || next.ID != b.ID {
		t.Fatalf("next: %+v %v %v", next, ok, err)
	}
	w, err := q.Begin(t.Context(), b.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a ended", "b begun"}, states(t, q)); diff != "" {
		t.Error(diff)
	}
	if err := w.End(0, ""); err != nil {
		t.Error(err)
	}
}

// Ended entries are kept, but not for ever; what is no entry is left alone.
func TestOldOnesAreForgotten(t *testing.T) {
	t.Parallel()
	q := opened(t)
	for i := range mostEnded + 5 {
		e := add(t, q, fmt.Sprint("run-", i))
		if err := os.WriteFile(q.Log(e.ID), []byte("log"), 0o600); err != nil {
			t.Fatal(err)
		}
		w, err := q.Begin(t.Context(), e.ID)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.End(0, ""); err != nil {
			t.Fatal(err)
		}
	}
	list := states(t, q)
	if len(list) != mostEnded+1 || list[0] != "run-4 ended" {
		t.Errorf("%d are left, from %s", len(list), list[0])
	}
	logs, err := filepath.Glob(filepath.Join(q.dir, "*.log"))
	if err != nil || len(logs) != len(list) {
		t.Errorf("%d logs: %v", len(logs), err)
	}
	for _, name := range []string{"notes.txt", "x.waiting.json", ".y.tmp-1"} {
		if err := os.WriteFile(filepath.Join(q.dir, name), []byte("?"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := states(t, q); len(got) != len(list) {
		t.Errorf("%v", got)
	}
}

func TestFull(t *testing.T) {
	t.Parallel()
	q := opened(t)
	for i := range MaxWaiting {
		add(t, q, fmt.Sprint(i))
	}
	if _, err := q.Add(Entry{Run: "one more"}); err == nil || !strings.Contains(err.Error(), "holds no more") {
		t.Errorf("%v", err)
	}
}

// Whatever happens, and wherever a process is killed, an entry is in one state, is begun once at most, and none is
// lost that was not removed.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "queue-*")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		q := New(dir, time.Now)
		want := map[string]string{} // states by id
		begun := map[string]int{}
		var ids []string
		var work *Work
		any := func() string {
			if len(ids) == 0 {
				return "00000000-0000-0000-0000-000000000000"
			}
			return rapid.SampledFrom(ids).Draw(t, "id")
		}
		settle := func() { // who begins one knows that no other is at work
			for id, state := range want {
				if state == Begun && (work == nil || work.Entry.ID != id) {
					want[id] = Ended
				}
			}
			ended := 0
			for _, id := range slices.Backward(ids) {
				if want[id] == Ended {
					if ended++; ended > mostEnded {
						delete(want, id)
					}
				}
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				e, err := q.Add(Entry{Run: fmt.Sprint("run-", len(ids))})
				if err != nil {
					t.Fatal(err)
				}
				ids, want[e.ID] = append(ids, e.ID), Waiting
			},
			"begin": func(t *rapid.T) {
				id := any()
				if work != nil {
					return
				}
				w, err := q.Begin(t.Context(), id)
				if (err == nil) != (want[id] == Waiting) {
					t.Fatalf("begin what is %q: %v", want[id], err)
				}
				settle()
				if err == nil {
					work, want[id] = w, Begun
					begun[id]++
				}
			},
			"end": func(t *rapid.T) {
				if work == nil {
					return
				}
				if err := work.End(0, ""); err != nil {
					t.Fatal(err)
				}
				want[work.Entry.ID], work = Ended, nil
			},
			"kill": func(t *rapid.T) { // the lock goes, and nothing is written
				if work == nil {
					return
				}
				if err := work.lock.Unlock(); err != nil {
					t.Fatal(err)
				}
				want[work.Entry.ID], work = Ended, nil
			},
			"kill between the files": func(t *rapid.T) { // the end is written, and the file before it is there still
				if work == nil {
					return
				}
				before, err := os.ReadFile(q.path(work.Entry.ID, Begun))
				if err != nil {
					t.Fatal(err)
				}
				if err := errors.Join(work.End(0, ""), os.WriteFile(q.path(work.Entry.ID, Begun), before, 0o600)); err != nil {
					t.Fatal(err)
				}
				want[work.Entry.ID], work = Ended, nil
			},
			"remove": func(t *rapid.T) {
				id := any()
				err := q.Remove(id)
				if can := want[id] == Waiting || want[id] == Ended; (err == nil) != can {
					t.Fatalf("remove what is %q: %v", want[id], err)
				}
				if err == nil {
					delete(want, id)
				}
			},
			"": func(t *rapid.T) {
				list, err := q.List()
				if err != nil {
					t.Fatal(err)
				}
				got := map[string]string{}
				for _, e := range list {
					if _, twice := got[e.ID]; twice {
						t.Fatalf("%s is there twice", e.ID)
					}
					got[e.ID] = e.State
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatal(diff)
				}
				for id, n := range begun {
					if n > 1 {
						t.Fatalf("%s was begun %d times", id, n)
					}
				}
			},
		})
		if work != nil {
			_ = work.End(0, "") // its lock would stay
		}
	})
}
