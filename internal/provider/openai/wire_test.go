package openai

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

func hello() model.Request {
	return model.Request{Model: "m", Messages: []model.Message{{Role: model.User, Content: "hello"}}}
}

func TestNewFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		o    Options
		want []string
	}{
		{"no scheme", Options{BaseURL: "localhost:8080/v1"}, []string{"localhost:8080/v1", "http://"}},
		{"another scheme", Options{BaseURL: "ftp://host/v1"}, []string{"ftp://host/v1", "http://"}},
		{"no host", Options{BaseURL: "http:///v1"}, []string{"host"}},
		{"no URL", Options{BaseURL: "http://[::1"}, []string{"not a URL"}},
		{"a control character", Options{BaseURL: "http://host\n/v1"}, []string{"not a URL"}},
		{"user in the URL", Options{BaseURL: "https://me:secretpw@host/v1"}, []string{"host", "password"}},
		{"token field", Options{Quirks: Quirks{TokenField: "max_token"}}, []string{"max_token", MaxTokens, MaxCompletionTokens}},
		{"body", Options{MaxBody: -1}, []string{"-1"}},
		{"key with a line break", Options{APIKey: "sk-abcdef\n"}, []string{"api key"}},
		{"all at once", Options{BaseURL: "x", MaxBody: -1, Headers: map[string]string{"X-A": "{{nope}}"}}, []string{"base url", "-1", "X-A"}},
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
			if strings.Contains(err.Error(), "secretpw") || strings.Contains(err.Error(), "sk-abcdef") {
				t.Errorf("error %q tells a secret", err)
			}
		})
	}
}

func TestURL(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"":                                   "https://api.openai.com/v1/chat/completions",
		"http://localhost:11434/v1":          "http://localhost:11434/v1/chat/completions",
		"http://localhost:11434/v1/":         "http://localhost:11434/v1/chat/completions",
		"http://localhost:8080":              "http://localhost:8080/chat/completions",
		"http://h/v1/chat/completions":       "http://h/v1/chat/completions",
		"http://h/v1/chat/completions/":      "http://h/v1/chat/completions",
		"https://h/openai?api-version=a%2Fb": "https://h/openai/chat/completions?api-version=a%2Fb",
	}
	for base, want := range tests {
		t.Run(base, func(t *testing.T) {
			t.Parallel()
			var got string
			c := newClient(t, Options{BaseURL: base, Transport: modeltest.RoundTrip(func(r *http.Request) (*http.Response, error) {
				got = r.URL.String()
				return modeltest.Canned(200, string(plainReply()))(r)
			})})
			if _, err := c.Generate(t.Context(), hello()); err != nil {
				t.Fatal(err)
			}
			if got != want {
				t.Errorf("called %s, want %s", got, want)
			}
		})
	}
}

func plainReply() []byte {
	return []byte(`{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}`)
}

// TestEnvironment: the SDK's variables must neither redirect traffic nor lend a
// key.
func TestEnvironment(t *testing.T) {
	t.Setenv("OPENAI_BASE_URL", "http://elsewhere.invalid/v1")
	t.Setenv("OPENAI_API_KEY", "sk-from-environment")
	t.Setenv("OPENAI_ORG_ID", "org-from-environment")
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-From: environment")
	t.Setenv("HTTP_PROXY", "http://elsewhere.invalid:1")
	var got *http.Request
	c := newClient(t, Options{BaseURL: "http://h/v1", Transport: modeltest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		got = r
		return modeltest.Canned(200, string(plainReply()))(r)
	})})
	if _, err := c.Generate(t.Context(), hello()); err != nil {
		t.Fatal(err)
	}
	if got.URL.Host != "h" {
		t.Errorf("the request went to %s", got.URL.Host)
	}
	want := http.Header{"Accept": {"application/json"}, "Content-Type": {"application/json"}, "User-Agent": {"skillopt"}}
	if diff := cmp.Diff(want, got.Header); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	if c := newClient(t, Options{}); c.transport.(*http.Transport).Proxy != nil {
		t.Error("the transport takes a proxy from the environment")
	}
}

func TestProxy(t *testing.T) {
	t.Parallel()
	asked := errors.New("the proxy was asked for")
	c := newClient(t, Options{BaseURL: "http://h/v1", Proxy: func(*http.Request) (*url.URL, error) { return nil, asked }})
	if _, err := c.Generate(t.Context(), hello()); !errors.Is(err, asked) {
		t.Errorf("error %v, want %v", err, asked)
	}
}

