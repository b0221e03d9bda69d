package wiretest

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/seed-f4525e22/skillopt/model"
)

// exchange is a request and what is to become of its answer.
type exchange struct {
	wireRequest
	stage string
	fault Fault
}

// answer writes the response of an exchange.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, x exchange) {
	if x.fault != None {
		s.count(x.fault)
	}
	switch x.fault {
	case RateLimit:
		if s.opts.Faults.RetryAfter != "" {
			w.Header().Set("Retry-After", s.opts.Faults.RetryAfter)
		}
		refuse(w, http.StatusTooManyRequests)
		return
	case ServerError:
		refuse(w, http.StatusInternalServerError)
		return
	case Refused:
		refuse(w, s.opts.Faults.Status)
		return
	case Hang:
		select {
		case <-r.Context().Done():
		case <-s.closing:
		}
		return
	}
	resp, err := s.opts.Client.Generate(r.Context(), x.request())
	if err != nil {
		refuse(w, http.StatusBadGateway)
		return
	}
	body, err := json.Marshal(wireResponse(resp, x.fault.spoil(resp.Text)))
	if err != nil {
		refuse(w, http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if x.fault == Cut {
		// The client may be gone. What was written must have left before the
		// connection is closed in the middle of the body.
		_, _ = w.Write(body[:len(body)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	if _, err := w.Write(body); err == nil && x.fault == None {
		s.mu.Lock()
		s.stats.Answered++
		s.mu.Unlock()
	}
}

func (x exchange) request() model.Request {
	role := model.Optimizer
	if x.stage == model.StageRollout {
		role = model.Target
	}
	return model.Request{
		Model: x.Model, Messages: x.Messages, Sampling: model.Sampling{Seed: x.Seed, MaxTokens: x.MaxTokens},
		Tags: model.Tags{Stage: x.stage, Role: role},
	}
}

func (s *Server) count(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.ByFault[string(f)]++
}

func refuse(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// The client may be gone; what it is told then does not matter.
	_, _ = w.Write([]byte(`{"error":{"message":"injected by the test server","type":"test"}}`))
}

func wireResponse(resp model.Response, text string) map[string]any {
	return map[string]any{
		"id": "test", "object": "chat.completion", "model": resp.Model, "system_fingerprint": resp.Fingerprint,
		"choices": []any{map[string]any{
			"index": 0, "finish_reason": finish(resp.Finish), "message": map[string]any{"role": model.Assistant, "content": text},
		}},
		"usage": map[string]any{"prompt_tokens": resp.Usage.Input, "completion_tokens": resp.Usage.Output},
	}
}

func finish(f model.Finish) string {
	if f == model.FinishLength {
		return "length"
	}
	return "stop"
}
