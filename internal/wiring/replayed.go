package wiring

import (
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/provider/preset"
)

// DescribeModel returns what is to be known of the model of a role when no one is called:
// the same as Client does, but without a client, and so without keys, folders and
// programs. It costs nothing.
func DescribeModel(role string, m config.Model) (Built, error) {
	b := Built{Endpoint: "sealed", Kind: Recorded}
	if p, ok := preset.Lookup(m.Provider); ok {
		b.Source, b.Provider = p.Name, p.Name
		return b, nil
	}
	switch {
	case isLogin(m.Provider), m.Provider == "handoff":
		b.Source = m.Provider
	case m.Provider == "sim":
		s, err := newSimulation(role, m)
		if err != nil {
			return Built{}, err
		}
		b.Source, b.Simulated = s.Source, true
	default:
		return Built{}, &UnknownProviderError{Role: role, Provider: m.Provider}
	}
	return b, nil
}

func isLogin(provider string) bool {
	name, ok := strings.CutSuffix(provider, loginSuffix)
	return ok && slices.Contains(loginNames(), name)
}
