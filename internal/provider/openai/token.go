package openai

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/seed-f4525e22/skillopt/model"
)

// TokenSource returns a new token and when it expires. It is called again some minutes
// before that, by one goroutine at a time.
type TokenSource func(ctx context.Context) (value string, until time.Time, err error)

// early is how long before its end a token is replaced.
const early = 5 * time.Minute

// tokenCache keeps the token of a source for as long as it is good.
type tokenCache struct {
	source TokenSource
	now    func() time.Time
	turn   chan struct{} // held by the one who reads or replaces the token
	value  string
	until  time.Time
}

func newTokenCache(s TokenSource) *tokenCache {
	return &tokenCache{source: s, now: time.Now, turn: make(chan struct{}, 1)}
}

// get returns a token that is good for a while. Those who come while one is being
// fetched wait for it.
func (t *tokenCache) get(ctx context.Context) (string, error) {
	select {
	case t.turn <- struct{}{}:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	defer func() { <-t.turn }()
	now := t.now()
	if t.value != "" && now.Add(early).Before(t.until) {
		return t.value, nil
	}
	value, until, err := t.source(ctx)
	switch {
	case err == nil && value == "":
		err = errors.New("the token is empty")
	case err == nil:
		t.value, t.until = value, until
		return value, nil
	}
	// The old one may outlive a source that is out of order for a moment.
	if t.value != "" && now.Before(t.until) && ctx.Err() == nil {
		return t.value, nil
	}
	return "", err
}

// forget drops a token that the server refused. It does not wait for anybody: a
// token that is being replaced needs no forgetting.
func (t *tokenCache) forget(value string) {
	if t == nil {
		return
	}
	select {
	case t.turn <- struct{}{}:
	default:
		return
	}
	if t.value == value {
		t.value = ""
	}
	<-t.turn
}

// azureKeyHeader is where Azure takes a key.
const azureKeyHeader = "Api-Key"

// credential is what a request proves itself with.
type credential struct{ header, prefix, value string }

// ErrNoTokens says that Options name tokens of Entra ID and have no source of them.
var ErrNoTokens = errors.New("azure: there is no source of tokens")

// authenticate prepares what requests prove themselves with.
func (c *Client) authenticate(o Options) error {
	switch {
	case o.Azure == nil || o.Azure.Auth == AzureCompatible:
		c.fixed = credential{header: "Authorization", prefix: "Bearer ", value: o.APIKey}
	case o.Azure.WithToken() && o.Azure.Tokens == nil:
		return ErrNoTokens
	case o.Azure.WithToken():
		c.tokens = newTokenCache(o.Azure.Tokens)
	default:
		c.fixed = credential{header: azureKeyHeader, value: o.APIKey}
	}
	return nil
}

// credential returns what the next request is sent with. A token that cannot be
// had is a failure of the endpoint, of the class that its cause has.
func (c *Client) credential(ctx context.Context) (credential, error) {
	if c.tokens == nil {
		return c.fixed, nil
	}
	value, err := c.tokens.get(ctx)
	if err == nil {
		c.faults.server.Learn(value)
		return credential{header: "Authorization", prefix: "Bearer ", value: value}, nil
	}
	if ctx.Err() != nil {
		return credential{}, err
	}
	var n net.Error
	if errors.As(err, &n) {
		return credential{}, c.faults.server.Unsent(ctx, fmt.Errorf("azure token: %w", err))
	}
	return credential{}, c.faults.plain(model.Auth, errors.New("azure token: "+c.faults.server.Excerpt(err.Error())))
}
