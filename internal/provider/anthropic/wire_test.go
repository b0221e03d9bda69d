package anthropic

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// recorded answers with hi and keeps the request and its body.
func recorded(r **http.Request, body *string) modeltest.RoundTrip {
	return func(req *http.Request) (*http.Response, error) {
		b, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		*r, *body = req, string(b)
		return modeltest.Canned(200, hi)(req)
	}
}

const hi = `{"type":"message","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn"}`

func hello() model.Request {
	return model.Request{Model: "m", Messages: []model.Message{{Role: model.User, Content: "hello"}}}
}

func TestNewFaults(t *testing.T) {
	t.Parallel()
	token := func() *Vertex { return &Vertex{Project: "p", Region: "us-east5", Token: staticToken("t")} }
	keys := Bedrock{Region: "us-east-1", AccessKey: "AKIA", SecretKey: "secretpw"}
	withKeys := func(change func(*Bedrock)) *Bedrock { b := keys; change(&b); return &b }
	tests := []struct {
		name string
		o    Options
		want []string
	}{
		{"no scheme", Options{BaseURL: "localhost:8080"}, []string{"localhost:8080", "http://"}},
		{"no URL", Options{BaseURL: "http://[::1"}, []string{"not a URL"}},
		{"user in the URL", Options{BaseURL: "https://me:secretpw@host/"}, []string{"host", "password"}},
		{"thinking", Options{Thinking: "hard"}, []string{"thinking", "hard", ThinkBudget}},
		{"structured", Options{Structured: "json"}, []string{"structured", "json", StructuredTool}},
		{"sampling", Options{Sampling: "some"}, []string{"sampling", "some", SamplingOne}},
		{"negative", Options{MaxTokens: -1, MaxBody: -2, Idle: -3}, []string{"max tokens -1", "max body -2", "idle -3"}},
		{"key with a line break", Options{APIKey: "sk-secretpw\n"}, []string{"api key"}},
		{"header", Options{Headers: map[string]string{"X-A": "{{nope}}"}, BaseURL: "x"}, []string{"X-A", "base url"}},
		{"two platforms", Options{Bedrock: &keys, Vertex: token()}, []string{"only one"}},
		{"a key beside a platform", Options{APIKey: "k", Vertex: token()}, []string{"own credentials"}},
		{"a path beside a platform", Options{BaseURL: "http://h/proxy", Vertex: token()}, []string{"http://h/proxy", "path"}},
		{"bedrock without anything", Options{Bedrock: &Bedrock{}}, []string{"region", "no credentials", "Amazon"}},
		{"bedrock with half a key", Options{Bedrock: withKeys(func(b *Bedrock) { b.AccessKey = "" })}, []string{"no credentials"}},
		{"bedrock with both", Options{Bedrock: withKeys(func(b *Bedrock) { b.BearerToken = "secretpw" })}, []string{"keep one"}},
		{"bedrock region", Options{Bedrock: withKeys(func(b *Bedrock) { b.Region = "evil.com/" })}, []string{"evil.com"}},
		{"bedrock with a line break", Options{Bedrock: withKeys(func(b *Bedrock) { b.SecretKey = "secretpw\n" })}, []string{"secret key"}},
		{"vertex without anything", Options{Vertex: &Vertex{}}, []string{"region", "project", "tokens"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := New(tt.o)
			if err == nil {
				t.Fatal("no error")
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q lacks %q", err, part)
				}
			}
			if strings.Contains(err.Error(), "secretpw") {
				t.Errorf("error %q tells a secret", err)
			}
		})
	}
}

func TestURL(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"":                             "https://api.anthropic.com/v1/messages",
		"https://api.anthropic.com/v1": "https://api.anthropic.com/v1/messages",
		"http://localhost:4000/":       "http://localhost:4000/v1/messages",
		"http://h/anthropic":           "http://h/anthropic/v1/messages",
		"http://h/a/v1/messages/":      "http://h/a/v1/messages",
		"https://h/a?api-version=b%2F": "https://h/a/v1/messages?api-version=b%2F",
	}
	for base, want := range tests {
		t.Run(base, func(t *testing.T) {
			t.Parallel()
			var got *http.Request
			var body string
			c := newClient(t, Options{BaseURL: base, Transport: recorded(&got, &body)})
			if _, err := c.Generate(t.Context(), hello()); err != nil {
				t.Fatal(err)
			}
			if got.URL.String() != want {
				t.Errorf("called %s, want %s", got.URL, want)
			}
		})
	}
}

