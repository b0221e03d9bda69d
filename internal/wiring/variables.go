package wiring

import (
	"strings"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/agent"
)

// Variables looks up every variable that the models, agents and programs of a config read: lookup learns their names.
func Variables(c config.Config, lookup func(string) (string, bool)) {
	Secrets(c, lookup)
	names := append(append([]string{}, c.Agent.PassEnv...), c.Env.PassEnv...)
	names = append(names, agent.Surround(c.Agent.Name, "").Open...)
	for _, m := range []config.Model{c.Models.Target, c.Models.Optimizer, c.Models.Judge} {
		switch m.Provider {
		case "vertex":
			names = append(names, googleProject)
		case "azure":
			names = append(names, azureClient)
		}
		if name, ok := strings.CutSuffix(m.Provider, loginSuffix); ok {
			names = append(names, agent.Surround(name, "").Open...)
		}
	}
	for _, name := range names {
		lookup(name)
	}
}
