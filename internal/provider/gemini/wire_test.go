package gemini

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
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

func staticToken(token string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return token, nil }
}

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

const hi = `{"candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}]}`

func hello() model.Request {
	return model.Request{Model: "m", Messages: []model.Message{{Role: model.User, Content: "hello"}}}
}

func vertexIn(region string) *Vertex {
	return &Vertex{Project: "p", Region: region, Token: staticToken("google-token")}
}

func TestNewFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		o    Options
		want []string
	}{
		{"no scheme", Options{BaseURL: "localhost:8080"}, []string{"localhost:8080", "http://"}},
		{"user in the URL", Options{BaseURL: "https://me:secretpw@host/"}, []string{"host", "password"}},
		{"thinking", Options{Thinking: "hard"}, []string{"thinking", "hard", ThinkBudget}},
		{"negative", Options{MaxBody: -2, Idle: -3}, []string{"max body -2", "idle -3"}},
		{"key with a line break", Options{APIKey: "secretpw\n"}, []string{"api key"}},
		{"header", Options{Headers: map[string]string{"X-A": "{{nope}}"}, BaseURL: "x"}, []string{"X-A", "base url"}},
		{"a key beside vertex", Options{APIKey: "k", Vertex: vertexIn("us")}, []string{"own credentials"}},
		{"vertex without anything", Options{Vertex: &Vertex{}}, []string{"region", "project", "tokens"}},
		{"vertex elsewhere", Options{Vertex: vertexIn("evil.com/")}, []string{"evil.com"}},
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
	const onVertex = "/v1beta1/projects/p/locations/"
	tests := []struct {
		o           Options
		model, want string
	}{
		{Options{}, "m", "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent"},
		{Options{Stream: true}, "models/m", "https://generativelanguage.googleapis.com/v1beta/models/m:streamGenerateContent?alt=sse"},
		{Options{BaseURL: "http://h/gemini/v1beta/"}, "tunedModels/m", "http://h/gemini/v1beta/tunedModels/m:generateContent"},
		{Options{BaseURL: "http://h?key=a%2Fb"}, "m", "http://h/v1beta/models/m:generateContent?key=a%2Fb"},
		{Options{BaseURL: "http://h?x=1", Stream: true}, "m", "http://h/v1beta/models/m:streamGenerateContent?alt=sse&x=1"},
		{Options{Vertex: vertexIn("us-central1")}, "m", "https://us-central1-aiplatform.googleapis.com" + onVertex + "us-central1/publishers/google/models/m:generateContent"},
		{Options{Vertex: vertexIn("global")}, "m", "https://aiplatform.googleapis.com" + onVertex + "global/publishers/google/models/m:generateContent"},
		{Options{Vertex: vertexIn("eu"), Stream: true}, "m", "https://aiplatform.eu.rep.googleapis.com" + onVertex + "eu/publishers/google/models/m:streamGenerateContent?alt=sse"},
		{Options{BaseURL: "http://127.0.0.1:1/v1", Vertex: vertexIn("us")}, "m", "http://127.0.0.1:1" + onVertex + "us/publishers/google/models/m:generateContent"},
	}
	for _, tt := range tests {
		var got *http.Request
		var body string
		tt.o.Transport = recorded(&got, &body)
		req := hello()
		req.Model = tt.model
		if _, err := newClient(t, tt.o).Generate(t.Context(), req); err != nil {
			t.Errorf("%s: %v", tt.want, err)
		} else if got.URL.String() != tt.want {
			t.Errorf("called %s, want %s", got.URL, tt.want)
		}
	}
}

