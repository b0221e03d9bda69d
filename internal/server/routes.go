package server

import (
	"net/http"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/server/door"
	"github.com/seed-f4525e22/skillopt/internal/server/openapi"
)

// prefix is that of the API.
const prefix = "/api/v1"

// route is something that can be asked for.
type route struct {
	openapi.Route
	open    bool // without a token: it is how one is traded
	changes bool // it is refused by a server that only shows
	stream  bool // it goes on, and takes no place among the answers that are worked at
	answer  answer
}

// mux are all routes, and the page.
func (s *Server) mux() http.Handler {
	m := http.NewServeMux()
	for _, rt := range s.routes() {
		rt.answer = checked(rt.Query, rt.answer)
		m.Handle(rt.Method+" "+prefix+rt.Path, s.api(rt))
	}
	m.Handle(prefix+"/", s.api(route{Route: openapi.Route{Method: http.MethodGet}, answer: func(_ http.ResponseWriter, r *http.Request) (any, error) { return nil, unknown(m, r) }}))
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
		return &door.Refusal{Status: http.StatusMethodNotAllowed, Kind: door.Input, Message: quoted(r.URL.Path) + " is asked by " + strings.Join(methods, " or ") + ", not by " + quoted(r.Method)}
	}
	return &door.Refusal{Status: http.StatusNotFound, Kind: door.Missing, Message: "the API has nothing at " + quoted(r.URL.Path), Help: prefix + "/openapi.json says what there is"}
}

// checked refuses parameters that a route does not know.
func checked(known []openapi.Parameter, next answer) answer {
	return func(w http.ResponseWriter, r *http.Request) (any, error) {
		q := r.URL.Query()
		for name := range q {
			if !slices.ContainsFunc(known, func(p openapi.Parameter) bool { return p.Name == name }) {
				return nil, wrong("there is no parameter %s here; allowed are: %s", quoted(name), names(known))
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

// get is a route that shows something.
func get(path, summary string, doc any, a answer, query ...openapi.Parameter) route {
	return route{Route: openapi.Route{Method: http.MethodGet, Path: path, Summary: summary, Answer: doc, Query: query}, answer: a}
}

// change is a route that changes something.
func change(method, path, summary string, body, doc any, a answer) route {
	return route{Route: openapi.Route{Method: method, Path: path, Summary: summary, Body: body, Answer: doc}, changes: true, answer: a}
}
