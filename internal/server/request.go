package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"

	"github.com/seed-f4525e22/skillopt/internal/server/door"
)

// query reads parameters, and keeps the first error.
type query struct {
	url.Values
	err error
}

func (q *query) number(name string, otherwise int) int {
	text := q.Get(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil && q.err == nil {
		q.err = wrong("%s=%s: want a whole number", name, quoteText(text))
	}
	return n
}

func (q *query) flag(name string) bool {
	text := q.Get(name)
	if text == "" {
		return false
	}
	on, err := strconv.ParseBool(text)
	if err != nil && q.err == nil {
		q.err = wrong("%s=%s: want 1 or 0", name, quoteText(text))
	}
	return on
}

// body reads the body of a request: one JSON document, without keys that v does not have.
func body(r *http.Request, v any) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return wrong("the body has to be JSON, with Content-Type: application/json")
	}
	text, err := io.ReadAll(r.Body) // which the door bounds
	var tooLong *http.MaxBytesError
	if errors.As(err, &tooLong) {
		return door.TooBig(tooLong.Limit)
	}
	if err != nil {
		return wrong("the body of the request did not arrive whole")
	}
	return decode(text, v)
}

func decode(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return wrong("the body is not what is wanted here: %v", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return wrong("the body has something after its document")
	}
	return nil
}
