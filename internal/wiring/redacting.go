package wiring

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/agent"
	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/provider/preset"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/model"
)

// redacting keeps the credentials of a model out of all that comes back from it: a
// server, a proxy or a program that repeats them would have them recorded, shown
// to other models and given away with the record.
type redacting struct {
	model.Client
	hide    *redact.Exact
	renewed *renewed // nil: no credential changes
}

// Passes implements model.Passer.
func (g *redacting) Passes(wire string) bool { return model.Passes(g.Client, wire) }

// Generate implements model.Client.
func (g *redacting) Generate(ctx context.Context, req model.Request) (resp model.Response, err error) {
	var v *veil
	if req.Passage != nil {
		req.Passage, v = g.veilPassage(req.Passage)
	}
	resp, err = g.Client.Generate(ctx, req)
	if g.renewed != nil {
		err = clean(g.renewed.redactor(), &resp, err)
	}
	err = clean(g.hide, &resp, err)
	if v != nil && err == nil {
		err = v.end()
	}
	return resp, err
}

// clean takes credentials out of an answer, and returns err without them.
func clean(hide *redact.Exact, resp *model.Response, err error) error {
	for _, text := range []*string{&resp.Text, &resp.Model, &resp.Fingerprint} {
		*text = hide.Text(*text)
	}
	resp.Parts = partsWithout(hide, resp.Parts)
	return withoutSecrets(err, hide)
}

// partsWithout returns parts without credentials. The client's own are not changed.
func partsWithout(hide *redact.Exact, parts []model.Part) []model.Part {
	parts = slices.Clone(parts)
	for i := range parts {
		p := &parts[i]
		p.Text = hide.Text(p.Text)
		if p.Call != nil {
			c := *p.Call
			c.ID, c.Name, c.Arguments = hide.Text(c.ID), hide.Text(c.Name), hide.JSON(c.Arguments)
			p.Call = &c
		}
		if p.Reasoning != nil {
			r := *p.Reasoning
			r.Text, r.Opaque = hide.Text(r.Text), hide.JSON(r.Opaque)
			p.Reasoning = &r
		}
	}
	text := func(p *model.Part) *string { return &p.Text }
	thought := func(p *model.Part) *string {
		if p.Reasoning == nil {
			return nil
		}
		return &p.Reasoning.Text
	}
	for _, of := range []func(*model.Part) *string{text, thought} {
		hideAcross(hide, parts, of)
	}
	return parts
}

// hideAcross takes out of parts what only their texts together hold: a reader may put them
// together.
func hideAcross(hide *redact.Exact, parts []model.Part, of func(*model.Part) *string) {
	var texts []string
	var at []*string
	for i := range parts {
		if p := of(&parts[i]); p != nil {
			texts, at = append(texts, *p), append(at, p)
		}
	}
	for i, text := range hide.Across(texts) {
		*at[i] = text
	}
}

// renewer is a client whose credentials change while it works: tokens that last
// an hour or so.
type renewer interface {
	// Tokens returns those it has used last. It may be called concurrently.
	Tokens() []string
}

// renewed knows such tokens, those that were used last.
type renewed struct {
	tokens func() []string

	mu   sync.Mutex
	seen []string
	hide *redact.Exact // of those seen
}

// redactor returns what hides the tokens that were used last. It is kept, since tokens change once an hour and calls come by the second.
func (r *renewed) redactor() *redact.Exact {
	tokens := r.tokens()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hide == nil || !slices.Equal(tokens, r.seen) {
		r.seen, r.hide = tokens, redact.NewExact(tokens...)
	}
	return r.hide
}

// withoutSecrets returns err as it is unless its text holds a secret; then it has
// the same class, and the text without it.
func withoutSecrets(err error, hide *redact.Exact) error {
	if err == nil || !hide.Has(err.Error()) {
		return err
	}
	var known *model.Error
	if !errors.As(err, &known) {
		return errors.New(hide.Text(err.Error()))
	}
	e := *known
	e.Endpoint = hide.Text(e.Endpoint)
	if e.Err != nil {
		e.Err = errors.New(hide.Text(e.Err.Error()))
	}
	return &e
}

// Hidden returns what takes the credentials of a config out of texts that count:
// the keys of its models, and what its agents and environments are handed under
// the name of a secret.
func Hidden(c config.Config, lookup func(string) (string, bool)) *redact.Exact {
	return redact.NewExact(Secrets(c, lookup)...)
}

// Secrets returns the values that Hidden looks for; some may be empty.
func Secrets(c config.Config, lookup func(string) (string, bool)) []string {
	var all []string
	for _, m := range []config.Model{c.Models.Target, c.Models.Optimizer, c.Models.Judge} {
		all = append(all, credentials(m, lookup)...)
	}
	all = append(all, authorization(c.Env.Search.APIKeyEnv, lookup)...)
	passed := slices.Concat(c.Agent.PassEnv, c.Env.PassEnv)
	for _, m := range c.Env.MCP {
		all, passed = append(all, authorization(m.APIKeyEnv, lookup)...), append(passed, m.PassEnv...)
	}
	return append(all, secretValues(passed, lookup)...)
}

