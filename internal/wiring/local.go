package wiring

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/provider/preset"
	"github.com/seed-f4525e22/skillopt/model"
)

// localOutput is the most tokens of a reply from a server of one's own, where max_tokens
// does not say.
const localOutput = 8192

// bounded bounds the replies of a server whose own default is what its context holds: a
// model that does not find an end writes for minutes until that is full.
type bounded struct {
	model.Client
	say func(text string)
}

// bound bounds the replies of a server at base, if that is one's own. The adapters of
// other protocols always send a bound.
func (s server) bound(c model.Client, base string) model.Client {
	speaks := s.Protocol == preset.OpenAI || s.Protocol == preset.OpenAIChat || s.Protocol == preset.Ollama
	if s.config.MaxTokens > 0 || !speaks || s.Preset == "litellm" || !isPrivate(base) {
		return c
	}
	return &bounded{Client: c, say: s.notices.say}
}

// Passes implements model.Passer.
func (b *bounded) Passes(wire string) bool { return model.Passes(b.Client, wire) }

// Generate implements model.Client. A server that refuses the bound has less room in its
// context, all of which it gives to a request without one.
func (b *bounded) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	if req.MaxTokens > 0 || req.Passage != nil {
		return b.Client.Generate(ctx, req)
	}
	within := req
	within.MaxTokens = localOutput
	resp, err := b.Client.Generate(ctx, within)
	if refusesBound(err) {
		return b.Client.Generate(ctx, req)
	}
	if err == nil && resp.Finish == model.FinishLength {
		b.say(fmt.Sprintf("a reply was cut: without max_tokens a server at a private address gives at most %d tokens, "+
			"or what its context leaves; if replies need more, set max_tokens", localOutput))
	}
	return resp, err
}

// refusesBound reports whether a server refused a request for its bound, as max_tokens or
// max_new_tokens, or since it leaves no room in the context for the prompt.
func refusesBound(err error) bool {
	var fault *model.Error
	if !errors.As(err, &fault) || fault.Status < http.StatusBadRequest {
		return false
	}
	return fault.Code == model.ContextLength || fault.Code == model.BadRequest && strings.Contains(fault.Error(), "max_")
}

// isPrivate reports whether the server of an address is on this machine or on a private
// network, as far as the address shows: a name without a dot is one of a local network.
func isPrivate(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	host := u.Hostname()
	if a, err := netip.ParseAddr(host); err == nil {
		return a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast()
	}
	return !strings.Contains(host, ".") || strings.HasSuffix(host, ".local")
}
