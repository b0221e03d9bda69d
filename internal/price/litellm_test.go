package price_test

import (
	"bytes"
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

func TestImportLiteLLM(t *testing.T) {
	t.Parallel()
	got, err := price.ImportLiteLLM([]byte(litellm), "2026-11-01")
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
	if diff := cmp.Diff(want, got.Entries); diff != "" {
		t.Error(diff)
	}
	var bad []string
	for _, s := range got.Bad {
		bad = append(bad, s.Name)
	}
	if diff := cmp.Diff("below-zero by-the-hour half list long text two lengths", strings.Join(bad, " ")); diff != "" {
		t.Error(diff)
	}
	if got.Others != 2 {
		t.Errorf("%d rows of others, want 2", got.Others)
	}
	var file bytes.Buffer
	if err := price.Write(&file, got.Entries); err != nil {
		t.Fatal(err)
	}
	table, err := price.Parse(&file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got.Entries, table.Entries()); diff != "" {
		t.Errorf("written and read: %s", diff)
	}
}

func TestImportRefusesWhatIsNoTable(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "[]", "{", "{} {}", "null x"} {
		if got, err := price.ImportLiteLLM([]byte(text), "2026-11-01"); err == nil {
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

func FuzzImportLiteLLM(f *testing.F) {
	f.Add([]byte(litellm))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := price.ImportLiteLLM(data, "2026-11-01")
		if err != nil {
			return
		}
		var file bytes.Buffer
		if err := price.Write(&file, got.Entries); err != nil {
			t.Fatal(err)
		}
		if _, err := price.Parse(&file); err != nil {
			t.Fatalf("what was imported cannot be read again: %v", err)
		}
	})
}
