// Package anthropic sends requests to servers that speak Anthropic's Messages
// protocol: Anthropic itself, Claude on Amazon Bedrock and on Google Vertex, and
// proxies of them. It turns every failure into a classified *model.Error.
//
// It knows nothing about retries, limits, prices or records, and nothing about
// the environment: neither the vendor's own variables nor those of AWS and Google,
// their profiles, files and metadata servers are used. Credentials come from
// Options or not at all.
package anthropic

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/provider/header"
	"github.com/seed-f4525e22/skillopt/model"
)

// DefaultBaseURL is where requests go when Options has neither a BaseURL nor a
// platform.
const DefaultBaseURL = "https://api.anthropic.com"

// DefaultMaxTokens is the limit of output tokens of a request that names none:
// the protocol demands one. It leaves room for thinking and lies below the
// length for which the vendor asks for streams.
const DefaultMaxTokens = 16000

// DefaultMaxBody is the size, in bytes, above which a response is refused.
const DefaultMaxBody = 16 << 20

// DefaultIdle is how long a stream may be silent. The server sends a ping every
// few seconds while the model thinks.
const DefaultIdle = 2 * time.Minute

// endpoint is the path below the base URL.
const endpoint = "v1/messages"

// Forms in which a reasoning effort is asked for.
const (
	// ThinkEffort sends thinking "adaptive" and output_config.effort: Claude 4.6
	// and later. The effort "none" switches thinking off.
	ThinkEffort = "effort"
	// ThinkBudget sends thinking "enabled" with a number of tokens: Claude 3.7 to
	// 4.5.
	ThinkBudget = "budget"
	// ThinkNone sends nothing, for models that cannot think.
	ThinkNone = "none"
)

// Forms in which an answer of a JSON Schema is asked for.
const (
	// StructuredNative sends output_config.format.
	StructuredNative = "native"
	// StructuredTool has the model call a tool whose input is the answer, which
	// all models can. The call does not show: its input is the text of the answer.
	StructuredTool = "tool"
	// StructuredNone sends no schema.
	StructuredNone = "none"
)

// Ways to treat temperature and top_p.
const (
	// SamplingAll sends both as they are set.
	SamplingAll = "all"
	// SamplingOne sends top_p only if no temperature is set: Claude 4.1 to 4.6
	// refuse both together.
	SamplingOne = "one"
	// SamplingNone sends neither, for models that refuse both.
	SamplingNone = "none"
)

// Options say which server is spoken to, and how. The zero value speaks to
// Anthropic without a key. Bedrock and Vertex choose another platform; at most
// one of them is set.
type Options struct {
	// BaseURL is the server's address, such as http://localhost:4000; a trailing
	// /v1 or /v1/messages is taken off, a query is kept. "" means DefaultBaseURL,
	// or the platform's own address. On a platform it has no path.
	BaseURL string
	// APIKey is sent as X-Api-Key; "" sends none. It goes to the host of BaseURL
	// only: redirects are not followed. A server that wants a bearer token takes
	// it through Headers. A platform has its own credentials.
	APIKey string
	// Headers are added to every request: names to templates over {{stage}},
	// {{role}} and {{run}}. They win over our own. Anthropic-Beta may
	// be among them; Bedrock gets it in the body, where it wants it.
	Headers map[string]string
	// Bedrock sends the requests to Claude on Amazon Bedrock.
	Bedrock *Bedrock
	// Vertex sends the requests to Claude on Google Vertex AI.
	Vertex *Vertex
	// MaxTokens is sent for a request that names no limit of output tokens; 0
	// means DefaultMaxTokens.
	MaxTokens int
	// Thinking is ThinkEffort, ThinkBudget or ThinkNone: what a reasoning effort
	// becomes. "" means ThinkEffort. Without an effort nothing is sent.
	Thinking string
	// AlwaysThinks says that the model thinks unasked: no tool can be forced on it,
	// and the effort "none" is not sent.
	AlwaysThinks bool
	// Structured is StructuredNative, StructuredTool or StructuredNone: what a
	// Schema becomes. "" means StructuredNone.
	Structured string
	// Sampling is SamplingAll, SamplingOne or SamplingNone. "" means SamplingAll:
	// a server that refuses it says so.
	Sampling string
	// NoCache leaves out the marks up to which the server shall keep a prompt:
	// the last tool, the last system text and, in a conversation, the last message
	// but one, or, where there are tools, the last one and that of the request before. Writing such a cache costs a quarter more than sending the tokens,
	// reading it a tenth.
	NoCache bool
	// Stream asks for answers as streams of events, so that a long answer is seen
	// to be alive.
	Stream bool
	// Idle is how long a stream may be silent before it is given up as timed out;
	// 0 means DefaultIdle. The wait for its beginning is the caller's.
	Idle time.Duration
	// MaxBody bounds a response in bytes; 0 means DefaultMaxBody.
	MaxBody int64
	// Proxy chooses a proxy for a request, as in http.Transport; nil uses none.
	// It does not apply when Transport is set.
	Proxy func(*http.Request) (*url.URL, error)
	// Transport replaces the adapter's own HTTP transport; nil is normal.
	Transport http.RoundTripper
}

// Client is one server with one key. It is safe for concurrent use. Deadlines
// come from the context of each call; the client has none of its own.
type Client struct {
	platform platform
	url      string // of requests, before the platform changes it
	server   *header.Endpoint
	headers  *header.Set
	http     *http.Client
	o        Options // with its defaults filled in
}

var _ model.Client = (*Client)(nil)

// Tokens returns the tokens that the client has proved itself with last, where it
// does so with tokens that change. Answers must not hold them.
func (c *Client) Tokens() []string { return c.server.Learned() }

