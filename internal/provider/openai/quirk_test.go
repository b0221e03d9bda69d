package openai

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/model"
)

// full is a request that sets all there is to be set.
func full() model.Request {
	half, seed := 0.5, int64(7)
	return model.Request{
		Model: "m",
		Messages: []model.Message{
			{Role: model.System, Content: "s"},
			{Role: model.User, Content: "u"},
		},
		Schema:     &model.Schema{Name: "n", JSON: json.RawMessage(`{"type":"object"}`)},
		Tools:      []model.Tool{{Name: "f"}},
		ToolChoice: "required",
		Sampling:   model.Sampling{Temperature: &half, TopP: &half, MaxTokens: 9, ReasoningEffort: "low", Seed: &seed},
		Tags:       model.Tags{Role: model.Target, Stage: model.StageRollout},
	}
}

// TestQuirks compares each body with that of a server without quirks: what is
// changed, what is missing (null).
func TestQuirks(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	key := "skillopt-3050ae85b4aec8073d80579b87ade7fc"
	tests := []struct {
		name          string
		o             Options
		choice        string
		chat, respond map[string]any
	}{
		{name: "none"},
		{name: "tokens", o: Options{Quirks: Quirks{TokenField: MaxCompletionTokens}}, chat: map[string]any{"max_tokens": nil, "max_completion_tokens": 9.0}},
		{
			name: "no temperature", o: Options{Quirks: Quirks{NoTemperature: true}},
			chat:    map[string]any{"temperature": nil, "top_p": nil},
			respond: map[string]any{"temperature": nil, "top_p": nil},
		},
		{
			name: "no effort", o: Options{Quirks: Quirks{EffortField: NoField}},
			chat:    map[string]any{"reasoning_effort": nil},
			respond: map[string]any{"reasoning": nil},
		},
		{name: "effort elsewhere", o: Options{Quirks: Quirks{EffortField: "thinking_effort", Efforts: []string{"low"}}}, chat: map[string]any{"reasoning_effort": nil, "thinking_effort": "low"}},
		{name: "no seed", o: Options{Quirks: Quirks{SeedField: NoField}}, chat: map[string]any{"seed": nil}},
		{name: "seed elsewhere", o: Options{Quirks: Quirks{SeedField: "random_seed"}}, chat: map[string]any{"seed": nil, "random_seed": 7.0}},
		{
			name: "developer", o: Options{Quirks: Quirks{SystemRole: "developer"}},
			chat: map[string]any{"messages": []any{map[string]any{"role": "developer", "content": "s"}, map[string]any{"role": "user", "content": "u"}}},
		},
		{
			name: "any", o: Options{Quirks: Quirks{ToolAny: "any"}},
			chat:    map[string]any{"tool_choice": "any"},
			respond: map[string]any{"tool_choice": "any"},
		},
		{name: "auto is the default", o: Options{Quirks: Quirks{ToolForms: []string{"none"}}}, choice: "auto", chat: map[string]any{"tool_choice": nil}, respond: map[string]any{"tool_choice": nil}},
		{name: "none without a word for it", o: Options{Quirks: Quirks{ToolForms: []string{"auto"}}}, choice: "none", chat: map[string]any{"tool_choice": nil, "tools": nil}, respond: map[string]any{"tool_choice": nil, "tools": nil}},
		{
			name: "parallel", o: Options{Quirks: Quirks{Parallel: &yes}},
			chat:    map[string]any{"parallel_tool_calls": true},
			respond: map[string]any{"parallel_tool_calls": true},
		},
		{
			name: "one at a time", o: Options{Quirks: Quirks{Parallel: &no}},
			chat:    map[string]any{"parallel_tool_calls": false},
			respond: map[string]any{"parallel_tool_calls": false},
		},
		{
			name: "schema", o: Options{Quirks: Quirks{Schema: SchemaNative}},
			chat:    map[string]any{"response_format": map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "n", "schema": map[string]any{"type": "object"}}}},
			respond: map[string]any{"text": map[string]any{"format": map[string]any{"type": "json_schema", "name": "n", "schema": map[string]any{"type": "object"}}}},
		},
		{
			name: "object", o: Options{Quirks: Quirks{Schema: SchemaObject}},
			chat:    map[string]any{"response_format": map[string]any{"type": "json_object"}},
			respond: map[string]any{"text": map[string]any{"format": map[string]any{"type": "json_object"}}},
		},
		{name: "no schema", o: Options{Quirks: Quirks{Schema: SchemaNone}}},
		{
			name: "cache key", o: Options{Quirks: Quirks{CacheKey: true}},
			chat:    map[string]any{"prompt_cache_key": key},
			respond: map[string]any{"prompt_cache_key": key},
		},
		{
			name: "own fields", o: Options{Body: map[string]any{"thinking": map[string]any{"type": "adaptive"}, "chat_template_kwargs": map[string]any{"enable_thinking": false}}},
			chat:    map[string]any{"thinking": map[string]any{"type": "adaptive"}, "chat_template_kwargs": map[string]any{"enable_thinking": false}},
			respond: map[string]any{"thinking": map[string]any{"type": "adaptive"}, "chat_template_kwargs": map[string]any{"enable_thinking": false}},
		},
		{
			name: "stream", o: Options{Stream: true},
			chat:    map[string]any{"stream": true, "stream_options": map[string]any{"include_usage": true}},
			respond: map[string]any{"stream": true},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.o.BaseURL = "http://h/v1"
			c := newClient(t, tt.o)
			req := full()
			if tt.choice != "" {
				req.ToolChoice = tt.choice
			}
			checkBodyOf(t, tt.chat, plainChatBody(req.ToolChoice), func() ([]byte, error) { return c.bodies.chat(&req) })
			checkBodyOf(t, tt.respond, plainRespondBody(req.ToolChoice), func() ([]byte, error) { return c.bodies.respond(&req, false) })
		})
	}
}