// TestEnvironment: the variables of the SDK must neither redirect traffic nor
// lend a key.
func TestEnvironment(t *testing.T) {
	for name, value := range map[string]string{
		"ANTHROPIC_BASE_URL": "http://elsewhere.invalid", "ANTHROPIC_API_KEY": "sk-env", "ANTHROPIC_AUTH_TOKEN": "env",
		"ANTHROPIC_CUSTOM_HEADERS": "X-From: environment", "ANTHROPIC_PROFILE": "none", "HTTP_PROXY": "http://elsewhere.invalid:1",
	} {
		t.Setenv(name, value)
	}
	var got *http.Request
	var body string
	c := newClient(t, Options{BaseURL: "http://h", Transport: recorded(&got, &body)})
	if _, err := c.Generate(t.Context(), hello()); err != nil {
		t.Fatal(err)
	}
	if got.URL.Host != "h" {
		t.Errorf("the request went to %s", got.URL.Host)
	}
	want := http.Header{"Accept": {"application/json"}, "Content-Type": {"application/json"}, "User-Agent": {"skillopt"}, "Anthropic-Version": {"2023-06-01"}}
	if diff := cmp.Diff(want, got.Header); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}

func TestProxy(t *testing.T) {
	t.Parallel()
	asked := errors.New("the proxy was asked for")
	c := newClient(t, Options{BaseURL: "http://h", Proxy: func(*http.Request) (*url.URL, error) { return nil, asked }})
	if _, err := c.Generate(t.Context(), hello()); !errors.Is(err, asked) {
		t.Errorf("error %v, want %v", err, asked)
	}
}