// TestEnvironment: the variables of the SDK must neither redirect traffic nor
// lend a key.
func TestEnvironment(t *testing.T) {
	for name, value := range map[string]string{
		"GOOGLE_GEMINI_BASE_URL": "http://elsewhere.invalid", "GOOGLE_VERTEX_BASE_URL": "http://elsewhere.invalid", "GEMINI_API_KEY": "env-key",
		"GOOGLE_GENAI_USE_VERTEXAI": "true", "GOOGLE_CLOUD_PROJECT": "env-project", "GOOGLE_CLOUD_LOCATION": "env-place", "HTTP_PROXY": "http://elsewhere.invalid:1",
	} {
		t.Setenv(name, value)
	}
	for want, o := range map[string]Options{
		"http://h/v1beta/models/m:generateContent":                                            {BaseURL: "http://h"},
		"http://h/v1beta1/projects/p/locations/us/publishers/google/models/m:generateContent": {BaseURL: "http://h", Vertex: vertexIn("us")},
	} {
		var got *http.Request
		var body string
		o.Transport = recorded(&got, &body)
		if _, err := newClient(t, o).Generate(t.Context(), hello()); err != nil {
			t.Fatal(err)
		}
		if got.URL.String() != want {
			t.Errorf("called %s, want %s", got.URL, want)
		}
		headers := http.Header{"Content-Type": {"application/json"}, "User-Agent": {"skillopt"}}
		if o.Vertex != nil {
			headers["Authorization"] = []string{"Bearer google-token"}
		}
		if diff := cmp.Diff(headers, got.Header); diff != "" {
			t.Errorf("headers (-want +got):\n%s", diff)
		}
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

// TestEncode holds bodies of requests, without their contents.
func TestEncode(t *testing.T) {
	t.Parallel()
	p7, seed := 0.7, int64(-1)
	tests := []struct {
		name   string
		o      Options
		change func(*model.Request)
		want   string
	}{
		{"default", Options{}, func(*model.Request) {}, `{}`},
		{"numbers", Options{}, func(r *model.Request) { r.Temperature, r.TopP, r.MaxTokens = &p7, &p7, 9 }, `{"generationConfig":{"temperature":0.7,"topP":0.7,"maxOutputTokens":9}}`},
		{"a seed of 64 bits", Options{}, func(r *model.Request) { r.Seed = &seed }, `{"generationConfig":{"seed":2147483647}}`},
		{"a limit of 64 bits", Options{}, func(r *model.Request) { r.MaxTokens = math.MaxInt64 }, `{"generationConfig":{"maxOutputTokens":2147483647}}`},
		{"effort", Options{}, effort("high"), `{"generationConfig":{"thinkingConfig":{"thinkingLevel":"HIGH"}}}`},
		{"most effort", Options{}, effort("max"), `{"generationConfig":{"thinkingConfig":{"thinkingLevel":"HIGH"}}}`},
		{"no effort", Options{}, effort("none"), `{"generationConfig":{"thinkingConfig":{"thinkingLevel":"MINIMAL"}}}`},
		{"thoughts", Options{Thoughts: true}, effort(""), `{"generationConfig":{"thinkingConfig":{"includeThoughts":true}}}`},
		{"thoughts with an effort", Options{Thoughts: true}, effort("low"), `{"generationConfig":{"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"LOW"}}}`},
		{"budget", Options{Thinking: ThinkBudget}, effort("medium"), `{"generationConfig":{"thinkingConfig":{"thinkingBudget":8192}}}`},
		{"no budget", Options{Thinking: ThinkBudget}, effort("none"), `{"generationConfig":{"thinkingConfig":{"thinkingBudget":0}}}`},
		{"no budget where it cannot be", Options{Thinking: ThinkBudget, AlwaysThinks: true}, effort("none"), `{"generationConfig":{"thinkingConfig":{"thinkingBudget":512}}}`},
		{"no thinking", Options{Thinking: ThinkNone, Thoughts: true}, effort("high"), `{}`},
		{"choice without tools", Options{}, func(r *model.Request) { r.ToolChoice = "required" }, `{}`},
		{"tool without parameters", Options{}, func(r *model.Request) { r.Tools = []model.Tool{{Name: "a"}} }, `{"tools":[{"functionDeclarations":[{"name":"a"}]}]}`},
		{
			"one tool by name",
			Options{},
			func(r *model.Request) { r.Tools, r.ToolChoice = []model.Tool{{Name: "a"}}, "a" },
			`{"tools":[{"functionDeclarations":[{"name":"a"}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["a"]}}}`,
		},
	}
	for _, tt := range tests {
		for _, vertex := range []bool{false, true} {
			if vertex {
				tt.o.Vertex = vertexIn("us")
			}
			req := hello()
			tt.change(&req)
			got := bodyOf(t, tt.o, req)
			delete(got, "contents")
			if config, ok := got["generationConfig"].(map[string]any); ok && len(config) == 0 {
				delete(got, "generationConfig")
			}
			if diff := cmp.Diff(decoded(t, tt.want), got); diff != "" {
				t.Errorf("%s: body (-want +got):\n%s", tt.name, diff)
			}
		}
	}
}

func effort(e string) func(*model.Request) {
	return func(r *model.Request) { r.ReasoningEffort = e }
}

// bodyOf returns what is sent for a request; numbers keep their digits.
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
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&doc); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return doc
}

