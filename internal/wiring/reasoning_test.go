package wiring

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/model"
)

// What a model thought before a call goes back with the call's result, in the
// field that its vendor has for it, and to nobody else.
func TestReasoningGoesBackWithinALoop(t *testing.T) {
	t.Parallel()
	const plain, details = `"so"`, `[{"type":"reasoning.text","text":"so"}]`
	thought := model.Part{Reasoning: &model.Reasoning{Provider: "openai", Text: "so", Opaque: json.RawMessage(details)}}
	for name, tc := range map[string]struct {
		config config.Model
		silent bool // nothing was thought
		want   map[string]string
	}{
		"deepseek":             {config.Model{Provider: "deepseek"}, false, map[string]string{"reasoning_content": plain}},
		"deepseek, no thought": {config.Model{Provider: "deepseek"}, true, map[string]string{"reasoning_content": `""`}},
		"deepseek, switched":   {config.Model{Provider: "deepseek", Thinking: "disabled"}, true, map[string]string{}},
		"moonshot":             {config.Model{Provider: "moonshot"}, false, map[string]string{"reasoning_content": plain}},
		"moonshot, no thought": {config.Model{Provider: "moonshot"}, true, map[string]string{"reasoning_content": `""`}},
		"zai":                  {config.Model{Provider: "zai"}, false, map[string]string{"reasoning_content": plain}},
		"qwen":                 {config.Model{Provider: "qwen"}, false, map[string]string{"reasoning_content": plain}},
		"qwen, no thought":     {config.Model{Provider: "qwen"}, true, map[string]string{}},
		"minimax":              {config.Model{Provider: "minimax"}, false, map[string]string{"reasoning_details": details, "reasoning_split": "true"}},
		"openrouter":           {config.Model{Provider: "openrouter"}, false, map[string]string{"reasoning_details": details}},
		"fireworks":            {config.Model{Provider: "fireworks"}, false, map[string]string{"reasoning_content": plain}},
		"vllm":                 {config.Model{Provider: "vllm"}, false, map[string]string{"reasoning": plain}},
		"sglang":               {config.Model{Provider: "sglang"}, false, map[string]string{"reasoning_content": plain}},
		"openai":               {config.Model{Provider: "openai", API: "chat"}, false, map[string]string{}},
		"mistral":              {config.Model{Provider: "mistral"}, false, map[string]string{}},
		"groq":                 {config.Model{Provider: "groq"}, false, map[string]string{}},
		"compatible":           {config.Model{Provider: "compatible"}, false, map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := map[string]string{}
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var body map[string]json.RawMessage
				var messages []map[string]json.RawMessage
				if json.NewDecoder(r.Body).Decode(&body) != nil || json.Unmarshal(body["messages"], &messages) != nil || len(messages) != 3 {
					t.Error("the body is no conversation of three")
					return
				}
				for _, field := range []string{"reasoning_content", "reasoning", "reasoning_details"} {
					if v, ok := messages[1][field]; ok {
						got[field] = string(v)
					}
				}
				if v, ok := body["reasoning_split"]; ok {
					got["reasoning_split"] = string(v)
				}
				_, _ = w.Write([]byte(`{"choices":[{"finish_reason":"stop","message":{"content":"a"}}]}`))
			}))
			t.Cleanup(srv.Close)
			none := ""
			tc.config.Model, tc.config.BaseURL, tc.config.APIKeyEnv = "m", srv.URL, &none
			b, err := Client(model.Target, tc.config, func(string) (string, bool) { return "", false }, Clouds{})
			if err != nil {
				t.Fatal(err)
			}
			parts := []model.Part{thought, {Call: &model.ToolCall{ID: "c", Name: "f", Arguments: json.RawMessage(`{}`)}}}
			if tc.silent {
				parts = parts[1:]
			}
			req := model.Request{Model: "m", Messages: []model.Message{
				{Role: model.User, Content: "q"},
				{Role: model.Assistant, Parts: parts},
				{Role: model.ToolRole, Parts: []model.Part{{Result: &model.ToolResult{CallID: "c", Name: "f", Content: "r"}}}},
			}}
			if _, err := b.Client.Generate(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("sent back (-want +got):\n%s", diff)
			}
		})
	}
}