func TestOwnKeyHeaderWins(t *testing.T) {
	t.Parallel()
	var got *http.Request
	var body string
	c := newClient(t, Options{BaseURL: "http://h", APIKey: "k", Headers: map[string]string{"x-api-key": "{{run}}", "Authorization": "Bearer b"}, Transport: recorded(&got, &body)})
	req := hello()
	req.Tags.Run = "r"
	if _, err := c.Generate(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if got.Header.Get("X-Api-Key") != "r" || got.Header.Get("Authorization") != "Bearer b" {
		t.Errorf("headers %v", got.Header)
	}
}

// TestEncode holds bodies of requests, without those fields that all have.
func TestEncode(t *testing.T) {
	t.Parallel()
	half, one := 0.5, 1.0
	schema := &model.Schema{Name: "the patch", JSON: json.RawMessage(`{"type":"object"}`)}
	tool := model.Tool{Name: "the_patch", Parameters: json.RawMessage(`{"type":"object"}`)}
	const toolJSON = `{"name":"the_patch","input_schema":{"type":"object"}}`
	const takes = `"description":"Takes the final answer. Call it once, with the whole answer as its input.","input_schema":{"type":"object"}}`
	const told = `"system":[{"type":"text","text":"Give your final answer by calling the tool the_patch, and in no other way."}]`
	tests := []struct {
		name   string
		o      Options
		change func(*model.Request)
		want   string
	}{
		{"default", Options{}, nil, `{"max_tokens":16000}`},
		{"own default", Options{MaxTokens: 7}, nil, `{"max_tokens":7}`},
		{"limit", Options{}, func(r *model.Request) { r.MaxTokens = 9 }, `{"max_tokens":9}`},
		{"sampling", Options{}, func(r *model.Request) { r.Temperature, r.TopP = &half, &one }, `{"max_tokens":16000,"temperature":0.5,"top_p":1}`},
		{"one of two", Options{Sampling: SamplingOne}, func(r *model.Request) { r.Temperature, r.TopP = &half, &one }, `{"max_tokens":16000,"temperature":0.5}`},
		{"one of one", Options{Sampling: SamplingOne}, func(r *model.Request) { r.TopP = &one }, `{"max_tokens":16000,"top_p":1}`},
		{"no sampling", Options{Sampling: SamplingNone}, func(r *model.Request) { r.Temperature, r.TopP = &half, &one }, `{"max_tokens":16000}`},
		{"effort", Options{}, effort("high"), `{"max_tokens":16000,"thinking":{"type":"adaptive"},"output_config":{"effort":"high"}}`},
		{"least effort", Options{}, effort("minimal"), `{"max_tokens":16000,"thinking":{"type":"adaptive"},"output_config":{"effort":"low"}}`},
		{"no effort", Options{}, effort("none"), `{"max_tokens":16000,"thinking":{"type":"disabled"}}`},
		{"no effort where it cannot be", Options{AlwaysThinks: true}, effort("none"), `{"max_tokens":16000}`},
		{"budget", Options{Thinking: ThinkBudget}, effort("medium"), `{"max_tokens":16000,"thinking":{"type":"enabled","budget_tokens":8192}}`},
		{"budget within the limit", Options{Thinking: ThinkBudget, MaxTokens: 4000}, effort("max"), `{"max_tokens":4000,"thinking":{"type":"enabled","budget_tokens":3000}}`},
		{"no thinking", Options{Thinking: ThinkNone}, effort("high"), `{"max_tokens":16000}`},
		{"choice without tools", Options{}, func(r *model.Request) { r.ToolChoice = "required" }, `{"max_tokens":16000}`},
		{"tool without parameters", Options{NoCache: true}, func(r *model.Request) { r.Tools = []model.Tool{{Name: "a"}} }, `{"max_tokens":16000,"tools":[{"name":"a","input_schema":{"type":"object"}}]}`},
		{
			"native with an effort",
			Options{Structured: StructuredNative},
			func(r *model.Request) { r.Schema = schema; r.ReasoningEffort = "low" },
			`{"max_tokens":16000,"thinking":{"type":"adaptive"},"output_config":{"effort":"low","format":{"type":"json_schema","schema":{"type":"object"}}}}`,
		},
		{
			"by tool",
			Options{Structured: StructuredTool, NoCache: true},
			func(r *model.Request) { r.Schema = schema },
			`{"max_tokens":16000,"tools":[{"name":"the_patch",` + takes + `],"tool_choice":{"type":"tool","name":"the_patch","disable_parallel_tool_use":true}}`,
		},
		{
			"by tool while thinking",
			Options{Structured: StructuredTool, NoCache: true},
			func(r *model.Request) { r.Schema = schema; r.ReasoningEffort = "low" },
			`{"max_tokens":16000,"tools":[{"name":"the_patch",` + takes + `],"tool_choice":{"type":"auto","disable_parallel_tool_use":true},` + told +
				`,"thinking":{"type":"adaptive"},"output_config":{"effort":"low"}}`,
		},
		{
			"by tool with a model that always thinks",
			Options{Structured: StructuredTool, NoCache: true, AlwaysThinks: true},
			func(r *model.Request) { r.Schema = schema },
			`{"max_tokens":16000,"tools":[{"name":"the_patch",` + takes + `],"tool_choice":{"type":"auto","disable_parallel_tool_use":true},` + told + `}`,
		},
		{
			"by tool beside tools",
			Options{Structured: StructuredTool, NoCache: true},
			func(r *model.Request) { r.Schema = schema; r.Tools = []model.Tool{tool} },
			`{"max_tokens":16000,"tools":[` + toolJSON + `,{"name":"the_patch_",` + takes + `],"tool_choice":{"type":"any","disable_parallel_tool_use":true}}`,
		},
		{
			"by tool beside tools that are not to be called",
			Options{Structured: StructuredTool, NoCache: true},
			func(r *model.Request) {
				r.Schema, r.ToolChoice = schema, "none"
				r.Tools = []model.Tool{tool}
			},
			`{"max_tokens":16000,"tools":[` + toolJSON + `,{"name":"the_patch_",` + takes + `],"tool_choice":{"type":"tool","name":"the_patch_","disable_parallel_tool_use":true}}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			req := hello()
			if tt.change != nil {
				tt.change(&req)
			}
			got := bodyOf(t, tt.o, req)
			delete(got, "model")
			delete(got, "messages")
			if diff := cmp.Diff(decoded(t, tt.want), got); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
		})
	}
}

func effort(e string) func(*model.Request) {
	return func(r *model.Request) { r.ReasoningEffort = e }
}

// bodyOf returns what is sent for a request.
func bodyOf(t *testing.T, o Options, req model.Request) map[string]any {
	t.Helper()
	var r *http.Request
	var body string
	o.BaseURL, o.Transport = "http://h", recorded(&r, &body)
	if _, err := newClient(t, o).Generate(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	return decoded(t, body)
}

func decoded(t *testing.T, text string) map[string]any {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return doc
}

// TestConversation holds what becomes of messages.
func TestConversation(t *testing.T) {
	t.Parallel()
	text := func(role, s string) model.Message { return model.Message{Role: role, Content: s} }
	thought := model.Part{Reasoning: &model.Reasoning{Provider: "anthropic", Text: "x", Opaque: json.RawMessage(`{"type":"redacted_thinking","data":"<&>"}`)}}
	foreign := model.Part{Reasoning: &model.Reasoning{Provider: "openai", Opaque: json.RawMessage(`"x"`)}}
	readable := model.Part{Reasoning: &model.Reasoning{Provider: "anthropic", Text: "unsigned"}}
	call := func(id string) model.Part { return model.Part{Call: &model.ToolCall{ID: id, Name: "f"}} }
	result := func(id, s string, failed bool) model.Part {
		return model.Part{Result: &model.ToolResult{CallID: id, Content: s, IsError: failed}}
	}
	tests := []struct {
		name     string
		messages []model.Message
		want     string // without breakpoints
	}{
		{
			"a later system message is a user's",
			[]model.Message{text("system", "a"), text("system", "b"), text("user", "c"), text("assistant", "d"), text("system", "e")},
			`{"system":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"messages":[
				{"role":"user","content":[{"type":"text","text":"c"}]},{"role":"assistant","content":[{"type":"text","text":"d"}]},{"role":"user","content":[{"type":"text","text":"e"}]}]}`,
		},
		{
			"an empty answer is left out",
			[]model.Message{text("user", "c"), text("assistant", ""), text("user", "d")},
			`{"messages":[{"role":"user","content":[{"type":"text","text":"c"}]},{"role":"user","content":[{"type":"text","text":"d"}]}]}`,
		},
		{
			"an empty system text is left out",
			[]model.Message{text("system", ""), text("user", "c")},
			`{"messages":[{"role":"user","content":[{"type":"text","text":"c"}]}]}`,
		},
		{
			"results of one turn are one message, and the user's words follow",
			[]model.Message{
				text("user", "c"),
				{Role: "assistant", Parts: []model.Part{thought, foreign, readable, {Text: "t"}, {}, call("1"), call("2")}},
				{Role: "tool", Parts: []model.Part{result("1", "one", false)}},
				{Role: "tool", Parts: []model.Part{result("2", "", true)}},
				text("user", "go on"),
				text("user", "now"),
			},
			`{"messages":[{"role":"user","content":[{"type":"text","text":"c"}]},
				{"role":"assistant","content":[{"type":"redacted_thinking","data":"<&>"},{"type":"text","text":"t"},
					{"type":"tool_use","id":"1","name":"f","input":{}},{"type":"tool_use","id":"2","name":"f","input":{}}]},
				{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"one"}]},
					{"type":"tool_result","tool_use_id":"2","is_error":true,"content":[{"type":"text","text":"error"}]},{"type":"text","text":"go on"}]},
				{"role":"user","content":[{"type":"text","text":"now"}]}]}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := bodyOf(t, Options{NoCache: true}, model.Request{Model: "m", Messages: tt.messages})
			delete(got, "model")
			delete(got, "max_tokens")
			if diff := cmp.Diff(decoded(t, tt.want), got); diff != "" {
				t.Errorf("conversation (-want +got):\n%s", diff)
			}
		})
	}
}

