package record

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

const episodeKey = "e1/s3/gate/cand/t-1/sample0"

// atWork is a run that somebody has open, with a caller of its model.
func atWork(t *testing.T) (dir string, j *journal.Journal, c *caller.Caller) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, run.ManifestFile), []byte(`{"format": 2, "kind": "train","run_id":"r","name":"n","status":"running"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(t.Context(), filepath.Join(dir, run.DBFile), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	answer := modeltest.New(func(_ context.Context, n int, _ model.Request) (model.Response, error) {
		return model.Response{Text: fmt.Sprint("answer ", n), Finish: model.FinishStop}, nil
	})
	c, err = caller.New(caller.Options{
		Journal: j, Roles: map[string]caller.Role{model.Target: {Client: answer, Endpoint: "server", Model: "m"}}, Redact: func(s string) string { return s },
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir, j, c
}

func turns(n int, end error) func(context.Context, model.Client) (caller.EpisodeResult, error) {
	return func(ctx context.Context, client model.Client) (caller.EpisodeResult, error) {
		messages := []model.Message{{Role: model.System, Content: "system"}}
		for i := range n {
			messages = append(messages, model.Message{Role: model.User, Content: fmt.Sprint("question ", i)})
			resp, err := client.Generate(ctx, model.Request{Messages: messages})
			if err != nil {
				return caller.EpisodeResult{}, err
			}
			messages = append(messages, resp.Message())
		}
		return caller.EpisodeResult{Data: []byte(`{}`)}, end
	}
}

// The attempts at an episode are told apart: the one that gave no result, with its calls,
// and the one that counts; beside the writer, and of a task whose episode has none yet.
func TestTries(t *testing.T) {
	t.Parallel()
	dir, j, c := atWork(t)
	call := caller.EpisodeCall{Key: episodeKey, Stage: model.StageRollout, Role: model.Target, Own: []byte(`{}`)}
	gone := errors.New("killed")
	if _, err := c.Episode(t.Context(), call, turns(2, gone)); !errors.Is(err, gone) {
		t.Fatal(err)
	}
	if err := j.SetMeta(t.Context(), "a", "b"); err != nil { // all before it is written
		t.Fatal(err)
	}
	open := func() *Run {
		t.Helper()
		r, err := Open(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.Close() })
		return r
	}
	found, err := open().Task(t.Context(), "t-1")
	if err != nil || len(found) != 1 || !found[0].Open || !found[0].Episode || found[0].Key != episodeKey {
		t.Fatalf("an episode at work: %+v, %v", found, err)
	}
	if _, err := c.Episode(t.Context(), call, turns(3, nil)); err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"beside the writer", "at its end"} {
		r := open()
		tries, err := r.Tries(t.Context(), "t-1", episodeKey)
		if err != nil || len(tries) != 2 {
			t.Fatalf("%s: %d attempts, %v", when, len(tries), err)
		}
		type told struct {
			Counts                   bool
			Attempt, Calls, Messages int
		}
		var got []told
		for _, t := range tries {
			got = append(got, told{t.Counts, t.Attempt, len(t.Calls), len(t.Messages)})
		}
		if diff := cmp.Diff([]told{{false, 0, 2, 5}, {true, 1, 3, 7}}, got); diff != "" {
			t.Errorf("%s: %s", when, diff)
		}
		last := tries[1].Calls[2]
		if last.Attempt != 1 || last.Ordinal != 2 || !last.InEpisode() || tries[1].Messages[*last.Said.Reply].Parts[0].Text != "answer 4" {
			t.Errorf("%s: %+v", when, last)
		}
		if found, err := r.Task(t.Context(), "t-1"); err != nil || len(found) != 1 || found[0].Open || found[0].Attempt != 0 {
			t.Errorf("%s: %+v, %v", when, found, err)
		}
		if when == "beside the writer" {
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Lines of outcomes that nobody wants are left out, and what is left is what decoding all
// gives of it.
func TestOutcomesOfOneTask(t *testing.T) {
	t.Parallel()
	dir, j, _ := atWork(t)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	for name, text := range map[string]string{
		"a line each":    "[\n{\"id\":\"a\",\"hard\":1},\n{\"id\":\"b\"},\n{\"id\":\"a\",\"hard\":0.5}\n]\n",
		"an escape":      "[\n{\"id\":\"\\u0061\",\"hard\":1},\n{\"id\":\"x\\\"y\"},\n{\"id\":\"a\",\"hard\":0.5}\n]\n",
		"windows":        "[\r\n{\"id\":\"b\"},\r\n{\"id\":\"a\",\"hard\":1},\r\n{\"id\":\"a\",\"hard\":0.5}\r\n]\r\n",
		"several passes": "[[\n{\"id\":\"a\",\"hard\":1},\n{\"id\":\"b\"}\n],\n[\n{\"id\":\"b\"},\n{\"id\":\"a\",\"hard\":0.5}\n]]\n",
		"indented":       "[\n  {\"id\":\"a\",\n  \"hard\":1},\n  {\"id\":\"b\"},\n  {\"id\":\"a\",\"hard\":0.5}]",
		"two on a line":  "[\n{\"id\":\"b\"}, {\"id\":\"a\",\"hard\":1},\n{\"id\":\"a\",\"hard\":0.5}]",
	} {
		if err := os.WriteFile(filepath.Join(dir, "some.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := newOfTask(r, "a").of(Sheet{file: "some.json"})
		if err != nil || len(got) != 2 || got[0].Hard != 1 || got[1].Hard != 0.5 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
