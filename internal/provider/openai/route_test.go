package openai

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

// script is a transport that answers by path and remembers what was asked. It
// stands for a server of the vendor's own name.
type script struct {
	answer func(path, body string) (status int, reply string)

	mu    sync.Mutex
	asked []string // the last element of each path, with + when the request wants reasoning back
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	path := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	if strings.Contains(string(body), `"include"`) {
		path += "+"
	}
	s.mu.Lock()
	s.asked = append(s.asked, path)
	s.mu.Unlock()
	status, reply := s.answer(path, string(body))
	return modeltest.Canned(status, reply)(r)
}

func (s *script) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

func plainRespond() string {
	return `{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"hi"}]}]}`
}

// both answers well on both paths.
func both(path string) (int, string) {
	if strings.HasPrefix(path, "responses") {
		return 200, plainRespond()
	}
	return 200, string(plainReply())
}

func TestAuto(t *testing.T) {
	t.Parallel()
	refusal := func(message, code string) string { return string(errorBody(message, "invalid_request_error", code)) }
	tests := []struct {
		name    string
		base    string
		refuses map[string]string // path to the body of a refusal
		status  int               // of the refusals
		want    []string          // what two calls ask for
		code    model.Code
	}{
		{name: "openai", want: []string{"responses+", "responses+"}},
		{name: "elsewhere", base: "http://localhost:8000/v1", want: []string{"completions", "completions"}},
		{name: "azure", base: "https://x.openai.azure.com/openai/v1", want: []string{"responses+", "responses+"}},
		{
			name: "no responses", status: 404, refuses: map[string]string{"responses+": `{"detail":"Not Found"}`},
			want: []string{"responses+", "completions", "completions"},
		},
		{
			name: "wrong method", status: 405, refuses: map[string]string{"responses+": ``},
			want: []string{"responses+", "completions", "completions"},
		},
		{
			name: "not with this model", status: 400, refuses: map[string]string{"responses+": refusal("The requested operation is not supported with this model.", "")},
			want: []string{"responses+", "completions", "completions"},
		},
		{
			name: "reasoning cannot be encrypted", status: 400, refuses: map[string]string{"responses+": refusal("Encrypted content is not supported with this model.", "")},
			want: []string{"responses+", "responses", "responses"},
		},
		{
			name: "neither include nor responses", status: 400,
			refuses: map[string]string{
				"responses+": refusal("Encrypted content is not supported with this model.", ""),
				"responses":  refusal("Unsupported operation.", "OperationNotSupported"),
			},
			want: []string{"responses+", "responses", "completions", "completions"},
		},
		{
			name: "chat refers to responses", base: "http://localhost:8000/v1", status: 400,
			refuses: map[string]string{"completions": refusal("Function tools with reasoning_effort are not supported in /v1/chat/completions. Please use /v1/responses instead.", "")},
			want:    []string{"completions", "responses+", "responses+"},
		},
		{
			name: "no such model", status: 404, refuses: map[string]string{"responses+": refusal("The model m does not exist", "model_not_found")},
			want: []string{"responses+", "responses+"}, code: model.NotFound,
		},
		{
			name: "not a chat model", base: "http://localhost:8000/v1", status: 404,
			refuses: map[string]string{"completions": refusal("This is not a chat model and thus not supported in the v1/chat/completions endpoint.", "model_not_found")},
			want:    []string{"completions", "responses+", "responses+"},
		},
		{
			name: "a parameter is not supported", status: 400, refuses: map[string]string{"responses+": refusal("Unsupported parameter: 'temperature' is not supported with this model.", "unsupported_parameter")},
			want: []string{"responses+", "responses+"}, code: model.BadRequest,
		},
		{
			name: "neither", status: 404, refuses: map[string]string{"responses+": `{}`, "completions": `{"error":"nothing here"}`},
			want: []string{"responses+", "completions", "responses+", "completions"}, code: model.NotFound,
		},
		{
			name: "a failure teaches nothing", status: 503, refuses: map[string]string{"responses+": `{}`},
			want: []string{"responses+", "responses+"}, code: model.Overloaded,
		},
		{
			name: "a long prompt teaches", status: 400, refuses: map[string]string{"responses+": refusal("too long", "context_length_exceeded")},
			want: []string{"responses+", "responses+"}, code: model.ContextLength,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &script{answer: func(path, _ string) (int, string) {
				if body, ok := tt.refuses[path]; ok {
					return tt.status, body
				}
				return both(path)
			}}
			c := newClient(t, Options{BaseURL: tt.base, API: APIAuto, Transport: s})
			for range 2 {
				res, err := c.Generate(t.Context(), hello())
				if model.CodeOf(err) != tt.code || err == nil && res.Text != "hi" {
					t.Errorf("got %+v, %v, want code %q", res, err, tt.code)
				}
			}
			if diff := cmp.Diff(tt.want, s.seen()); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAutoByModel: what is learned about one model says nothing about another.
func TestAutoByModel(t *testing.T) {
	t.Parallel()
	s := &script{answer: func(path, body string) (int, string) {
		if path == "responses+" && strings.Contains(body, `"old"`) {
			return 404, `{}`
		}
		return both(path)
	}}
	c := newClient(t, Options{API: APIAuto, Transport: s})
	for _, name := range []string{"old", "new", "old", "new"} {
		req := hello()
		req.Model = name
		if _, err := c.Generate(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"responses+", "completions", "responses+", "completions", "responses+"}, s.seen()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// TestOneProbe: of many requests at once one finds the way, and the others take
// it.
func TestOneProbe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan struct{})
		s := &script{answer: func(path, _ string) (int, string) {
			if path == "responses+" {
				<-answer
				return 404, `{}`
			}
			return both(path)
		}}
		c := newClient(t, Options{API: APIAuto, Transport: s})
		var wg sync.WaitGroup
		for range 30 {
			wg.Go(func() {
				if _, err := c.Generate(t.Context(), hello()); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		wg.Go(func() { // comes when somebody probes already
			if _, err := c.Generate(ctx, hello()); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v, want the context's", err)
			}
		})
		synctest.Wait()
		if got := s.seen(); len(got) != 1 {
			t.Errorf("%d requests before the first was answered, want 1", len(got))
		}
		cancel()
		synctest.Wait()
		close(answer)
		wg.Wait()
		probes := 0
		for _, path := range s.seen() {
			if path == "responses+" {
				probes++
			}
		}
		if probes != 1 || len(s.seen()) != 31 {
			t.Errorf("%d probes and %d requests, want 1 and 31", probes, len(s.seen()))
		}
	})
}

// TestReasoningStaysWithItsAPI: what has come from Responses means nothing to
// Chat Completions.
func TestReasoningStaysWithItsAPI(t *testing.T) {
	t.Parallel()
	trace := &model.Reasoning{Provider: "openai", Text: "hm", Opaque: []byte(`{"type":"reasoning","id":"rs_1","encrypted_content":"x","summary":[]}`)}
	readable := &model.Reasoning{Provider: "openai", Text: "hm"}
	for name, tt := range map[string]struct {
		o    Options
		r    *model.Reasoning
		want bool
	}{
		"from responses to chat":      {Options{Quirks: Quirks{ReasoningField: "reasoning"}}, trace, false},
		"from chat to responses":      {Options{API: APIResponses}, readable, false},
		"from responses to responses": {Options{API: APIResponses}, trace, true},
		"from chat to chat":           {Options{Quirks: Quirks{ReasoningField: "reasoning"}}, readable, true},
		"chat without a field":        {Options{}, readable, false},
		"an id alone":                 {Options{API: APIResponses}, &model.Reasoning{Provider: "openai", Opaque: []byte(`{"type":"reasoning","id":"rs_1","summary":[]}`)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sent string
			s := &script{answer: func(path, body string) (int, string) { sent = body; return both(path) }}
			tt.o.Transport = s
			req := hello()
			req.Messages = append(req.Messages, model.Message{Role: model.Assistant, Parts: []model.Part{{Reasoning: tt.r}, {Text: "4"}}}, hello().Messages[0])
			if _, err := newClient(t, tt.o).Generate(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(sent, `"hm"`) || strings.Contains(sent, "rs_1"); got != tt.want {
				t.Errorf("sent %v, want %v: %s", got, tt.want, sent)
			}
		})
	}
}

// TestReasoningAlone: an answer that was cut while the model thought is left out.
func TestReasoningAlone(t *testing.T) {
	t.Parallel()
	req := hello()
	trace := model.Reasoning{Provider: "openai", Opaque: []byte(`{"type":"reasoning","id":"rs_1","encrypted_content":"x","summary":[]}`)}
	req.Messages = append(req.Messages, model.Message{Role: model.Assistant, Parts: []model.Part{{Reasoning: &trace}}}, hello().Messages[0])
	body, err := newClient(t, Options{}).bodies.respond(&req, false)
	if err != nil || strings.Contains(string(body), "rs_1") {
		t.Errorf("sent %s, %v", body, err)
	}
}

// TestReasoningDetails go back as they came, from a stream too.
func TestReasoningDetails(t *testing.T) {
	t.Parallel()
	details := `[{"type":"reasoning.text","text":"hm","signature":null},{"type":"reasoning.encrypted","data":"x"}]`
	whole := `{"choices":[{"message":{"content":"4","reasoning":"hm","reasoning_details":` + details + `}}]}`
	stream := event(map[string]any{"choices": []any{map[string]any{"delta": map[string]any{"reasoning": "hm", "reasoning_details": []any{map[string]any{"type": "reasoning.text", "text": "hm", "signature": nil}}}}}}) +
		event(map[string]any{"choices": []any{map[string]any{"delta": map[string]any{"content": "4", "reasoning_details": []any{map[string]any{"type": "reasoning.encrypted", "data": "x"}}}, "finish_reason": "stop"}}}) + "data: [DONE]\n\n"
	for name, reply := range map[string]string{"whole": whole, "stream": stream} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sent string
			o := Options{Stream: name == "stream", Quirks: Quirks{ReasoningField: "reasoning_details"}, Transport: modeltest.RoundTrip(func(r *http.Request) (*http.Response, error) {
				b, err := io.ReadAll(r.Body)
				sent = string(b)
				if err != nil {
					return nil, err
				}
				res, err := modeltest.Canned(200, reply)(r)
				if name == "stream" {
					res.Header.Set("Content-Type", "text/event-stream")
				}
				return res, err
			})}
			c := newClient(t, o)
			res, err := c.Generate(t.Context(), hello())
			if err != nil || res.Text != "4" || len(res.Parts) != 2 || res.Parts[0].Reasoning.Text != "hm" {
				t.Fatalf("got %+v, %v", res, err)
			}
			req := hello()
			req.Messages = append(req.Messages, res.Message(), hello().Messages[0])
			if _, err := c.Generate(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			var got struct {
				Messages []struct {
					Details []map[string]any `json:"reasoning_details"`
				}
			}
			if err := decodeLoosely(sent, &got); err != nil {
				t.Fatal(err)
			}
			want := []map[string]any{{"type": "reasoning.text", "text": "hm", "signature": nil}, {"type": "reasoning.encrypted", "data": "x"}}
			if diff := cmp.Diff(want, got.Messages[1].Details); diff != "" {
				t.Errorf("details (-want +sent):\n%s", diff)
			}
		})
	}
}
