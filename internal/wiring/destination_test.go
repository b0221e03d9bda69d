package wiring_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
)

func TestDestinations(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		model config.Model
		agent config.Agent
		want  []wiring.Destination
	}{
		{"none", config.Model{}, config.Agent{}, []wiring.Destination{{}}},
		{"of a vendor", config.Model{Provider: "openai", Model: "m"}, config.Agent{}, []wiring.Destination{{Host: "api.openai.com"}}},
		{"base_url wins", config.Model{Provider: "openai", Model: "m", BaseURL: "https://LLM.corp.test:8443/v1"}, config.Agent{}, []wiring.Destination{{Host: "llm.corp.test:8443"}}},
		{"further endpoints", config.Model{Provider: "openai", Model: "m", BaseURL: "http://127.0.0.1:1/v1", Endpoints: []string{"https://b.test/v1", "https://b.test/v2"}}, config.Agent{}, []wiring.Destination{{Host: "127.0.0.1:1", Local: true}, {Host: "b.test"}}},
		{"local", config.Model{Provider: "ollama", Model: "m"}, config.Agent{}, []wiring.Destination{{Host: "localhost:11434", Local: true}}},
		{"a proxy", config.Model{Provider: "litellm", Model: "m"}, config.Agent{}, []wiring.Destination{{Host: "localhost:4000"}}},
		{"not local", config.Model{Provider: "ollama", Model: "m", BaseURL: "http://localhost.evil.test:11434"}, config.Agent{}, []wiring.Destination{{Host: "localhost.evil.test:11434", Plain: true}}},
		{"in the house", config.Model{Provider: "vllm", Model: "m", BaseURL: "http://192.168.1.2:8000/v1"}, config.Agent{}, []wiring.Destination{{Host: "192.168.1.2:8000", Plain: true}}},
		{"a login", config.Model{Provider: "claude-cli"}, config.Agent{}, []wiring.Destination{{Host: "claude-cli (its own login)", OwnLogin: true}}},
		{"simulated", config.Model{Provider: "sim"}, config.Agent{}, []wiring.Destination{{Local: true}}},
		{"an agent by its login", config.Model{Provider: "ollama", Model: "m"}, config.Agent{Name: "codex"}, []wiring.Destination{{Host: "codex (its own login)", OwnLogin: true}}},
		{"an agent through the program", config.Model{Provider: "ollama", Model: "m"}, config.Agent{Name: "codex", Gateway: true}, []wiring.Destination{{Host: "localhost:11434", Local: true}}},
	} {
		got, err := wiring.Destinations("target", config.Config{Models: config.Models{Target: tt.model}, Agent: tt.agent})
		for i := range tt.want {
			tt.want[i].Role = "target"
		}
		if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(wiring.Destination{}, "Why")); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", tt.name, err, diff)
		}
	}
	for _, m := range []config.Model{{Provider: "nobody"}, {Provider: "openai"}, {Provider: "compatible", Model: "m"}, {Provider: "openai", Model: "m", Endpoints: []string{"x"}}} {
		if got, err := wiring.Destinations("judge", config.Config{Models: config.Models{Judge: m}}); err == nil {
			t.Errorf("%+v: %v", m, got)
		}
	}
}
