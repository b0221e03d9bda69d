package server

import (
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/server/door"
	"github.com/seed-f4525e22/skillopt/internal/server/openapi"
	"github.com/seed-f4525e22/skillopt/internal/steer"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// prefix is that of the API.
const prefix = "/api/v1"

// route is something that can be asked for.
type route struct {
	openapi.Route
	open    bool  // without a token: it is how one is traded
	changes bool  // it is refused by a server that only shows
	stream  bool  // it continues, and takes no place among the answers that are worked at
	costly  bool  // it reads all of a run, and its answer is kept
	most    int64 // bytes of the body; 0: door.MaxBody
	answer  answer
}

// mux are all routes, and the page.
type mux struct {
	*http.ServeMux

	bounds map[string]int64 // of bodies, by the pattern of a route
}

// most returns how large the body of a request may be; 0: as large as that of any.
func (m mux) most(r *http.Request) int64 {
	_, pattern := m.Handler(r)
	return m.bounds[pattern]
}

// mux makes the routes.
func (s *Server) mux() mux {
	m := mux{http.NewServeMux(), map[string]int64{}}
	for _, rt := range s.routes() {
		rt.answer = checkQuery(rt.Query, rt.answer)
		m.Handle(rt.Method+" "+prefix+rt.Path, s.api(rt))
		m.bounds[rt.Method+" "+prefix+rt.Path] = rt.most
	}
	m.Handle(prefix+"/", s.api(route{Route: openapi.Route{Method: http.MethodGet}, answer: func(_ http.ResponseWriter, r *http.Request) (any, error) { return nil, unknown(m.ServeMux, r) }}))
	m.Handle("/", s.door.Public(s.page))
	return m
}

// unknown says that no route is for a request, or by which methods there is one.
func unknown(m *http.ServeMux, r *http.Request) error {
	var methods []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := m.Handler(other); strings.HasPrefix(pattern, method) {
			methods = append(methods, method)
		}
	}
	if len(methods) > 0 {
		return &door.Refusal{Status: http.StatusMethodNotAllowed, Kind: door.Input, Message: quoteText(r.URL.Path) + " is asked by " + strings.Join(methods, " or ") + ", not by " + quoteText(r.Method)}
	}
	return &door.Refusal{Status: http.StatusNotFound, Kind: door.Missing, Message: "the API has nothing at " + quoteText(r.URL.Path), Help: prefix + "/openapi.json says what there is"}
}

// checkQuery returns an answer that refuses parameters that a route does not know.
func checkQuery(known []openapi.Parameter, next answer) answer {
	return func(w http.ResponseWriter, r *http.Request) (any, error) {
		q := r.URL.Query()
		for name := range q {
			if !slices.ContainsFunc(known, func(p openapi.Parameter) bool { return p.Name == name }) {
				return nil, wrong("there is no parameter %s here; allowed are: %s", quoteText(name), names(known))
			}
		}
		return next(w, r)
	}
}

