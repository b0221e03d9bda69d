package wiring

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/provider/openai"
	"github.com/seed-f4525e22/skillopt/internal/provider/preset"
)

// A LeftOutError names a provider, or a way to prove oneself to it, that this program
// has an adapter for and this build has not.
type LeftOutError struct {
	Key, Value string // of the config
	Provider   string
}

func (e *LeftOutError) Error() string {
	return fmt.Sprintf("%s: %s is not part of this program: it is a lite build, without the SDKs of clouds\n"+
		"%s; a lite build reaches OpenAI, servers that speak its protocol, and Ollama", e.Key, e.Value, FullBuild)
}

// ErrorKind says whose business the error is.
func (*LeftOutError) ErrorKind() string { return string(fault.BadInput) }

// FullBuild says how to get a program that leaves nothing out.
const FullBuild = "get the full one: a release archive without lite in its name, or go install github.com/seed-f4525e22/skillopt/cmd/skillopt@latest"

// LeftOut lists what a config can name and this build cannot do, sorted; nil in a full one.
func LeftOut() []string {
	if !Lite {
		return nil
	}
	var all []string
	for _, name := range preset.Names() {
		if p, ok := preset.Lookup(name); ok && needsSDK(p) {
			all = append(all, name)
		}
	}
	return append(all, "azure by "+strings.Join(tokenAuth(), " or "))
}

// needsSDK reports whether a provider is reached by the SDK of a cloud, or of a vendor
// that brings those of clouds.
func needsSDK(p preset.Preset) bool {
	return p.Protocol == preset.Anthropic || p.Protocol == preset.Gemini
}

// tokenAuth lists the values of azure.auth with tokens that an SDK fetches.
func tokenAuth() []string { return []string{openai.AzureCLI, openai.AzureManagedIdentity} }

// inBuild refuses what a build leaves out, before any key or file is looked for.
func inBuild(lite bool, role string, m config.Model, p preset.Preset) error {
	switch {
	case !lite:
	case needsSDK(p):
		return &LeftOutError{Key: "models." + role + ".provider", Value: p.Name, Provider: p.Name}
	case p.Cloud == preset.Azure && slices.Contains(tokenAuth(), m.Azure.Auth):
		return &LeftOutError{Key: "models." + role + ".azure.auth", Value: m.Azure.Auth, Provider: p.Name}
	}
	return nil
}
