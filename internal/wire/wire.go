// Package wire is the only place that lists the adapters: which provider a
// config means, and what it needs to be built.
//
// It knows nothing about what models are asked, or about training.
package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"github.com/seed-f4525e22/skillopt/internal/config"
	"github.com/seed-f4525e22/skillopt/internal/provider/openai"
	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/model"
)

// Built is a client and what is to be known of it.
type Built struct {
	Client    model.Client
	Endpoint  string // what limits and patience are counted by
	Source    string // what answers, beyond the model's name: part of every recorded input
	Simulated bool
}

// A MissingKeyError says that the variable which should hold a key is not set.
type MissingKeyError struct {
	Role string
	Var  string
}

func (e *MissingKeyError) Error() string {
	return fmt.Sprintf("models.%s: the variable %s, which should hold the key, is not set\n"+
		"export %s=..., write it into a .env file beside the config, name another with models.%s.api_key_env, "+
		"or set that to \"\" for a server without a key", e.Role, e.Var, e.Var, e.Role)
}

// An UnknownProviderError names a provider that there is no adapter for.
type UnknownProviderError struct{ Role, Provider string }

func (e *UnknownProviderError) Error() string {
	if e.Provider == "" {
		return fmt.Sprintf("models.%s.provider: found nothing, allowed: openai, sim", e.Role)
	}
	return fmt.Sprintf("models.%s.provider: found %q, allowed: openai, sim", e.Role, e.Provider)
}

// Client builds the client of a role. lookup reads the environment. It makes no
// call.
func Client(role string, m config.Model, lookup func(string) (string, bool)) (Built, error) {
	switch m.Provider {
	case "sim":
		world, err := sim.Load(m.World)
		if err != nil {
			return Built{}, fmt.Errorf("models.%s.world: %w", role, err)
		}
		digest, err := worldDigest(m.World)
		if err != nil {
			return Built{}, fmt.Errorf("models.%s.world: %w", role, err)
		}
		id := "sim:" + world.Name()
		return Built{Client: sim.New(world), Endpoint: id, Source: id + "@" + digest, Simulated: true}, nil
	case "openai":
		return openAI(role, m, lookup)
	}
	return Built{}, &UnknownProviderError{Role: role, Provider: m.Provider}
}

func openAI(role string, m config.Model, lookup func(string) (string, bool)) (Built, error) {
	key, err := apiKey(role, m, lookup)
	if err != nil {
		return Built{}, err
	}
	base := m.BaseURL
	if base == "" {
		base = openai.DefaultBaseURL
	}
	c, err := openai.New(openai.Options{
		BaseURL: base, APIKey: key, Headers: m.Headers,
		Structured: m.Structured == "on" || m.Structured == "auto" && base == openai.DefaultBaseURL,
		Proxy:      proxy(lookup),
	})
	if err != nil {
		return Built{}, fmt.Errorf("models.%s: %w", role, err)
	}
	return Built{Client: c, Endpoint: base + keyMark(key), Source: "openai"}, nil
}

// keyMark tells endpoints with different keys apart without showing them.
func keyMark(key string) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(key))
	return " (key " + hex.EncodeToString(sum[:2]) + ")"
}

func worldDigest(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8]), nil
}

// proxy reads the usual variables through lookup, not from the process.
func proxy(lookup func(string) (string, bool)) func(*http.Request) (*url.URL, error) {
	either := func(name string) string {
		if v, ok := lookup(strings.ToUpper(name)); ok {
			return v
		}
		v, _ := lookup(name)
		return v
	}
	choose := (&httpproxy.Config{
		HTTPProxy: either("http_proxy"), HTTPSProxy: either("https_proxy"), NoProxy: either("no_proxy"),
	}).ProxyFunc()
	return func(r *http.Request) (*url.URL, error) { return choose(r.URL) }
}

func apiKey(role string, m config.Model, lookup func(string) (string, bool)) (string, error) {
	name := "OPENAI_API_KEY"
	if m.APIKeyEnv != nil {
		name = *m.APIKeyEnv
	}
	if name == "" {
		return "", nil
	}
	key, ok := lookup(name)
	if !ok || key == "" {
		return "", &MissingKeyError{Role: role, Var: name}
	}
	return key, nil
}