// TestBreakpoints: the prefixes that requests share are marked, in the order in
// which they are read, and no thought is.
func TestBreakpoints(t *testing.T) {
	t.Parallel()
	thought := model.Part{Reasoning: &model.Reasoning{Provider: "anthropic", Opaque: json.RawMessage(`{"type":"thinking","thinking":"","signature":"s"}`)}}
	req := model.Request{
		Model: "m", Tools: []model.Tool{{Name: "a"}, {Name: "b"}},
		Messages: []model.Message{
			{Role: model.System, Content: "s1"},
			{Role: model.System, Content: "s2"},
			{Role: model.User, Content: "u1"},
			{Role: model.Assistant, Parts: []model.Part{{Text: "a1"}, thought}},
			{Role: model.User, Content: "u2"},
		},
	}
	const system = `"system":[{"type":"text","text":"s1"},{"type":"text","text":"s2","cache_control":{"type":"ephemeral"}}],`
	want := decoded(t, `{"model":"m","max_tokens":16000,
		"tools":[{"name":"a","input_schema":{"type":"object"}},{"name":"b","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}}],`+system+`
		"messages":[{"role":"user","content":[{"type":"text","text":"u1","cache_control":{"type":"ephemeral"}}]},
			{"role":"assistant","content":[{"type":"text","text":"a1"},{"type":"thinking","thinking":"","signature":"s"}]},
			{"role":"user","content":[{"type":"text","text":"u2","cache_control":{"type":"ephemeral"}}]}]}`)
	if diff := cmp.Diff(want, bodyOf(t, Options{}, req)); diff != "" {
		t.Errorf("a loop (-want +got):\n%s", diff)
	}
	req.Tools = nil
	want = decoded(t, `{"model":"m","max_tokens":16000,`+system+`
		"messages":[{"role":"user","content":[{"type":"text","text":"u1"}]},
			{"role":"assistant","content":[{"type":"text","text":"a1","cache_control":{"type":"ephemeral"}},{"type":"thinking","thinking":"","signature":"s"}]},
			{"role":"user","content":[{"type":"text","text":"u2"}]}]}`)
	if diff := cmp.Diff(want, bodyOf(t, Options{}, req)); diff != "" {
		t.Errorf("a chat (-want +got):\n%s", diff)
	}
}

