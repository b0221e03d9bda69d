package openai

import (
	"bufio"
	"bytes"
	"context"
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

// fault is a failure without an HTTP status.
func (c *Client) fault(code model.Code, err error) error { return c.server.Fault(code, 0, err) }

func (c *Client) faultStatus(code model.Code, status int, err error) *model.Error {
	return c.server.Fault(code, status, err)
}

// failure classifies a request that brought no usable response: res is nil, or
// a response with an error status whose body the SDK has read.
func (c *Client) failure(ctx context.Context, res *http.Response, err error) error {
	if res != nil && res.StatusCode >= http.StatusBadRequest {
		return c.refusedBy(res)
	}
	return c.server.Unsent(ctx, err)
}

// unread classifies a body that broke off.
func (c *Client) unread(ctx context.Context, status int, err error) error {
	if errors.Is(err, bufio.ErrTooLong) {
		return c.faultStatus(model.Malformed, status, fmt.Errorf("an event is too long: %w", err))
	}
	return c.server.Unread(ctx, status, err)
}

// broken classifies a good status whose body holds an error instead of an
// answer, or neither.
func (c *Client) broken(res *http.Response, body []byte, inner json.RawMessage) error {
	if !header.Present(inner) {
		return c.faultStatus(model.Malformed, res.StatusCode, fmt.Errorf("the body has no answer; it begins: %s", c.server.Excerpt(string(body))))
	}
	d := readDetail(inner)
	status := res.StatusCode
	if n, err := strconv.Atoi(d.code); err == nil && n >= 400 && n < 600 {
		status = n
	}
	return c.stated(status, d, res.Header)
}

// refusedBy classifies a response with an error status.
func (c *Client) refusedBy(res *http.Response) error {
	body, err := io.ReadAll(res.Body) // the SDK put back what it read
	if err != nil {
		body = nil
	}
	return c.stated(res.StatusCode, readDetail(body), res.Header)
}

func (c *Client) stated(status int, d detail, h http.Header) error {
	text := c.server.Excerpt(d.message)
	if text == "" {
		text = "no reason given"
	}
	if d.code != "" && !strings.Contains(text, d.code) {
		text += " (" + c.server.Excerpt(d.code) + ")"
	}
	fault := c.faultStatus(classify(status, d), status, refused(text, status, d))
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
func (c *Client) misread(status int, body []byte, err error) error {
	var known *model.Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, errCut):
		return c.faultStatus(model.Truncated, status, err)
	case body == nil:
		return c.faultStatus(model.Malformed, status, c.server.Clean(err))
	}
	var whole json.RawMessage
	if e := json.NewDecoder(bytes.NewReader(body)).Decode(&whole); errors.Is(e, io.ErrUnexpectedEOF) || errors.Is(e, io.EOF) {
		return c.faultStatus(model.Truncated, status, fmt.Errorf("the body ends early, after %d bytes: %w", len(body), e))
	}
	return c.faultStatus(model.Malformed, status, fmt.Errorf("the body is not an answer: %w; it begins: %s", c.server.Clean(err), c.server.Excerpt(string(body))))
}
