// Package ollama sends requests to Ollama by its own protocol, /api/chat. Unlike
// the compatible one it lets the client set the context window and shows when a
// prompt did not fit, which Ollama otherwise cuts without a word.
//
// It knows nothing about retries, limits, prices or records, and nothing about
// the environment: OLLAMA_HOST is not read.
package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/provider/header"
	"github.com/seed-f4525e22/skillopt/model"
)

// DefaultBaseURL is where requests go when Options has no BaseURL.
const DefaultBaseURL = "http://localhost:11434"

// DefaultContext is the context window, in tokens, that is asked for when
// Options names none. It holds a long skill, a task and an answer, and takes
// about 2 GB of memory for a model of 8 billion parameters. Ollama's own default
// is 4096 on small machines, which cuts most prompts with a skill.
const DefaultContext = 16384

// DefaultMaxBody is the size, in bytes, above which a response is refused.
const DefaultMaxBody = 16 << 20

// DefaultIdle is how long a stream may be silent.
const DefaultIdle = 2 * time.Minute

// Modes of thinking. The zero value leaves it to the model.
const (
	ThinkEnabled  = "enabled"
	ThinkDisabled = "disabled"
)

// Options say which server is spoken to, and how. The zero value speaks to a
// server on this machine.
type Options struct {
	// BaseURL is the server's address without a path, such as
	// http://localhost:11434. A trailing /api/chat, /api or /v1 is taken off. ""
	// means DefaultBaseURL.
	BaseURL string
	// APIKey is sent as a bearer token, for a server behind a proxy; "" sends
	// none. It goes to the host of BaseURL only: redirects are not followed.
	APIKey string
	// Headers are added to every request: names to templates over {{stage}},
	// {{role}} and {{run}}.
	Headers map[string]string
	// Structured says that a request's Schema is sent. All versions since
	// December 2024 take it.
	Structured bool
	// Context is the context window in tokens, for prompt and answer together; 0
	// means DefaultContext, or less if that is all that the model has. More than
	// the model has is refused with its first request.
	Context int
	// Think is ThinkEnabled, ThinkDisabled or "". A request's reasoning effort
	// goes before it; only some models know one.
	Think string
	// KeepAlive is how long the server keeps the model in memory after a request:
	// a duration such as 30m, or -1 for ever; "" leaves it to the server.
	KeepAlive string
	// Stream asks for the answer as a stream, so that a server that has died is
	// distinguished from one that is slow: Idle is how long it may be silent within the
	// answer, 0 means DefaultIdle.
	Stream bool
	Idle   time.Duration
	// MaxBody bounds a response in bytes; 0 means DefaultMaxBody.
	MaxBody int64
	// Proxy chooses a proxy for a request, as in http.Transport; nil uses none.
	// It does not apply when Transport is set.
	Proxy func(*http.Request) (*url.URL, error)
	// Transport replaces the adapter's own HTTP transport; nil is normal.
	Transport http.RoundTripper
}

// Client is one server. It is safe for concurrent use. Deadlines come from the
// context of each call; the client has none of its own.
type Client struct {
	opts      Options
	base      *url.URL
	http      *http.Client
	headers   *header.Set
	end       *header.Endpoint
	keepAlive json.RawMessage
	models    *models
}

var _ model.Client = (*Client)(nil)

// New checks o and returns a client. It opens no connection. The error joins all
// faults of o.
func New(o Options) (*Client, error) {
	if o.BaseURL == "" {
		o.BaseURL = DefaultBaseURL
	}
	base, err := header.ParseBase(o.BaseURL, DefaultBaseURL, "/chat", "/api", "/v1")
	headers, herr := header.Parse(o.Headers)
	alive, kerr := keepAlive(o.KeepAlive)
	if err = errors.Join(err, herr, kerr, o.check()); err != nil {
		return nil, err
	}
	if o.MaxBody == 0 {
		o.MaxBody = DefaultMaxBody
	}
	if o.Idle == 0 {
		o.Idle = DefaultIdle
	}
	if o.Transport == nil {
		o.Transport = header.NewTransport(o.Proxy)
	}
	return &Client{
		opts: o, base: base, headers: headers, keepAlive: alive, models: newModels(),
		http: &http.Client{Transport: o.Transport, CheckRedirect: header.StayHere},
		end:  header.NewEndpoint(base.Host, append(headers.Secrets(), o.APIKey)...),
	}, nil
}

