package wiring

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/provider/failover"
	"github.com/seed-f4525e22/skillopt/internal/provider/ollama"
	"github.com/seed-f4525e22/skillopt/internal/provider/openai"
	"github.com/seed-f4525e22/skillopt/internal/provider/preset"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/model"
)

// maxCredentials is the size of the largest file of credentials, in bytes.
const maxCredentials = 1 << 20

// server is a model behind a URL, as a config and its preset describe it.
type server struct {
	role   string
	config config.Model
	lookup func(string) (string, bool)
	clouds Clouds
	preset.Resolved
	key     string
	notices *notices // of the servers; nil: no one hears it
}

// remote builds the client of a model that a preset describes.
func remote(role string, m config.Model, p preset.Preset, lookup func(string) (string, bool), clouds Clouds) (Built, error) {
	if err := clouds.check(role, p); err != nil {
		return Built{}, err
	}
	hide := redact.NewExact(credentials(m, lookup)...)
	s, err := resolve(role, m, p, lookup)
	if err != nil {
		return Built{}, withoutSecrets(err, hide)
	}
	s.clouds = clouds
	b := Built{Endpoint: formatAddress(s.BaseURL, s.key), Source: p.Name, Provider: p.Name, Kind: Remote}
	n := &notices{role: role, hide: hide}
	b.Hear, s.notices = n.hear, n
	if u, err := url.Parse(s.BaseURL); err == nil {
		b.Local = onThisMachine(u.Hostname()) && p.Name != "litellm"
	}
	if b.Servers, err = s.servers(hide); err != nil {
		return Built{}, withoutSecrets(err, hide)
	}
	b.Client = b.Servers[0].Client
	if s.Warning != "" {
		b.Warnings = append(b.Warnings, hide.Text(fmt.Sprintf("models.%s: %s", role, s.Warning)))
	}
	if (m.BaseURL == "" || s.Warning == "") && len(m.Endpoints) == 0 {
		b.AtHome = true
	}
	if len(m.Endpoints) > 0 {
		b.Client, err = s.several(b.Servers, n)
	}
	return b, withoutSecrets(err, hide)
}

// servers builds the client of each address.
func (s server) servers(hide *redact.Exact) ([]Server, error) {
	var all []Server
	for i, base := range append([]string{s.BaseURL}, s.config.Endpoints...) {
		key := "models." + s.role
		if i > 0 {
			key += ".endpoints"
		}
		c, err := s.adapter(base)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		one := Server{Name: formatAddress(base, ""), Client: c}
		if w, ok := c.(windowed); ok {
			one.Window = func(ctx context.Context) (int, error) {
				n, err := w.Window(ctx, s.config.Model)
				return n, withoutSecrets(err, hide)
			}
		}
		guard := &redacting{Client: s.bound(c, base), hide: hide}
		if r, ok := c.(renewer); ok {
			guard.renewed = &renewed{tokens: r.Tokens}
		}
		one.Client = guard
		all = append(all, one)
	}
	return all, nil
}

// windowed is a client that sets how much of a prompt its server reads.
type windowed interface {
	Window(ctx context.Context, model string) (tokens int, err error)
}

func resolve(role string, m config.Model, p preset.Preset, lookup func(string) (string, bool)) (server, error) {
	r, err := p.Resolve(preset.Choice{Model: m.Model, BaseURL: m.BaseURL, Region: m.Region, Thinking: m.Thinking})
	if err == nil {
		err = r.Check(m.Temperature, m.ReasoningEffort)
	}
	if err == nil {
		err = checkThinking(r, m)
	}
	if err != nil {
		return server{}, fmt.Errorf("models.%s.%w", role, err)
	}
	s := server{role: role, config: m, lookup: lookup, Resolved: r}
	s.key, err = s.apiKey()
	return s, err
}

// checkThinking refuses a switch that the protocol does not have: there it goes by effort.
func checkThinking(r preset.Resolved, m config.Model) error {
	if r.Protocol != preset.Anthropic && r.Protocol != preset.Gemini || m.Thinking == "" || m.Thinking == preset.ThinkingDefault {
		return nil
	}
	return &preset.ChoiceError{
		Preset: r.Preset, Key: "thinking", Found: m.Thinking, Allowed: []string{preset.ThinkingDefault},
		Why: "its models think by reasoning_effort, of which none is the least",
	}
}

