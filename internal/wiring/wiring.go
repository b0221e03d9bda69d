// Package wiring is the only place that lists the adapters: which provider a
// config means, and what it needs to be built.
//
// It knows nothing about what models are asked, or about training.
package wiring

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/agent"
	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/provider/handoff"
	"github.com/seed-f4525e22/skillopt/internal/provider/preset"
	"github.com/seed-f4525e22/skillopt/internal/provider/seat"
	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/model"
)

// Kind says what answers for a model.
type Kind string

const (
	Remote     Kind = "remote"     // somebody else's, or one of our own, asked over HTTP
	Simulation Kind = "simulation" // a simulated world: answers cost nothing
	Program    Kind = "program"    // the program of a coding agent, with its user's login
	ByHand     Kind = "by hand"    // somebody, through files
	Recorded   Kind = "recorded"   // a record: no one is asked, and nothing costs
	Own        Kind = "own"        // a client of the program around
	None       Kind = "none"       // nothing: what carries out the tasks calls models by itself
)

// Built is a client and what is to be known of it.
type Built struct {
	Client    model.Client
	Endpoint  string // what limits and patience are counted by
	Source    string // what answers, beyond the model's name: part of every recorded input
	Provider  string
	Kind      Kind
	Simulated bool // what answers is a simulation, or was when it was recorded
	AtHome    bool // behind it is the provider's own address, where its list prices hold
	Local     bool // behind it is a server on this machine, which is no proxy
	Warnings  []string
	Close     func() error // nil = nothing to release

	// Servers are those behind Client, of a provider with an address; nil for others.
	Servers []Server

	// Hear sets who is notified, once of each, of a server that is asked no more or has
	// long failed while the others answer, and of one that refuses the form in which
	// answers are asked for. That may be from several goroutines at once. Nil: there
	// is nothing to hear.
	Hear func(tell func(text string))

	// Ready returns the version of a Program, "" where it names none, or reports, before
	// anything is asked, that it cannot answer here: an *AgentError.
	Ready func(ctx context.Context) (version string, err error)

	// Open counts those that wait for somebody's answer by hand, in Folder.
	Open   func() int
	Folder string
}

// Server is one of the servers that answer for a model.
type Server struct {
	Name   string // its address, without what is secret in it
	Client model.Client

	// Window returns how many tokens of context a request gets. Nil: that is not
	// for a client to say.
	Window func(ctx context.Context) (tokens int, err error)
}

// A MissingKeyError says that the variable which should hold a key is not set.
type MissingKeyError struct {
	Role string
	Var  string
}

func (e *MissingKeyError) Error() string {
	return fmt.Sprintf("models.%s: the variable %s, which should hold the key, is not set\n"+
		"put the key into it (export %s), write it into a .env file next to the config, name another with models.%s.api_key_env, "+
		"or set that to \"\" for a server without a key", e.Role, e.Var, e.Var, e.Role)
}

// An UnknownProviderError names a provider that there is no adapter for.
type UnknownProviderError struct{ Role, Provider string }

func (e *UnknownProviderError) Error() string {
	found := "nothing"
	if e.Provider != "" {
		found = strconv.Quote(e.Provider)
	}
	return fmt.Sprintf("models.%s.provider: found %s, allowed: %s", e.Role, found, providers())
}

// Client builds the client of a role. lookup reads the environment. It makes no
// call.
func Client(role string, m config.Model, lookup func(string) (string, bool), clouds Clouds) (Built, error) {
	if p, ok := preset.Lookup(m.Provider); ok {
		return remote(role, m, p, lookup, clouds)
	}
	if name, ok := strings.CutSuffix(m.Provider, loginSuffix); ok && slices.Contains(loginNames(), name) {
		return newSeat(role, name, m, lookup)
	}
	switch m.Provider {
	case "sim":
		return newSimulation(role, m)
	case "handoff":
		return handedOff(role, m)
	}
	return Built{}, &UnknownProviderError{Role: role, Provider: m.Provider}
}

