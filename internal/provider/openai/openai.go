// Package openai sends requests to servers that speak OpenAI's protocols: Chat
// Completions, which vLLM, Ollama, llama.cpp, OpenRouter and many others speak
// too, and Responses. It reaches OpenAI itself, Azure and all of those, and turns
// every failure into a classified *model.Error.
//
// It knows nothing about retries, limits, prices or records, and nothing about
// the environment. Quirks say in what a server differs; it knows no names of
// models.
package openai

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/provider/header"
	"github.com/seed-f4525e22/skillopt/model"
)

// The paths below the base URL.
const (
	chatPath      = "chat/completions"
	responsesPath = "responses"
)

// provider marks the reasoning that this package has read.
const provider = "openai"

// Client is one server with one key. It is safe for concurrent use. Deadlines
// come from the context of each call; the client has none of its own but the
// silence of a stream.
type Client struct {
	http      *http.Client // over transport
	address   address
	headers   *header.Set
	bodies    encoder
	answers   answers
	faults    faults
	idle      time.Duration
	maxBody   int64
	routes    routes
	warn      func(string)
	strange   strange
	transport http.RoundTripper

	fixed  credential  // what requests prove themselves with, where there are no tokens
	tokens *tokenCache // of Azure, or nil
}

var _ model.Client = (*Client)(nil)

// Tokens returns the tokens that the client has proved itself with last, where it
// does so with tokens that change. Answers must not hold them.
func (c *Client) Tokens() []string { return c.faults.server.Learned() }

// New checks o and returns a client. It opens no connection. The error joins
// all faults of o.
func New(o Options) (*Client, error) {
	base, err := parseBase(o.BaseURL)
	headers, herr := header.Parse(o.Headers)
	extra, berr := extraFields(o.Body)
	if err = errors.Join(err, herr, berr, checkOptions(o)); err != nil {
		return nil, err
	}
	quirks := o.resolveQuirks(base.Hostname())
	failures := faults{server: header.NewEndpoint(base.Host, append(headers.Secrets(), o.APIKey)...)}
	c := &Client{
		address:   newAddress(base, o.Azure),
		headers:   headers,
		bodies:    encoder{quirks: quirks, extra: extra, stream: o.Stream, schema: newSchemaForm(quirks.Schema, o.FixedSchema)},
		answers:   answers{faults: failures, cost: quirks.Cost},
		faults:    failures,
		idle:      o.Idle,
		maxBody:   o.MaxBody,
		routes:    newRoutes(o.API, vendor(base.Hostname()) || o.Azure != nil),
		transport: o.Transport,
		warn:      o.Warn,
	}
	if c.maxBody == 0 {
		c.maxBody = DefaultMaxBody
	}
	if c.idle == 0 {
		c.idle = DefaultIdle
	}
	if c.transport == nil {
		c.transport = header.NewTransport(o.Proxy)
	}
	c.http = &http.Client{Transport: c.transport, CheckRedirect: header.StayHere}
	return c, c.authenticate(o)
}

// resolveQuirks returns the quirks with the defaults filled in.
func (o Options) resolveQuirks(host string) Quirks {
	q := o.Quirks
	if q.TokenField == "" {
		q.TokenField = tokenField(host)
	}
	return q
}

// Generate implements model.Client. An answer without text is returned with
// Text ""; a refusal's words are in Text.
func (c *Client) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	if p := req.Passage; p != nil && c.Passes(p.Wire) {
		resp, err := c.pass(ctx, &req)
		if !c.elsewhere(&req, err) {
			return resp, err
		}
	}
	req.Passage = nil
	if req.Schema != nil && c.bodies.schema.get() != SchemaNone {
		return c.sendWithSchema(ctx, &req)
	}
	return c.sendByRoute(ctx, &req)
}

// chat makes one request to Chat Completions.
func (c *Client) chat(ctx context.Context, req *model.Request) (model.Response, error) {
	body, err := c.bodies.chat(req)
	if err != nil {
		return model.Response{}, c.faults.plain(model.BadRequest, err)
	}
	return c.send(ctx, req, chatPath, body, chatProtocol())
}

// Close closes the connections that are not in use. The client stays usable.
func (c *Client) Close() {
	if t, ok := c.transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// address is where requests go.
type address struct {
	base       string
	query      string // of every request, with its question mark, or ""
	deployment bool   // Azure's older form: the model is part of Chat's path
}

func newAddress(base *url.URL, azure *Azure) address {
	u := *base
	a := address{}
	if azure != nil {
		a.deployment = azure.place(&u)
	}
	if u.RawQuery != "" {
		a.query = "?" + u.RawQuery
		u.RawQuery = ""
	}
	a.base = u.String()
	return a
}

// path returns the path of a request below the base.
func (a address) path(endpoint, name string) (string, error) {
	if !a.deployment || endpoint != chatPath {
		return endpoint + a.query, nil
	}
	if name == "" || name == "." || name == ".." {
		return "", errors.New("the name of a deployment is wanted as the model")
	}
	return "deployments/" + url.PathEscape(name) + "/" + endpoint + a.query, nil
}
