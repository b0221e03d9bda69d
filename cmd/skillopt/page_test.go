package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// page is a browser, as far as the server can tell.
type page struct {
	t      *testing.T
	url    string
	cookie *http.Cookie
}

// served reads where a server is: on standard output of serve, on standard error of train.
func served(t *testing.T, r *bufio.Reader) (url, token string) {
	t.Helper()
	until(t, r, func(line string) bool {
		link := strings.TrimSpace(line)
		if i := strings.Index(link, `"link":"`); i >= 0 {
			link, _, _ = strings.Cut(link[i+len(`"link":"`):], `"`)
		}
		var found bool
		url, token, found = strings.Cut(link, "/#token=")
		return found
	})
	return url, token
}

// open trades the token of a link for a session.
func open(t *testing.T, url, token string) *page {
	t.Helper()
	p := &page{t: t, url: url}
	resp := p.send(http.MethodPost, "/session", `{"token":"`+token+`"}`)
	defer resp.Body.Close()
	cookies := resp.Cookies()
	if resp.StatusCode != http.StatusNoContent || len(cookies) != 1 {
		t.Fatalf("%s %v", resp.Status, cookies)
	}
	p.cookie = cookies[0]
	return p
}

func (p *page) send(method, path, body string, header ...string) *http.Response {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.url+"/api/v1"+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Origin", p.url)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	if p.cookie != nil {
		r.AddCookie(p.cookie)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	return resp
}

// ask is the document of an answer.
func (p *page) ask(method, path, body string, into any) {
	p.t.Helper()
	resp := p.send(method, path, body)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		p.t.Fatalf("%s %s: %s %s (%v)", method, path, resp.Status, text, err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		p.t.Fatalf("%s: %v", path, err)
	}
}

// followed is a stream of a run.
type followed struct {
	t    *testing.T
	resp *http.Response
	r    *bufio.Reader
	last string // number of the last event
}

func (p *page) follow(run, after string) *followed {
	p.t.Helper()
	resp := p.send(http.MethodGet, "/runs/"+run+"/events", "", "Last-Event-ID", after)
	if resp.StatusCode != http.StatusOK {
		p.t.Fatal(resp.Status)
	}
	return &followed{p.t, resp, bufio.NewReader(resp.Body), after}
}

// until reads frames until one is wanted, and returns the numbers of the events.
func (f *followed) until(want func(kind, data string) bool) (numbers []int64) {
	f.t.Helper()
	kind := ""
	until(f.t, f.r, func(line string) bool {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "event":
			kind = value
		case "id":
			f.last = value
		case "data":
			var list []struct{ N int64 }
			if kind == "events" && json.Unmarshal([]byte(value), &list) == nil {
				for _, e := range list {
					numbers = append(numbers, e.N)
				}
			}
			return want(kind, value)
		}
		return false
	})
	return numbers
}

// A run that the terminal trains is followed and stopped from the browser, goes on in the
// terminal, and the page goes on when the server is another one.
func TestServeFollowsAndStops(t *testing.T) {
	t.Parallel()
	dir := smallFolder(t)
	appendTo(t, filepath.Join(dir, "small", "world.yaml"), "rates: {latency_ms: 20}\n")
	state := []string{"XDG_STATE_HOME=" + filepath.Join(dir, "state")}
	if err := os.Mkdir(filepath.Join(dir, "runs"), 0o755); err != nil {
		t.Fatal(err)
	}
	server := startWith(t, dir, state, "serve", "runs", "--addr", "127.0.0.1:0", "--json")
	url, token := served(t, server.out)
	p := open(t, url, token)

	train := []string{"train", "small", "--run", "runs/r", "--events", "-", "--set", "limits.concurrency=4", "--set", "train.stop.patience=0", "--set", "train.stop.perfect=false", "--set", "train.epochs=20"}
	c := start(t, dir, train...)
	stepDone := func(line string) bool {
		return strings.Contains(line, `"event":"step_done"`) && strings.Contains(line, `"step":1`)
	}
	until(t, c.out, stepDone)
	var list struct{ Runs []struct{ ID, Status string } }
	p.ask(http.MethodGet, "/runs", "", &list)
	if len(list.Runs) != 1 || list.Runs[0].ID != "runs:r" || list.Runs[0].Status != "running" {
		t.Fatalf("%+v", list)
	}
	f := p.follow("runs:r", "0")
	first := f.until(func(kind, data string) bool { return kind == "events" && stepDone(data) })
	var stopped struct{ State, Request string }
	p.ask(http.MethodPost, "/runs/runs:r/stop", `{}`, &stopped)
	if stopped.State != "done" || stopped.Request == "" {
		t.Errorf("%+v", stopped)
	}
	c.ends(130)
	rest := f.until(func(kind, _ string) bool { return kind == "ended" })
	_ = f.resp.Body.Close()

	// The server is killed and comes back at its port: the page goes on, without an event twice.
	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = server.Wait() // it was killed
	server = startWith(t, dir, state, "serve", "runs", "--addr", strings.TrimPrefix(url, "http://"))
	served(t, server.out)
	start(t, dir, train...).ends(0)
	g := p.follow("runs:r", f.last)
	last := g.until(func(kind, _ string) bool { return kind == "ended" })
	_ = g.resp.Body.Close()
	all := append(append(first, rest...), last...)
	for i, n := range all {
		if n != int64(i+1) {
			t.Fatalf("event %d at place %d", n, i+1)
		}
	}
	if len(last) == 0 {
		t.Error("no events of what went on")
	}
	var removed struct{ Trash string }
	p.ask(http.MethodPost, "/runs/runs:r/remove", "{}", &removed)
	if _, err := os.Stat(filepath.Join(removed.Trash, "manifest.json")); err != nil {
		t.Error(err)
	}
	server.interrupt()
	server.ends(0)
}

// A page beside training shows the run, and ends with it. One that cannot be served is no
// reason to train nothing.
func TestTrainWithPage(t *testing.T) {
	t.Parallel()
	dir := smallFolder(t)
	appendTo(t, filepath.Join(dir, "small", "world.yaml"), "rates: {latency_ms: 20}\n")
	c := startWith(t, dir, []string{"XDG_STATE_HOME=" + filepath.Join(dir, "state")}, "train", "small", "--ui", "--events", "-")
	url, token := served(t, c.stderr)
	p := open(t, url, token)
	until(t, c.out, func(line string) bool { return strings.Contains(line, `"event":"outcome"`) })
	var progress struct{ Status string }
	p.ask(http.MethodGet, "/runs/runs:small-1/progress", "", &progress)
	if progress.Status != "running" {
		t.Errorf("%+v", progress)
	}
	follower := p.follow("runs:small-1", "0") // which is open when it ends
	defer follower.resp.Body.Close()
	_, errs := c.ends(0)
	if !strings.Contains(errs, "skillopt serve runs shows the run again") {
		t.Errorf("standard error: %s", errs)
	}
}
