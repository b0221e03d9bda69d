package ollama

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

// server is a scripted Ollama.
type server struct {
	*httptest.Server
	show func(w http.ResponseWriter)
	chat func(w http.ResponseWriter, seen seenRequest)

	mu    sync.Mutex
	shows int
	seen  []seenRequest
}

// fine answers everything with "fine", counting used tokens of the prompt.
func fine(used int64) func(http.ResponseWriter, seenRequest) {
	return func(w http.ResponseWriter, _ seenRequest) {
		_, _ = w.Write(writeWire(modeltest.Reply{Text: "fine", Finish: model.FinishStop, Input: used, Output: 1}))
	}
}

func about(window int, can ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { _, _ = w.Write(aboutModel(window, can...)) }
}

func newServer(t *testing.T, show func(http.ResponseWriter), chat func(http.ResponseWriter, seenRequest)) *server {
	t.Helper()
	s := &server{show: show, chat: chat}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if r.URL.Path == "/api/show" {
			s.mu.Lock()
			s.shows++
			s.mu.Unlock()
			if string(body) != `{"model":"m"}` {
				t.Errorf("asked about %s", body)
			}
			s.show(w)
			return
		}
		seen, err := parseRequest(r, body)
		if err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		s.seen = append(s.seen, seen)
		s.mu.Unlock()
		s.chat(w, seen)
	}))
	t.Cleanup(s.Close)
	return s
}

func ask(text string) model.Request {
	return model.Request{Model: "m", Messages: []model.Message{{Role: model.User, Content: text}}}
}

func (s *server) generate(t *testing.T, o Options, req model.Request) (model.Response, error) {
	t.Helper()
	o.BaseURL = s.URL
	return newClient(t, o).Generate(t.Context(), req)
}

func TestWindowIsSet(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		model int // longest context of the model
		asked int
		want  int // 0 = refused
	}{
		{"default", 131072, 0, DefaultContext},
		{"default of a small model", 2048, 0, 2048},
		{"default when nothing is known", 0, 0, DefaultContext},
		{"as asked", 131072, 65536, 65536},
		{"all there is", 4096, 4096, 4096},
		{"more than there is", 4096, 4097, 0},
		{"as asked when nothing is known", 0, 1 << 20, 1 << 20},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, about(tt.model), fine(5))
			_, err := s.generate(t, Options{Context: tt.asked}, ask("q"))
			if tt.want == 0 {
				if model.CodeOf(err) != model.BadRequest || !strings.Contains(err.Error(), "4097") || !strings.Contains(err.Error(), "at most 4096") {
					t.Errorf("error %v", err)
				}
				if len(s.seen) > 0 {
					t.Error("the request was sent")
				}
				return
			}
			if err != nil || s.seen[0].Options.NumCtx != tt.want {
				t.Errorf("num_ctx %+v, %v, want %d", s.seen, err, tt.want)
			}
			if n, err := newClient(t, Options{BaseURL: s.URL, Context: tt.asked}).Window(t.Context(), "m"); n != tt.want || err != nil {
				t.Errorf("Window: %d, %v, want %d", n, err, tt.want)
			}
		})
	}
}

func TestModelIsAskedAboutOnce(t *testing.T) {
	t.Parallel()
	s := newServer(t, about(4096), fine(5))
	c := newClient(t, Options{BaseURL: s.URL})
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if _, err := c.Generate(t.Context(), ask("q")); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if s.shows != 1 || len(s.seen) != 16 {
		t.Errorf("asked %d times about the model, %d requests", s.shows, len(s.seen))
	}
}

