package openai

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"

	"github.com/seed-f4525e22/skillopt/internal/provider/header"
	"github.com/seed-f4525e22/skillopt/model"
)

// schemaForm is how a server is asked for an answer of a schema at present. It
// begins with what is known of the server, and falls to a lesser form for good
// when the server refuses the one that it is asked by.
type schemaForm struct {
	now   atomic.Pointer[string]
	fixed bool
}

func newSchemaForm(form string, fixed bool) *schemaForm {
	s := &schemaForm{fixed: fixed}
	s.now.Store(&form)
	return s
}

// get returns one of the Schema constants.
func (s *schemaForm) get() string {
	if form := s.now.Load(); form != nil && *form != "" {
		return *form
	}
	return SchemaNone
}

// fall takes the form after a refused one. It reports whether there is another
// to ask by, and whether this call was the one that changed it.
func (s *schemaForm) fall(refused string) (again, changed bool) {
	next := SchemaNone
	switch {
	case s.fixed:
		return false, false
	case refused == SchemaNative:
		next = SchemaObject
	case refused != SchemaObject:
		return false, false
	}
	for {
		old := s.now.Load()
		if old == nil || *old != refused {
			return true, false // another call was faster
		}
		if s.now.CompareAndSwap(old, &next) {
			return true, true
		}
	}
}

// sendWithSchema sends a request with a schema. When the server refuses the form in
// which it was asked for, that is reported once and the next one is used from then
// on; the request is sent again, which was not carried out before.
func (c *Client) sendWithSchema(ctx context.Context, req *model.Request) (model.Response, error) {
	for {
		form := c.bodies.schema.get()
		res, err := c.sendByRoute(ctx, req)
		var said *refusal
		switch {
		case !errors.As(err, &said) || said.format == formFine:
			return res, err
		case said.format == formWording && form == SchemaObject:
			plain := *req
			plain.Schema = nil
			return c.sendByRoute(ctx, &plain)
		}
		again, changed := c.bodies.schema.fall(form)
		if changed && c.warn != nil {
			c.warn(fellBack(c.faults.server.Host(), form, said.text))
		}
		if !again {
			return res, err
		}
	}
}

func fellBack(host, form, why string) string {
	instead := "for any JSON"
	if form == SchemaObject {
		instead = "for JSON in words alone"
	}
	return host + " refuses response_format " + form + ": from now on it is asked " + instead +
		"; set structured_output to off to ask so from the beginning, to on to make it an error; it says: " + why
}

// What a refusal says about the form of the answer that was asked for.
type formFault int

const (
	formFine    formFault = iota // nothing
	formRefused                  // the server does not take it
	formWording                  // this request does not say JSON, as it must for that form
)

// refusedForm reads it from the words of a refusal. A schema that is not valid
// is the fault of the request and not of the form.
func refusedForm(status int, d detail) formFault {
	says := d.message + " " + d.param
	switch {
	case status != http.StatusBadRequest && status != http.StatusUnprocessableEntity && status != http.StatusNotImplemented:
		return formFine
	case header.Mentions(says, "invalid schema", "must be a valid json schema"):
		return formFine
	case !header.Mentions(says, "response_format", "response format", "text.format", "json_schema", "json_object", "structured output", "guided_json"):
		return formFine
	case header.Mentions(says, "must contain the word"):
		return formWording
	}
	return formRefused
}
