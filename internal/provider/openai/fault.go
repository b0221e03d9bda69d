package openai

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/provider/header"
	"github.com/seed-f4525e22/skillopt/model"
)

// fault is a failure without an HTTP status.
func (c *Client) fault(code model.Code, err error) error { return c.faultStatus(code, 0, err) }

func (c *Client) faultStatus(code model.Code, status int, err error) *model.Error {
	return &model.Error{Code: code, Status: status, Endpoint: c.host, Err: err}
}

// failure classifies a request that brought no usable response: res is nil, or
// a response with an error status whose body the SDK has read.
func (c *Client) failure(ctx context.Context, res *http.Response, err error) error {
	if res != nil && res.StatusCode >= http.StatusBadRequest {
		return c.refusedBy(res)
	}
	if over := model.Interrupted(ctx, c.host); over != nil {
		return over
	}
	var known *model.Error
	if errors.As(err, &known) {
		return known
	}
	var bad *unsendable
	if errors.As(err, &bad) {
		return c.fault(model.BadRequest, bad.err)
	}
	// The URL in net/http's error may hold a credential in its query.
	var about *url.Error
	if errors.As(err, &about) {
		err = about.Err
	}
	return c.fault(transportCode(err), c.clean(err))
}

// unread classifies a body that broke off.
func (c *Client) unread(ctx context.Context, status int, err error) error {
	var big *http.MaxBytesError
	switch {
	case errors.As(err, &big):
		return c.faultStatus(model.Malformed, status, fmt.Errorf("the body is larger than %d bytes", big.Limit))
	case errors.Is(err, bufio.ErrTooLong):
		return c.faultStatus(model.Malformed, status, fmt.Errorf("an event is too long: %w", err))
	case errors.Is(err, io.ErrUnexpectedEOF):
		return c.faultStatus(model.Truncated, status, fmt.Errorf("the body ends early: %w", err))
	}
	if over := model.Interrupted(ctx, c.host); over != nil {
		return over
	}
	return c.faultStatus(transportCode(err), status, fmt.Errorf("read the body: %w", c.clean(err)))
}

// transportCode tells a slow network from a broken one. A connection that could
// not be made in time is broken.
func transportCode(err error) model.Code {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return model.Network
	}
	var n net.Error
	if errors.As(err, &n) && n.Timeout() {
		return model.Timeout
	}
	return model.Network
}

// clean keeps err as it is unless its text holds a credential.
func (c *Client) clean(err error) error {
	if text := err.Error(); c.blank(text) != text {
		return errors.New(c.excerpt(text))
	}
	return err
}

// redacted stands in messages where a credential stood.
const redacted = "[redacted]"

// blank takes credentials out of a text.
func (c *Client) blank(text string) string { return c.tokens.blank(c.scrub.Replace(text)) }

// scrubber replaces credentials by a word.
func scrubber(secrets []string) *strings.Replacer {
	var pairs []string
	for _, s := range secrets {
		if s != "" {
			pairs = append(pairs, s, redacted)
		}
	}
	return strings.NewReplacer(pairs...)
}

// redirected reports a redirect, which is not followed (see stayHere).
func (c *Client) redirected(res *http.Response) error {
	where := "elsewhere"
	if to, err := res.Location(); err == nil {
		where = "to " + to.Scheme + "://" + to.Host + to.EscapedPath()
	}
	return c.faultStatus(model.NotFound, res.StatusCode,
		fmt.Errorf("the server redirects %s, which is not followed, so that the key stays with its host: set base_url to the final address", c.excerpt(where)))
}

// broken classifies a good status whose body holds an error instead of an
// answer, or neither.
func (c *Client) broken(res *http.Response, body []byte, inner json.RawMessage) error {
	if !present(inner) {
		return c.faultStatus(model.Malformed, res.StatusCode, fmt.Errorf("the body has no answer; it begins: %s", c.excerpt(string(body))))
	}
	d := parseDetail(inner, 2)
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
	text := c.excerpt(d.message)
	if text == "" {
		text = "no reason given"
	}
	if d.code != "" && !strings.Contains(text, d.code) {
		text += " (" + c.excerpt(d.code) + ")"
	}
	fault := c.faultStatus(classify(status, d), status, refused(text, status, d))
	if fault.Code.Transient() {
		fault.RetryAfter = header.Wait(h, time.Now())
	}
	return fault
}

// refusal is what a server said, made fit for messages, and what follows from it
// for the choice of an API.
type refusal struct {
	text     string
	otherAPI bool // the model or the server may have the other API
	noTrace  bool // the model has no reasoning to be returned
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
		return c.faultStatus(model.Malformed, status, c.clean(err))
	}
	var whole json.RawMessage
	if e := json.NewDecoder(bytes.NewReader(body)).Decode(&whole); errors.Is(e, io.ErrUnexpectedEOF) || errors.Is(e, io.EOF) {
		return c.faultStatus(model.Truncated, status, fmt.Errorf("the body ends early, after %d bytes: %w", len(body), e))
	}
	return c.faultStatus(model.Malformed, status, fmt.Errorf("the body is not an answer: %w; it begins: %s", c.clean(err), c.excerpt(string(body))))
}