// New checks o and returns a client. It opens no connection. The error joins
// all faults of o.
func New(o Options) (*Client, error) {
	p, perr := o.platform()
	base, err := parseBase(o, p)
	headers, herr := header.Parse(o.Headers)
	if err = errors.Join(err, herr, perr, checkOptions(o)); err != nil {
		return nil, err
	}
	c := &Client{
		platform: p,
		server:   header.NewEndpoint(base.Host, append(append(headers.Secrets(), p.secrets...), o.APIKey)...),
		headers:  headers,
		o:        o.withDefaults(),
	}
	base.Path += "/" + endpoint
	c.url = base.String()
	c.http = &http.Client{Transport: c.o.Transport, CheckRedirect: header.StayHere}
	return c, nil
}

func (o Options) withDefaults() Options {
	if o.MaxTokens == 0 {
		o.MaxTokens = DefaultMaxTokens
	}
	if o.Thinking == "" {
		o.Thinking = ThinkEffort
	}
	if o.Structured == "" {
		o.Structured = StructuredNone
	}
	if o.Sampling == "" {
		o.Sampling = SamplingAll
	}
	if o.Idle == 0 {
		o.Idle = DefaultIdle
	}
	if o.MaxBody == 0 {
		o.MaxBody = DefaultMaxBody
	}
	if o.Transport == nil {
		o.Transport = header.NewTransport(o.Proxy)
	}
	return o
}

// Generate implements model.Client. An answer without text is returned with
// Text ""; a refusal without words has the server's explanation in Text.
//
// A system message that is not at the beginning is sent as a user's:
// the protocol has but one place for them, and moving it there would inform the
// model of things before they happen. An assistant's message without content is
// left out, since the protocol refuses it. The seed is not sent: there is none.
func (c *Client) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	if p := req.Passage; p != nil && c.Passes(p.Wire) {
		return c.pass(ctx, req)
	}
	w, err := c.request(req)
	if err != nil {
		return model.Response{}, c.server.Fault(model.BadRequest, 0, c.server.Clean(err))
	}
	body, err := encode(w)
	if err != nil {
		return model.Response{}, c.server.Fault(model.BadRequest, 0, c.server.Clean(fmt.Errorf("encode request: %w", err)))
	}
	if c.o.Stream {
		return c.stream(ctx, request{tags: req.Tags, body: body, answer: w.answer, model: req.Model, stream: true})
	}
	res, err := c.send(ctx, request{tags: req.Tags, body: body, model: req.Model})
	if err != nil {
		return model.Response{}, err
	}
	defer func() { _ = res.Body.Close() }() // read to its end or given up: its error changes nothing
	return c.document(ctx, res, w.answer)
}

// request is one request to be sent.
type request struct {
	tags    model.Tags
	body    []byte
	answer  string         // the tool whose input is the answer; "" = there is none
	passage *model.Passage // nil: the body is our own
	model   string         // of our own body
	stream  bool           // the answer comes as events
}

// send returns a response whose status is good and whose body is unread.
func (c *Client) send(ctx context.Context, e request) (*http.Response, error) {
	r, err := c.prepare(ctx, e)
	if err != nil {
		return nil, c.server.Unsent(ctx, err)
	}
	res, err := c.server.Send(c.http, r, c.o.MaxBody, c.readError)
	if err == nil && c.o.Bedrock != nil {
		c.o.Bedrock.translate(res)
	}
	return res, err
}

// prepare returns a request in the form of the platform.
func (c *Client) prepare(ctx context.Context, e request) (*http.Request, error) {
	r, err := c.headers.NewPost(ctx, c.url, e.body, e.tags, map[string]string{"Accept": "application/json", "Anthropic-Version": "2023-06-01"})
	if err != nil {
		return nil, err
	}
	header.Carry(r.Header, e.passage)
	if err := c.platform.place(r, e); err != nil {
		var bad *header.Unsendable
		if model.CodeOf(err) != "" || errors.As(err, &bad) {
			return nil, err
		}
		return nil, c.server.Fault(model.Auth, 0, c.server.Clean(err))
	}
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		c.server.Learn(token)
	}
	return r, nil
}

// Close closes the connections that are not in use. The client stays usable.
func (c *Client) Close() { c.http.CloseIdleConnections() }

func parseBase(o Options, p platform) (*url.URL, error) {
	raw := o.BaseURL
	if raw == "" {
		raw = p.address
	}
	base, err := header.ParseBase(raw, DefaultBaseURL, "/"+endpoint, "/v1")
	if err != nil {
		return nil, err
	}
	if (o.Bedrock != nil || o.Vertex != nil) && base.Path != "" {
		return nil, fmt.Errorf("base url %s://%s%s: the platform sets the path itself: leave it out", base.Scheme, base.Host, base.EscapedPath())
	}
	return base, nil
}

func checkOptions(o Options) error {
	oneOf := func(what, got string, allowed ...string) error {
		for _, a := range allowed {
			if got == "" || got == a {
				return nil
			}
		}
		return fmt.Errorf("%s %q: allowed are %s", what, got, strings.Join(allowed, ", "))
	}
	notNegative := func(what string, n int64) error {
		if n < 0 {
			return fmt.Errorf("%s %d: must not be negative", what, n)
		}
		return nil
	}
	return errors.Join(
		oneOf("thinking", o.Thinking, ThinkEffort, ThinkBudget, ThinkNone),
		oneOf("structured", o.Structured, StructuredNative, StructuredTool, StructuredNone),
		oneOf("sampling", o.Sampling, SamplingAll, SamplingOne, SamplingNone),
		notNegative("max tokens", int64(o.MaxTokens)),
		notNegative("max body", o.MaxBody),
		notNegative("idle", int64(o.Idle)),
		header.CheckKey("api key", o.APIKey),
	)
}
