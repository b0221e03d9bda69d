package wiring

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
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

// TestVariablesOfClouds: what the tools of clouds read from variables is read from them here.
func TestVariablesOfClouds(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "google.json")
	if err := os.WriteFile(file, []byte("the file"), 0o600); err != nil {
		t.Fatal(err)
	}
	var asked []string
	clouds := Clouds{
		Azure: func(auth, scope, clientID string) (func(context.Context) (string, time.Time, error), error) {
			asked = append(asked, auth+" "+scope+" "+clientID)
			return func(context.Context) (string, time.Time, error) { return "", time.Time{}, nil }, nil
		},
		Google: func(data []byte, _ http.RoundTripper) (func(context.Context) (string, error), error) {
			asked = append(asked, string(data))
			return func(context.Context) (string, error) { return "", nil }, nil
		},
	}
	azure := config.Model{Provider: "azure", Model: "m", BaseURL: "https://r.openai.azure.com", Endpoints: []string{"https://r.openai.azure.us"}, AzureAuth: "managed_identity", Timeout: config.Duration(time.Minute)}
	vertex := func(name string) config.Model {
		return config.Model{Provider: "vertex", Model: name, Region: "global"}
	}
	for name, tt := range map[string]struct {
		model   config.Model
		environ map[string]string
		asked   []string
		fault   string
	}{
		"azure": {azure, map[string]string{"AZURE_CLIENT_ID": "me"}, []string{
			"managed_identity https://cognitiveservices.azure.com/.default me", "managed_identity https://cognitiveservices.azure.us/.default me",
		}, ""},
		"gemini":           {vertex("gemini-m"), map[string]string{googleProject: "project-1", googleCredentials: file}, []string{"the file"}, ""},
		"claude":           {vertex("claude-m"), map[string]string{googleProject: "project-1", googleCredentials: file}, []string{"the file"}, ""},
		"no project":       {vertex("claude-m"), map[string]string{googleCredentials: file}, nil, googleProject},
		"no such project":  {vertex("claude-m"), map[string]string{googleProject: "no/project", googleCredentials: file}, []string{"the file"}, "no/project"},
		"no credentials":   {vertex("gemini-m"), map[string]string{googleProject: "project-1"}, nil, googleCredentials},
		"file not there":   {vertex("gemini-m"), map[string]string{googleProject: "project-1", googleCredentials: file + "x"}, nil, googleCredentials},
		"another provider": {config.Model{Provider: "gemini", Model: "m", APIKeyEnv: new(string)}, map[string]string{googleCredentials: file + "x"}, nil, ""},
	} {
		asked = nil
		_, err := Client(model.Target, tt.model, func(name string) (string, bool) { v, ok := tt.environ[name]; return v, ok }, clouds)
		if (err == nil) != (tt.fault == "") || err != nil && !strings.Contains(err.Error(), tt.fault) {
			t.Errorf("%s: error %v, want %q", name, err, tt.fault)
		}
		if diff := cmp.Diff(tt.asked, asked); diff != "" {
			t.Errorf("%s (-want +asked):\n%s", name, diff)
		}
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
		models["azure "+auth] = config.Model{Provider: "azure", Model: "m", BaseURL: "https://r.openai.azure.com", AzureAuth: auth}
	}
	refused := map[string]string{
		"bedrock": "models.target.provider", "vertex": "models.target.provider",
		"azure azure_cli": "models.target.azure_auth", "azure managed_identity": "models.target.azure_auth",
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