// apiKey reads the key. A variable that the user names must be set, and so must
// the usual one of a provider that needs a key.
func (s server) apiKey() (string, error) {
	name, must := s.KeyVar, s.Key == preset.KeyRequired
	if v := s.config.APIKeyEnv; v != nil {
		name, must = *v, true
	}
	if key := string(s.config.Key); key != "" {
		return key, nil
	}
	if name == "" || s.Cloud == preset.Azure && slices.Contains(tokenAuth(), s.config.AzureAuth) {
		return "", nil
	}
	key, ok := s.lookup(name)
	if must && (!ok || key == "") {
		return "", &MissingKeyError{Role: s.role, Var: name}
	}
	return key, nil
}

// several makes one client of all servers.
func (s server) several(all []Server, n *notices) (model.Client, error) {
	o := failover.Options{Timeout: s.config.Timeout.Std() / 2, Warn: n.warn}
	for _, one := range all {
		o.Endpoints = append(o.Endpoints, failover.Endpoint{Name: one.Name, Client: one.Client})
	}
	c, err := failover.New(o)
	if err != nil {
		return nil, fmt.Errorf("models.%s.endpoints: %w", s.role, err)
	}
	return c, nil
}

func (s server) adapter(base string) (model.Client, error) {
	switch s.Protocol {
	case preset.Anthropic:
		return s.anthropic(base)
	case preset.Gemini:
		return s.gemini(base)
	case preset.Ollama:
		return s.ollama(base)
	}
	return s.openai(base)
}

func (s server) openai(base string) (model.Client, error) {
	m := s.config
	o := openai.Options{
		BaseURL: base, APIKey: s.key, Headers: m.Headers, API: m.API, Stream: m.Stream, Body: s.Body, Proxy: Proxy(s.lookup),
		Quirks: openai.Quirks{
			TokenField: s.TokenField, NoTemperature: s.noTemperature(), EffortField: s.EffortField, Efforts: s.Efforts,
			SeedField: s.SeedField, SystemRole: s.SystemRole, ToolForms: s.ToolChoice, ToolAny: s.ToolAny, CacheKey: s.CacheKey && s.Warning == "",
			ReasoningField: s.ReasoningField, ReasoningAlways: s.ReasoningAlways && s.Think != preset.ThinkingDisabled,
			Cost:   s.Preset == "openrouter" && s.Warning == "",
			Schema: s.schema(),
		},
		FixedSchema: m.Structured == "on",
	}
	if s.notices != nil {
		o.Warn = s.notices.say
	}
	if s.Protocol == preset.OpenAIChat && m.API != openai.APIResponses || s.elsewhere() {
		o.API = openai.APIChat
	}
	if s.Cloud == preset.Azure {
		o.Azure = &openai.Azure{Auth: m.AzureAuth}
		if o.Azure.WithToken() && s.clouds.Azure != nil {
			identity, _ := s.lookup(azureClient)
			tokens, err := s.clouds.Azure(m.AzureAuth, openai.AzureScope(base), identity)
			if err != nil {
				return nil, err
			}
			o.Azure.Tokens = tokens
		}
	}
	c, err := openai.New(o)
	if errors.Is(err, openai.ErrNoTokens) {
		return nil, &LeftOutError{Key: "models." + s.role + ".azure_auth", Value: m.AzureAuth, Provider: s.Preset}
	}
	return c, err
}

// noTemperature reports that a temperature would be refused or change nothing.
// The user's own was checked before; agents send one unasked.
func (s server) noTemperature() bool {
	return s.Temperature == preset.TemperatureRefused || s.Temperature == preset.TemperatureIgnored && s.Think != preset.ThinkingDisabled
}

// elsewhere reports that provider openai is led to a server of its own kind,
// which no one has to ask whether it has the newer API.
func (s server) elsewhere() bool {
	return s.Preset == "openai" && s.Warning != "" && s.config.API != openai.APIResponses
}

// schema says how a JSON Schema is sent. A server at another address may know
// less than the provider's own: the adapter finds out.
func (s server) schema() string {
	switch s.config.Structured {
	case "off":
		return openai.SchemaNone
	case "on":
		return openai.SchemaNative
	}
	return string(s.Schema)
}

func (s server) ollama(base string) (model.Client, error) {
	m := s.config
	o := ollama.Options{
		BaseURL: base, APIKey: s.key, Headers: m.Headers, Structured: m.Structured != "off", Context: m.Context,
		Stream: m.Stream, Proxy: Proxy(s.lookup),
	}
	switch m.Thinking {
	case preset.ThinkingEnabled:
		o.Think = ollama.ThinkEnabled
	case preset.ThinkingDisabled:
		o.Think = ollama.ThinkDisabled
	}
	return ollama.New(o)
}

// providers lists what a config can name.
func providers() string {
	all := append(preset.Names(), "sim", "handoff")
	for _, name := range loginNames() {
		all = append(all, name+loginSuffix)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}