func TestModelThatCannotBeShown(t *testing.T) {
	t.Parallel()
	says := func(status int, body string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	tests := []struct {
		name string
		show func(http.ResponseWriter)
		want model.Code // "" = it is asked all the same
	}{
		{"no such model", says(404, `{"error":"model 'm' not found"}`), model.NotFound},
		{"no such question", says(404, "404 page not found"), ""},
		{"not that way", says(405, "Method Not Allowed"), ""},
		{"an old server", says(400, `{"error":"name is required"}`), ""},
		{"wrong key", says(401, `{"error":"unauthorized"}`), model.Auth},
		{"broken", says(500, `{"error":"disk"}`), model.Server},
		{"busy", says(503, ""), model.Overloaded},
		{"a web page", says(200, "<html>"), model.Malformed},
		{"cut", says(200, `{"model_info":{`), model.Truncated},
		{"empty", says(200, `{}`), ""},
		{"odd", says(200, `{"model_info":{"general.architecture":"x","x.context_length":"many"}}`), ""},
		{"elsewhere", func(w http.ResponseWriter) {
			w.Header().Set("Location", "https://example.com/x")
			w.WriteHeader(302)
		}, model.Redirect},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, tt.show, fine(5))
			c := newClient(t, Options{BaseURL: s.URL})
			for range 2 {
				if _, err := c.Generate(t.Context(), ask("q")); model.CodeOf(err) != tt.want || (err != nil) != (tt.want != "") {
					t.Errorf("error %v, want %q", err, tt.want)
				}
			}
			if asked := 1; tt.want != "" {
				asked = 2
				if s.shows != asked || len(s.seen) > 0 {
					t.Errorf("a failure is remembered, or the request was sent: %d, %d", s.shows, len(s.seen))
				}
			} else if s.shows != asked || len(s.seen) != 2 {
				t.Errorf("asked %d times, %d requests", s.shows, len(s.seen))
			}
		})
	}
}

func TestMissingModelSaysWhatHelps(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(w http.ResponseWriter) {
		w.WriteHeader(404)
		_, _ = io.WriteString(w, `{"error":"model 'm' not found"}`)
	}, fine(1))
	_, err := s.generate(t, Options{}, ask("q"))
	if model.CodeOf(err) != model.NotFound || !strings.Contains(err.Error(), "ollama pull m") {
		t.Errorf("error %v", err)
	}
}

func TestPromptsThatDoNotFit(t *testing.T) {
	t.Parallel()
	words := func(n int) string { return strings.Repeat("seven words ", n/12+1)[:n] }
	tests := []struct {
		name   string
		prompt string
		used   int64 // tokens that the server says it used
		want   model.Code
		sent   bool
	}{
		{"fits", words(4000), 900, "", true},
		{"fits closely", words(4000), 1023, "", true},
		{"fills the window", words(4000), 1024, model.ContextLength, true},
		{"is cut to the window", words(6000), 1024, model.ContextLength, true},
		{"loses messages", words(7000), 300, model.ContextLength, true},
		{"is said not to be counted", words(7000), 0, "", true},
		{"is too long by any count", words(9000), 0, model.ContextLength, false},
		{"is many equal letters", strings.Repeat(" ", 60_000), 950, "", true},
		{"is short, and partly cached by an old server", "short", 1, "", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, about(1024), fine(tt.used))
			_, err := s.generate(t, Options{}, ask(tt.prompt))
			if model.CodeOf(err) != tt.want || (err != nil) != (tt.want != "") {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if (len(s.seen) > 0) != tt.sent {
				t.Errorf("%d requests were sent", len(s.seen))
			}
			if err != nil && !strings.Contains(err.Error(), "1024 tokens") {
				t.Errorf("error %v does not name the window", err)
			}
		})
	}
}

// TestLeastTokens holds the estimate against counts of real tokenizers, which it
// must not exceed.
func TestLeastTokens(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text   string
		tokens int64 // by the tokenizer of Llama 3 or Qwen, whichever is fewer
	}{
		{"", 0},
		{"hello", 1},
		{"The quick brown fox jumps over the lazy dog.", 10},
		{"Internationalization notwithstanding, responsibilities", 6},
		{strings.Repeat("=", 64), 1},
		{"                                func main() {", 4},
		{"人工智能正在改变世界", 5},
	}
	for _, tt := range tests {
		if got := leastTokens(ask(tt.text)); got > tt.tokens {
			t.Errorf("%q: at least %d, but it has %d", tt.text, got, tt.tokens)
		}
		if got := mostTokens(ask(tt.text)); got < tt.tokens {
			t.Errorf("%q: at most %d, but it has %d", tt.text, got, tt.tokens)
		}
	}
}

func TestToolChoice(t *testing.T) {
	t.Parallel()
	tests := []struct {
		choice string
		tools  int
		want   model.Code
	}{
		{"", 1, ""},
		{model.ToolChoiceAuto, 1, ""},
		{model.ToolChoiceNone, 0, ""},
		{model.ToolChoiceRequired, 0, model.BadRequest},
		{"list", 0, model.BadRequest},
	}
	for _, tt := range tests {
		s := newServer(t, about(4096), fine(5))
		req := ask("q")
		req.Tools, req.ToolChoice = []model.Tool{{Name: "list", Parameters: json.RawMessage(`{"type":"object"}`)}}, tt.choice
		_, err := s.generate(t, Options{}, req)
		if model.CodeOf(err) != tt.want || (err == nil) != (len(s.seen) == 1) {
			t.Errorf("%q: error %v, want %q", tt.choice, err, tt.want)
		}
		if err == nil && len(s.seen[0].Tools) != tt.tools {
			t.Errorf("%q: %d tools were sent", tt.choice, len(s.seen[0].Tools))
		}
	}
}