func TestTokenField(t *testing.T) {
	t.Parallel()
	tests := []struct {
		o    Options
		want string
	}{
		{Options{}, MaxCompletionTokens},
		{Options{BaseURL: "https://x.openai.azure.com/openai/v1"}, MaxCompletionTokens},
		{Options{BaseURL: "http://localhost:8000/v1"}, MaxTokens},
		{Options{BaseURL: "http://localhost:8000/v1", Quirks: Quirks{TokenField: MaxCompletionTokens}}, MaxCompletionTokens},
		{Options{Quirks: Quirks{TokenField: MaxTokens}}, MaxTokens},
	}
	for _, tt := range tests {
		req := hello()
		req.MaxTokens = 9
		body, err := newClient(t, tt.o).bodies.chat(&req)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(body, &got); err != nil {
			t.Fatal(err)
		}
		want := map[string]any{"model": "m", "messages": []any{map[string]any{"role": "user", "content": "hello"}}, tt.want: 9.0}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%+v: body (-want +got):\n%s", tt.o, diff)
		}
	}
}

func TestEncodeFaults(t *testing.T) {
	t.Parallel()
	broken := hello()
	broken.Schema = &model.Schema{Name: "n", JSON: json.RawMessage(`{"type":`)}
	tests := map[string]model.Request{"no messages": {Model: "m"}, "broken schema": broken}
	for name, req := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t, Options{Quirks: Quirks{Schema: SchemaNative}, Transport: modeltest.RoundTrip(func(*http.Request) (*http.Response, error) {
				t.Error("a request was sent")
				return nil, io.EOF
			})})
			if _, err := c.Generate(t.Context(), req); model.CodeOf(err) != model.BadRequest {
				t.Errorf("error %v, want %s", err, model.BadRequest)
			}
		})
	}
}

// TestSystemText: the remembered text must never stand in for another one.
func TestSystemText(t *testing.T) {
	t.Parallel()
	var l lastText
	for _, text := range []string{"a", "a", "b\n", "", "b\n", "a"} {
		for _, role := range []string{model.System, model.User} {
			if got, want := string(l.append(nil, model.Message{Role: role, Content: text})), string(appendString(nil, text)); got != want {
				t.Errorf("%s %q gives %s, want %s", role, text, got, want)
			}
		}
	}
}

func TestBadTag(t *testing.T) {
	t.Parallel()
	c := newClient(t, Options{Headers: map[string]string{"X-Run": "{{run}}"}, Transport: modeltest.Canned(200, string(plainReply()))})
	req := hello()
	req.Tags.Run = "a\nb"
	_, err := c.Generate(t.Context(), req)
	if model.CodeOf(err) != model.BadRequest || !strings.Contains(err.Error(), "X-Run") {
		t.Errorf("error %v, want %s that names the header", err, model.BadRequest)
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		body string
		want model.Response
	}{
		{"null content", `{"choices":[{"message":{"content":null},"finish_reason":"stop"}]}`, model.Response{Finish: model.FinishStop}},
		{"no message", `{"choices":[{"finish_reason":"stop"}]}`, model.Response{Finish: model.FinishStop}},
		{"no reason", `{"choices":[{"message":{"content":"x"},"finish_reason":null}]}`, model.Response{Text: "x", Finish: model.FinishStop}},
		{"made up reason", `{"choices":[{"message":{"content":"x"},"finish_reason":"eos"}]}`, model.Response{Text: "x", Finish: model.FinishStop}},
		{"other name of length", `{"choices":[{"message":{"content":"x"},"finish_reason":"max_tokens"}]}`, model.Response{Text: "x", Finish: model.FinishLength}},
		{
			"parts", `{"choices":[{"message":{"content":[{"type":"thinking","thinking":[]},{"type":"text","text":"a"},{"type":"text","text":"b"}]}}]}`,
			model.Response{Text: "ab", Finish: model.FinishStop},
		},
		{"no parts", `{"choices":[{"message":{"content":[]}}]}`, model.Response{Finish: model.FinishStop}},
		{
			"refusal beside text", `{"choices":[{"message":{"content":"x","refusal":"no"}}]}`,
			model.Response{Text: "x", Finish: model.FinishRefusal},
		},
		{"more choices", `{"choices":[{"message":{"content":"x"}},{"message":{"content":"y"}}]}`, model.Response{Text: "x", Finish: model.FinishStop}},
		{
			"odd usage", `{"choices":[{"message":{"content":"x"}}],"usage":{"prompt_tokens":"many","completion_tokens":2}}`,
			model.Response{Text: "x", Finish: model.FinishStop, Usage: trajectory.Usage{Output: 2}},
		},
		{"usage is a list", `{"usage":[],"choices":[{"message":{"content":"x"}}]}`, model.Response{Text: "x", Finish: model.FinishStop}},
		{
			"null and negative usage", `{"choices":[{"message":{"content":"x"}}],"usage":{"prompt_tokens":-5,"prompt_tokens_details":null}}`,
			model.Response{Text: "x", Finish: model.FinishStop},
		},
		{
			"deepseek's cache", `{"choices":[{"message":{"content":"x"}}],"usage":{"prompt_tokens":9,"prompt_cache_hit_tokens":8}}`,
			model.Response{Text: "x", Finish: model.FinishStop, Usage: trajectory.Usage{Input: 9, Cached: 8}},
		},
		{
			"odd usage before parts", `{"usage":{"prompt_tokens":"12","completion_tokens":2},"choices":[{"message":{"content":[{"type":"text","text":"x"}]}}]}`,
			model.Response{Text: "x", Finish: model.FinishStop, Usage: trajectory.Usage{Output: 2}},
		},
		{"odd fingerprint", `{"system_fingerprint":12,"choices":[{"message":{"content":"x"}}]}`, model.Response{Text: "x", Finish: model.FinishStop}},
		{"white space", "\n\n  {\"choices\":[{\"message\":{\"content\":\"x\"}}]}\r\n", model.Response{Text: "x", Finish: model.FinishStop}},
		{"error null", `{"error":null,"choices":[{"message":{"content":"x"},"error":null}]}`, model.Response{Text: "x", Finish: model.FinishStop}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := newClient(t, Options{Transport: modeltest.Canned(200, tt.body)}).Generate(t.Context(), hello())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body string
		want       model.Code
		status     int
	}{
		{"content is a number", `{"choices":[{"message":{"content":5}}]}`, model.Malformed, 200},
		{"content is a list of numbers", `{"choices":[{"message":{"content":[5]}}]}`, model.Malformed, 200},
		{"content, then no choices", `{"choices":[{"message":{"content":[]}}],"choices":[]}`, model.Malformed, 200},
		{"choices is an object", `{"choices":{}}`, model.Malformed, 200},
		{"no choices", `{"choices":[]}`, model.Malformed, 200},
		{"two documents", `{"choices":[]}{"choices":[]}`, model.Malformed, 200},
		{"cut in a list", `[1,2`, model.Truncated, 200},
		{"white space only", " \n ", model.Truncated, 200},
		{"error with a status inside", `{"error":{"code":429,"message":"slow down"}}`, model.RateLimit, 429},
		{"error with another number inside", `{"error":{"code":7,"message":"slow down"}}`, model.Server, 200},
		{"half an answer, then an error", `{"choices":[{"message":{"content":"The ans"},"finish_reason":"error","error":{"code":502,"message":"upstream died"}}]}`, model.Server, 502},
		{"finish is error", `{"choices":[{"message":{"content":"The ans"},"finish_reason":"error"}]}`, model.Malformed, 200},
		{"key refused inside", `{"error":{"type":"authentication_error","message":"who?"}}`, model.Auth, 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := newClient(t, Options{Transport: modeltest.Canned(200, tt.body)}).Generate(t.Context(), hello())
			var got *model.Error
			if !errors.As(err, &got) || got.Code != tt.want || got.Status != tt.status {
				t.Errorf("error %v, want %s with status %d", err, tt.want, tt.status)
			}
		})
	}
}

