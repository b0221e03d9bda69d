// Package gemini sends requests to servers that speak Google's generateContent
// protocol: the Gemini API and Vertex AI. It turns every
// failure into a classified *model.Error.
//
// It knows nothing about retries, limits, prices or records, and nothing about
// the environment: no variable, no default credentials and no metadata server
// is used.
package gemini

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/provider/header"
	"github.com/seed-f4525e22/skillopt/model"
)

// DefaultBaseURL is where requests go when Options has neither a BaseURL nor
// Vertex.
const DefaultBaseURL = "https://generativelanguage.googleapis.com"

// DefaultMaxBody is the size, in bytes, above which a response is refused.
const DefaultMaxBody = 16 << 20

// DefaultIdle is how long a stream may be silent. The protocol has no sign of
// life, so a model that thinks long without a word counts as silent.
const DefaultIdle = 5 * time.Minute

// Forms in which a reasoning effort is asked for.
const (
	ThinkLevel  = "level"  // thinkingLevel: Gemini 3 and later
	ThinkBudget = "budget" // thinkingBudget, in tokens: Gemini 2.5
	ThinkNone   = "none"   // nothing is sent, for models that cannot think
)

// Options say which server is spoken to, and how. The zero value speaks to the
// Gemini API without a key.
type Options struct {
	// BaseURL is the server's address; a trailing version (/v1beta, /v1beta1, /v1)
	// is taken off, a query is kept. "" means DefaultBaseURL, or Vertex's own
	// address.
	BaseURL string
	// APIKey is sent as X-Goog-Api-Key; "" sends none. It goes to the host of
	// BaseURL only: redirects are not followed. Vertex has its own credentials.
	APIKey string
	// Headers are added to every request: names to templates over {{stage}},
	// {{role}} and {{run}}. They win over our own.
	Headers map[string]string
	// Vertex sends the requests to Google Vertex AI.
	Vertex *Vertex
	// Thinking is ThinkLevel, ThinkBudget or ThinkNone: what a reasoning effort
	// becomes. "" means ThinkLevel. Without an effort nothing is sent.
	Thinking string
	// AlwaysThinks says that the model's thinking cannot be switched off: the
	// effort "none" asks for the least.
	AlwaysThinks bool
	// Thoughts asks for summaries of what the model thinks; they come back as
	// reasoning and cost nothing more. Signatures come without it.
	Thoughts bool
	// Structured says that the server takes a JSON Schema of the answer. If it is
	// false, a request's Schema is not sent.
	Structured bool
	// Stream asks for answers as streams.
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

// Vertex says how Gemini on Google Vertex AI is reached. No application default
// credentials are looked for: Token is where they come from.
type Vertex struct {
	Project string
	Region  string // such as us-central1, global, us or eu
	// Token returns an access token that is valid now. It is called for each
	// request, concurrently, under the context of the request; it keeps a token as
	// long as it lasts. An error that is a *model.Error counts as it is, any other
	// as Auth.
	Token func(context.Context) (string, error)
}

// Client is one server with one key. It is safe for concurrent use. Deadlines
// come from the context of each call; the client has none of its own.
type Client struct {
	server  *header.Endpoint
	headers *header.Set
	base    http.RoundTripper
	http    *http.Client // over base
	url     *url.URL     // the base URL
	o       Options
}

var _ model.Client = (*Client)(nil)

// Tokens returns the tokens that the client has proved itself with last, where it
// does so with tokens that change. Answers must not hold them.
func (c *Client) Tokens() []string { return c.server.Learned() }

// New checks o and returns a client. It opens no connection. The error joins
// all faults of o.
func New(o Options) (*Client, error) {
	raw := o.BaseURL
	if raw == "" {
		raw = o.address()
	}
	base, err := header.ParseBase(raw, DefaultBaseURL, "/v1beta1", "/v1beta", "/v1")
	headers, herr := header.Parse(o.Headers)
	if err = errors.Join(err, herr, checkOptions(o)); err != nil {
		return nil, err
	}
	c := &Client{
		server:  header.NewEndpoint(base.Host, append(headers.Secrets(), o.APIKey)...),
		headers: headers,
		base:    o.Transport,
		url:     base,
		o:       o,
	}
	if c.o.Idle == 0 {
		c.o.Idle = DefaultIdle
	}
	if c.o.MaxBody == 0 {
		c.o.MaxBody = DefaultMaxBody
	}
	if c.base == nil {
		c.base = header.NewTransport(o.Proxy)
	}
	c.http = &http.Client{Transport: c.base, CheckRedirect: header.StayHere}
	return c, nil
}

// Generate implements model.Client. An answer without text is returned with
// Text "".
//
// A system message that is not at the beginning is sent as a user's:
// the protocol has but one place for them, and moving it there would inform the
// model of things before they happen. An assistant's message without content is
// left out, since the protocol refuses it. Of the seed the lower 31 bits are
// sent: the protocol has no more.
func (c *Client) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	if p := req.Passage; p != nil && c.Passes(p.Wire) {
		return c.pass(ctx, req)
	}
	r, err := c.request(req)
	if err != nil {
		return model.Response{}, c.server.Fault(model.BadRequest, 0, c.server.Clean(fmt.Errorf("encode request: %w", err)))
	}
	if r.stream {
		return c.stream(ctx, r)
	}
	res, err := c.send(ctx, r)
	if err != nil {
		return model.Response{}, err
	}
	defer func() { _ = res.Body.Close() }() // read to its end or given up: its error changes nothing
	return c.document(ctx, res, r)
}

