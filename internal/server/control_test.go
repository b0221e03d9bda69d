package server

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/queue"
	"github.com/seed-f4525e22/skillopt/result"
)

// idle is a program that is there and carries out nothing, and an editor that finds nothing wrong.
type idle struct{}

func (idle) Do(context.Context, ...string) ([]byte, error) { return []byte("{}"), nil }

func (idle) Edit(context.Context, string, string, map[string]any) (result.ConfigFile, error) {
	return result.ConfigFile{}, nil
}

// starting returns a server with a folder with configs and two entries in its queue, which launch begins.
func starting(t *testing.T, launch Launch) (*Server, []string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte("skill: SKILL.md\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{Configs: dir, Program: idle{}, Editor: idle{}, Launch: launch, Addr: "127.0.0.1:1", Token: testToken, Key: []byte("key"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for range 2 {
		to, err := s.freeRun("x")
		if err != nil {
			t.Fatal(err)
		}
		e, err := s.enqueue([]string{"train", ".", "--run", s.shownPath(to)}, to, "Train x")
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, e.ID)
	}
	return s, ids
}

func stateOf(t *testing.T, s *Server, id string) queue.Entry {
	t.Helper()
	e, err := s.queue.Find(id)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// The starter begins one entry after the other. One that cannot be begun has failed, and the next one begins.
func TestStarter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var order []string
		s, ids := starting(t, func(ctx context.Context, dir string, e queue.Entry) error {
			order = append(order, e.Words[len(e.Words)-1])
			if len(order) == 1 {
				return errors.New("no such program")
			}
			w, err := queue.New(dir, time.Now).Begin(ctx, e.ID)
			if err != nil {
				return err
			}
			time.Sleep(time.Hour)
			return w.End(0, "")
		})
		end := s.starter(t.Context())
		time.Sleep(30 * time.Minute)
		if e := stateOf(t, s, ids[0]); e.State != queue.Ended || e.Error != "no such program" {
			t.Errorf("the first one: %+v", e)
		}
		if e := stateOf(t, s, ids[1]); e.State != queue.Begun {
			t.Errorf("the second one: %+v", e)
		}
		time.Sleep(time.Hour)
		if e := stateOf(t, s, ids[1]); e.State != queue.Ended || *e.Exit != 0 {
			t.Errorf("the second one in the end: %+v", e)
		}
		if diff := cmp.Diff([]string{"runs/x-1", "runs/x-2"}, order); diff != "" {
			t.Error(diff)
		}
		end()
	})
}

// Two servers at one folder begin nothing twice, and the end of a server leaves what it has begun.
func TestStartersOfOneFolder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var (
			mu    sync.Mutex
			begun []string
			works []*queue.Work
		)
		launch := func(ctx context.Context, dir string, e queue.Entry) error {
			w, err := queue.New(dir, time.Now).Begin(ctx, e.ID)
			if err != nil {
				return nil // as of a process that finds it begun
			}
			mu.Lock()
			begun, works = append(begun, e.ID), append(works, w)
			mu.Unlock()
			<-ctx.Done()
			return nil
		}
		s, ids := starting(t, launch)
		other, err := New(s.options)
		if err != nil {
			t.Fatal(err)
		}
		endOne, endOther := s.starter(t.Context()), other.starter(t.Context())
		time.Sleep(time.Minute)
		endOne()
		endOther()
		if !slices.Equal(begun, ids[:1]) || stateOf(t, s, ids[0]).State != queue.Begun || stateOf(t, s, ids[1]).State != queue.Waiting {
			t.Errorf("begun %v of %v", begun, ids)
		}
		for _, w := range works {
			if err := w.End(0, ""); err != nil {
				t.Error(err)
			}
		}
	})
}

// A server that only shows begins nothing.
func TestNoStarter(t *testing.T) {
	t.Parallel()
	s, ids := starting(t, func(context.Context, string, queue.Entry) error { t.Error("begun"); return nil })
	s.readOnly = true
	s.starter(t.Context())()
	if e := stateOf(t, s, ids[0]); e.State != queue.Waiting {
		t.Errorf("%+v", e)
	}
}

// A run has one entry, and a free folder is neither there nor in the queue.
func TestEnqueue(t *testing.T) {
	t.Parallel()
	s, ids := starting(t, nil)
	first := stateOf(t, s, ids[0])
	if first.Run != filepath.Join(s.options.Configs, "runs", "x-1") || first.Config != filepath.Join(s.options.Configs, "config.yaml") || len(first.SHA256) != 64 {
		t.Errorf("%+v", first)
	}
	if _, err := s.enqueue(first.Words, first.Run, ""); refusal(err).Status != http.StatusConflict {
		t.Errorf("a run twice: %v", err)
	}
	if _, err := s.enqueue([]string{"eval", "nothing"}, "", ""); refusal(err).Status != http.StatusNotFound {
		t.Errorf("no config: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(s.options.Configs, "runs", "x-3"), 0o755); err != nil {
		t.Fatal(err)
	}
	if dir, err := s.freeRun("x"); err != nil || filepath.Base(dir) != "x-4" {
		t.Errorf("%s %v", dir, err)
	}
	for text, want := range map[string]string{"my-skill": "my-skill", "--fork": "./--fork", "runs/x-1": "runs/x-1", ".": "."} {
		if got := s.shownPath(filepath.Join(s.options.Configs, text)); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
	for path, want := range map[string]string{"runs/small-12": "small", "small": "small", "a-b": "a-b", "-1": "-1"} {
		if got := runBase(path); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// Without a folder with configs nothing is started, and the answer says what helps.
func TestNothingToStart(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, copied(t))
	for _, path := range []string{"/configs/x/start", "/queue/x/remove", "/runs/runs:small-1/resume"} {
		if r := s.ask(http.MethodPost, path, "{}"); r.status != http.StatusForbidden || !strings.Contains(r.text, "start skillopt serve") {
			t.Errorf("%s: %d %s", path, r.status, r.text)
		}
	}
	for path, text := range map[string]string{"/runs/runs:small-1/continue": `{"epochs": "+1"}`, "/runs/runs:small-1/fork": `{"step": 1}`} {
		if r := s.ask(http.MethodPost, path, text); r.status != http.StatusForbidden {
			t.Errorf("%s: %d %s", path, r.status, r.text)
		}
	}
	var q Queue
	if s.get("/queue", &q); q.Entries == nil || len(q.Entries) > 0 {
		t.Errorf("%+v", q)
	}
}
