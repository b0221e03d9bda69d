package price_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/price"
	"github.com/seed-f4525e22/skillopt/internal/provider/preset"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func table(t testing.TB) price.Table {
	t.Helper()
	tab, err := price.Default()
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func TestFind(t *testing.T) {
	t.Parallel()
	tests := []struct{ provider, model, want string }{
		{"openai", "gpt-4o", "gpt-4o"},
		{"openai", "gpt-4o-2024-08-06", "gpt-4o"},
		{"openai", "gpt-4o-2024-05-13", "gpt-4o-2024-05-13"},
		{"openai", "GPT-4o-mini-2024-07-18", "gpt-4o-mini"},
		{"openai", "gpt-4o-audio-preview", ""},
		{"openai", "gpt-4o-mini-tts", ""},
		{"openai", "gpt-4o-2024-13-06", ""},
		{"openai", "gpt-4o-20240806x", ""},
		{"openai", "gpt-5", "gpt-5"},
		{"openai", "gpt-5.9", ""},
		{"openai", "gpt-5.1-codex-mini", "gpt-5.1-codex-mini"},
		{"openai", "gpt-4-32k", ""},
		{"openai", "gpt-4-0314", ""},
		{"openai", "o3-deep-research", ""},
		{"openai", "ft:gpt-4o-mini-2024-07-18:me::x", ""},
		{"openai", "", ""},
		{"azure", "gpt-4o", ""},
		{"anthropic", "claude-opus-4-20250514", "claude-opus-4"},
		{"anthropic", "claude-opus-4-5-20251101", "claude-opus-4-5"},
		{"anthropic", "claude-opus-4-9", ""},
		{"anthropic", "claude-opus-5-5", "claude-opus-5-5"},
		{"anthropic", "claude-3-5-sonnet-latest", "claude-3-5-sonnet-latest"},
		{"anthropic", "claude-sonnet-4-5@20250929", "claude-sonnet-4-5"},
		{"gemini", "models/gemini-2.5-flash", "gemini-2.5-flash"},
		{"gemini", "gemini-2.5-flash-image", ""},
		{"minimax", "MiniMax-M2.7", "minimax-m2.7"},
		{"groq", "meta-llama/llama-4-scout-17b-16e-instruct", "meta-llama/llama-4-scout-17b-16e-instruct"},
		{"ollama", "gpt-oss:20b", ""},
		{"vllm", "gpt-4o", ""},
		{"", "gpt-4o", ""},
	}
	for _, tt := range tests {
		p, e, ok := table(t).Find(tt.provider, tt.model)
		if e.Model != tt.want || ok != (tt.want != "") {
			t.Errorf("%s %q: found %q, %v, want %q", tt.provider, tt.model, e.Model, ok, tt.want)
		}
		if ok && (p != e.Price || p.Input <= 0) || !ok && p != (price.Price{}) {
			t.Errorf("%s %q: price %+v", tt.provider, tt.model, p)
		}
	}
}

func TestPrices(t *testing.T) {
	t.Parallel()
	want := price.Entry{
		Provider: "anthropic", Model: "claude-sonnet-4-5", Price: price.Price{Input: 3, Output: 15, Cached: 0.3, CacheWrite: 3.75},
		Batch: 0.5, UpTo: 200_000, Long: price.Price{Input: 6, Output: 22.5, Cached: 0.6, CacheWrite: 7.5}, AsOf: "2025-12", Source: "https://docs.claude.com/en/docs/about-claude/pricing",
		MaxOutput: 64_000,
	}
	_, got, _ := table(t).Find("anthropic", "claude-sonnet-4-5-20250929")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entry (-want +got):\n%s", diff)
	}
	if at, above := got.Of(200_000), got.Of(200_001); at != got.Price || above != got.Long {
		t.Errorf("a prompt at the limit costs %+v, one beyond it %+v", at, above)
	}
	p, e, _ := table(t).Find("openai", "gpt-4-turbo")
	if e.Of(1e9) != p {
		t.Errorf("a price for prompts of any length is %+v for a long one", e.Of(1e9))
	}
	if p.Cached != p.Input || p.CacheWrite != p.Input {
		t.Errorf("what has no price of its own does not cost as input does: %+v", p)
	}
}

