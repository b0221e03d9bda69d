package wire

import (
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/config"
	"github.com/seed-f4525e22/skillopt/internal/price"
	"github.com/seed-f4525e22/skillopt/internal/provider/preset"
)

// Sealed returns what is to be known of the model of a role when nobody is called:
// the same as Client does, but without a client, and so without keys, folders and
// programs. It costs nothing.
func Sealed(role string, m config.Model) (Built, error) {
	b := Built{Endpoint: "sealed", Price: &price.Price{}}
	if p, ok := preset.Lookup(m.Provider); ok {
		b.Source, b.Provider = p.Name, p.Name
		return b, nil
	}
	switch {
	case isSeat(m.Provider), m.Provider == "handoff":
		b.Source = m.Provider
	case m.Provider == "sim":
		s, err := simulated(role, m)
		if err != nil {
			return Built{}, err
		}
		b.Source, b.Simulated = s.Source, true
	default:
		return Built{}, &UnknownProviderError{Role: role, Provider: m.Provider}
	}
	return b, nil
}

func isSeat(provider string) bool {
	name, ok := strings.CutSuffix(provider, seatSuffix)
	return ok && slices.Contains(seatNames(), name)
}

// Secrets names the variables that hold what a config keeps secret: keys of
// models, and what agents and environments are handed.
func Secrets(c config.Config) []string {
	names := slices.Concat(c.Env.PassEnv, c.Agent.PassEnv)
	for _, m := range []config.Model{c.Models.Target, c.Models.Optimizer, c.Models.Judge} {
		if p, ok := preset.Lookup(m.Provider); ok {
			names = append(names, p.KeyVar)
		}
		if m.APIKeyEnv != nil {
			names = append(names, *m.APIKeyEnv)
		}
		if m.Provider == "bedrock" {
			names = append(names, m.AWS.AccessKeyEnv, m.AWS.SecretKeyEnv, m.AWS.SessionTokenEnv)
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
}