func names(list []openapi.Parameter) string {
	var out []string
	for _, p := range list {
		out = append(out, p.Name)
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}

// get returns a route that shows something.
func get(path, summary string, doc any, a answer, query ...openapi.Parameter) route {
	return route{Route: openapi.Route{Method: http.MethodGet, Path: path, Summary: summary, Answer: doc, Query: query}, answer: a}
}

// costlyRoute returns the route of get for what reads all of a run.
func costlyRoute(path, summary string, doc any, a answer, query ...openapi.Parameter) route {
	rt := get(path, summary, doc, a, query...)
	rt.costly = true
	return rt
}

// change returns a route that changes something.
func change(method, path, summary string, body, doc any, a answer) route {
	return route{Route: openapi.Route{Method: method, Path: path, Summary: summary, Body: body, Answer: doc}, changes: true, answer: a}
}

// routes returns the routes of all that can be asked for. An answer is the document that the
// command of the same question prints with --json.
func (s *Server) routes() []route {
	session := change(http.MethodPost, "/session", "Trade the token for a session: a cookie", Token{}, nil, s.session)
	session.open, session.changes, session.Open = true, false, true
	events := get("/runs/{run}/events", "Follow a run: its events and how far it is, as server-sent events (events, progress, problem, ended, gone)", nil, s.follow,
		number("after", "begin after the event with this number; -N: with the last N of them. Last-Event-ID counts before it"))
	events.stream, events.Kind = true, "text/event-stream"
	file := get("/runs/{run}/skill/file", "A file of a version as it is, to be kept", nil, s.skillFile, version(), text("path", "of the file; SKILL.md by default"))
	file.Kind = "text/plain"
	calls := costlyRoute("/runs/{run}/calls", "The model calls of a run: summed up by stage; with any of the parameters a list, with key one of them whole", ask.Spending{}, s.calls,
		text("stage", "made for this, such as rollout or merge"), text("task", "about this task"), either("failed", "attempts that gave no result"), either("episodes", "made inside episodes"), either("test", "about test tasks as well: a look that is noted, as that at one of them by key is"),
		number("limit", "how many, at most 500; 50 by default"), number("after", "the first ones after the call with this number, instead of the latest ones; next of the answer is that of the next page"), text("key", "this one, or those inside the episode with this key"))
	calls.Others = []any{ask.Calls{}, caller.Conversation{}, ask.Tries{}}
	return slices.Concat([]route{
		session,
		get("/server", "What the server is, and what it shows", About{}, s.about),
		get("/openapi.json", "This document", map[string]any{}, describe),
		get("/runs", "All runs, and nights as rows of kind night", Listing{}, s.runs, text("folder", "of this folder alone, by its name")),
		get("/runs/{run}", "What the files of a run say, and its row of the list", Run{}, s.run),
		get("/runs/{run}/progress", "How far a run is", record.Progress{}, s.progress),
		events,
		get("/runs/{run}/versions", "The skills that a run has made", result.Versions{}, s.versions),
		get("/runs/{run}/skill", "The files of a version", result.SkillFiles{}, s.skill, version()),
		file,
		get("/runs/{run}/diff", "How one version differs from another", result.Difference{}, s.diff,
			text("from", "a version; the seed skill by default, or the best one if there is another run"), text("to", "a version; best by default"), text("other", "the run that the second version is of, if it is another")),
		costlyRoute("/runs/{run}/blame", "Who wrote each line of the skill, and on what grounds", record.Blame{}, s.blame, version()),
		get("/runs/{run}/steps/{n}", "What a step saw, proposed and decided", result.StepDetail{}, s.step),
		costlyRoute("/runs/{run}/candidates", "The skills that were put to the gate", result.Candidates{}, s.candidates),
		costlyRoute("/runs/{run}/grid", "The results of all tasks with all skills. Test tasks are rows without results", result.Grid{}, s.grid, either("test", "with the results of test tasks: a look that is noted")),
		get("/runs/{run}/tasks/{id}", "What was answered to a task. A look at an answer to a test task is noted", ask.TaskAnswer{}, s.task,
			text("step", "of this step, or of the best skill (best)"), text("arm", "whose answers: current, candidate, seed, best or final"), number("sample", "of several passes this one, from 0"), either("prompt", "with what the model was sent")),
		get("/runs/{run}/failures", "The tasks that fail. A look at those of the test split is noted", ask.Failures{}, s.failures,
			text("step", "whose candidate is looked at, or best, which it is by default"), text("type", "tasks of this type alone"), either("test", "those of the test split")),
		calls,
		costlyRoute("/runs/{run}/spend", "What was paid for, and what gave no result", ask.Spending{}, s.spend, text("by", "part, which it is by default, stage, role, model or step")),
		get("/runs/{run}/config", "The configuration of a run as it is kept", Config{}, s.config),
		get("/nights/{night}", "The results of a night, by its folder. That what it proposes is the user's own is not checked: the server reads no key", Night{}, s.night),
		get("/compare", "Runs next to each other", result.RunsCompared{}, s.compare, openapi.Parameter{Name: "run", Kind: "string", Text: "the id of a run, once for each", Required: true, Many: true}),
		change(http.MethodPut, "/runs/{run}/notes", "Keep notes on a run instead of those that are there", result.Notes{}, result.Notes{}, s.note),
		change(http.MethodPost, "/runs/{run}/stop", "Ask a run to stop", StopRequest{}, result.Steered{}, s.stop),
		change(http.MethodPost, "/runs/{run}/limits", "Give a run other ceilings", steer.Limits{}, result.Steered{}, s.limit),
		change(http.MethodPost, "/runs/{run}/remove", "Move a run to the trash next to it", nil, Removed{}, s.remove),
	}, s.startRoutes(), s.controlRoutes(), s.decideRoutes(), s.nightRoutes())
}

func version() openapi.Parameter {
	return text("version", "a step, 0 for the seed skill, or best, which it is by default; of a comparison a or b, of an ablation or pruning whole or pruned")
}

func text(name, what string) openapi.Parameter {
	return openapi.Parameter{Name: name, Kind: "string", Text: what}
}

func number(name, what string) openapi.Parameter {
	return openapi.Parameter{Name: name, Kind: "integer", Text: what}
}

func either(name, what string) openapi.Parameter {
	return openapi.Parameter{Name: name, Kind: "boolean", Text: what}
}

// Document returns the OpenAPI document of the API.
func Document() ([]byte, error) {
	a := openapi.API{
		Title: "skillopt", Version: "1", Prefix: prefix, Error: door.Refused{},
		Text:  "Runs of skillopt, as skillopt serve shows them. {run} is FOLDER:NAME, the id of the list, and {night} FOLDER:PROJECT/NIGHT, that of a row of kind night, escaped as one part of the path. Each answer is the document that the command of the same question prints with --json.",
		Types: map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[trajectory.CheckVerdict](): verdict(), reflect.TypeFor[steer.Limits](): ceilings()},
	}
	for _, rt := range (&Server{}).routes() {
		a.Routes = append(a.Routes, rt.Route)
	}
	return openapi.Document(a)
}

func is(kinds ...string) *jsonschema.Schema {
	if len(kinds) == 1 {
		return &jsonschema.Schema{Type: kinds[0]}
	}
	return &jsonschema.Schema{Types: kinds}
}

// ceilings returns the schema of the ceilings of a request, in which null says something else than what is missing.
func ceilings() *jsonschema.Schema {
	return &jsonschema.Schema{
		Type: "object", PropertyOrder: []string{"usd", "tokens", "calls", "time"}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
		Properties: map[string]*jsonschema.Schema{"usd": is("number", "null"), "tokens": is("number", "null"), "calls": is("number", "null"), "time": is("string", "null")},
	}
}

// verdict returns the schema of what a check said, which writes itself as JSON.
func verdict() *jsonschema.Schema {
	return &jsonschema.Schema{
		Type: "object", Required: []string{"check", "verdict", "score", "weight"},
		PropertyOrder: []string{"check", "type", "verdict", "score", "weight", "optional", "saw", "why"},
		Properties: map[string]*jsonschema.Schema{
			"check": is("string"), "type": is("string"), "verdict": is("string"), "score": is("number", "null"), "weight": is("number"),
			"optional": is("boolean"), "saw": is("string"), "why": is("string"),
		},
	}
}

// describe answers with the document of the API.
func describe(w http.ResponseWriter, _ *http.Request) (any, error) {
	text, err := Document()
	if err != nil {
		return nil, err
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text) // who asked may have gone
	return nil, nil
}