// TestConversation holds what becomes of messages.
func TestConversation(t *testing.T) {
	t.Parallel()
	text := func(role, s string) model.Message { return model.Message{Role: role, Content: s} }
	thought := func(provider, opaque string) model.Part {
		return model.Part{Reasoning: &model.Reasoning{Provider: provider, Text: "t", Opaque: json.RawMessage(opaque)}}
	}
	call := func(id, args string) model.Part {
		return model.Part{Call: &model.ToolCall{ID: id, Name: "f", Arguments: json.RawMessage(args)}}
	}
	result := func(r model.ToolResult) model.Message {
		return model.Message{Role: model.ToolRole, Parts: []model.Part{{Result: &r}}}
	}
	tests := []struct {
		name     string
		messages []model.Message
		want     string
	}{
		{
			"a later system message is a user's",
			[]model.Message{text("system", "a"), text("system", "b"), text("user", "c"), text("assistant", "d"), text("system", "e")},
			`{"systemInstruction":{"parts":[{"text":"a"},{"text":"b"}]},"contents":[{"role":"user","parts":[{"text":"c"}]},{"role":"model","parts":[{"text":"d"}]},{"role":"user","parts":[{"text":"e"}]}]}`,
		},
		{
			"empty messages",
			[]model.Message{text("system", ""), text("user", ""), text("assistant", ""), text("user", "d")},
			`{"contents":[{"role":"user","parts":[{"text":""}]},{"role":"user","parts":[{"text":"d"}]}]}`,
		},
		{
			"results of one turn are one message; ids that were made up are not sent",
			[]model.Message{
				text("user", "c"),
				{Role: "assistant", Parts: []model.Part{call("gemini_call_1", ""), call("x", `{"n":12345678901234567}`)}},
				result(model.ToolResult{CallID: "gemini_call_1", Content: "one", Images: []model.Image{{MIME: "image/png", Data: []byte("i")}}}),
				result(model.ToolResult{CallID: "x", Name: "f", Content: "two", IsError: true}),
				text("user", "go on"),
			},
			`{"contents":[{"role":"user","parts":[{"text":"c"}]},
				{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}},{"functionCall":{"id":"x","name":"f","args":{"n":12345678901234567}}}]},
				{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"one"}}},{"functionResponse":{"id":"x","name":"f","response":{"error":"two"}}}]},
				{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"aQ=="}}]},
				{"role":"user","parts":[{"text":"go on"}]}]}`,
		},
		{
			"thoughts go back to where they were",
			[]model.Message{
				text("user", "c"),
				{Role: "assistant", Parts: []model.Part{
					thought("gemini", `{"text":"t","thought":true}`), thought("openai", `"x"`), thought("gemini", ""),
					thought("gemini", `{"thoughtSignature":"c2ln"}`), call("x", ""), call("y", ""),
					thought("gemini", `{"thoughtSignature":"dGV4dA=="}`),
					{Text: "said"},
					thought("gemini", `{"text":"","thoughtSignature":"ZW5k"}`),
				}},
			},
			`{"contents":[{"role":"user","parts":[{"text":"c"}]},{"role":"model","parts":[{"text":"t","thought":true},
				{"functionCall":{"id":"x","name":"f","args":{}},"thoughtSignature":"c2ln"},{"functionCall":{"id":"y","name":"f","args":{}}},
				{"text":"said","thoughtSignature":"dGV4dA=="},{"text":"","thoughtSignature":"ZW5k"}]}]}`,
		},
		{
			"signatures whose part is gone",
			[]model.Message{
				text("user", "c"),
				{Role: "assistant", Parts: []model.Part{thought("gemini", `{"thoughtSignature":"MQ=="}`), thought("gemini", `{"thoughtSignature":"Mg=="}`)}},
			},
			`{"contents":[{"role":"user","parts":[{"text":"c"}]},{"role":"model","parts":[{"text":"","thoughtSignature":"MQ=="},{"text":"","thoughtSignature":"Mg=="}]}]}`,
		},
	}
	for _, tt := range tests {
		for _, vertex := range []*Vertex{nil, vertexIn("us")} {
			got := bodyOf(t, Options{Vertex: vertex}, model.Request{Model: "m", Messages: tt.messages})
			delete(got, "generationConfig")
			if diff := cmp.Diff(decoded(t, tt.want), withoutRole(got)); diff != "" {
				t.Errorf("%s: conversation (-want +got):\n%s", tt.name, diff)
			}
		}
	}
}

