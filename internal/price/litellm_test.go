package price_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/price"
)

const litellm = `{
  "sample_spec": {"litellm_provider": "one of ...", "max_tokens": "LEGACY"},
  "gpt-x": {"litellm_provider": "openai", "mode": "chat", "input_cost_per_token": 2.5e-06, "output_cost_per_token": 1e-05,
    "cache_read_input_token_cost": 1.25e-06, "max_input_tokens": 400000, "max_output_tokens": 128000,
    "input_cost_per_token_above_272k_tokens": 5e-06, "output_cost_per_token_above_272k_tokens": 1.5e-05,
    "cache_creation_input_token_cost_above_272k_tokens": 2.5e-07, "input_cost_per_token_priority": 1},
  "gemini/g-1": {"litellm_provider": "gemini", "mode": "chat", "input_cost_per_token": 3e-07, "output_cost_per_token": 2.5e-06, "source": "https://prices.example/g"},
  "azure/gpt-x": {"litellm_provider": "azure", "mode": "chat", "input_cost_per_token": 1, "output_cost_per_token": 1},
  "embed": {"litellm_provider": "openai", "mode": "embedding", "input_cost_per_token": 1e-7},
  "by-the-hour": {"litellm_provider": "openai", "mode": "chat", "input_cost_per_second": 0.1},
  "below-zero": {"litellm_provider": "openai", "mode": "chat", "input_cost_per_token": -1e-06, "output_cost_per_token": 1e-06},
  "text": {"litellm_provider": "openai", "mode": "chat", "input_cost_per_token": "cheap", "output_cost_per_token": 1e-06},
  "two lengths": {"litellm_provider": "openai", "mode": "chat", "input_cost_per_token": 1e-06, "output_cost_per_token": 1e-06},
  "long": {"litellm_provider": "openai", "mode": "chat", "input_cost_per_token": 1e-06, "output_cost_per_token": 1e-06,
    "input_cost_per_token_above_128k_tokens": 1e-06, "input_cost_per_token_above_200k_tokens": 1e-06},
  "half": {"litellm_provider": "openai", "mode": "chat", "input_cost_per_token": 1e-06, "output_cost_per_token": 1e-06, "input_cost_per_token_above_128k_tokens": 1e-06},
  "list": []
}`

func TestParseLiteLLM(t *testing.T) {
	t.Parallel()
	got, skipped, err := price.ParseLiteLLM([]byte(litellm), "2026-11-01")
	if err != nil {
		t.Fatal(err)
	}
	want := []price.Entry{
		{Provider: "gemini", Model: "g-1", Price: price.Price{Input: 0.3, Output: 2.5, Cached: 0.3, CacheWrite: 0.3}, AsOf: "2026-11-01", Source: "https://prices.example/g"},
		{
			Provider: "openai", Model: "gpt-x", Price: price.Price{Input: 2.5, Output: 10, Cached: 1.25, CacheWrite: 2.5}, AsOf: "2026-11-01", Source: price.LiteLLM,
			MaxInput: 400_000, MaxOutput: 128_000, UpTo: 272_000, Long: price.Price{Input: 5, Output: 15, Cached: 5, CacheWrite: 5},
		},
	}
	if diff := cmp.Diff(want, got.Entries()); diff != "" {
		t.Error(diff)
	}
	var bad []string
	for _, s := range skipped {
		bad = append(bad, s.Name)
	}
	if diff := cmp.Diff("below-zero by-the-hour half list long text two lengths", strings.Join(bad, " ")); diff != "" {
		t.Error(diff)
	}
	if _, e, ok := got.Find("openai", "GPT-X-2026-10-01"); !ok || e.Model != "gpt-x" {
		t.Errorf("%v, %+v", ok, e)
	}
}

func TestParseLiteLLMRefusesWhatIsNoTable(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "[]", "{", "{}", "{} {}", "null x"} {
		if got, _, err := price.ParseLiteLLM([]byte(text), "2026-11-01"); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// The rows of a file win over those that come with the program.
func TestOver(t *testing.T) {
	t.Parallel()
	own, err := price.Parse(strings.NewReader("provider,models,input,cached,cache_write,output,batch,up_to,long_input,long_cached,long_cache_write,long_output,max_input,max_output,as_of,source\n" +
		"openai,gpt-5,7,,,8,,,,,,,,9,2026-11,https://prices.example\n"))
	if err != nil {
		t.Fatal(err)
	}
	table, err := price.Default()
	if err != nil {
		t.Fatal(err)
	}
	if _, e, _ := own.Over(table).Find("openai", "gpt-5"); e.Price.Input != 7 || e.MaxOutput != 9 {
		t.Errorf("%+v", e)
	}
	if _, e, ok := own.Over(table).Find("openai", "gpt-5-mini"); !ok || e.Price.Input != 0.25 {
		t.Errorf("%+v", e)
	}
}

func TestStale(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	for asOf, want := range map[string]bool{"2026-08": false, "2026-07": true, "2026-08-24": false, "2026-08-23": true, "": false, "soon": true} {
		if got := (price.Entry{AsOf: asOf}).Stale(now); got != want {
			t.Errorf("%q: %v", asOf, got)
		}
	}
}

func FuzzParseLiteLLM(f *testing.F) {
	f.Add([]byte(litellm))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, _, err := price.ParseLiteLLM(data, "2026-11-01")
		if err != nil {
			return
		}
		for _, e := range got.Entries() {
			for _, p := range []float64{e.Price.Input, e.Price.Output, e.Price.Cached, e.Price.CacheWrite, e.Long.Input, e.Long.Output} {
				if !(p >= 0) || math.IsInf(p, 1) {
					t.Errorf("%+v", e)
				}
			}
			if _, _, ok := got.Find(e.Provider, e.Model); !ok || e.MaxInput < 0 || e.MaxOutput < 0 {
				t.Errorf("%+v", e)
			}
		}
	})
}
