package wiring

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/agent"
	"github.com/seed-f4525e22/skillopt/internal/provider/preset"
	"github.com/seed-f4525e22/skillopt/model"
)

// Destination is where questions of a role go.
type Destination struct {
	Role string
	// Host is that of a server, with its port where the URL has one; of a program with a
	// login of its own, the program. Empty: nothing is sent.
	Host string
	// Local: it is this machine, and nothing leaves it.
	Local bool
	// OwnLogin: the program sends by a login of its own.
	OwnLogin bool
	// Plain: what is sent can be read on the way: HTTP without TLS, and not on this machine.
	Plain bool
	// Why says more: how it is known, or why nothing is sent.
	Why string
}

// Destinations reports where questions of a role go, without a call and without a key. A role
// without a model sends nothing.
func Destinations(role string, c config.Config) ([]Destination, error) {
	m := c.Models.Of(role)
	if role == model.Target && c.Agent.Name != "" && c.Agent.Name != agent.BuiltinName && !c.Agent.Gateway {
		return []Destination{{Role: role, Host: c.Agent.Name + " (its own login)", OwnLogin: true, Why: "agent.gateway is off: the agent sends where it likes"}}, nil
	}
	if p, ok := preset.Lookup(m.Provider); ok {
		return ofServers(role, m, p)
	}
	if name, ok := strings.CutSuffix(m.Provider, loginSuffix); ok && slices.Contains(loginNames(), name) {
		return []Destination{{Role: role, Host: m.Provider + " (its own login)", OwnLogin: true, Why: "the program sends to its vendor"}}, nil
	}
	switch m.Provider {
	case "":
		return []Destination{{Role: role, Why: "no model set: nothing is sent"}}, nil
	case "sim":
		return []Destination{{Role: role, Local: true, Why: "simulated: nothing is sent"}}, nil
	case "handoff":
		return []Destination{{Role: role, Local: true, Why: "questions are files in a folder: nothing is sent"}}, nil
	}
	return nil, &UnknownProviderError{Role: role, Provider: m.Provider}
}

func ofServers(role string, m config.Model, p preset.Preset) ([]Destination, error) {
	r, err := p.Resolve(preset.Choice{Model: m.Model, BaseURL: m.BaseURL, Region: m.Region, Thinking: m.Thinking})
	if err != nil {
		return nil, fmt.Errorf("models.%s.%w", role, err)
	}
	var out []Destination
	for _, raw := range append([]string{r.BaseURL}, m.Endpoints...) {
		u, err := url.Parse(raw)
		if err != nil || u.Host == "" {
			return nil, fmt.Errorf("models.%s.endpoints: no URL with a host", role)
		}
		d := Destination{Role: role, Host: strings.ToLower(u.Host), Local: onThisMachine(u.Hostname())}
		d.Plain = !d.Local && u.Scheme != "https"
		switch {
		case d.Local && p.Name == "litellm":
			d.Local, d.Why = false, "a proxy: it sends on to where its own settings say"
		case d.Local:
			d.Why = "this machine: nothing leaves it, unless that server sends it on"
		}
		if !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	return out, nil
}

// onThisMachine reports whether a host is the loopback interface.
func onThisMachine(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
