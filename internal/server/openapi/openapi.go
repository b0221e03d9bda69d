// Package openapi writes the document that says what can be asked of an API and what it
// answers, from the types of the answers.
//
// It knows Go types and how encoding/json writes them. It knows nothing of what the routes do.
package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// Route is something that can be asked for.
type Route struct {
	Method  string
	Path    string // with {name} for what varies
	Summary string
	Query   []Parameter
	Body    any    // a value of the type of the body; nil: there is none
	Answer  any    // a value of the type of the answer; nil: there is none
	Others  []any  // values of further types that the answer may have
	Kind    string // of the answer's content, if it is not JSON
	Open    bool   // it needs no token
}

// Parameter is one of the query.
type Parameter struct {
	Name     string
	Kind     string // string, integer or boolean
	Text     string // what it means
	Required bool
	Many     bool // it may be given several times
}

// API is what a document is about.
type API struct {
	Title, Version, Text string
	Prefix               string // of all paths
	Routes               []Route
	Error                any                                 // a value of the type of errors
	Types                map[reflect.Type]*jsonschema.Schema // of types that write themselves as JSON
}

// document is an OpenAPI document.
type document struct {
	OpenAPI    string                          `json:"openapi"`
	Info       info                            `json:"info"`
	Security   []map[string][]string           `json:"security"`
	Paths      map[string]map[string]operation `json:"paths"`
	Components components                      `json:"components"`
}

type info struct {
	Title       string `json:"title"`
	Version     string `json:"version"`
	Description string `json:"description"`
}

type components struct {
	Schemas  map[string]*jsonschema.Schema `json:"schemas"`
	Security map[string]map[string]string  `json:"securitySchemes"`
}

type operation struct {
	ID         string                 `json:"operationId"`
	Summary    string                 `json:"summary"`
	Security   *[]map[string][]string `json:"security,omitempty"`
	Parameters []parameter            `json:"parameters,omitempty"`
	Body       *body                  `json:"requestBody,omitempty"`
	Responses  map[string]response    `json:"responses"`
}

type parameter struct {
	Name     string             `json:"name"`
	In       string             `json:"in"`
	Text     string             `json:"description,omitempty"`
	Required bool               `json:"required,omitempty"`
	Schema   *jsonschema.Schema `json:"schema"`
}

type body struct {
	Required bool             `json:"required"`
	Content  map[string]media `json:"content"`
}

type response struct {
	Description string           `json:"description"`
	Content     map[string]media `json:"content,omitempty"`
}

type media struct {
	Schema *jsonschema.Schema `json:"schema,omitempty"`
}

// Document returns the OpenAPI 3.1 document of an API.
func Document(a API) ([]byte, error) {
	s := &schemas{own: a.Types, names: map[reflect.Type]string{}, taken: map[string]reflect.Type{}, all: map[string]*jsonschema.Schema{}}
	either := []map[string][]string{{"token": {}}, {"session": {}}}
	d := document{
		OpenAPI: "3.1.0", Info: info{a.Title, a.Version, a.Text}, Security: either, Paths: map[string]map[string]operation{},
		Components: components{Schemas: s.all, Security: map[string]map[string]string{
			"token":   {"type": "http", "scheme": "bearer"},
			"session": {"type": "apiKey", "in": "cookie", "name": "skillopt_PORT"},
		}},
	}
	failed := response{"It is refused, or failed", map[string]media{"application/json": {s.of(reflect.TypeOf(a.Error))}}}
	for _, r := range a.Routes {
		path := a.Prefix + r.Path
		if d.Paths[path] == nil {
			d.Paths[path] = map[string]operation{}
		}
		d.Paths[path][strings.ToLower(r.Method)] = s.operation(r, failed)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(d); err != nil {
		return nil, fmt.Errorf("write the document of the API: %w", err)
	}
	return out.Bytes(), nil
}

var variable = pattern.New(`\{(\w+)\}`)

func (s *schemas) operation(r Route, failed response) operation {
	op := operation{ID: operationName(r), Summary: r.Summary, Responses: map[string]response{"default": failed}}
	if r.Open {
		op.Security = &[]map[string][]string{}
	}
	for _, m := range variable.FindAllStringSubmatch(r.Path, -1) {
		op.Parameters = append(op.Parameters, parameter{Name: m[1], In: "path", Required: true, Schema: &jsonschema.Schema{Type: "string"}})
	}
	for _, q := range r.Query {
		of := &jsonschema.Schema{Type: q.Kind}
		if q.Many {
			of = &jsonschema.Schema{Type: "array", Items: of}
		}
		op.Parameters = append(op.Parameters, parameter{Name: q.Name, In: "query", Text: q.Text, Required: q.Required, Schema: of})
	}
	if r.Body != nil {
		op.Body = &body{true, map[string]media{"application/json": {s.of(reflect.TypeOf(r.Body))}}}
	}
	switch {
	case r.Kind != "":
		op.Responses["200"] = response{"The answer", map[string]media{r.Kind: {&jsonschema.Schema{Type: "string"}}}}
	case r.Answer == nil:
		op.Responses["204"] = response{Description: "It is done"}
	default:
		op.Responses["200"] = response{"The answer", map[string]media{"application/json": {s.answer(r)}}}
	}
	return op
}

func (s *schemas) answer(r Route) *jsonschema.Schema {
	one := s.of(reflect.TypeOf(r.Answer))
	if len(r.Others) == 0 {
		return one
	}
	out := &jsonschema.Schema{AnyOf: []*jsonschema.Schema{one}}
	for _, other := range r.Others {
		out.AnyOf = append(out.AnyOf, s.of(reflect.TypeOf(other)))
	}
	return out
}

// operationName returns the name of an operation: get_runs_run_blame.
func operationName(r Route) string {
	return strings.ToLower(r.Method) + strings.NewReplacer("/", "_", "{", "", "}", "", ".", "_").Replace(r.Path)
}
