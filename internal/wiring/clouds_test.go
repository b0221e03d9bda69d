package wiring

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/provider/anthropic"
	"github.com/seed-f4525e22/skillopt/internal/provider/openai"
	"github.com/seed-f4525e22/skillopt/internal/provider/preset"
	"github.com/seed-f4525e22/skillopt/model"
)

// allClouds are clouds that refuse to do anything.
func allClouds() Clouds {
	return Clouds{
		Amazon: struct{ anthropic.Amazon }{},
		Azure: func(string, string, string) (func(context.Context) (string, time.Time, error), error) {
			return nil, errors.New("no tokens")
		},
		Google: func([]byte, http.RoundTripper) (func(context.Context) (string, error), error) {
			return nil, errors.New("no tokens")
		},
	}
}

// Every provider is either in each program, or refused without the SDK of its cloud before
// its key is looked for, by an error that says how to get it.
func TestClouds(t *testing.T) {
	t.Parallel()
	models := map[string]config.Model{}
	for _, name := range preset.Names() {
		models[name] = config.Model{Provider: name, Model: "m"}
	}
	for _, auth := range []string{openai.AzureKey, openai.AzureCompatible, openai.AzureCLI, openai.AzureManagedIdentity} {
		models["azure "+auth] = config.Model{Provider: "azure", Model: "m", BaseURL: "https://r.openai.azure.com", Azure: config.Azure{Auth: auth}}
	}
	refused := map[string]string{
		"bedrock": "models.target.provider", "vertex": "models.target.provider",
		"azure azure_cli": "models.target.azure.auth", "azure managed_identity": "models.target.azure.auth",
	}
	for name, m := range models {
		unset := func(string) (string, bool) { return "", false }
		var left *LeftOutError
		if _, err := Client(model.Target, m, unset, allClouds()); errors.As(err, &left) {
			t.Errorf("%s with all clouds: %v", name, err)
		}
		_, err := Client(model.Target, m, unset, Clouds{})
		if !errors.As(err, &left) {
			if refused[name] != "" {
				t.Errorf("%s without clouds: %v", name, err)
			}
			continue
		}
		if left.Key != refused[name] || left.Provider != m.Provider || fault.Of(err) != fault.BadInput || !strings.Contains(err.Error(), "-tags cloud") {
			t.Errorf("%s: %#v of kind %s", name, err, fault.Of(err))
		}
	}
	if diff := cmp.Diff([]string{"azure by azure_cli or managed_identity", "bedrock", "vertex"}, Clouds{}.LeftOut()); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	if out := allClouds().LeftOut(); len(out) > 0 {
		t.Errorf("left out %q with all clouds", out)
	}
}