// Close closes the connections that are not in use. The client stays usable.
func (c *Client) Close() {
	if t, ok := c.base.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// address returns the address that a platform has by itself.
func (o Options) address() string {
	switch v := o.Vertex; {
	case v == nil:
		return DefaultBaseURL
	case v.Region == "global":
		return "https://aiplatform.googleapis.com"
	case v.Region == "us", v.Region == "eu":
		return "https://aiplatform." + v.Region + ".rep.googleapis.com"
	default:
		return "https://" + v.Region + "-aiplatform.googleapis.com"
	}
}

// name matches what may be in a host or a path without escapes.
var name = pattern.New(`^[a-z0-9][a-z0-9-]{0,62}$`)

func checkOptions(o Options) error {
	var faults []error
	switch o.Thinking {
	case "", ThinkLevel, ThinkBudget, ThinkNone:
	default:
		faults = append(faults, fmt.Errorf("thinking %q: allowed are %s", o.Thinking, strings.Join([]string{ThinkLevel, ThinkBudget, ThinkNone}, ", ")))
	}
	if o.MaxBody < 0 {
		faults = append(faults, fmt.Errorf("max body %d: must not be negative", o.MaxBody))
	}
	if o.Idle < 0 {
		faults = append(faults, fmt.Errorf("idle %s: must not be negative", o.Idle))
	}
	faults = append(faults, header.CheckKey("api key", o.APIKey))
	if o.Vertex == nil {
		return errors.Join(faults...)
	}
	if o.APIKey != "" {
		faults = append(faults, errors.New("api key: vertex has its own credentials: remove it"))
	}
	return errors.Join(append(faults, o.Vertex.check())...)
}

func (v Vertex) check() error {
	var faults []error
	if !name.MatchString(v.Region) {
		faults = append(faults, fmt.Errorf("vertex region %q: want one such as us-central1 or global", v.Region))
	}
	if !name.MatchString(v.Project) {
		faults = append(faults, fmt.Errorf("vertex project %q: want the id of a project: small letters, digits and -", v.Project))
	}
	if v.Token == nil {
		faults = append(faults, errors.New("vertex: has no source of tokens"))
	}
	return errors.Join(faults...)
}
