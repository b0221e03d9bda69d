package openai

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/seed-f4525e22/skillopt/model"
)

// Token is a credential for some time.
type Token struct {
	Value     string
	ExpiresAt time.Time
}

// TokenSource gives tokens.
type TokenSource interface {
	// Token blocks until there is a new token or ctx is done. It is called again
	// some minutes before a token expires, by one goroutine at a time.
	Token(ctx context.Context) (Token, error)
}

// early is how long before its end a token is replaced.
const early = 5 * time.Minute

// tokenCache keeps the token of a source for as long as it is good.
type tokenCache struct {
	source TokenSource
	now    func() time.Time
	turn   chan struct{} // held by the one who reads or replaces the token
	token  Token
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
	if t.token.Value != "" && now.Add(early).Before(t.token.ExpiresAt) {
		return t.token.Value, nil
	}
	fresh, err := t.source.Token(ctx)
	switch {
	case err == nil && fresh.Value == "":
		err = errors.New("the token is empty")
	case err == nil:
		t.token = fresh
		return fresh.Value, nil
	}
	// The old one may outlive a source that is out of order for a moment.
	if t.token.Value != "" && now.Before(t.token.ExpiresAt) && ctx.Err() == nil {
		return t.token.Value, nil
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
	if t.token.Value == value {
		t.token = Token{}
	}
	<-t.turn
}

// azureKeyHeader is where Azure takes a key.
const azureKeyHeader = "Api-Key"

// credential is what a request is sent with next to the SDK's own bearer token.
type credential struct{ header, prefix, value string }

// authenticate prepares what requests prove themselves with, and returns the
// bearer token that the SDK is to send, if any.
func (c *Client) authenticate(o Options) (bearer string, err error) {
	switch {
	case o.Azure == nil || o.Azure.Auth == AzureCompatible:
		return o.APIKey, nil
	case !o.Azure.withToken():
		c.apiKey = o.APIKey
		return "", nil
	}
	source, err := o.Azure.source()
	if err != nil {
		return "", err
	}
	c.tokens = newTokenCache(source)
	return "", nil
}

// credential returns what the next request is sent with. A token that cannot be
// had is a failure of the endpoint, of the class that its cause has.
func (c *Client) credential(ctx context.Context) (credential, error) {
	if c.tokens == nil {
		return credential{header: azureKeyHeader, value: c.apiKey}, nil
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