func TestEncodeFaults(t *testing.T) {
	t.Parallel()
	parts := func(p model.Part) model.Request {
		return model.Request{Model: "m", Messages: []model.Message{{Role: model.User, Parts: []model.Part{p}}}}
	}
	broken := hello()
	broken.Schema = &model.Schema{Name: "n", JSON: json.RawMessage(`{"type":`)}
	tests := map[string]struct {
		o    Options
		req  model.Request
		want string
	}{
		"no messages":             {Options{}, model.Request{Model: "m"}, "no messages"},
		"only the system's":       {Options{}, model.Request{Messages: []model.Message{{Role: model.System, Content: "s"}}}, "no messages"},
		"broken schema":           {Options{Structured: StructuredNative}, broken, "encode request"},
		"broken thought":          {Options{}, parts(model.Part{Reasoning: &model.Reasoning{Provider: provider, Opaque: json.RawMessage(`{`)}}), "encode request"},
		"an image of nothing":     {Options{}, parts(model.Part{Image: &model.Image{MIME: "image/png"}}), "image"},
		"an image in a result":    {Options{}, parts(model.Part{Result: &model.ToolResult{CallID: "c7", Images: []model.Image{{}}}}), "c7"},
		"arguments that are none": {Options{}, parts(model.Part{Call: &model.ToolCall{ID: "c8", Arguments: json.RawMessage(`[]`)}}), "c8"},
		"unknown effort":          {Options{Thinking: ThinkBudget}, withEffort("extreme"), "extreme"},
		"no room to think":        {Options{Thinking: ThinkBudget, MaxTokens: 1000}, withEffort("low"), "max_tokens 1000"},
		"bad tag":                 {Options{Headers: map[string]string{"X-Run": "{{run}}"}}, model.Request{Model: "m", Messages: hello().Messages, Tags: model.Tags{Run: "a\nb"}}, "X-Run"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.o.Transport = modeltest.RoundTrip(func(*http.Request) (*http.Response, error) {
				t.Error("a request was sent")
				return nil, io.EOF
			})
			_, err := newClient(t, tt.o).Generate(t.Context(), tt.req)
			if model.CodeOf(err) != model.BadRequest || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %s that names %q", err, model.BadRequest, tt.want)
			}
		})
	}
}

func withEffort(e string) model.Request {
	req := hello()
	req.ReasoningEffort = e
	return req
}