// withoutRole takes off the role of the system's texts, which means nothing.
func withoutRole(body map[string]any) map[string]any {
	if s, ok := body["systemInstruction"].(map[string]any); ok {
		delete(s, "role")
	}
	return body
}

func TestEncodeFaults(t *testing.T) {
	t.Parallel()
	parts := func(p model.Part) model.Request {
		return model.Request{Model: "m", Messages: []model.Message{{Role: model.User, Parts: []model.Part{p}}}}
	}
	with := func(change func(*model.Request)) model.Request {
		req := hello()
		change(&req)
		return req
	}
	nan, huge := math.NaN(), 1e300
	tests := map[string]struct {
		o    Options
		req  model.Request
		want string
	}{
		"no messages":             {Options{}, model.Request{Model: "m"}, "no messages"},
		"no model":                {Options{}, with(func(r *model.Request) { r.Model = "" }), "model is empty"},
		"a model that is a path":  {Options{}, with(func(r *model.Request) { r.Model = "../x" }), "invalid model"},
		"no number":               {Options{}, with(func(r *model.Request) { r.Temperature = &nan }), "temperature"},
		"too large a number":      {Options{}, with(func(r *model.Request) { r.TopP = &huge }), "topP"},
		"broken schema":           {Options{Structured: true}, with(func(r *model.Request) { r.Schema = &model.Schema{Name: "n7", JSON: json.RawMessage(`{`)} }), "n7"},
		"broken parameters":       {Options{}, with(func(r *model.Request) { r.Tools = []model.Tool{{Name: "t7", Parameters: json.RawMessage(`{`)}} }), "t7"},
		"broken thought":          {Options{}, parts(model.Part{Reasoning: &model.Reasoning{Provider: provider, Opaque: json.RawMessage(`{`)}}), "reasoning"},
		"an image of nothing":     {Options{}, parts(model.Part{Image: &model.Image{MIME: "image/png"}}), "image"},
		"an image in a result":    {Options{}, parts(model.Part{Result: &model.ToolResult{CallID: "c7", Name: "f", Images: []model.Image{{}}}}), "c7"},
		"a result of no call":     {Options{}, parts(model.Part{Result: &model.ToolResult{CallID: "c9"}}), "c9"},
		"arguments that are none": {Options{}, parts(model.Part{Call: &model.ToolCall{ID: "c8", Arguments: json.RawMessage(`[]`)}}), "c8"},
		"unknown effort":          {Options{Thinking: ThinkBudget}, with(effort("extreme")), "extreme"},
		"bad tag":                 {Options{Headers: map[string]string{"X-Run": "{{run}}"}}, with(func(r *model.Request) { r.Tags.Run = "a\nb" }), "X-Run"},
	}
	for name, tt := range tests {
		for _, stream := range []bool{false, true} {
			tt.o.Stream = stream
			tt.o.Transport = modeltest.RoundTrip(func(*http.Request) (*http.Response, error) {
				t.Errorf("%s: a request was sent", name)
				return nil, io.EOF
			})
			_, err := newClient(t, tt.o).Generate(t.Context(), tt.req)
			if model.CodeOf(err) != model.BadRequest || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: error %v, want %s that names %q", name, err, model.BadRequest, tt.want)
			}
		}
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	answer := func(parts, reason string) string {
		return `{"candidates":[{"content":{"parts":[` + parts + `]},"finishReason":"` + reason + `"}]}`
	}
	thought := func(text, opaque string) model.Part {
		return model.Part{Reasoning: &model.Reasoning{Provider: "gemini", Text: text, Opaque: json.RawMessage(opaque)}}
	}
	call := func(id string) model.Part {
		return model.Part{Call: &model.ToolCall{ID: id, Name: "f", Arguments: json.RawMessage(`{}`)}}
	}
	tests := []struct {
		name string
		body string
		want model.Response
	}{
		{"no content", `{"candidates":[{"finishReason":"STOP"}]}`, model.Response{Finish: model.FinishStop}},
		{"texts", answer(`{"text":"a"},{"text":""},{"text":"b"}`, "STOP"), model.Response{Text: "ab", Finish: model.FinishStop}},
		{"recitation", answer(`{"text":"a"}`, "RECITATION"), model.Response{Text: "a", Finish: model.FinishFilter}},
		{"a new reason", answer(``, "BORED"), model.Response{Finish: model.FinishStop}},
		{"to be continued", answer(`{"text":"a"}`, "CONTINUATION"), model.Response{Text: "a", Finish: model.FinishLength}},
		{"parts of other kinds", answer(`{"executableCode":{"code":"1"}},{"inlineData":{"mimeType":"image/png","data":"aQ=="}},{"text":"a"}`, "STOP"), model.Response{Text: "a", Finish: model.FinishStop}},
		{
			"calls without ids, or with one twice", answer(`{"functionCall":{"name":"f"}},{"functionCall":{"id":"x","name":"f","args":null}},{"functionCall":{"id":"x","name":"f","args":{}}}`, "STOP"),
			model.Response{Finish: model.FinishTools, Parts: []model.Part{call("gemini_call_2"), call("x"), call("gemini_call_3")}},
		},
		{
			"a signed call", answer(`{"text":"why","thought":true},{"functionCall":{"id":"1","name":"f"},"thoughtSignature":"c2ln"},{"functionCall":{"id":"2","name":"f"}}`, "STOP"),
			model.Response{Finish: model.FinishTools, Parts: []model.Part{thought("why", `{"text":"why","thought":true}`), thought("", `{"thoughtSignature":"c2ln"}`), call("1"), call("2")}},
		},
		{
			"signed texts are not joined", answer(`{"text":"a"},{"text":"b","thoughtSignature":"c2ln"},{"text":"c"},{"text":"d"},{"text":"","thoughtSignature":"ZW5k"}`, "STOP"),
			model.Response{
				Text: "abcd", Finish: model.FinishStop,
				Parts: []model.Part{{Text: "a"}, thought("", `{"thoughtSignature":"c2ln"}`), {Text: "b"}, {Text: "cd"}, thought("", `{"text":"","thoughtSignature":"ZW5k"}`)},
			},
		},
		{
			"usage", `{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":30,"cachedContentTokenCount":20,"candidatesTokenCount":7,"thoughtsTokenCount":5},"modelVersion":"m-9"}`,
			model.Response{Finish: model.FinishStop, Model: "m-9", Usage: trajectory.Usage{Input: 30, Cached: 20, Output: 12, Reasoning: 5}},
		},
		{"negative usage", `{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":-1,"thoughtsTokenCount":null}}`, model.Response{Finish: model.FinishStop}},
		{"more candidates", `{"candidates":[{"content":{"parts":[{"text":"x"}]},"finishReason":"STOP"},{"content":{"parts":[{"text":"y"}]}}]}`, model.Response{Text: "x", Finish: model.FinishStop}},
	}
	req := hello() // an id of its conversation is not given again
	req.Messages = append(req.Messages, model.Message{Role: model.Assistant, Parts: []model.Part{call("gemini_call_1")}})
	for _, tt := range tests {
		for _, stream := range []bool{false, true} { // some servers ignore that a stream was asked for
			got, err := newClient(t, Options{Stream: stream, Transport: modeltest.Canned(200, tt.body)}).Generate(t.Context(), req)
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
			} else if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s: response (-want +got):\n%s", tt.name, diff)
			}
		}
	}
}

