// Package offer is a server on the loopback interface that offers agents a tool over MCP. Each agent has a key of
// its own, which counts until the tool is withdrawn.
//
// It knows nothing of what a tool does.
package offer

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-f4525e22/skillopt/model"
)

// Call carries out a call of a tool. Calls come one after the other.
type Call func(ctx context.Context, arguments json.RawMessage) (text string, failed bool)

// Door is the server. It may be used concurrently.
type Door struct {
	listener net.Listener
	server   *http.Server
	served   chan struct{} // closed when the server has stopped

	mu     sync.Mutex
	offers map[string]*Offer // by key
}

// Offer is a tool for one agent.
type Offer struct {
	URL, Key string

	door   *Door
	server *mcp.Server
	listed atomic.Bool

	mu        sync.Mutex // held by a call
	withdrawn bool
}

// How long a client may take to send the head of a request, and a connection be idle.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = time.Minute
)

// Open listens and serves until Close.
func Open() (*Door, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open a server of tools: %w", err)
	}
	d := &Door{listener: l, served: make(chan struct{}), offers: map[string]*Offer{}}
	answer := mcp.NewStreamableHTTPHandler(d.findServer, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	d.server = &http.Server{
		Handler: d.requireKey(answer), ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	go func() {
		defer close(d.served)
		_ = d.server.Serve(l) // always ends with Close, which is no failure
	}()
	return d, nil
}

// Close ends the server.
func (d *Door) Close() error {
	err := d.server.Close()
	<-d.served
	return err
}

// requireKey refuses requests without a key that counts.
func (d *Door) requireKey(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.find(r) == nil {
			http.Error(w, "the key is not that of an episode", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (d *Door) find(r *http.Request) *Offer {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.offers[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
}

func (d *Door) findServer(r *http.Request) *mcp.Server {
	if o := d.find(r); o != nil {
		return o.server
	}
	return nil // it was withdrawn a moment ago
}

// Offer offers a tool until Withdraw.
func (d *Door) Offer(t model.Tool, call Call) *Offer {
	o := &Offer{URL: "http://" + d.listener.Addr().String() + "/mcp", Key: rand.Text(), door: d}
	o.server = mcp.NewServer(&mcp.Implementation{Name: "world", Version: "1"}, nil)
	o.server.AddTool(&mcp.Tool{Name: t.Name, Description: t.Description, InputSchema: t.Parameters}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		text, failed := o.carry(ctx, r.Params.Arguments, call)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, IsError: failed}, nil
	})
	o.server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if method == "tools/list" {
				o.listed.Store(true)
			}
			return next(ctx, method, r)
		}
	})
	d.mu.Lock()
	defer d.mu.Unlock()
	d.offers[o.Key] = o
	return o
}

func (o *Offer) carry(ctx context.Context, arguments json.RawMessage, call Call) (text string, failed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.withdrawn {
		return "The tool is not there any more.", true
	}
	return call(ctx, arguments)
}

// HasListed reports whether the agent has asked what it is offered.
func (o *Offer) HasListed() bool { return o.listed.Load() }

// Withdraw makes the key count for nothing, and waits for the call that is at work.
func (o *Offer) Withdraw() {
	o.door.mu.Lock()
	delete(o.door.offers, o.Key)
	o.door.mu.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.withdrawn = true
}