func TestDecode(t *testing.T) {
	t.Parallel()
	redacted := json.RawMessage(`{"type":"redacted_thinking","data":"zzz"}`)
	tests := []struct {
		name string
		body string
		want model.Response
	}{
		{"no content", `{"type":"message","content":null,"stop_reason":"end_turn"}`, model.Response{Finish: model.FinishStop}},
		{"texts", `{"type":"message","content":[{"type":"text","text":"a"},{"type":"text","text":""},{"type":"text","text":"b"}]}`, model.Response{Text: "ab", Finish: model.FinishStop}},
		{"stop sequence", `{"type":"message","content":[],"stop_reason":"stop_sequence"}`, model.Response{Finish: model.FinishStop}},
		{"paused", `{"type":"message","content":[],"stop_reason":"pause_turn"}`, model.Response{Finish: model.FinishLength}},
		{"context used up", `{"type":"message","content":[],"stop_reason":"model_context_window_exceeded"}`, model.Response{Finish: model.FinishLength}},
		{"a new reason", `{"type":"message","content":[],"stop_reason":"sleepy"}`, model.Response{Finish: model.FinishStop}},
		{"refusal with words", `{"type":"message","content":[{"type":"text","text":"No."}],"stop_reason":"refusal","stop_details":{"explanation":"bio"}}`, model.Response{Text: "No.", Finish: model.FinishRefusal}},
		{"guardrail let it pass", `{"type":"message","content":[],"amazon-bedrock-guardrailAction":"NONE"}`, model.Response{Finish: model.FinishStop}},
		{"tool_use without a call", `{"type":"message","content":[{"type":"server_tool_use","id":"1","name":"x","input":{}}],"stop_reason":"tool_use"}`, model.Response{Finish: model.FinishStop}},
		{
			"redacted thoughts", `{"type":"message","content":[{"type":"redacted_thinking","data":"zzz"},{"type":"text","text":"a"}]}`,
			model.Response{Text: "a", Finish: model.FinishStop, Parts: []model.Part{{Reasoning: &model.Reasoning{Provider: "anthropic", Opaque: redacted}}, {Text: "a"}}},
		},
		{
			"a call with a reason that does not say so", `{"type":"message","content":[{"type":"tool_use","id":"1","name":"f","input":null}],"stop_reason":"end_turn"}`,
			model.Response{Finish: model.FinishTools, Parts: []model.Part{{Call: &model.ToolCall{ID: "1", Name: "f", Arguments: json.RawMessage(`{}`)}}}},
		},
		{
			"usage", `{"type":"message","content":[],"usage":{"input_tokens":3,"cache_read_input_tokens":20,"cache_creation_input_tokens":100,"output_tokens":7,"output_tokens_details":{"thinking_tokens":5}}}`,
			model.Response{Finish: model.FinishStop, Usage: trajectory.Usage{Input: 123, Cached: 20, CacheWrite: 100, Output: 7, Reasoning: 5}},
		},
		{"negative usage", `{"type":"message","content":[],"usage":{"input_tokens":-3,"cache_read_input_tokens":null,"output_tokens_details":null}}`, model.Response{Finish: model.FinishStop}},
		{"error null", `{"type":"message","content":[],"error":null}`, model.Response{Finish: model.FinishStop}},
	}
	for _, tt := range tests {
		for _, stream := range []bool{false, true} { // some servers ignore that a stream was asked for
			got, err := newClient(t, Options{Stream: stream, Transport: modeltest.Canned(200, tt.body)}).Generate(t.Context(), hello())
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
			} else if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s: response (-want +got):\n%s", tt.name, diff)
			}
		}
	}
}