func TestThinkingAndKeepAlive(t *testing.T) {
	t.Parallel()
	tests := []struct {
		think, effort, alive string
		wantThink, wantAlive string
		want                 model.Code
	}{
		{"", "", "", "", "", ""},
		{ThinkEnabled, "", "30m", "true", `"30m"`, ""},
		{ThinkDisabled, "", "-1", "false", "-1", ""},
		{ThinkEnabled, "high", "0", `"high"`, "0", ""},
		{"", "none", "", "false", "", ""},
		{ThinkDisabled, "none", "", "false", "", ""},
		{ThinkDisabled, "low", "", "", "", model.BadRequest},
	}
	for _, tt := range tests {
		s := newServer(t, about(4096), fine(5))
		req := ask("q")
		req.ReasoningEffort = tt.effort
		_, err := s.generate(t, Options{Think: tt.think, KeepAlive: tt.alive}, req)
		if model.CodeOf(err) != tt.want {
			t.Errorf("%+v: error %v", tt, err)
		}
		if err == nil && (string(s.seen[0].Think) != tt.wantThink || string(s.seen[0].KeepAlive) != tt.wantAlive) {
			t.Errorf("%+v: think %s, keep alive %s", tt, s.seen[0].Think, s.seen[0].KeepAlive)
		}
	}
}

func TestImagesForAModelWithoutEyes(t *testing.T) {
	t.Parallel()
	req := ask("")
	req.Messages[0].Parts = []model.Part{{Image: &model.Image{MIME: "image/png", Data: []byte("x")}}}
	for name, tt := range map[string]struct {
		can  []string
		want model.Code
	}{"blind": {[]string{"completion"}, model.BadRequest}, "sees": {[]string{"vision"}, ""}, "not known": {nil, ""}} {
		_, err := newServer(t, about(4096, tt.can...), fine(5)).generate(t, Options{}, req)
		if model.CodeOf(err) != tt.want {
			t.Errorf("%s: error %v, want %q", name, err, tt.want)
		}
	}
}

func TestCallsGetIDs(t *testing.T) {
	t.Parallel()
	s := newServer(t, about(4096), func(w http.ResponseWriter, _ seenRequest) {
		_, _ = io.WriteString(w, `{"model":"m","message":{"role":"assistant","content":"","tool_calls":[
			{"function":{"name":"a","arguments":{"x":1}}},
			{"function":{"name":"b","arguments":"{\"y\":2}"}},
			{"id":"call_1","function":{"name":"c"}}]},"done":true,"done_reason":"stop"}`)
	})
	req := ask("q")
	req.Messages = append(req.Messages,
		model.Message{Role: model.Assistant, Parts: []model.Part{{Call: &model.ToolCall{ID: "call_1", Name: "a", Arguments: json.RawMessage("{}")}}}},
		model.Message{Role: model.ToolRole, Parts: []model.Part{{Result: &model.ToolResult{CallID: "call_1", Content: "done"}}}})
	resp, err := s.generate(t, Options{}, req)
	if err != nil {
		t.Fatal(err)
	}
	want := []model.ToolCall{
		{ID: "call_3", Name: "b", Arguments: json.RawMessage(`{"y":2}`)},
		{ID: "call_4", Name: "c", Arguments: json.RawMessage(`{}`)},
	}
	calls := resp.Calls()
	if diff := cmp.Diff(want, calls[1:]); diff != "" || calls[0].ID == "call_1" || resp.Finish != model.FinishTools {
		t.Errorf("calls %+v, finish %s (-want +got):\n%s", calls, resp.Finish, diff)
	}
	if got := s.seen[0].Messages[2].ToolName; got != "a" {
		t.Errorf("the result is that of %q", got)
	}
}

