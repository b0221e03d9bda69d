package gemini

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"google.golang.org/genai"

	"github.com/seed-f4525e22/skillopt/internal/provider/header"
	"github.com/seed-f4525e22/skillopt/model"
)

// exchange is one request on its way through the SDK, and what came back. The
// SDK gets an empty response in its place, and has nothing to say about it.
type exchange struct {
	tags model.Tags
	res  *http.Response
	err  error
}

// exchangeKey is where a context holds the exchange.
type exchangeKey struct{}

// send returns a response whose status is good and whose body is unread.
func (c *Client) send(ctx context.Context, r *request) (*http.Response, error) {
	x := &exchange{tags: r.tags}
	var err error
	if r.passage != nil {
		x.res, x.err = c.post(ctx, r)
	} else {
		err = c.through(context.WithValue(ctx, exchangeKey{}, x), r)
	}
	switch {
	case x.err != nil:
		return nil, c.server.Unsent(ctx, x.err)
	case x.res == nil: // the SDK did not send it
		if over := model.Interrupted(ctx, c.server.Host()); over != nil {
			return nil, over
		}
		return nil, c.server.Fault(model.BadRequest, 0, c.server.Clean(fmt.Errorf("encode request: %w", err)))
	case x.res.StatusCode >= http.StatusBadRequest:
		defer func() { _ = x.res.Body.Close() }() // its error changes nothing
		return nil, c.refused(x.res)
	case x.res.StatusCode >= http.StatusMultipleChoices:
		_ = x.res.Body.Close() // its body is of no interest
		return nil, c.server.Redirected(x.res)
	}
	return x.res, nil
}

// through hands a request to the SDK.
func (c *Client) through(ctx context.Context, r *request) error {
	// The contents are put into the body at the end: on their way through the SDK
	// numbers would be rounded, images copied four times, and fields lost that it
	// does not know.
	stand := []*genai.Content{{Role: genai.RoleUser, Parts: []*genai.Part{{Text: "-"}}}}
	once := false // the SDK would continue by itself where a model stopped
	r.config.AutomaticContinuation = &once
	r.config.HTTPOptions = &genai.HTTPOptions{ExtrasRequestProvider: func(body map[string]any) map[string]any {
		body["contents"] = r.contents
		return body
	}}
	if !c.o.Stream {
		_, err := c.api.Models.GenerateContent(ctx, r.model, stand, r.config)
		return err
	}
	var last error
	for _, err := range c.api.Models.GenerateContentStream(ctx, r.model, stand, r.config) {
		last = err
	}
	return last
}

// hook is the transport that the SDK sees.
type hook struct{ *Client }

// RoundTrip keeps the response for send.
func (h hook) RoundTrip(r *http.Request) (*http.Response, error) {
	x, ok := r.Context().Value(exchangeKey{}).(*exchange)
	if !ok {
		return nil, fmt.Errorf("a request to %s that is not an exchange", r.URL.Host)
	}
	x.res, x.err = h.roundTrip(r, x.tags)
	if x.err != nil {
		return nil, x.err
	}
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: http.NoBody, Request: r,
	}, nil
}

// roundTrip sends a request with its final headers, and bounds its response.
func (c *Client) roundTrip(r *http.Request, tags model.Tags) (*http.Response, error) {
	kept, err := c.headers.Dress(r.Header, tags, "Content-Type")
	if err != nil {
		return nil, err
	}
	out := r.Clone(r.Context())
	out.Header = kept
	if err := c.authorize(out); err != nil {
		return nil, err
	}
	if c.query != "" {
		if out.URL.RawQuery != "" {
			out.URL.RawQuery += "&"
		}
		out.URL.RawQuery += c.query
	}
	res, err := c.http.Do(out)
	if err != nil {
		return nil, err
	}
	res.Body = http.MaxBytesReader(nil, res.Body, c.o.MaxBody)
	return res, nil
}

func (c *Client) authorize(r *http.Request) error {
	if c.o.Vertex == nil {
		if c.o.APIKey != "" && r.Header["X-Goog-Api-Key"] == nil {
			r.Header["X-Goog-Api-Key"] = []string{c.o.APIKey}
		}
		return nil
	}
	token, err := c.o.Vertex.Token(r.Context())
	if err != nil {
		if model.CodeOf(err) != "" {
			return err
		}
		return c.server.Fault(model.Auth, 0, c.server.Clean(fmt.Errorf("get an access token: %w", err)))
	}
	c.server.Learn(token)
	r.Header["Authorization"] = []string{"Bearer " + token}
	return nil
}

// stream makes a request whose answer comes in pieces.
func (c *Client) stream(ctx context.Context, req *request) (model.Response, error) {
	within, watch := header.NewWatch(ctx, c.o.Idle)
	defer watch.Stop()
	res, err := c.send(within, req)
	if err != nil {
		return model.Response{}, err
	}
	body := req.passage.Through(watch.Body(res.Body), res.Header.Get("Content-Type"))
	defer func() { _ = body.Close() }() // read to its end or given up: its error changes nothing
	r, events := header.Sniff(body)
	res.Body = io.NopCloser(r)
	var out model.Response
	if events {
		out, err = c.events(ctx, res, req)
	} else {
		out, err = c.document(ctx, res, req)
	}
	if idle := watch.Idle(); err != nil && idle != nil && ctx.Err() == nil {
		return model.Response{}, c.server.Fault(model.Timeout, res.StatusCode, idle)
	}
	return out, err
}