// TestAnswerByTool: the input of the tool is the answer; what else the model says
// is not.
func TestAnswerByTool(t *testing.T) {
	t.Parallel()
	thought := model.Part{Reasoning: &model.Reasoning{Provider: "anthropic", Text: "t", Opaque: json.RawMessage(`{"type":"thinking","thinking":"t"}`)}}
	const answer = `{"type":"tool_use","id":"1","name":"patch","input":{"a": [1]}}`
	tests := []struct {
		name, content string
		want          model.Response
	}{
		{"called", answer, model.Response{Text: `{"a": [1]}`, Finish: model.FinishStop}},
		{"with a preface", `{"type":"text","text":"Here it is:"},` + answer, model.Response{Text: `{"a": [1]}`, Finish: model.FinishStop}},
		{
			"after a thought", `{"type":"thinking","thinking":"t"},` + answer,
			model.Response{Text: `{"a": [1]}`, Finish: model.FinishStop, Parts: []model.Part{thought, {Text: `{"a": [1]}`}}},
		},
		{"not called", `{"type":"text","text":"{}"}`, model.Response{Text: "{}", Finish: model.FinishStop}},
		{
			"another tool", `{"type":"tool_use","id":"1","name":"f","input":{}}`,
			model.Response{Finish: model.FinishTools, Parts: []model.Part{{Call: &model.ToolCall{ID: "1", Name: "f", Arguments: json.RawMessage(`{}`)}}}},
		},
	}
	for _, tt := range tests {
		req := hello()
		req.Schema = &model.Schema{Name: "patch", JSON: json.RawMessage(`{"type":"object"}`)}
		body := `{"type":"message","content":[` + tt.content + `],"stop_reason":"tool_use"}`
		got, err := newClient(t, Options{Structured: StructuredTool, Transport: modeltest.Canned(200, body)}).Generate(t.Context(), req)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		} else if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: response (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestStreamEvents(t *testing.T) {
	t.Parallel()
	const start = `{"type":"message_start","message":{"type":"message","model":"m-9","usage":{"input_tokens":3,"cache_read_input_tokens":4,"output_tokens":1}}}`
	const stop = `{"type":"message_stop"}`
	tests := []struct {
		name   string
		events []string
		want   model.Response
		code   model.Code
	}{
		{
			"thought, signed in pieces",
			[]string{
				start, `{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"a","signature":"","extra":1}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"b"}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s"}}`, stop,
			},
			model.Response{
				Finish: model.FinishStop, Model: "m-9", Usage: trajectory.Usage{Input: 7, Cached: 4, Output: 1},
				Parts: []model.Part{{Reasoning: &model.Reasoning{Provider: "anthropic", Text: "ab", Opaque: json.RawMessage(`{"extra":1,"signature":"s","thinking":"ab","type":"thinking"}`)}}},
			},
			"",
		},
		{
			"events and deltas that are new",
			[]string{
				start, `{"type":"surprise","index":9}`, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{}}}`, stop,
			},
			model.Response{Text: "a", Finish: model.FinishStop, Model: "m-9", Usage: trajectory.Usage{Input: 7, Cached: 4, Output: 1}},
			"",
		},
		{
			"totals at the end count",
			[]string{start, `{"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":50,"cache_read_input_tokens":5}}`, stop},
			model.Response{Finish: model.FinishLength, Model: "m-9", Usage: trajectory.Usage{Input: 8, Cached: 5, Output: 50}},
			"",
		},
		{"a block before its time", []string{start, `{"type":"content_block_start","index":1,"content_block":{"type":"text"}}`, stop}, model.Response{}, model.Malformed},
		{"a piece of no block", []string{start, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}`, stop}, model.Response{}, model.Malformed},
		{"a piece of block -1", []string{start, `{"type":"content_block_delta","index":-1,"delta":{}}`, stop}, model.Response{}, model.Malformed},
		{"a block that is none", []string{start, `{"type":"content_block_start","index":0,"content_block":5}`, stop}, model.Response{}, model.Malformed},
		{"a block that is missing", []string{start, `{"type":"content_block_start","index":0}`, stop}, model.Response{}, model.Malformed},
		{"no message", []string{stop}, model.Response{}, model.Malformed},
		{"an end without message", []string{`{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`}, model.Response{}, model.Truncated},
		{"an error without its name", []string{start, `{"error":{"message":"busy","type":"overloaded_error"}}`}, model.Response{}, model.Overloaded},
	}
	for _, tt := range tests {
		body := "\n" + ": a comment\r\n\r\n" + "data: " + strings.Join(tt.events, "\n\ndata: ") + "\n\n"
		got, err := newClient(t, Options{Stream: true, Transport: modeltest.Canned(200, body)}).Generate(t.Context(), hello())
		if code := model.CodeOf(err); code != tt.code {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.code)
		} else if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: response (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestStreamThatIsNone(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]model.Code{"": model.Truncated, "  \n": model.Truncated, "<html>": model.Malformed, `{"type":"mess`: model.Truncated, "data": model.Truncated, "event: x": model.Truncated} {
		_, err := newClient(t, Options{Stream: true, Transport: modeltest.Canned(200, body)}).Generate(t.Context(), hello())
		if model.CodeOf(err) != want {
			t.Errorf("%q: error %v, want %s", body, err, want)
		}
	}
}

