package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/provider/header"
	"github.com/seed-f4525e22/skillopt/model"
)

// faults turns what goes wrong with the requests to one server into classified errors.
type faults struct{ server *header.Endpoint }

// plain returns a failure without an HTTP status.
func (f faults) plain(code model.Code, err error) error { return f.server.Fault(code, 0, err) }

func (f faults) status(code model.Code, status int, err error) *model.Error {
	return f.server.Fault(code, status, err)
}

// bodyError classifies a good status whose body holds an error instead of an
// answer, or neither.
func (f faults) bodyError(res *http.Response, body []byte, inner json.RawMessage) error {
	if !header.Present(inner) {
		return f.status(model.Malformed, res.StatusCode, fmt.Errorf("the body has no answer; it begins: %s", f.server.Excerpt(string(body))))
	}
	d := readDetail(inner)
	status := res.StatusCode
	if n, err := strconv.Atoi(d.code); err == nil && n >= 400 && n < 600 {
		status = n
	}
	return f.detailError(status, d, res.Header)
}

// refusedBy classifies a response with an error status.
func (f faults) refusedBy(res *http.Response) error {
	body, err := io.ReadAll(res.Body)
	if err != nil {
		body = nil
	}
	return f.detailError(res.StatusCode, readDetail(body), res.Header)
}

func (f faults) detailError(status int, d detail, h http.Header) error {
	text := f.server.Excerpt(d.message)
	if text == "" {
		text = "no reason given"
	}
	if d.code != "" && !strings.Contains(text, d.code) {
		text += " (" + f.server.Excerpt(d.code) + ")"
	}
	fault := f.status(classify(status, d), status, newRefusal(text, status, d))
	if fault.Code.Transient() {
		fault.RetryAfter = wait(h, d)
	}
	return fault
}

// wait returns how long a server that refused a request asks to wait, by the
// response's headers or else by those that its body repeats.
func wait(h http.Header, d detail) time.Duration {
	now := time.Now()
	said := header.Wait(h, now)
	if said > 0 || h.Get("Retry-After") != "" || h.Get("Retry-After-Ms") != "" {
		return said
	}
	repeated := http.Header{"Date": h["Date"]}
	for name, value := range d.header {
		repeated.Set(name, value)
	}
	return header.Wait(repeated, now)
}

// refusal is what a server said, made fit for messages, and what follows from it
// for the choice of an API.
type refusal struct {
	text     string
	otherAPI bool // the model or the server may have the other API
	noTrace  bool // the model has no reasoning to be returned

	format formFault
}

func (r *refusal) Error() string { return r.text }

// misread classifies an answer that could not be read: body is nil for a stream.
// What is classified already stays as it is.
func (f faults) misread(status int, body []byte, err error) error {
	var known *model.Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, errCut):
		return f.status(model.Truncated, status, err)
	case body == nil:
		return f.status(model.Malformed, status, f.server.Clean(err))
	}
	var whole json.RawMessage
	if e := json.NewDecoder(bytes.NewReader(body)).Decode(&whole); errors.Is(e, io.ErrUnexpectedEOF) || errors.Is(e, io.EOF) {
		return f.status(model.Truncated, status, fmt.Errorf("the body ends early, after %d bytes: %w", len(body), e))
	}
	return f.status(model.Malformed, status, fmt.Errorf("the body is not an answer: %w; it begins: %s", f.server.Clean(err), f.server.Excerpt(string(body))))
}
