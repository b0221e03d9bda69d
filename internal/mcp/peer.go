package mcp

import (
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Peer is the client that has sent a request.
type Peer struct{ session *sdk.ServerSession }

// Client returns the name of the program, "" for one that has not said it.
func (p *Peer) Client() string {
	if r := p.session.InitializeParams(); r != nil && r.ClientInfo != nil {
		return r.ClientInfo.Name
	}
	return ""
}

// Roots returns the folders that the client works in, none if it does not say so.
func (p *Peer) Roots(ctx context.Context) ([]string, error) {
	r := p.session.InitializeParams()
	//lint:ignore SA1019 clients of today say it so
	if r == nil || r.Capabilities == nil || r.Capabilities.RootsV2 == nil {
		return nil, nil
	}
	const patience = 10 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	//lint:ignore SA1019 the same
	list, err := p.session.ListRoots(ctx, nil)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, root := range list.Roots {
		if u, err := url.Parse(root.URI); err == nil && u.Scheme == "file" && (u.Host == "" || u.Host == "localhost") {
			out = append(out, fromSlash(u.Path))
		}
	}
	return out, nil
}

// fromSlash returns the path of a file: address. That of a drive of Windows begins with a slash there.
func fromSlash(path string) string {
	if local := filepath.FromSlash(path); len(path) < 3 || path[2] != ':' || !filepath.IsAbs(local[1:]) {
		return local
	}
	return filepath.FromSlash(path[1:])
}

// ErrNoForm is the error of a client that shows its user no forms.
var ErrNoForm = errors.New("this client shows no forms")

// Ask shows the user a form with one text field, and returns what was typed, "" if the user declined.
func (p *Peer) Ask(ctx context.Context, message, title, description string) (string, error) {
	r := p.session.InitializeParams()
	if r == nil || r.Capabilities == nil || r.Capabilities.Elicitation == nil {
		return "", ErrNoForm
	}
	const field = "typed"
	answer, err := p.session.Elicit(ctx, &sdk.ElicitParams{Message: message, RequestedSchema: map[string]any{
		"type": "object", "required": []string{field},
		"properties": map[string]any{field: map[string]any{"type": "string", "title": title, "description": description, "minLength": 1, "maxLength": 100}},
	}})
	if err != nil {
		return "", err
	}
	typed, _ := answer.Content[field].(string)
	if answer.Action != "accept" {
		return "", nil
	}
	return typed, nil
}

// Progress says how far a call is. A client that has not asked for it hears nothing.
func (c *Call) Progress(ctx context.Context, done, total float64, message string) {
	if c.token == nil {
		return
	}
	_ = c.session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: c.token, Progress: done, Total: total, Message: message}) // the answer says it too
}