// TestThereAndBack: whatever parts a model's answer has, the next request has
// them as they were.
func TestThereAndBack(t *testing.T) {
	t.Parallel()
	const parts = `[{"text":"t1","thought":true},{"text":"t2","thought":true,"thoughtSignature":"YQ=="},{"text":"said"},
		{"functionCall":{"id":"1","name":"f","args":{"n":1}},"thoughtSignature":"Yg=="},{"functionCall":{"name":"f","args":{}}},{"text":"","thoughtSignature":"Yw=="}]`
	var r *http.Request
	var body string
	first := newClient(t, Options{Transport: modeltest.Canned(200, `{"candidates":[{"content":{"parts":`+parts+`},"finishReason":"STOP"}]}`)})
	res, err := first.Generate(t.Context(), hello())
	if err != nil {
		t.Fatal(err)
	}
	req := hello()
	req.Messages = append(req.Messages, res.Message())
	if _, err := newClient(t, Options{Transport: recorded(&r, &body)}).Generate(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	want := decoded(t, `{"role":"model","parts":`+parts+`}`)
	if diff := cmp.Diff(want, decoded(t, body)["contents"].([]any)[1]); diff != "" {
		t.Errorf("message (-came +went):\n%s", diff)
	}
}

func TestStreamPieces(t *testing.T) {
	t.Parallel()
	piece := func(part string) string { return `{"candidates":[{"content":{"parts":[` + part + `]}}]}` }
	const stop = `{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":9}}`
	tests := []struct {
		name   string
		events []string
		want   model.Response
		code   model.Code
	}{
		{
			"thoughts and texts are put together",
			[]string{piece(`{"text":"a","thought":true}`), piece(`{"text":"b","thought":true}`), piece(`{"text":"c"}`), piece(`{"text":"d"}`), stop},
			model.Response{
				Text: "cd", Finish: model.FinishStop, Usage: trajectory.Usage{Input: 3, Output: 9},
				Parts: []model.Part{{Reasoning: &model.Reasoning{Provider: "gemini", Text: "ab", Opaque: json.RawMessage(`{"text":"ab","thought":true}`)}}, {Text: "cd"}},
			},
			"",
		},
		{
			"totals count",
			[]string{`{"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":1,"thoughtsTokenCount":2}}`, stop, `{"usageMetadata":{"candidatesTokenCount":10}}`},
			model.Response{Finish: model.FinishStop, Usage: trajectory.Usage{Input: 3, Output: 12, Reasoning: 2}},
			"",
		},
		{"no end", []string{piece(`{"text":"a"}`)}, model.Response{}, model.Truncated},
		{"nothing", []string{`{}`}, model.Response{}, model.Truncated},
		{"half an event", []string{`{"candidates":`}, model.Response{}, model.Malformed},
		{"another document", []string{`[1]`}, model.Response{}, model.Malformed},
		{"arguments that are a text", []string{piece(`{"functionCall":{"name":"f","args":"x"}}`), stop}, model.Response{}, model.Malformed},
	}
	for _, tt := range tests {
		body := "data: " + strings.Join(tt.events, "\r\n\r\ndata: ") + "\r\n\r\n"
		got, err := newClient(t, Options{Stream: true, Transport: modeltest.Canned(200, body)}).Generate(t.Context(), hello())
		if code := model.CodeOf(err); code != tt.code {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.code)
		} else if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: response (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestVertexToken: a token that cannot be had is a failure of its own, the
// deadline of the call holds for it too, and none stands in a message.
func TestVertexToken(t *testing.T) {
	t.Parallel()
	fails := func(err error) func(context.Context) (string, error) {
		return func(context.Context) (string, error) { return "", err }
	}
	waits := func(ctx context.Context) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	}
	tests := []struct {
		name  string
		token func(context.Context) (string, error)
		want  model.Code
	}{
		{"refused", fails(errors.New("invalid_grant\nsee there")), model.Auth},
		{"classified", fails(&model.Error{Code: model.Network, Endpoint: "oauth2.googleapis.com", Err: io.EOF}), model.Network},
		{"hangs", waits, model.Timeout},
		{"repeated", staticToken("google-token"), model.Auth},
	}
	for _, tt := range tests {
		c := newClient(t, Options{
			Vertex:    &Vertex{Project: "p", Region: "us", Token: tt.token},
			Transport: modeltest.Canned(401, `{"error":{"message":"who is google-token?"}}`),
		})
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, err := c.Generate(ctx, hello())
		cancel()
		if model.CodeOf(err) != tt.want || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "google-token") {
			t.Errorf("%s: error %v, want %s", tt.name, err, tt.want)
		}
	}
}

func TestTransport(t *testing.T) {
	t.Parallel()
	modeltest.TestTransport(t, func(t *testing.T, key string, stream bool, transport http.RoundTripper) model.Client {
		return newClient(t, Options{APIKey: key, Stream: stream, Transport: transport})
	})
}

// FuzzResponse: whatever a server sends, the call ends with an answer or with a
// classified error, and never tells the key.
func FuzzResponse(f *testing.F) {
	for _, body := range []string{
		hi, `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"a":1}},"thoughtSignature":"YQ=="}]},"finishReason":"STOP"}]}`,
		`{"candidates":[{"content":{"parts":[5]}}]}`, `{"promptFeedback":{"blockReason":"sk-fuzz-secret"}}`,
		`{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"sk-fuzz-secret","details":[{"retryDelay":"9s"}]}}`, `[{"error":{"error":{"error":"x"}}}]`, "<html>",
		"data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\",\"thought\":true}]}}]}\r\n\r\ndata: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"b\"},{\"text\":\"\",\"thoughtSignature\":\"YQ==\"}]},\"finishReason\":\"STOP\"}]}\r\n\r\n",
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
	ids := map[string]bool{}
	for _, call := range res.Calls() {
		if !isObject(call.Arguments) || call.ID == "" || ids[call.ID] {
			t.Errorf("call %+v", call)
		}
		ids[call.ID] = true
	}
	if _, err := json.Marshal(res); err != nil {
		t.Errorf("the answer cannot be recorded: %v", err)
	}
	w := writer{names: map[string]string{}}
	if err := w.add(res.Message()); err != nil {
		t.Errorf("the answer cannot go back: %v", err)
	}
}
