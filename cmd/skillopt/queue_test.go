//go:build unix

package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// queued is an entry of the queue.
type queued struct {
	ID, State, Run, Error, Log string
	RunID                      string `json:"run_id"`
	Exit                       *int
}

// queue asks for the queue until it is as wanted.
func (p *page) queue(want func([]queued) bool) []queued {
	p.t.Helper()
	late := time.After(time.Minute)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		var doc struct{ Entries []queued }
		p.ask(http.MethodGet, "/queue", "", &doc)
		if want(doc.Entries) {
			return doc.Entries
		}
		select {
		case <-tick.C:
		case <-late:
			p.t.Fatalf("the queue stays as it is: %+v", doc.Entries)
		}
	}
}

// in counts the entries in a state.
func in(state string, list []queued) (n int) {
	for _, e := range list {
		if e.State == state {
			n++
		}
	}
	return n
}

// Two runs are queued, with two servers at the folder. Both servers, and the page, are killed in the middle of the
// first run: it continues, the second one begins with the next server, and none begins twice.
func TestQueueOutlivesServers(t *testing.T) {
	t.Parallel()
	dir := smallFolder(t)
	appendTo(t, filepath.Join(dir, "small", "world.yaml"), "rates: {latency_ms: 20}\n")
	copyFolder(t, filepath.Join(dir, "small"), filepath.Join(dir, "other"))
	env := []string{"XDG_STATE_HOME=" + filepath.Join(dir, "state"), "SOME_OTHER_KEY=not-for-trainers"}
	serve := func() (*child, *page) {
		c := startWith(t, dir, env, "serve", "--addr", "127.0.0.1:0", "--json")
		url, token := served(t, c.out)
		return c, open(t, url, token)
	}
	first, p := serve()
	second, q := serve()
	var entry queued
	p.ask(http.MethodPost, "/configs/small/start", "{}", &entry)
	twice := q.send(http.MethodPost, "/configs/small/start", "{}")
	_ = twice.Body.Close()
	if twice.StatusCode != http.StatusConflict {
		t.Errorf("the same is queued twice: %s", twice.Status)
	}
	q.ask(http.MethodPost, "/configs/other/start", "{}", &entry)
	p.queue(func(list []queued) bool { return list[0].RunID != "" })
	f := p.follow("runs:small-1", "0")
	f.until(func(kind, data string) bool { return kind == "events" && strings.Contains(data, `"step_done"`) })
	for _, c := range []*child{first, second} {
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait() // it was killed
	}
	_ = f.resp.Body.Close()

	third, p := serve()
	// On a busy machine the run has ended before the server is there.
	if e := p.queue(func([]queued) bool { return true })[0]; e.State == "waiting" || e.Error != "" {
		t.Errorf("the first entry after the servers were killed: %+v", e)
	}
	ended := p.queue(func(list []queued) bool {
		if in("begun", list) > 1 {
			t.Fatalf("two at once: %+v", list)
		}
		return in("ended", list) == 2
	})
	third.interrupt()
	third.ends(0)
	for i, e := range ended {
		if want := filepath.Join(dir, "runs", []string{"small-1", "other-1"}[i]); e.Run != want || e.Exit == nil || *e.Exit != 0 || e.Error != "" {
			t.Errorf("entry %d: %+v, want a good end of %s", i, e, want)
		}
		if log := read(t, e.Log); strings.Count(log, "model calls, not counting") != 1 || strings.Count(log, "best skill:") != 1 {
			t.Errorf("entry %d did not run once: %s", i, log)
		}
	}
	runs, err := filepath.Glob(filepath.Join(dir, "runs", "*", "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"other-1", "small-1"}, folders(runs)); diff != "" {
		t.Error(diff)
	}
}

func copyFolder(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

func folders(paths []string) (out []string) {
	for _, path := range paths {
		out = append(out, filepath.Base(filepath.Dir(path)))
	}
	return out
}

// A run that was stopped in the page is resumed there, and a config that has changed since it was queued is not begun.
func TestQueueResumesAndRefuses(t *testing.T) {
	t.Parallel()
	dir := smallFolder(t)
	appendTo(t, filepath.Join(dir, "small", "world.yaml"), "rates: {latency_ms: 150}\n")
	copyFolder(t, filepath.Join(dir, "small"), filepath.Join(dir, "other"))
	server := startWith(t, dir, []string{"XDG_STATE_HOME=" + filepath.Join(dir, "state")}, "serve", "--addr", "127.0.0.1:0", "--json")
	url, token := served(t, server.out)
	p := open(t, url, token)
	var entry queued
	p.ask(http.MethodPost, "/configs/small/start", "{}", &entry)
	p.ask(http.MethodPost, "/configs/other/start", "{}", &entry)
	p.queue(func(list []queued) bool { return list[0].RunID != "" })
	f := p.follow("runs:small-1", "0")
	f.until(func(kind, data string) bool { return kind == "events" && strings.Contains(data, `"step_done"`) })
	_ = f.resp.Body.Close()
	config := filepath.Join(dir, "other", "config.yaml")
	text := read(t, config)
	appendTo(t, config, "# changed\n")
	var stopped struct{ State string }
	p.ask(http.MethodPost, "/runs/runs:small-1/stop", `{}`, &stopped)
	both := p.queue(func(list []queued) bool { return in("ended", list) == 2 })
	if e := both[0]; e.Exit == nil || *e.Exit != 130 {
		t.Errorf("the stopped one: %+v", e)
	}
	if e := both[1]; e.Exit == nil || *e.Exit != 2 || !strings.Contains(e.Error, "has changed since the command was put into the queue") {
		t.Errorf("the changed one: %+v", e)
	}
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	p.ask(http.MethodPost, "/runs/runs:small-1/resume", "{}", &entry)
	twice := p.send(http.MethodPost, "/runs/runs:small-1/resume", "{}")
	_ = twice.Body.Close()
	if twice.StatusCode != http.StatusConflict {
		t.Errorf("resumed twice: %s", twice.Status)
	}
	p.queue(func(list []queued) bool { return in("ended", list) == 2 && list[1].ID == entry.ID })
	if s := readSummary(t, filepath.Join(dir, "runs", "small-1")); s.Status != "completed" {
		t.Errorf("%+v", s)
	}
	server.interrupt()
	server.ends(0)
}

// A run that the terminal has trained is continued and forked from the page; what cannot begin says why at once.
func TestPageContinuesAndForks(t *testing.T) {
	t.Parallel()
	dir := smallFolder(t)
	state := []string{"XDG_STATE_HOME=" + filepath.Join(dir, "state")}
	startWith(t, dir, state, "train", "small", "--run", "runs/small-1", "--set", "train.epochs=1").ends(0)
	if err := os.Mkdir(filepath.Join(dir, "foreign"), 0o755); err != nil {
		t.Fatal(err)
	}
	foreign := "skill: ../small/SKILL.md\nmodels: {target: {provider: compatible, model: m, base_url: 'http://127.0.0.1:1/v1'}}\n"
	if err := os.WriteFile(filepath.Join(dir, "foreign", "config.yaml"), []byte(foreign), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("small", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	server := startWith(t, dir, state, "serve", "--addr", "127.0.0.1:0", "--json")
	url, token := served(t, server.out)
	p := open(t, url, token)
	refused := func(path, body string, status int, want string) {
		t.Helper()
		resp := p.send(http.MethodPost, path, body)
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != status || !strings.Contains(string(text), want) {
			t.Errorf("%s: %s %s (%v), want %d with %q", path, resp.Status, text, err, status, want)
		}
	}
	refused("/configs/foreign/start", "{}", http.StatusBadRequest, "--trust foreign")
	refused("/configs/link/start", "{}", http.StatusNotFound, "no config")
	refused("/configs/nothing/start", "{}", http.StatusNotFound, "no config")
	refused("/configs/%2e%2e/start", "{}", http.StatusNotFound, "")
	refused("/runs/runs:small-1/resume", "{}", http.StatusConflict, "the run has ended")
	refused("/runs/runs:small-1/continue", `{"epochs": "some"}`, http.StatusBadRequest, "allowed are +N and N")
	refused("/runs/runs:small-1/fork", `{"step": 99}`, http.StatusNotFound, "99")
	refused("/queue/nothing/remove", "{}", http.StatusNotFound, "no entry")

	var entry queued
	p.ask(http.MethodPost, "/runs/runs:small-1/continue", `{"epochs": "+1"}`, &entry)
	var forked struct{ Config string }
	p.ask(http.MethodPost, "/runs/runs:small-1/fork", `{"step": 0}`, &forked)
	if forked.Config != "small-step-0" {
		t.Errorf("%+v", forked)
	}
	if got, want := read(t, filepath.Join(dir, forked.Config, "SKILL.md")), read(t, filepath.Join(dir, "runs", "small-1", "skills", "skill_v0000.md")); got != want {
		t.Errorf("the skill of the fork: %s", cmp.Diff(want, got))
	}
	p.ask(http.MethodPost, "/configs/small-step-0/start", "{}", &entry)
	for _, e := range p.queue(func(list []queued) bool { return in("ended", list) == 2 }) {
		if e.Error != "" || readSummary(t, e.Run).Status != "completed" {
			t.Errorf("%+v", e)
		}
	}
	p.ask(http.MethodPost, "/queue/"+entry.ID+"/remove", "{}", &entry)
	server.interrupt()
	server.ends(0)

	server = startWith(t, dir, state, "serve", "--read-only", "--addr", "127.0.0.1:0", "--json")
	url, token = served(t, server.out)
	p = open(t, url, token)
	refused("/configs/small/start", "{}", http.StatusForbidden, "only shows runs")
	server.interrupt()
	server.ends(0)
}
