package wiring

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/provider/openai"
	"github.com/seed-f4525e22/skillopt/internal/provider/preset"
	"github.com/seed-f4525e22/skillopt/model"
)

// Every provider is either in a lite build, or refused there before its key is looked
// for, by an error that says how to get the full one. A full build refuses none.
func TestEditions(t *testing.T) {
	t.Parallel()
	out := map[string]bool{"anthropic": true, "bedrock": true, "vertex": true, "gemini": true}
	for _, name := range preset.Names() {
		p, _ := preset.Lookup(name)
		m := config.Model{Provider: name, Model: "m"}
		if err := inBuild(false, model.Target, m, p); err != nil {
			t.Errorf("%s in a full build: %v", name, err)
		}
		err := inBuild(true, model.Target, m, p)
		if err != nil != out[name] {
			t.Errorf("%s in a lite build: %v", name, err)
		}
		if err == nil {
			continue
		}
		var left *LeftOutError
		if !errors.As(err, &left) || left.Provider != name || fault.Of(err) != fault.BadInput {
			t.Errorf("%s: %#v of kind %s", name, err, fault.Of(err))
		}
		for _, part := range []string{"models.target.provider", name, "lite", "go install"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %q does not say %q", name, err, part)
			}
		}
	}
	azure, _ := preset.Lookup("azure")
	for auth, want := range map[string]bool{openai.AzureKey: true, openai.AzureCompatible: true, "": true, openai.AzureCLI: false, openai.AzureManagedIdentity: false} {
		m := config.Model{Provider: "azure", Model: "m"}
		m.Azure.Auth = auth
		if err := inBuild(true, model.Judge, m, azure); err == nil != want {
			t.Errorf("azure.auth %q in a lite build: %v", auth, err)
		}
	}
}

// What this build leaves out is what it refuses, also before a key is missing.
func TestThisEdition(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"anthropic", "bedrock", "vertex", "gemini"} {
		_, err := Client(model.Target, config.Model{Provider: name, Model: "m"}, func(string) (string, bool) { return "", false })
		var left *LeftOutError
		if errors.As(err, &left) != Lite || err == nil {
			t.Errorf("%s: %v, lite %v", name, err, Lite)
		}
	}
	if got := len(LeftOut()) > 0; got != Lite {
		t.Errorf("left out %q, lite %v", LeftOut(), Lite)
	}
}
