package preset

import (
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func resolve(t *testing.T, name string, c Choice) Resolved {
	t.Helper()
	p, ok := Lookup(name)
	if !ok {
		t.Fatalf("no preset %s", name)
	}
	r, err := p.Resolve(c)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return r
}

func TestNames(t *testing.T) {
	t.Parallel()
	want := []string{
		"anthropic", "azure", "bedrock", "compatible", "deepseek", "fireworks", "gemini", "groq", "litellm", "minimax",
		"mistral", "moonshot", "ollama", "openai", "openrouter", "qwen", "sglang", "together", "vertex", "vllm", "xai", "zai",
	}
	if diff := cmp.Diff(want, Names()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if _, ok := Lookup("OpenAI"); ok {
		t.Error("a name in another case is found")
	}
}

// TestTable holds what every row owes its readers.
func TestTable(t *testing.T) {
	t.Parallel()
	for _, p := range table() {
		for _, asOf := range append([]string{p.AsOf}, ruleDates(p)...) {
			if _, err := time.Parse("2006-01", asOf); err != nil {
				t.Errorf("%s: as of %q is no month", p.Name, asOf)
			}
		}
		addresses := []string{p.BaseURL, p.Doc}
		for _, r := range p.Regions {
			addresses = append(addresses, r.BaseURL)
		}
		for _, a := range addresses {
			u, err := url.Parse(strings.ReplaceAll(a, "{region}", "r"))
			local := err == nil && u.Hostname() == "localhost"
			if a != "" && (err != nil || u.Scheme != "https" && !local || strings.HasSuffix(a, "/")) {
				t.Errorf("%s: address %q", p.Name, a)
			}
			if local && p.Key == KeyRequired {
				t.Errorf("%s: a local server that requires a key", p.Name)
			}
		}
		if p.BaseURL == "" && p.Regions == nil && p.Example == "" {
			t.Errorf("%s: no address and no example of one", p.Name)
		}
		if p.Key == KeyRequired && p.KeyVar == "" || p.Title == "" || p.SystemRole == "" || p.Schema == "" || p.Vision == "" || p.Thinking == "" {
			t.Errorf("%s: incomplete: %+v", p.Name, p)
		}
		for _, r := range p.Rules {
			for _, pattern := range r.Models {
				if pattern != strings.ToLower(pattern) || pattern == "" {
					t.Errorf("%s: pattern %q never matches", p.Name, pattern)
				}
			}
		}
	}
}

func ruleDates(p Preset) []string {
	var dates []string
	for _, r := range p.Rules {
		dates = append(dates, r.AsOf)
	}
	return dates
}

func TestAddress(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, preset string
		choice       Choice
		base, region string
	}{
		{"default", "openai", Choice{}, "https://api.openai.com/v1", ""},
		{"own", "openai", Choice{BaseURL: "https://proxy.example/v1/"}, "https://proxy.example/v1", ""},
		{"first region", "minimax", Choice{}, "https://api.minimax.io/v1", "global_en"},
		{"other region", "minimax", Choice{Region: "cn_zh"}, "https://api.minimaxi.com/v1", "cn_zh"},
		{"own address survives the region", "minimax", Choice{Region: "cn_zh", BaseURL: "http://127.0.0.1:9/v1"}, "http://127.0.0.1:9/v1", "cn_zh"},
		{"own address has no default region", "minimax", Choice{BaseURL: "http://127.0.0.1:9/v1"}, "http://127.0.0.1:9/v1", ""},
		{"qwen", "qwen", Choice{Region: "cn"}, "https://dashscope.aliyuncs.com/compatible-mode/v1", "cn"},
		{"qwen abroad", "qwen", Choice{}, "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "intl"},
		{"any region", "bedrock", Choice{Region: "eu-central-1"}, "https://bedrock-runtime.eu-central-1.amazonaws.com", "eu-central-1"},
		{"vertex", "vertex", Choice{Region: "us-east5"}, "https://us-east5-aiplatform.googleapis.com", "us-east5"},
		{"vertex global", "vertex", Choice{Region: "global"}, "https://aiplatform.googleapis.com", "global"},
		{"azure", "azure", Choice{BaseURL: "https://me.openai.azure.com/openai/v1"}, "https://me.openai.azure.com/openai/v1", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.choice.Model = "m"
			r := resolve(t, tt.preset, tt.choice)
			if r.BaseURL != tt.base || r.Region != tt.region {
				t.Errorf("got %s in %q, want %s in %q", r.BaseURL, r.Region, tt.base, tt.region)
			}
		})
	}
}

func TestRefusedChoices(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, preset string
		choice       Choice
		key          string
		parts        []string
	}{
		{"no model", "openai", Choice{Model: " "}, "model", []string{"found nothing"}},
		{"region", "minimax", Choice{Region: "cn"}, "region", []string{`"cn"`, "global_en", "cn_zh"}},
		{"region even with an address", "minimax", Choice{Region: "cn_zn", BaseURL: "http://h/v1"}, "region", []string{"did you mean cn_zh"}},
		{"region of a server without", "openai", Choice{Region: "eu"}, "region", []string{`"eu"`, "no regions"}},
		{"no region", "bedrock", Choice{}, "region", []string{"us-east-1"}},
		{"region that is a host", "bedrock", Choice{Region: "evil.example/x"}, "region", []string{"evil.example"}},
		{"no address", "azure", Choice{}, "base_url", []string{"RESOURCE.openai.azure.com"}},
		{"no address at all", "compatible", Choice{}, "base_url", []string{"http://localhost:8080/v1"}},
		{"no URL", "vllm", Choice{BaseURL: "localhost:8000"}, "base_url", []string{"localhost:8000", "http://"}},
		{"password", "vllm", Choice{BaseURL: "http://me:hunter22@host/v1"}, "base_url", []string{"@host"}},
		{"thinking", "qwen", Choice{Thinking: "of"}, "thinking", []string{"server_default", "enabled", "disabled"}},
		{"thinking without a switch", "openai", Choice{Thinking: "disabled"}, "thinking", []string{"server_default", "no switch"}},
		{"always thinking", "minimax", Choice{Model: "MiniMax-M2.7", Thinking: "disabled"}, "thinking", []string{"MiniMax-M2.7 always thinks"}},
		{"always thinking behind a name", "minimax", Choice{Model: "x/minimax-m2", Thinking: "disabled"}, "thinking", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, _ := Lookup(tt.preset)
			if tt.choice.Model == "" {
				tt.choice.Model = "m"
			}
			_, err := p.Resolve(tt.choice)
			var refused *ChoiceError
			if !errors.As(err, &refused) || refused.Key != tt.key || refused.Preset != tt.preset {
				t.Fatalf("error %v, want one about %s", err, tt.key)
			}
			for _, part := range append(tt.parts, tt.key) {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q lacks %q", err, part)
				}
			}
			if strings.Contains(err.Error(), "hunter22") {
				t.Errorf("error %q tells a password", err)
			}
		})
	}
}