func plainChatBody(choice string) map[string]any {
	return map[string]any{
		"model": "m", "temperature": 0.5, "top_p": 0.5, "max_tokens": 9.0, "reasoning_effort": "low", "seed": 7.0, "tool_choice": choice,
		"messages": []any{map[string]any{"role": "system", "content": "s"}, map[string]any{"role": "user", "content": "u"}},
		"tools":    []any{map[string]any{"type": "function", "function": map[string]any{"name": "f", "parameters": map[string]any{"type": "object", "properties": map[string]any{}}}}},
	}
}

func plainRespondBody(choice string) map[string]any {
	return map[string]any{
		"model": "m", "temperature": 0.5, "top_p": 0.5, "max_output_tokens": 9.0, "reasoning": map[string]any{"effort": "low"}, "tool_choice": choice,
		"instructions": "s", "input": []any{map[string]any{"role": "user", "content": "u"}}, "store": false, "include": []any{"reasoning.encrypted_content"},
		"tools": []any{map[string]any{"type": "function", "name": "f", "strict": false, "parameters": map[string]any{"type": "object", "properties": map[string]any{}}}},
	}
}

func checkBodyOf(t *testing.T, change, plain map[string]any, encode func() ([]byte, error)) {
	t.Helper()
	body, err := encode()
	if err != nil {
		t.Fatal(err)
	}
	again, err := encode()
	if err != nil || string(again) != string(body) {
		t.Errorf("the same request gives other bytes, %v:\n%s\n%s", err, body, again)
	}
	var got map[string]any
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	for name, value := range change {
		plain[name] = value
		if value == nil {
			delete(plain, name)
		}
	}
	if diff := cmp.Diff(plain, got); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
}

