// Package openapi writes the document that says what can be asked of an API and what it
// answers, from the types of the answers.
//
// It knows Go types and how encoding/json writes them. It knows nothing of what the routes do.
package openapi

// Route is something that can be asked for.
type Route struct {
	Method  string
	Path    string // with {name} for what varies
	Summary string
	Query   []Parameter
	Body    any    // a value of the type of the body; nil: there is none
	Answer  any    // a value of the type of the answer; nil: there is none
	Kind    string // of the answer's content, if it is not JSON
}

// Parameter is one of the query.
type Parameter struct {
	Name     string
	Kind     string // string, integer or boolean
	Text     string // what it means
	Required bool
	Many     bool // it may be given several times
}