func TestThinking(t *testing.T) {
	t.Parallel()
	tests := []struct{ preset, model, mode, body string }{
		{"qwen", "qwen3-max", "", `null`},
		{"qwen", "qwen3-max", "server_default", `null`},
		{"qwen", "qwen3-max", "enabled", `{"enable_thinking":true}`},
		{"qwen", "qwen3-max", "disabled", `{"enable_thinking":false}`},
		{"vllm", "Qwen/Qwen3.5-4B", "disabled", `{"chat_template_kwargs":{"enable_thinking":false}}`},
		{"sglang", "Qwen/Qwen3.5-4B", "enabled", `{"chat_template_kwargs":{"enable_thinking":true}}`},
		{"minimax", "MiniMax-M3", "", `{"reasoning_split":true}`},
		{"minimax", "MiniMax-M3", "enabled", `{"reasoning_split":true,"thinking":{"type":"adaptive"}}`},
		{"minimax", "MiniMax-M3", "disabled", `{"reasoning_split":true,"thinking":{"type":"disabled"}}`},
		{"minimax", "MiniMax-M2.5", "enabled", `{"reasoning_split":true,"thinking":{"type":"adaptive"}}`},
		{"deepseek", "deepseek-v4-flash", "enabled", `{"thinking":{"type":"enabled"}}`},
		{"deepseek", "deepseek-v4-flash", "disabled", `{"thinking":{"type":"disabled"}}`},
		{"ollama", "qwen3", "disabled", `null`},
		{"anthropic", "claude-sonnet-4-5", "enabled", `null`},
	}
	for _, tt := range tests {
		r := resolve(t, tt.preset, Choice{Model: tt.model, Thinking: tt.mode})
		got, err := json.Marshal(r.Body)
		if err != nil || string(got) != tt.body {
			t.Errorf("%s %s %q: body %s, %v, want %s", tt.preset, tt.model, tt.mode, got, err, tt.body)
		}
		if want := tt.mode; r.Think != want && (want != "" || r.Think != ThinkingDefault) {
			t.Errorf("%s: mode %q recorded for %q", tt.preset, r.Think, want)
		}
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	tests := []struct {
		preset, model string
		temperature   Temperature
		role          string
		efforts       []string
		field         string
	}{
		{"openai", "gpt-4o-mini", "", "system", nil, NoField},
		{"openai", "o4-mini-2025-04-16", TemperatureRefused, "developer", []string{"low", "medium", "high"}, ""},
		{"openai", "gpt-5-mini", TemperatureRefused, "developer", []string{"minimal", "low", "medium", "high"}, ""},
		{"openai", "gpt-5-chat-latest", "", "system", nil, NoField},
		{"openai", "gpt-5-pro-2025-10-06", TemperatureRefused, "developer", []string{"high"}, ""},
		{"openai", "gpt-5.1-2025-11-13", TemperaturePlain, "developer", []string{"none", "low", "medium", "high"}, ""},
		{"openai", "gpt-5.2", TemperaturePlain, "developer", []string{"none", "low", "medium", "high", "xhigh"}, ""},
		{"openai", "some-new-model", "", "system", nil, ""},
		{"xai", "grok-4-1-fast-reasoning", "", "system", nil, NoField},
		{"xai", "grok-4.3", "", "system", []string{"none", "low", "medium", "high"}, "reasoning_effort"},
		{"groq", "openai/gpt-oss-120b", "", "system", []string{"low", "medium", "high"}, "reasoning_effort"},
		{"groq", "llama-3.3-70b-versatile", "", "system", nil, NoField},
	}
	for _, tt := range tests {
		r := resolve(t, tt.preset, Choice{Model: tt.model})
		if r.Temperature != tt.temperature || r.SystemRole != tt.role || !slices.Equal(r.Efforts, tt.efforts) || r.EffortField != tt.field {
			t.Errorf("%s %s: %+v", tt.preset, tt.model, r.Quirks)
		}
	}
	if r := resolve(t, "vertex", Choice{Model: "claude-sonnet-4-5@20250929", Region: "us-east5"}); r.Protocol != Anthropic || r.Cloud != Vertex || r.SeedField != NoField {
		t.Errorf("Claude on Vertex: %+v", r)
	}
	if r := resolve(t, "vertex", Choice{Model: "gemini-2.5-flash", Region: "global"}); r.Protocol != Gemini || r.SeedField != "" {
		t.Errorf("Gemini on Vertex: %+v", r)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	at := func(x float64) *float64 { return &x }
	tests := []struct {
		preset, model string
		temperature   *float64
		effort        string
		want          string // key that is refused
	}{
		{"openai", "gpt-5-mini", nil, "low", ""},
		{"openai", "gpt-5-mini", at(0), "", "temperature"},
		{"openai", "gpt-5-mini", nil, "none", "reasoning_effort"},
		{"openai", "gpt-5.1", at(0), "none", ""},
		{"openai", "gpt-5.1", at(0), "", "temperature"},
		{"openai", "gpt-4.1", at(2), "", ""},
		{"openai", "gpt-4.1", at(2.1), "", "temperature"},
		{"openai", "gpt-4.1", nil, "low", "reasoning_effort"},
		{"anthropic", "claude-sonnet-4-5", at(1.2), "", "temperature"},
		{"anthropic", "claude-sonnet-4-5", at(1), "", ""},
		{"anthropic", "claude-sonnet-5", at(0), "", "temperature"},
		{"minimax", "MiniMax-M3", nil, "low", "reasoning_effort"},
		{"deepseek", "deepseek-chat", at(0), "", ""},
		{"vllm", "any", at(0.7), "whatever", ""},
	}
	for _, tt := range tests {
		err := resolve(t, tt.preset, Choice{Model: tt.model}).Check(tt.temperature, tt.effort)
		var refused *ChoiceError
		if errors.As(err, &refused) != (tt.want != "") || refused != nil && refused.Key != tt.want {
			t.Errorf("%s %s: error %v, want one about %q", tt.preset, tt.model, err, tt.want)
		}
	}
}

func TestTools(t *testing.T) {
	t.Parallel()
	tests := []struct {
		preset, choice, want string
		refused              bool
	}{
		{"openai", "required", "required", false},
		{"mistral", "required", "any", false},
		{"mistral", "search", "search", false},
		{"qwen", "required", "", true},
		{"qwen", "search", "search", false},
		{"minimax", "none", "", true},
		{"minimax", "", "", false},
		{"ollama", "search", "", true},
		{"anthropic", "required", "any", false},
	}
	if _, err := resolve(t, "bedrock", Choice{Model: "us.anthropic.claude-opus-5-5-v1:0", Region: "us-east-1"}).Tools("required"); err == nil {
		t.Error("a model that always thinks is forced to call a tool")
	}
	for _, tt := range tests {
		got, err := resolve(t, tt.preset, Choice{Model: "m"}).Tools(tt.choice)
		if got != tt.want || (err != nil) != tt.refused {
			t.Errorf("%s %q: got %q, %v", tt.preset, tt.choice, got, err)
		}
	}
}

func TestWarning(t *testing.T) {
	t.Parallel()
	tests := []struct {
		preset, base string
		want         bool
	}{
		{"openai", "", false},
		{"openai", "https://api.openai.com/v1/", false},
		{"openai", "http://127.0.0.1:1/v1", true},
		{"minimax", "https://api.minimaxi.com/v2", false},
		{"vllm", "http://gpu:8000/v1", false},
		{"azure", "https://me.openai.azure.com/openai/v1", false},
	}
	for _, tt := range tests {
		if r := resolve(t, tt.preset, Choice{Model: "m", BaseURL: tt.base}); (r.Warning != "") != tt.want {
			t.Errorf("%s at %q: warning %q", tt.preset, tt.base, r.Warning)
		}
	}
}

func TestGlob(t *testing.T) {
	t.Parallel()
	tests := []struct {
		pattern, text string
		want          bool
	}{
		{"a", "a", true},
		{"a", "ab", false},
		{"a*", "ab", true},
		{"*b", "ab", true},
		{"*", "", true},
		{"a*a", "a", false},
		{"a*a", "aa", true},
		{"gpt-5.*-chat*", "gpt-5.1-chat-latest", true},
		{"gpt-5.*-chat*", "gpt-5.1", false},
		{"*-thinking*", "qwen3-thinking-2507", true},
		{"a*b*c", "abc", true},
		{"a*b*c", "acb", false},
	}
	for _, tt := range tests {
		if got := glob(tt.pattern, tt.text); got != tt.want {
			t.Errorf("glob(%q, %q) = %v", tt.pattern, tt.text, got)
		}
	}
}

// Models from before the effort get a budget of tokens, on every platform.
func TestBudgets(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		preset, model string
		want          bool
	}{
		{"anthropic", "claude-sonnet-4-5-20250929", true},
		{"anthropic", "claude-3-7-sonnet-20250219", true},
		{"anthropic", "claude-sonnet-4-6", false},
		{"anthropic", "claude-opus-5", false},
		{"bedrock", "us.anthropic.claude-opus-4-1-20250805-v1:0", true},
		{"vertex", "claude-sonnet-4@20250514", true},
		{"vertex", "gemini-2.5-flash", true},
		{"gemini", "gemini-2.5-pro", true},
		{"gemini", "gemini-3-flash", false},
	} {
		c := Choice{Model: tt.model}
		if tt.preset == "bedrock" || tt.preset == "vertex" {
			c.Region = "us-east5"
		}
		if r := resolve(t, tt.preset, c); r.Budget != tt.want {
			t.Errorf("%s %s: budget %v", tt.preset, tt.model, r.Budget)
		}
	}
}