func TestBrokenLinesOfAStream(t *testing.T) {
	t.Parallel()
	first := streamWire(modeltest.Reply{Text: "a story", Finish: model.FinishStop})[0]
	for name, tt := range map[string]struct {
		line string
		want model.Code
	}{
		"no JSON":        {"{\"a\": oops}\n", model.Malformed},
		"another object": {"{\"status\":\"ok\"}\n", model.Malformed},
		"loading":        {`{"message":{"content":""},"done":true,"done_reason":"load"}` + "\n", model.Server},
	} {
		s := newServer(t, about(4096), func(w http.ResponseWriter, _ seenRequest) { _, _ = io.WriteString(w, first+tt.line) })
		if _, err := s.generate(t, Options{Stream: true}, ask("q")); model.CodeOf(err) != tt.want {
			t.Errorf("%s: error %v, want %s", name, err, tt.want)
		}
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		o    Options
		want string
	}{
		"address":    {Options{BaseURL: "localhost:11434"}, "base url"},
		"password":   {Options{BaseURL: "http://me:secret@h"}, "not allowed"},
		"context":    {Options{Context: -1}, "context -1"},
		"think":      {Options{Think: "yes"}, `think "yes"`},
		"keep alive": {Options{KeepAlive: "long"}, `keep alive "long"`},
		"idle":       {Options{Idle: -1}, "idle"},
		"body":       {Options{MaxBody: -1}, "max body"},
		"key":        {Options{APIKey: "a b"}, "api key"},
		"header":     {Options{Headers: map[string]string{"X": "{{nope}}"}}, "nope"},
	} {
		if _, err := New(tt.o); err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: error %v, want %q in it", name, err, tt.want)
		}
	}
	for _, base := range []string{"", "http://localhost:11434/", "http://localhost:11434/api", "http://localhost:11434/api/chat", "http://localhost:11434/v1"} {
		if c := newClient(t, Options{BaseURL: base}); c.base.String() != DefaultBaseURL {
			t.Errorf("%q becomes %s", base, c.base)
		}
	}
}

func TestAskingAboutAModelCanBeCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	stop := make(chan struct{})
	s := newServer(t, func(http.ResponseWriter) { cancel(); <-stop }, fine(1))
	defer close(stop)
	_, err := newClient(t, Options{BaseURL: s.URL}).Generate(ctx, ask("q"))
	if !errors.Is(err, context.Canceled) || model.CodeOf(err) != "" {
		t.Errorf("error %v", err)
	}
}

// FuzzAnswer: whatever a server sends, an answer or a classified error comes
// out, and an answer goes back into a request.
func FuzzAnswer(f *testing.F) {
	f.Add(writeWire(modeltest.Reply{Text: "t", Finish: model.FinishStop, Input: 1}))
	f.Add([]byte(strings.Join(streamWire(modeltest.Reply{Text: "a story", Trace: &model.Reasoning{Text: "hm"}, Calls: []model.ToolCall{{ID: "c", Name: "n", Arguments: json.RawMessage(`{}`)}}}), "")))
	f.Add([]byte(`{"error":{"error":{"error":"deep"}}}`))
	f.Add([]byte(`{"message":{"tool_calls":[{"function":{"arguments":"{}"}},{"function":{"arguments":null}}]},"done":true,"prompt_eval_count":-5}`))
	f.Add([]byte(`[1]null"x"`))
	c, err := New(Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		res := &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(body))}
		resp, err := c.answer(t.Context(), res, ask("q"))
		if err != nil {
			if model.CodeOf(err) == "" || strings.ContainsAny(err.Error(), "\r\n") {
				t.Fatalf("error %q", err)
			}
			return
		}
		if resp.Usage.Input < 0 || resp.Usage.Output < 0 {
			t.Fatalf("usage %+v", resp.Usage)
		}
		next := ask("q")
		next.Messages = append(next.Messages, resp.Message())
		b, err := c.encode(next, 1)
		if err != nil || !json.Valid(b) {
			t.Fatalf("the answer does not go back: %s, %v", b, err)
		}
	})
}

func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/show" {
			_, _ = w.Write(aboutModel(8192))
			return
		}
		_, _ = io.WriteString(w, `{"model":"qwen3","message":{"role":"assistant","content":"4"},"done":true,"done_reason":"stop","prompt_eval_count":12,"eval_count":1}`)
	}))
	defer server.Close()
	c, err := New(Options{BaseURL: server.URL, Context: 8192})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	resp, err := c.Generate(context.Background(), model.Request{Model: "qwen3", Messages: []model.Message{{Role: model.User, Content: "2+2?"}}})
	fmt.Println(resp.Text, resp.Usage.Input, err)
	// Output: 4 12 <nil>
}