func (o Options) check() error {
	var faults []error
	if o.Context < 0 {
		faults = append(faults, fmt.Errorf("context %d: must not be negative", o.Context))
	}
	if o.MaxBody < 0 {
		faults = append(faults, fmt.Errorf("max body %d: must not be negative", o.MaxBody))
	}
	if o.Idle < 0 {
		faults = append(faults, fmt.Errorf("idle %s: must not be negative", o.Idle))
	}
	switch o.Think {
	case "", ThinkEnabled, ThinkDisabled:
	default:
		faults = append(faults, fmt.Errorf("think %q: allowed are %s and %s", o.Think, ThinkEnabled, ThinkDisabled))
	}
	return errors.Join(append(faults, header.CheckKey("api key", o.APIKey))...)
}

// keepAlive returns the value as the protocol has it: seconds are a number.
func keepAlive(text string) (json.RawMessage, error) {
	if text == "" {
		return nil, nil
	}
	if _, err := strconv.Atoi(text); err == nil {
		return json.RawMessage(text), nil
	}
	if _, err := time.ParseDuration(text); err != nil {
		return nil, fmt.Errorf("keep alive %q: want a duration such as 30m, seconds, or -1 for ever", text)
	}
	return json.Marshal(text)
}

// Generate implements model.Client. The first request for a model asks the
// server about it as well. An answer without text is returned with Text "".
//
// A prompt that does not fit into the context window fails with ContextLength:
// when the server says so, when it is too long by any count, and when the
// server has used less of it than there is.
func (c *Client) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	if over := model.Interrupted(ctx, c.end.Host()); over != nil {
		return model.Response{}, over
	}
	window, err := c.window(ctx, req)
	if err != nil {
		return model.Response{}, err
	}
	body, err := c.encode(req, window)
	if err != nil {
		return model.Response{}, c.end.Fault(model.BadRequest, 0, err)
	}
	if least := leastTokens(req); least > int64(window) {
		return model.Response{}, c.tooLong(req, 0, fmt.Sprintf("it has at least %d tokens", least), window)
	}
	resp, err := c.chat(ctx, req.Tags, body, req)
	if err != nil {
		return model.Response{}, err
	}
	return resp, c.cut(req, resp.Usage.Input, window)
}

// chat makes the request and reads its answer, as a stream or whole.
func (c *Client) chat(ctx context.Context, tags model.Tags, body []byte, req model.Request) (model.Response, error) {
	calling, watch := header.NewWatch(ctx, c.opts.Idle)
	defer watch.Stop()
	res, err := c.post(calling, "api/chat", tags, body)
	if err != nil {
		return model.Response{}, c.end.Unsent(ctx, err)
	}
	if c.opts.Stream {
		res.Body = watch.Body(res.Body)
	}
	defer func() { _ = res.Body.Close() }() // read to its end or given up: its error changes nothing
	resp, err := c.answer(ctx, res, req)
	if silent := watch.Idle(); err != nil && silent != nil && ctx.Err() == nil {
		return model.Response{}, c.end.Fault(model.Timeout, res.StatusCode, silent)
	}
	return resp, err
}

// post sends a body. The response's own is bounded.
func (c *Client) post(ctx context.Context, path string, tags model.Tags, body []byte) (*http.Response, error) {
	own := map[string]string{}
	if c.opts.APIKey != "" {
		own["Authorization"] = "Bearer " + c.opts.APIKey
	}
	r, err := c.headers.NewPost(ctx, c.base.JoinPath(path).String(), body, tags, own)
	if err != nil {
		return nil, err
	}
	res, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	res.Body = http.MaxBytesReader(nil, res.Body, c.opts.MaxBody)
	return res, nil
}

// Close closes the connections that are not in use. The client stays usable.
func (c *Client) Close() {
	if t, ok := c.opts.Transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}
