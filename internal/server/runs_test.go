package server

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/result"
)

// A damaged run, one of another format and one that may not be read are named, and the others
// are shown; what cannot be said of them is refused with a sentence.
func TestBadRuns(t *testing.T) {
	t.Parallel()
	dir := copied(t)
	for name, spoil := range map[string]func(at string) error{
		"damaged": func(at string) error {
			return os.WriteFile(filepath.Join(at, "manifest.json"), []byte("{"), 0o644)
		},
		"other": func(at string) error {
			own(t, at, func(m map[string]any) { m["format"] = 99 })
			return nil
		},
		"halved": func(at string) error {
			return os.WriteFile(filepath.Join(at, "history.json"), []byte(`{"steps":[`), 0o644)
		},
		"recordless": func(at string) error { return os.Remove(filepath.Join(at, "run.db")) },
		"garbled":    func(at string) error { return os.WriteFile(filepath.Join(at, "run.db"), []byte("no database"), 0o644) },
	} {
		at := filepath.Join(dir, name)
		if err := os.CopyFS(at, os.DirFS(filepath.Join(dir, "small-1"))); err != nil {
			t.Fatal(err)
		}
		if err := spoil(at); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "no-run"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := serve(t, nil, dir, filepath.Join(dir, "small-1"), filepath.Join(t.TempDir(), "later"))
	var list result.Listing
	s.get("/runs", &list)
	got := map[string]string{}
	for _, r := range list.Runs {
		got[r.ID] = r.Status
		if (r.Status == "damaged" || r.Status == "format") && r.Reason == "" {
			t.Errorf("%s: no reason", r.ID)
		}
	}
	want := map[string]string{
		"runs:small-1": "completed", "runs-2:small-1": "completed", "runs:damaged": "damaged", "runs:other": "format", "runs:halved": "damaged", "runs:recordless": "completed", "runs:garbled": "completed",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	for run, routes := range map[string][]string{
		"damaged": {"", "/progress", "/grid", "/skill", "/blame"}, "other": {"", "/progress", "/skill"}, "halved": {"", "/blame"},
		"recordless": {"/grid", "/calls", "/progress"}, "garbled": {"/tasks/x", "/spend"},
	} {
		for _, route := range routes {
			r := s.ask(http.MethodGet, "/runs/runs:"+run+route, "")
			if kind := r.refusedAs(); kind != "damaged" && kind != "missing" {
				t.Errorf("%s%s: %d %s", run, route, r.status, r.text)
			}
		}
	}
	if r := s.ask(http.MethodGet, "/runs?folder=later", ""); r.status != 200 || !strings.Contains(r.text, `"runs":[]`) {
		t.Errorf("a folder that is not there yet: %d %s", r.status, r.text)
	}
	if err := os.RemoveAll(filepath.Join(dir, "small-1")); err != nil {
		t.Fatal(err)
	}
	if r := s.ask(http.MethodGet, "/runs/runs:small-1/grid", ""); r.status != 404 || r.refusedAs() != "missing" {
		t.Errorf("a run that has vanished: %d %s", r.status, r.text)
	}
}

// What is answered is what the command of the same question prints with --json.
func TestAnswersAreThoseOfCommands(t *testing.T) {
	t.Parallel()
	dir := copied(t)
	at := filepath.Join(dir, "small-1")
	s := serve(t, nil, dir)
	view, err := record.ReadView(at, at)
	if err != nil {
		t.Fatal(err)
	}
	var shown Run
	s.get("/runs/runs:small-1", &shown)
	if diff := cmp.Diff(ask.Shareable(view).Summary, shown.Summary); diff != "" || shown.Summary == nil {
		t.Errorf("summary (-command +API):\n%s", diff)
	}
	if diff := cmp.Diff(len(view.History.Steps), len(shown.History.Steps)); diff != "" {
		t.Error(diff)
	}
	row := ask.Shareable(record.Row(t.Context(), at))
	row.ID = "runs:small-1"
	if diff := cmp.Diff(row, shown.Row); diff != "" {
		t.Errorf("row (-command +API):\n%s", diff)
	}
	r, err := ask.Open(t.Context(), at, at)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	want, _, err := ask.Grid(t.Context(), r, false)
	if err != nil {
		t.Fatal(err)
	}
	var grid result.Grid
	if s.get("/runs/runs:small-1/grid", &grid); cmp.Diff(want, grid) != "" {
		t.Errorf("grid (-command +API):\n%s", cmp.Diff(want, grid))
	}
}

// Notes are kept beside the run, and shown in its row.
func TestNotes(t *testing.T) {
	t.Parallel()
	dir := copied(t)
	s := serve(t, nil, dir)
	const text = `{"text":"<b>why</b>\nnot","tags":["good"," good ","later"]}`
	if r := s.ask(http.MethodPut, "/runs/runs:small-1/notes", text); r.status != 200 {
		t.Fatalf("%d %s", r.status, r.text)
	}
	var list result.Listing
	s.get("/runs", &list)
	if diff := cmp.Diff(result.Notes{Text: "<b>why</b>\nnot", Tags: []string{"good", "later"}}, list.Runs[0].Notes); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(filepath.Join(dir, "small-1.notes.json")); err != nil {
		t.Error(err)
	}
	if r := s.ask(http.MethodPost, "/runs/runs:small-1/remove", ""); r.status != 200 {
		t.Errorf("%d %s", r.status, r.text)
	}
	if r := s.ask(http.MethodPost, "/runs/runs:small-1/remove", ""); r.status != 404 {
		t.Errorf("again: %d %s", r.status, r.text)
	}
}

// Files of the page come in the encoding that is asked for; those that are named by what they
// hold are kept, the others asked for again.
func TestPage(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("let a = 1;\n", 100)
	p, err := readPage(fstest.MapFS{
		"index.html": {Data: []byte("<!doctype html>")}, "assets/a-1.js": {Data: []byte(long)}, "assets/a-1.js.br": {Data: []byte("brotli")},
		"assets/b-2.css": {Data: []byte(strings.Repeat("a{}", 100))}, "icon.svg": {Data: []byte("<svg/>")},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		path, accepts         string
		status                int
		kind, encoding, cache string
	}{
		{"/", "", 200, "text/html; charset=utf-8", "", "no-cache"},
		{"/index.html", "gzip", 200, "text/html; charset=utf-8", "", "no-cache"},
		{"/assets/a-1.js", "gzip, deflate, br", 200, "text/javascript; charset=utf-8", "br", "public, max-age=31536000, immutable"},
		{"/assets/a-1.js", "gzip;q=1.0, br;q=0", 200, "text/javascript; charset=utf-8", "gzip", "public, max-age=31536000, immutable"},
		{"/assets/a-1.js", "", 200, "text/javascript; charset=utf-8", "", "public, max-age=31536000, immutable"},
		{"/assets/b-2.css", "gzip", 200, "text/css; charset=utf-8", "gzip", "public, max-age=31536000, immutable"},
		{"/icon.svg", "", 200, "image/svg+xml", "", "no-cache"},
		{"/assets/a-1.js.br", "", 404, "text/plain; charset=utf-8", "", ""},
		{"/assets", "", 404, "text/plain; charset=utf-8", "", ""},
	} {
		w := asked(p, tt.path, "Accept-Encoding", tt.accepts)
		if w.status != tt.status || w.header.Get("Content-Type") != tt.kind || w.header.Get("Content-Encoding") != tt.encoding || w.header.Get("Cache-Control") != tt.cache {
			t.Errorf("%s as %q: %d %v", tt.path, tt.accepts, w.status, w.header)
		}
		if tag := w.header.Get("ETag"); tt.status == 200 && asked(p, tt.path, "Accept-Encoding", tt.accepts, "If-None-Match", tag).status != http.StatusNotModified {
			t.Errorf("%s: it is sent again", tt.path)
		}
	}
	if w := asked(p, "/assets/a-1.js"); w.text != long {
		t.Errorf("%q", w.text)
	}
}