// slow is an error of a body that times out.
func TestTransport(t *testing.T) {
	t.Parallel()
	modeltest.TestTransport(t, func(t *testing.T, key string, stream bool, transport http.RoundTripper) model.Client {
		return newClient(t, Options{APIKey: key, Stream: stream, Transport: transport})
	})
}

// TestAnEmptyBucketIsReported: limits that a server grants come with its answers,
// long before a refusal.
func TestAnEmptyBucketIsReported(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	spent := trajectory.Usage{Input: 100, Cached: 90, Output: 5}
	tests := []struct {
		name   string
		header map[string]string
		want   time.Duration
	}{
		{"nothing said", nil, 0},
		{"requests", map[string]string{"Requests-Remaining": "0", "Requests-Reset": "2026-03-01T12:00:20Z"}, 20 * time.Second},
		{"requests left", map[string]string{"Requests-Remaining": "1", "Requests-Reset": "2026-03-01T12:00:20Z"}, 0},
		{"what is cached does not count", map[string]string{"Input-Tokens-Remaining": "10", "Input-Tokens-Reset": "2026-03-01T12:00:20Z"}, 0},
		{"input", map[string]string{"Input-Tokens-Remaining": "9", "Input-Tokens-Reset": "2026-03-01T13:00:20+01:00"}, 20 * time.Second},
		{"the longest", map[string]string{"Output-Tokens-Remaining": "4", "Output-Tokens-Reset": "2026-03-01T12:00:01Z", "Tokens-Remaining": "0", "Tokens-Reset": "2026-03-01T12:01:00Z"}, time.Minute},
		{"gone by", map[string]string{"Requests-Remaining": "0", "Requests-Reset": "2026-03-01T11:00:00Z"}, 0},
		{"far", map[string]string{"Requests-Remaining": "0", "Requests-Reset": "2126-03-01T11:00:00Z"}, longestWait},
		{"unreadable", map[string]string{"Requests-Remaining": "0", "Requests-Reset": "soon"}, 0},
	}
	for _, tt := range tests {
		h := http.Header{}
		for name, value := range tt.header {
			h.Set("Anthropic-Ratelimit-"+name, value)
		}
		if got := pause(h, spent, now); got != tt.want {
			t.Errorf("%s: pause %s, want %s", tt.name, got, tt.want)
		}
	}
}

// FuzzResponse: whatever a server sends, the call ends with an answer or with a
// classified error, and never tells the key.
func FuzzResponse(f *testing.F) {
	for _, body := range []string{
		hi, `{"type":"message","content":[{"type":"tool_use","id":"1","name":"f","input":{"a":1}}]}`, `{"type":"message","content":[5]}`,
		`{"type":"error","error":{"type":"overloaded_error","message":"sk-fuzz-secret"}}`, `[{"error":{"error":{"error":"x"}}}]`, "<html>",
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"type\":\"message\"}}\n\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\"}}\n\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"signature\":\"s\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n",
	} {
		f.Add(200, false, []byte(body))
		f.Add(200, true, []byte(body))
		f.Add(429, false, []byte(body))
	}
	f.Fuzz(func(t *testing.T, status int, stream bool, body []byte) {
		if status < 200 || status > 599 {
			return // no server can send it
		}
		c := newClient(t, Options{APIKey: "sk-fuzz-secret", Stream: stream, Transport: modeltest.Canned(status, string(body))})
		res, err := c.Generate(t.Context(), hello())
		if err == nil {
			checkAnswer(t, status, res)
			return
		}
		if model.CodeOf(err) == "" {
			t.Errorf("error %v has no class", err)
		}
		if strings.Contains(err.Error(), "sk-fuzz-secret") || strings.ContainsAny(err.Error(), "\r\n") {
			t.Errorf("error %q", err)
		}
	})
}

// checkAnswer checks what all answers have in common.
func checkAnswer(t *testing.T, status int, res model.Response) {
	t.Helper()
	if status >= 300 {
		t.Errorf("status %d gives the answer %+v", status, res)
	}
	if len(res.Parts) > 0 && res.Message().Text() != res.Text {
		t.Errorf("text %q and parts %+v differ", res.Text, res.Parts)
	}
	for _, call := range res.Calls() {
		if !isObject(call.Arguments) {
			t.Errorf("call %+v", call)
		}
	}
	if _, err := json.Marshal(res); err != nil {
		t.Errorf("the answer cannot be recorded: %v", err)
	}
}
