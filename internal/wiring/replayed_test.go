package wiring

import (
	"slices"
	"testing"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/provider/preset"
)

// TestReplayedIsWhatIsRecorded: what answers a replay stands under the same name in
// every input as what was recorded.
func TestReplayedIsWhatIsRecorded(t *testing.T) {
	t.Parallel()
	const world = "../../examples/quickstart/world.yaml"
	set := func(string) (string, bool) { return "a-key", true }
	models := []config.Model{
		{Provider: "sim", World: world},
		{Provider: "handoff", Folder: t.TempDir()},
		{Provider: "claude-cli", Model: "m"},
	}
	for _, name := range preset.Names() {
		models = append(models, config.Model{Provider: name, Model: "m", BaseURL: "http://127.0.0.1:9/v1"})
	}
	checked := 0
	for _, m := range models {
		want, err := Client("target", m, set, Clouds{})
		if err != nil {
			continue // a cloud that needs more than a key
		}
		if want.Close != nil {
			defer func() { _ = want.Close() }()
		}
		checked++
		got, err := DescribeModel("target", m)
		if err != nil {
			t.Fatal(err)
		}
		if got.Source != want.Source || got.Source == "" || got.Simulated != want.Simulated || got.Provider != want.Provider || got.Client != nil {
			t.Errorf("%s: replayed %+v, client %+v", m.Provider, got, want)
		}
	}
	if checked < 15 {
		t.Errorf("only %d providers could be compared", checked)
	}
	if _, err := DescribeModel("target", config.Model{Provider: "nobody"}); err == nil {
		t.Error("an unknown provider is replayed")
	}
}

// TestSecretsAreValues: what is named so, and no more; the rest may stand in a
// right answer.
func TestSecretsAreValues(t *testing.T) {
	t.Parallel()
	own := "OWN_KEY"
	c := config.Default()
	c.Models.Target = config.Model{Provider: "openai"}
	c.Models.Optimizer = config.Model{Provider: "compatible", APIKeyEnv: &own}
	c.Agent.PassEnv = []string{"SOME_TOKEN", "LANGUAGE"}
	c.Env.Search.APIKeyEnv = "SEARCH"
	got := Secrets(c, func(name string) (string, bool) { return "value of " + name, true })
	for _, want := range []string{"value of OPENAI_API_KEY", "value of OWN_KEY", "value of SOME_TOKEN", "value of SEARCH", "SEARCH"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	if slices.Contains(got, "value of LANGUAGE") {
		t.Errorf("%q", got)
	}
}
