package server

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/seed-f4525e22/skillopt/result"
)

var update = flag.Bool("update", false, "write the document of the API anew")

// The document that is kept, of which the types of the page are made, is that of the routes.
func TestDocument(t *testing.T) {
	t.Parallel()
	got, err := Document()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("..", "..", "docs", "openapi.json")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("docs/openapi.json is not what the routes say (%v): go test ./internal/server -run TestDocument -update", err)
	}
}

// described is the document of the API, read.
type described struct {
	Paths map[string]map[string]struct {
		Responses map[string]struct {
			Content map[string]struct{ Schema json.RawMessage }
		}
	}
	Components struct{ Schemas json.RawMessage }
}

// schema is that of the answer of a route.
func (d described) schema(t *testing.T, path, method, status string) *jsonschema.Resolved {
	t.Helper()
	op, ok := d.Paths[path][method]
	if !ok {
		t.Fatalf("the document has no %s %s", method, path)
	}
	return d.resolve(t, op.Responses[status].Content["application/json"].Schema)
}

func (d described) resolve(t *testing.T, schema json.RawMessage) *jsonschema.Resolved {
	t.Helper()
	text := `{"$defs": ` + string(d.Components.Schemas) + `, "allOf": [` + string(schema) + `]}`
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(strings.ReplaceAll(text, "#/components/schemas/", "#/$defs/")), &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Every route is in the document, and what it answers is what the document says.
func TestAnswersAreAsDescribed(t *testing.T) {
	t.Parallel()
	sleep := slept(t)
	p := &sleeper{answer: map[string]string{
		"review": `[{"id": "mined-1", "held": "", "project": "/p", "skill": "", "trust": "correction", "session": {"source": "jsonl", "session": "s", "turn": "b"}, "prompt": "When?", "gold": ["2027-09-12"],
			"checks": [{"normalize": "trim", "type": "equals"}], "correction": "No.", "doubts": null, "place": "by a model", "corrected_answer": "12 September", "accepted_answer": "2027-09-12"},
			{"id": "mined-2", "gold": null, "checks": null, "doubts": ["short"]}]`,
		"status": `{"projects": ["/p"]}`,
		"show":   `{"words": [{"task": "mined-1", "asked": "When?", "said": "No."}], "diffs": [{"target": "memory:CLAUDE.md", "hash": "abc"}], "adopt_by": {"memory:CLAUDE.md": "skillopt sleep adopt"}}`,
	}}
	s := serve(t, func(o *Options) { o.Sleep, o.SleepDir = p, sleep }, copied(t), sleep)
	var doc described
	s.get("/openapi.json", &doc)
	var list result.Listing
	s.get("/runs", &list)
	id := url.PathEscape(list.Runs[slices.IndexFunc(list.Runs, func(r result.RunRow) bool { return r.Kind == result.Train })].ID)
	night := url.PathEscape(list.Runs[slices.IndexFunc(list.Runs, func(r result.RunRow) bool { return r.Night != nil })].ID)
	var grid result.Grid
	s.get("/runs/"+id+"/grid", &grid)
	judging := slices.IndexFunc(grid.Tasks, func(g result.GridTask) bool { return g.Split == "selection" })
	task := url.PathEscape(grid.Tasks[judging].ID)
	var sums struct{ Stages []struct{ Stage string } }
	s.get("/runs/"+id+"/calls", &sums)
	var calls struct {
		Calls []struct{ Key, Kind string }
	}
	s.get("/runs/"+id+"/calls?limit=3&stage=rollout", &calls)

	asked := map[string][]string{
		"/start": {""}, "/server": {""}, "/runs/{run}/decide": {""}, "/runs": {"", "?folder=runs"}, "/runs/{run}": {""}, "/runs/{run}/progress": {""}, "/runs/{run}/versions": {""},
		"/runs/{run}/skill": {"", "?version=0"}, "/runs/{run}/diff": {"", "?from=best&to=0", "?other=" + id}, "/runs/{run}/blame": {"", "?version=0"},
		"/runs/{run}/candidates": {""}, "/runs/{run}/grid": {""}, "/runs/{run}/tasks/{id}": {"", "?step=best&prompt=1"}, "/runs/{run}/failures": {"", "?test=1"},
		"/runs/{run}/calls":  {"", "?limit=2", "?stage=rollout&after=40", "?after=0&limit=500", "?after=10", "?failed=1", "?key=" + url.QueryEscape(calls.Calls[0].Key)},
		"/runs/{run}/config": {""},
		"/runs/{run}/spend":  {"", "?by=part"}, "/runs/{run}/steps/{n}": {""}, "/nights/{night}": {""}, "/nights/{night}/proposal": {""}, "/review": {""}, "/projects": {""}, "/queue": {""}, "/compare": {"?run=" + id + "&run=" + id},
	}
	own := map[string]bool{
		"/openapi.json": true, "/runs/{run}/events": true, "/runs/{run}/skill/file": true, // no documents of JSON
		"/schema": true, "/configs/{config}": true, "/runs/{run}/tasks/{id}/row": true, // internal/cli asks them, with a program
	}
	for _, rt := range (&Server{}).routes() {
		if _, ok := doc.Paths[prefix+rt.Path][strings.ToLower(rt.Method)]; !ok {
			t.Errorf("the document has no %s %s", rt.Method, rt.Path)
		}
		if rt.Method != http.MethodGet || own[rt.Path] {
			continue
		}
		schema := doc.schema(t, prefix+rt.Path, "get", "200")
		if len(asked[rt.Path]) == 0 {
			t.Errorf("%s is not asked", rt.Path)
		}
		for _, q := range asked[rt.Path] {
			path := strings.NewReplacer("{run}", id, "{night}", night, "{id}", task, "{n}", "1").Replace(rt.Path) + q
			var answer any
			s.get(path, &answer)
			if err := schema.Validate(answer); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
	refused := s.ask(http.MethodGet, "/runs/nobody:1", "")
	var answer any
	if err := json.Unmarshal([]byte(refused.text), &answer); err != nil {
		t.Fatal(err)
	}
	schema := doc.schema(t, prefix+"/runs/{run}", "get", "default")
	if err := schema.Validate(answer); err != nil || refused.status != http.StatusNotFound {
		t.Errorf("%d %s: %v", refused.status, refused.text, err)
	}
	if err := schema.Validate(map[string]any{"error": "no"}); err == nil {
		t.Error("the schema of a refusal takes anything")
	}
}