// TestTable holds what every row owes its readers.
func TestTable(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, e := range table(t).Entries() {
		if _, ok := preset.Lookup(e.Provider); !ok {
			t.Errorf("%s %s: no preset of that name", e.Provider, e.Model)
		}
		if key := e.Provider + " " + e.Model; seen[key] {
			t.Errorf("%s is there twice", key)
		} else {
			seen[key] = true
		}
		if e.Price.Input <= 0 || e.Price.Output < e.Price.Input || e.Price.Cached > e.Price.Input || e.Batch < 0 || e.Batch >= 1 {
			t.Errorf("%s %s: odd prices %+v", e.Provider, e.Model, e)
		}
		if e.UpTo > 0 && (e.Long.Input <= e.Price.Input || e.Long.Output < e.Price.Output || e.Long.Cached < e.Price.Cached) || e.UpTo == 0 && e.Long != (price.Price{}) {
			t.Errorf("%s %s: odd prices of long prompts %+v", e.Provider, e.Model, e)
		}
		if !strings.HasPrefix(e.Source, "https://") || e.AsOf < "2025" {
			t.Errorf("%s %s: from %q as of %q", e.Provider, e.Model, e.Source, e.AsOf)
		}
	}
}

func TestOverrides(t *testing.T) {
	t.Parallel()
	cached := 0.1
	free := 0.0
	tab := table(t).With(map[string]price.Override{
		"gpt-4o":  {Input: 1, Output: 2, Cached: &cached},
		"llama3":  {Input: 0, Output: 0, Cached: &free},
		"Qwen/Q3": {Input: 0.5, Output: 0.6},
	})
	tests := []struct {
		provider, model string
		want            price.Price
		known           bool
	}{
		{"openai", "gpt-4o", price.Price{Input: 1, Output: 2, Cached: 0.1, CacheWrite: 1}, true},
		{"azure", "gpt-4o-2024-05-13", price.Price{Input: 1, Output: 2, Cached: 0.1, CacheWrite: 1}, true},
		{"openai", "gpt-4o-mini", price.Price{Input: 0.15, Output: 0.6, Cached: 0.075, CacheWrite: 0.15}, true},
		{"ollama", "llama3", price.Price{}, true},
		{"ollama", "llama3.1", price.Price{}, false},
		{"vllm", "qwen/q3", price.Price{Input: 0.5, Output: 0.6, Cached: 0.5, CacheWrite: 0.5}, true},
	}
	for _, tt := range tests {
		p, e, ok := tab.Find(tt.provider, tt.model)
		if p != tt.want || ok != tt.known {
			t.Errorf("%s %s: %+v, %v, want %+v, %v", tt.provider, tt.model, p, ok, tt.want, tt.known)
		}
		if ok && tt.model != "gpt-4o-mini" && e.Source != price.FromConfig {
			t.Errorf("%s: source %q", tt.model, e.Source)
		}
	}
	if _, e, _ := table(t).Find("openai", "gpt-4o"); e.Source == price.FromConfig {
		t.Error("With has changed the table")
	}
}

// TestNanoIsThatOfTheCaller has the caller record calls and compares the cost.
func TestNanoIsThatOfTheCaller(t *testing.T) {
	t.Parallel()
	usages := []trajectory.Usage{
		{},
		{Input: 1, Output: 1},
		{Input: 1000, Output: 333, Cached: 900, CacheWrite: 50, Reasoning: 100},
		{Input: 123_456_789, Output: 9_876_543, Cached: 23_456_789},
		{Input: 7, Output: 3, Cached: 7},
		{Input: 5, Output: 5, CacheWrite: 5},
	}
	var prices []price.Price
	for _, e := range table(t).Entries() {
		if !slices.Contains(prices, e.Price) {
			prices = append(prices, e.Price, e.Price.Times(0.5))
		}
	}
	j, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "run.db"), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	for i, p := range prices {
		got := int64(0)
		for _, u := range usages {
			got += p.Nano(u)
		}
		if want := recorded(t, j, i, p, usages); got != want {
			t.Errorf("price %+v: %d, the caller records %d", p, got, want)
		}
	}
}

