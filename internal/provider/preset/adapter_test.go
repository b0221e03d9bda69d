package preset_test

import (
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/provider/openai"
	"github.com/seed-f4525e22/skillopt/internal/provider/preset"
)

// TestAdaptersTakeWhatIsResolved builds a client from every preset that speaks a
// protocol of OpenAI, in every mode of thinking, for models that the rules know
// and one that they do not.
func TestAdaptersTakeWhatIsResolved(t *testing.T) {
	t.Parallel()
	models := []string{"gpt-4o", "gpt-5.1", "o3", "openai/gpt-oss-120b", "MiniMax-M2.7", "grok-4.3", "qwen3-max", "some-model"}
	built := 0
	for _, name := range preset.Names() {
		p, _ := preset.Lookup(name)
		if p.Protocol != preset.OpenAI && p.Protocol != preset.OpenAIChat {
			continue
		}
		for _, m := range models {
			for _, mode := range []string{preset.ThinkingDefault, preset.ThinkingEnabled, preset.ThinkingDisabled} {
				r, err := p.Resolve(preset.Choice{Model: m, Thinking: mode, BaseURL: p.Example})
				if err != nil {
					continue // refused choices have tests of their own
				}
				if _, err := openai.New(options(r)); err != nil {
					t.Errorf("%s %s %s: %v", name, m, mode, err)
				}
				built++
			}
		}
	}
	if built < 13*len(models) {
		t.Errorf("only %d clients were built", built)
	}
}

// options is how a resolved preset becomes the adapter's options.
func options(r preset.Resolved) openai.Options {
	o := openai.Options{BaseURL: r.BaseURL, API: openai.APIChat, Body: r.Body, Quirks: openai.Quirks{
		TokenField: r.TokenField, NoTemperature: r.Temperature == preset.TemperatureRefused,
		EffortField: r.EffortField, Efforts: r.Efforts, SeedField: r.SeedField, SystemRole: r.SystemRole,
		ToolForms: r.ToolChoice, ToolAny: r.ToolAny, Schema: string(r.Schema), ReasoningField: r.ReasoningField, CacheKey: r.CacheKey,
	}}
	if r.Protocol == preset.OpenAI {
		o.API = openai.APIAuto
	}
	return o
}