func newSimulation(role string, m config.Model) (Built, error) {
	world, err := sim.Load(m.World)
	if err != nil {
		return Built{}, fmt.Errorf("models.%s.world: %w", role, err)
	}
	digest, err := worldDigest(m.World)
	if err != nil {
		return Built{}, fmt.Errorf("models.%s.world: %w", role, err)
	}
	id := "sim:" + world.Name()
	return Built{Client: sim.New(world), Endpoint: id, Source: id + "@" + digest, Kind: Simulation, Simulated: true}, nil
}

// handedOff lets somebody answer by files.
func handedOff(role string, m config.Model) (Built, error) {
	if m.Folder == "" {
		return Built{}, fmt.Errorf("models.%s.folder: found nothing, allowed: a folder for questions and answers", role)
	}
	c, err := handoff.New(m.Folder)
	if err != nil {
		return Built{}, fmt.Errorf("models.%s.folder: %w", role, err)
	}
	return Built{Client: c, Endpoint: "handoff:" + m.Folder, Source: "handoff", Kind: ByHand, Close: c.Close, Folder: m.Folder, Open: func() int { return len(c.Open()) }}, nil
}

// loginSuffix distinguishes the program of a coding agent as a plain model from the
// provider of its vendor.
const loginSuffix = "-cli"

func loginNames() []string { return []string{"claude", "codex", "copilot"} }

// newSeat makes a model of a coding agent's program and its user's login.
func newSeat(role, name string, m config.Model, lookup func(string) (string, bool)) (Built, error) {
	if m.Key != "" {
		return Built{}, fmt.Errorf("models.%s: provider %s takes no key as a value, name the variable that holds it with models.%s.api_key_env", role, m.Provider, role)
	}
	o := seat.Options{Agent: name, Program: m.Command, Timeout: m.Timeout.Std()}
	o.Path, _ = lookup("PATH")
	o.Home, _ = lookup("HOME")
	if v := m.APIKeyEnv; v != nil && *v != "" {
		key, ok := lookup(*v)
		if !ok || key == "" {
			return Built{}, &MissingKeyError{Role: role, Var: *v}
		}
		o.Env = append(o.Env, *v+"="+key)
	}
	if m.BaseURL == "" {
		around := agent.Surround(name, o.Home)
		o.Env = append(surround(append(around.Open, around.Secret...), lookup), o.Env...)
	}
	if v := m.APIKeyEnv; v != nil && *v != "" {
		o.Home = "" // it proves itself by that variable, and the login of its user is left alone
	}
	if m.BaseURL != "" {
		o.Endpoint = &agent.Endpoint{URL: m.BaseURL, Key: "none"}
	}
	c, err := seat.New(o)
	if err != nil {
		return Built{}, fmt.Errorf("models.%s: %w", role, err)
	}
	hide := redact.NewExact(credentials(m, lookup)...)
	return Built{
		Client: &redacting{Client: c, hide: hide}, Endpoint: m.Provider, Source: m.Provider, Kind: Program,
		Ready: func(ctx context.Context) (string, error) { return loginReady(ctx, c, role) },
	}, nil
}

// surround returns those of the variables that are set, as NAME=value.
func surround(names []string, lookup func(string) (string, bool)) []string {
	var env []string
	for _, name := range names {
		if v, ok := lookup(name); ok && v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// loginReady looks for the program of a seat.
func loginReady(ctx context.Context, c *seat.Client, role string) (version string, err error) {
	info, err := c.Detect(ctx)
	if err != nil {
		return "", fmt.Errorf("models.%s: look for the program: %w", role, err)
	}
	if info.Problem != "" {
		return "", &AgentError{Key: "models." + role, Err: errors.New(info.Problem), Help: info.Help}
	}
	return info.Version, nil
}

// keyMark distinguishes endpoints with different keys without showing them.
func keyMark(key string) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(key))
	return " (key " + hex.EncodeToString(sum[:2]) + ")"
}

func worldDigest(path string) (string, error) {
	data, err := disk.Read(context.Background(), path, sim.MaxBytes)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8]), nil
}

// Proxy reads the usual variables through lookup, not from the process.
func Proxy(lookup func(string) (string, bool)) func(*http.Request) (*url.URL, error) {
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

// Sampling returns how the answers of a configured model are drawn.
func Sampling(m config.Model) model.Sampling {
	return model.Sampling{Temperature: m.Temperature, MaxTokens: m.MaxTokens, ReasoningEffort: m.ReasoningEffort}
}