// recorded returns what the caller says that calls cost: usage is spent by an
// episode, which is priced without a request.
func recorded(t *testing.T, j *journal.Journal, n int, p price.Price, usages []trajectory.Usage) int64 {
	t.Helper()
	c, err := caller.New(caller.Options{Journal: j, Roles: map[string]caller.Role{model.Target: {
		Client: modeltest.Always("x"), Endpoint: "e", Model: "m",
		Price: &caller.Price{Rates: caller.Rates(p)},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	before := journal.Sum(j.Totals()).CostNano
	var wg sync.WaitGroup
	for i, u := range usages {
		wg.Go(func() {
			call := caller.EpisodeCall{Key: fmt.Sprint(n, "/", i), Stage: model.StageRollout, Role: model.Target, Own: []byte(`{}`)}
			_, err := c.Episode(t.Context(), call, func(context.Context, model.Client) (caller.EpisodeResult, error) {
				return caller.EpisodeResult{Data: []byte("{}"), Usage: u}, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	return journal.Sum(j.Totals()).CostNano - before
}

func TestNanoIsExactForWholeDollars(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in, out := rapid.Int64Range(0, 1<<40).Draw(t, "input"), rapid.Int64Range(0, 1<<40).Draw(t, "output")
		if got, want := (price.Price{Input: 1, Output: 4}).Nano(trajectory.Usage{Input: in, Output: out}), 1000*(in+4*out); got != want {
			t.Errorf("%d, want %d", got, want)
		}
	})
}

func TestParseFaults(t *testing.T) {
	t.Parallel()
	const head = "provider,models,input,cached,cache_write,output,batch,up_to,long_input,long_cached,long_cache_write,long_output,max_input,max_output,as_of,source\n"
	tests := []struct{ name, text, want string }{
		{"empty", "", "EOF"},
		{"other columns", "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p\n", "columns"},
		{"too few", head + "openai,m,1\n", "line 2"},
		{"no price", head + "openai,m,,,,1,,,,,,,,,2025-12,s\n", `line 2: "" is no price`},
		{"negative", head + "# comment\nopenai,m,1,,,-1,,,,,,,,,2025-12,s\n", "line 3"},
		{"not a number", head + "openai,m,NaN,,,1,,,,,,,,,2025-12,s\n", "NaN"},
		{"no date", head + "openai,m,1,,,1,,,,,,,,,today,s\n", "today"},
		{"no price of long prompts", head + "openai,m,1,,,1,,1000,,,,,,,2025-12,s\n", `of longer prompts: "" is no price`},
		{"no length of long prompts", head + "openai,m,1,,,1,,,2,,,2,,,2025-12,s\n", "without up_to"},
		{"no length", head + "openai,m,1,,,1,,1e3,2,,,2,,,2025-12,s\n", "1e3"},
		{"no limit", head + "openai,m,1,,,1,,,,,,,,much,2025-12,s\n", "\"much\" is no number of tokens"},
		{"no day", head + "openai,m,1,,,1,,,,,,,,,,s\n", "the date is missing"},
		{"no model", head + "openai, ,1,,,1,,,,,,,,,2025-12,s\n", "missing"},
	}
	for _, tt := range tests {
		_, err := price.Parse(strings.NewReader(tt.text))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q in it", tt.name, err, tt.want)
		}
	}
}

// Which of two spellings of a name counts must not be chance.
func TestTheSameNameTwice(t *testing.T) {
	t.Parallel()
	for range 50 {
		tab := table(t).With(map[string]price.Override{"House-Model": {Input: 1}, "house-model": {Input: 2}})
		if p, _, ok := tab.Find("openai", "house-model"); !ok || p.Input != 2 {
			t.Fatalf("%v costs %v", ok, p.Input)
		}
	}
}