// slow is an error of a body that times out.
func TestTransport(t *testing.T) {
	t.Parallel()
	modeltest.TestTransport(t, func(t *testing.T, key string, stream bool, transport http.RoundTripper) model.Client {
		return newClient(t, Options{APIKey: key, Stream: stream, Transport: transport})
	})
}

func TestReadAll(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("0123456789", 1000)
	for name, announced := range map[string]int64{"known": 10000, "unknown": -1, "too short": 10, "none": 0, "absurd": 1 << 40} {
		res := &http.Response{ContentLength: announced, Body: io.NopCloser(strings.NewReader(text))}
		if got, err := readAll(res); err != nil || string(got) != text {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
}

// FuzzAppendString: what is written must be read back as the same text, with
// U+FFFD for what is not UTF-8.
func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "plain", "\"\\\b\f\n\r\t\x00\x1f\x7f", "水 Füße 🙂 \u2028", "\xff\xfe a \xc3", "<a href='x'>&", "\xed\xa0\x80", "\uFFFD"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b := appendString([]byte("x"), s)[1:]
		var got string
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatalf("%q is written as %s: %v", s, b, err)
		}
		std, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var want string
		if err := json.Unmarshal(std, &want); err != nil {
			t.Fatal(err)
		}
		if got != want || (utf8.ValidString(s) && got != s) {
			t.Errorf("%q comes back as %q, want %q", s, got, want)
		}
	})
}

// FuzzResponse: whatever a server sends, the call ends with an answer or with a
// classified error, and never tells the key.
func FuzzResponse(f *testing.F) {
	f.Add(200, plainReply())
	f.Add(200, []byte(`{"choices":[{"message":{"content":[{"type":"text","text":"a"}]}}],"usage":{"prompt_tokens":"x"}}`))
	f.Add(200, []byte(`{"choices":[{"message":{"content":[]}}],"choices":[]}`))
	f.Add(400, []byte(`{"error":{"message":"sk-fuzz-secret","code":null}}`))
	f.Add(429, []byte(`[{"error":{"error":{"error":"x"}}}]`))
	f.Add(503, []byte(`<html>`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		if status < 200 || status > 599 {
			return // no server can send it
		}
		c := newClient(t, Options{APIKey: "sk-fuzz-secret", Transport: modeltest.Canned(status, string(body))})
		res, err := c.Generate(t.Context(), hello())
		if err == nil {
			if status >= 300 {
				t.Errorf("status %d gives the answer %+v", status, res)
			}
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