// authorization returns the value of a header, and its last word, which is the key.
func authorization(name string, lookup func(string) (string, bool)) []string {
	v, _ := lookup(name)
	return []string{v, v[strings.LastIndexByte(v, ' ')+1:]}
}

// secretValues returns which of the variables that a program is handed are secrets: the
// value of one that is named so, or looks so, and the password in an address.
// Others, such as paths, may be part of a right answer.
func secretValues(names []string, lookup func(string) (string, bool)) []string {
	var out []string
	for _, name := range names {
		v, _ := lookup(name)
		if inAddress := ofAddress(v); len(inAddress) > 0 {
			out = append(out, inAddress...)
		} else if secretVariable(name) || redact.Has(v) {
			out = append(out, v)
		}
	}
	return out
}

func secretVariable(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc([]string{"KEY", "TOKEN", "SECRET", "PASSW", "PASSPHRASE", "CREDENTIAL", "AUTH", "COOKIE"}, func(part string) bool {
		return strings.Contains(name, part)
	})
}

// credentials returns what the requests of a model carry that no one may read.
func credentials(m config.Model, lookup func(string) (string, bool)) []string {
	out := []string{string(m.Key)}
	for _, name := range keyVariables(m) {
		v, _ := lookup(name)
		out = append(out, v)
	}
	if name, ok := strings.CutSuffix(m.Provider, loginSuffix); ok {
		home, _ := lookup("HOME")
		for _, secret := range agent.Surround(name, home).Secret {
			v, _ := lookup(secret)
			out = append(out, v)
			for line := range strings.Lines(v) { // of headers
				_, value, _ := strings.Cut(line, ":")
				out = append(out, strings.TrimSpace(value))
			}
		}
	}
	for name, value := range m.Headers {
		if !publicHeader(name) {
			out = append(out, strings.Fields(literal.Replace(value))...)
			out = append(out, literal.Replace(value))
		}
	}
	for _, raw := range append([]string{m.BaseURL}, m.Endpoints...) {
		out = append(out, ofAddress(raw)...)
	}
	for _, name := range []string{"http_proxy", "https_proxy"} {
		for _, name := range []string{name, strings.ToUpper(name)} {
			v, _ := lookup(name)
			out = append(out, ofAddress(v)...)
		}
	}
	return append(out, ofGoogle(GoogleCredentials(m, lookup))...)
}

// literal takes out of a header's value what is filled in for each request.
var literal = strings.NewReplacer("{{stage}}", " ", "{{role}}", " ", "{{run}}", " ")

// publicHeader knows headers that say who asks or what for, as vendors want them.
func publicHeader(name string) bool {
	switch http.CanonicalHeaderKey(name) {
	case "User-Agent", "Http-Referer", "Referer", "Origin", "X-Title", "Accept", "Accept-Language", "Anthropic-Version", "Anthropic-Beta", "Openai-Beta":
		return true
	}
	return false
}

// The variables of Amazon's own tools, with which requests to Bedrock are signed.
const (
	awsKeyID     = "AWS_ACCESS_KEY_ID"
	awsSecretKey = "AWS_SECRET_ACCESS_KEY"
	awsSession   = "AWS_SESSION_TOKEN"
)

func keyVariables(m config.Model) []string {
	var names []string
	if p, ok := preset.Lookup(m.Provider); ok {
		names = append(names, p.KeyVar)
	}
	if m.APIKeyEnv != nil {
		names = append(names, *m.APIKeyEnv)
	}
	if m.Provider == "bedrock" {
		names = append(names, awsKeyID, awsSecretKey, awsSession)
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// ofAddress returns the password and the values of the query of a URL. User and
// password together are what a request carries in base64.
func ofAddress(raw string) []string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return nil
	}
	var out []string
	if password, ok := u.User.Password(); ok {
		out = append(out, password, u.User.Username()+":"+password, u.User.String())
	}
	for name, values := range u.Query() {
		if name != "api-version" { // Azure's, which a right answer may hold
			out = append(out, values...)
		}
	}
	return out
}

// ofGoogle returns what a file of credentials keeps secret. One that cannot be
// read is reported by the one who needs it.
func ofGoogle(path string) []string {
	if path == "" {
		return nil
	}
	data, err := disk.Read(context.Background(), path, maxCredentials)
	if err != nil {
		return nil
	}
	var f struct {
		PrivateKey   string `json:"private_key"`
		KeyID        string `json:"private_key_id"`
		ClientSecret string `json:"client_secret"`
		RefreshToken string `json:"refresh_token"`
	}
	if json.Unmarshal(data, &f) != nil {
		return nil
	}
	return []string{f.PrivateKey, f.KeyID, f.ClientSecret, f.RefreshToken}
}

// formatAddress returns an address as messages show it: without user, password and query. Two that
// differ in those or in their keys alone differ by a mark.
func formatAddress(raw, key string) string {
	u, err := url.Parse(raw)
	if err != nil || u.User == nil && u.RawQuery == "" {
		return raw + keyMark(key)
	}
	bare := *u
	bare.User, bare.RawQuery = nil, ""
	return bare.String() + keyMark(raw+key)
}
