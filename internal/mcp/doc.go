// Package mcp serves tools and documents to the model of a coding agent over MCP, on a pair of streams.
//
// It owns the protocol: lines that are no messages, arguments that do not keep to the description of a tool, answers
// that are too long, calls that are cancelled, forms for a person. What a client sends is not trusted. It knows
// nothing of commands or runs: a tool is a value with a function.
package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// versions are those in which a server may ask its client for folders and forms. Newer ones have another way to ask.
var versions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// atOnce is how many calls are carried out at the same time; others wait.
const atOnce = 4

// grace is how long the end of a server waits for calls that were cancelled.
const grace = 20 * time.Second

// Server is what a client is offered.
type Server struct {
	Name, Version string
	Instructions  string // for the model
	Tools         []Tool
	Documents     Documents
}

// Documents are texts with addresses.
type Documents struct {
	Templates []Template
	List      func(ctx context.Context, p *Peer) ([]Document, error)           // those that are listed by themselves
	Read      func(ctx context.Context, p *Peer, uri string) (Document, error) // nil error and no text: there is none
}

// Template describes a family of documents.
type Template struct{ URI, Name, Description, Type string }

// Document is a text with an address.
type Document struct {
	URI, Name, Description, Type string
	Text                         string // of one that is read
}

// Serve answers a client until its messages end or the context does, and returns after the last call has ended.
func (s Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	server := sdk.NewServer(&sdk.Implementation{Name: s.Name, Version: s.Version}, &sdk.ServerOptions{
		Instructions: s.Instructions, SupportedProtocolVersions: versions, Capabilities: &sdk.ServerCapabilities{},
		Logger: slog.New(slog.DiscardHandler),
	})
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	slots := make(chan struct{}, atOnce)
	for _, t := range s.Tools {
		server.AddTool(t.describe(), func(call context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			call, end := joinContexts(call, ctx)
			defer end()
			return t.answer(call, slots, r)
		})
	}
	s.Documents.add(server)
	session, err := server.Connect(ctx, newTransport(in, out), nil)
	if err != nil {
		return fmt.Errorf("serve tools: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- session.Wait() }()
	select {
	case err = <-ended:
		return ignoreEnd(err)
	case <-ctx.Done():
	}
	go func() { _ = session.Close() }() // ends with the last call, and Wait with it
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case err = <-ended:
	case <-late.C:
	}
	return ignoreEnd(err)
}

// joinContexts returns a context that ends with either.
func joinContexts(ctx, other context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(other, func() { cancel(context.Cause(other)) })
	return ctx, func() { stop(); cancel(nil) }
}

// add adds the documents to a server.
func (d Documents) add(server *sdk.Server) {
	read := func(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		found, err := d.Read(ctx, &Peer{r.Session}, r.Params.URI)
		switch {
		case err != nil:
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
		case found.Text == "":
			return nil, sdk.ResourceNotFoundError(r.Params.URI)
		}
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, MIMEType: found.Type, Text: cutText(found.Text, maxDocument)}}}, nil
	}
	for _, t := range d.Templates {
		server.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: t.URI, Name: t.Name, Description: t.Description, MIMEType: t.Type}, read)
	}
	server.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			session, ok := r.GetSession().(*sdk.ServerSession)
			if method != "resources/list" || !ok {
				return next(ctx, method, r)
			}
			list, err := d.List(ctx, &Peer{session})
			out := &sdk.ListResourcesResult{Resources: []*sdk.Resource{}, Cacheable: sdk.Cacheable{CacheScope: "private"}}
			for _, f := range list {
				out.Resources = append(out.Resources, &sdk.Resource{URI: f.URI, Name: f.Name, Description: f.Description, MIMEType: f.Type})
			}
			return out, err
		}
	})
}

// marshal encodes what can always be encoded.
func marshal(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}