// TestRefusedRequests: what the server would not understand is not sent.
func TestRefusedRequests(t *testing.T) {
	t.Parallel()
	picture, result := &model.Image{MIME: "image/png"}, &model.ToolResult{CallID: "c"}
	said := func(role string, parts ...model.Part) func(*model.Request) {
		return func(r *model.Request) { r.Messages = append(r.Messages, model.Message{Role: role, Parts: parts}) }
	}
	tests := []struct {
		name   string
		q      Quirks
		change func(*model.Request)
		want   string
	}{
		{"effort", Quirks{Efforts: []string{"high", "none"}}, func(*model.Request) {}, "high, none"},
		{"choice", Quirks{ToolForms: []string{"auto", "none"}}, func(*model.Request) {}, "auto, none"},
		{"named", Quirks{ToolForms: []string{"auto", "required"}}, func(r *model.Request) { r.ToolChoice = "f" }, `"f"`},
		{"image of the model", Quirks{}, said(model.Assistant, model.Part{Image: picture}), "message 2"},
		{"result of the user", Quirks{}, said(model.User, model.Part{Result: result}), "message 2"},
		{"text of a tool", Quirks{}, said(model.ToolRole, model.Part{Text: "x"}), "message 2"},
		{"broken parameters", Quirks{}, func(r *model.Request) { r.Tools[0].Parameters = json.RawMessage("{") }, "encode request"},
	}
	for _, tt := range tests {
		for _, api := range []string{APIChat, APIResponses} {
			t.Run(tt.name+" "+api, func(t *testing.T) {
				t.Parallel()
				s := &script{answer: func(path, _ string) (int, string) { return both(path) }}
				req := full()
				tt.change(&req)
				_, err := newClient(t, Options{API: api, Quirks: tt.q, Transport: s}).Generate(t.Context(), req)
				if model.CodeOf(err) != model.BadRequest || !strings.Contains(err.Error(), tt.want) || len(s.seen()) > 0 {
					t.Errorf("error %v after %d requests, want %s that tells %q", err, len(s.seen()), model.BadRequest, tt.want)
				}
			})
		}
	}
}

// TestCacheKey: requests with the same beginning share a key, others do not.
func TestCacheKey(t *testing.T) {
	t.Parallel()
	c := newClient(t, Options{Quirks: Quirks{CacheKey: true}})
	key := func(change func(*model.Request)) string {
		req := full()
		change(&req)
		return c.bodies.key.of(&req)
	}
	first := key(func(*model.Request) {})
	if got := key(func(r *model.Request) { r.Messages[1].Content, r.Model, r.Seed = "another", "m2", nil }); got != first {
		t.Errorf("another question has the key %s, want %s", got, first)
	}
	seen := map[string]bool{first: true}
	for name, change := range map[string]func(*model.Request){
		"skill": func(r *model.Request) { r.Messages[0].Content = "t" },
		"stage": func(r *model.Request) { r.Tags.Stage = model.StageJudge },
		"role":  func(r *model.Request) { r.Tags.Role = model.Judge },
		"none":  func(r *model.Request) { r.Messages = r.Messages[1:] },
	} {
		if k := key(change); seen[k] {
			t.Errorf("%s: the key %s is another's", name, k)
		} else {
			seen[k] = true
		}
	}
	if got := key(func(*model.Request) {}); got != first {
		t.Errorf("the first request now has the key %s, want %s", got, first)
	}
}

// TestOptionFaults names what is wrong and what is allowed.
func TestOptionFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		o    Options
		want []string
	}{
		{Options{API: "chats"}, []string{"chats", APIChat, APIResponses, APIAuto}},
		{Options{Quirks: Quirks{Schema: "yes"}}, []string{"yes", SchemaNative, SchemaObject, SchemaNone}},
		{Options{Quirks: Quirks{ReasoningField: "thoughts"}}, []string{"thoughts", "reasoning_content"}},
		{Options{Quirks: Quirks{ToolForms: []string{"any"}}}, []string{"any", "required"}},
		{Options{Idle: -1}, []string{"idle"}},
		{Options{Body: map[string]any{"stream": true, "x": 1, "model": "y"}}, []string{`"stream"`, `"model"`}},
		{Options{Body: map[string]any{"x": make(chan int)}}, []string{"body"}},
	}
	for _, tt := range tests {
		_, err := New(tt.o)
		for _, part := range tt.want {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%+v: error %v lacks %q", tt.o, err, part)
			}
		}
	}
}
