package acceptance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/seed-f4525e22/skillopt/model"
)

// cashier is a model server of two protocols, Chat Completions and Messages, that
// counts what it is asked and what it says that this took.
type cashier struct {
	every   int                                    // each so many-th request fails with a status of 500; 0: none does
	mute    bool                                   // it tells no usage
	status  int                                    // of every request; 0: they are answered
	on      func(ctx context.Context, last string) // told of each request before it is answered; may block
	refuses string                                 // a prompt with this is too long
	client  model.Client                           // answers; nil: the length of the last message is the answer

	mu     sync.Mutex
	models map[string]int
	keys   map[string]int
	inside int
	tally
}

// tally is what a cashier has counted.
type tally struct {
	requests      int
	answered      int   // without a failure
	input, output int64 // of what was answered
	peak          int   // requests at a time
	first         int   // requests that begin a conversation
}

// seen is what it has counted so far. A request that is answered counts, though its
// handler may not have ended.
func (s *cashier) seen() tally {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tally
}

// question is the part of a request that is read, of either protocol.
type question struct {
	Model    string          `json:"model"`
	System   json.RawMessage `json:"system"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Stream bool   `json:"stream"`
	Seed   *int64 `json:"seed"`
}

func (s *cashier) serve(t testing.TB) string {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return server.URL
}

func (s *cashier) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q question
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil || len(q.Messages) == 0 {
		http.Error(w, "no request", http.StatusBadRequest)
		return
	}
	last := string(q.Messages[len(q.Messages)-1].Content)
	n := s.begin(q, r.Header.Get("Authorization")+r.Header.Get("X-Api-Key"))
	defer s.end()
	if s.on != nil {
		s.on(r.Context(), last)
	}
	w.Header().Set("Content-Type", "application/json")
	switch {
	case s.status != 0:
		w.WriteHeader(s.status)
	case s.every > 0 && n%s.every == 0:
		w.WriteHeader(http.StatusInternalServerError)
	case s.refuses != "" && strings.Contains(last, s.refuses):
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"error": {"message": "This model's maximum context length is 10 tokens", "code": "context_length_exceeded", "type": "invalid_request_error"}}`)
	default:
		s.answer(r.Context(), w, r.URL.Path, q)
		return
	}
}

func (s *cashier) begin(q question, key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	s.inside++
	s.peak = max(s.peak, s.inside)
	if s.models == nil {
		s.models, s.keys = map[string]int{}, map[string]int{}
	}
	s.models[q.Model]++
	s.keys[key]++
	turns := 0
	for _, m := range q.Messages {
		if m.Role != "system" {
			turns++
		}
	}
	if turns == 1 {
		s.first++
	}
	return s.requests
}

func (s *cashier) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inside--
}

// reply is what the model says.
func (s *cashier) reply(ctx context.Context, q question) string {
	if s.client == nil {
		return fmt.Sprintf("<answer>%d</answer>", len(q.Messages[len(q.Messages)-1].Content))
	}
	req := model.Request{Tags: model.Tags{Stage: model.StageRollout, Role: model.Target}, Sampling: model.Sampling{Seed: q.Seed}}
	for _, m := range q.Messages {
		var text string
		if err := json.Unmarshal(m.Content, &text); err != nil {
			return err.Error()
		}
		req.Messages = append(req.Messages, model.Message{Role: m.Role, Content: text})
	}
	resp, err := s.client.Generate(ctx, req)
	if err != nil {
		return err.Error()
	}
	return resp.Text
}

func (s *cashier) answer(ctx context.Context, w http.ResponseWriter, path string, q question) {
	text := s.reply(ctx, q)
	input, output := int64(7+len(q.System)), int64(3+len(q.Messages))
	for _, m := range q.Messages {
		input += int64(len(m.Content))
	}
	s.mu.Lock()
	s.answered++
	s.input += input
	s.output += output
	s.mu.Unlock()
	if strings.HasSuffix(path, "/messages") {
		s.anthropic(w, q, text, input, output)
		return
	}
	usage := fmt.Sprintf(`{"prompt_tokens": %d, "completion_tokens": %d, "total_tokens": %d}`, input, output, input+output)
	if s.mute {
		usage = "null"
	}
	if !q.Stream {
		fmt.Fprintf(w, `{"id": "c", "object": "chat.completion", "model": %q, "choices": [{"index": 0, "message": {"role": "assistant", "content": %q}, "finish_reason": "stop"}], "usage": %s}`, q.Model, text, usage)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, choice := range []string{
		fmt.Sprintf(`[{"index": 0, "delta": {"role": "assistant", "content": %q}, "finish_reason": null}], "usage": null`, text[:5]),
		fmt.Sprintf(`[{"index": 0, "delta": {"content": %q}, "finish_reason": null}], "usage": null`, text[5:]),
		`[{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": null`,
		`[], "usage": ` + usage,
	} {
		fmt.Fprintf(w, "data: {\"id\": \"c\", \"object\": \"chat.completion.chunk\", \"model\": %q, \"choices\": %s}\n\n", q.Model, choice)
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

func (s *cashier) anthropic(w http.ResponseWriter, q question, text string, input, output int64) {
	if !q.Stream {
		fmt.Fprintf(w, `{"id": "m", "type": "message", "role": "assistant", "model": %q, "content": [{"type": "text", "text": %q}], "stop_reason": "end_turn", "stop_sequence": null, "usage": {"input_tokens": %d, "output_tokens": %d}}`, q.Model, text, input, output)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range [][2]string{
		{"message_start", fmt.Sprintf(`"message": {"id": "m", "type": "message", "role": "assistant", "model": %q, "content": [], "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": %d, "output_tokens": 1}}`, q.Model, input)},
		{"content_block_start", `"index": 0, "content_block": {"type": "text", "text": ""}`},
		{"content_block_delta", fmt.Sprintf(`"index": 0, "delta": {"type": "text_delta", "text": %q}`, text)},
		{"content_block_stop", `"index": 0`},
		{"message_delta", fmt.Sprintf(`"delta": {"stop_reason": "end_turn", "stop_sequence": null}, "usage": {"output_tokens": %d}`, output)},
	} {
		fmt.Fprintf(w, "event: %s\ndata: {\"type\": %q, %s}\n\n", e[0], e[0], e[1])
	}
	fmt.Fprint(w, "event: message_stop\ndata: {\"type\": \"message_stop\"}\n\n")
}
