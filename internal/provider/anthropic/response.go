package anthropic

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/provider/header"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// wireReply is the part of a response body that is used.
type wireReply struct {
	Type        string            `json:"type"`
	Model       string            `json:"model"`
	Content     []json.RawMessage `json:"content"`
	StopReason  string            `json:"stop_reason"`
	StopAt      string            `json:"stop_sequence"`
	StopDetails *stopDetails      `json:"stop_details"`
	Usage       wireUsage         `json:"usage"`
	Error       json.RawMessage   `json:"error"` // some proxies answer 200 with an error
	Guardrail   string            `json:"amazon-bedrock-guardrailAction"`
}

// stopDetails explain a refusal.
type stopDetails struct {
	Explanation string `json:"explanation"`
}

// wireUsage counts tokens. Input holds neither those read from a cache nor those
// written to one. What a server leaves out is nil: in a stream the counts come in
// two parts.
type wireUsage struct {
	Input      *int64 `json:"input_tokens"`
	Output     *int64 `json:"output_tokens"`
	CacheRead  *int64 `json:"cache_read_input_tokens"`
	CacheWrite *int64 `json:"cache_creation_input_tokens"`
	Details    *struct {
		Thinking int64 `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

func (u wireUsage) counts() trajectory.Usage {
	count := func(n *int64) int64 {
		if n == nil {
			return 0
		}
		return max(*n, 0)
	}
	out := trajectory.Usage{
		Input:      count(u.Input) + count(u.CacheRead) + count(u.CacheWrite),
		Output:     count(u.Output),
		Cached:     count(u.CacheRead),
		CacheWrite: count(u.CacheWrite),
	}
	if u.Details != nil {
		out.Reasoning = count(&u.Details.Thinking)
	}
	return out
}

// piece is one block of an answer.
type piece struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Thinking string          `json:"thinking"`
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Input    json.RawMessage `json:"input"`

	raw json.RawMessage // the block as it came
}

// document reads a response that is one document.
func (c *Client) document(ctx context.Context, res *http.Response, answer string) (model.Response, error) {
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return model.Response{}, c.server.Unread(ctx, res.StatusCode, err)
	}
	var w wireReply
	if err := json.Unmarshal(body, &w); err != nil {
		return model.Response{}, c.decodeError(res.StatusCode, body, err)
	}
	if header.Present(w.Error) {
		return model.Response{}, c.newFault(res.StatusCode, readDetail(body), res.Header)
	}
	if w.Type != "message" {
		return model.Response{}, c.server.Fault(model.Malformed, res.StatusCode, fmt.Errorf("the body is no message; it begins: %s", c.server.Excerpt(string(body))))
	}
	pieces := make([]piece, len(w.Content))
	for i, raw := range w.Content {
		if err := json.Unmarshal(raw, &pieces[i]); err != nil {
			return model.Response{}, c.decodeError(res.StatusCode, body, err)
		}
		pieces[i].raw = raw
	}
	return c.response(res, w, pieces, answer)
}

// decodeError returns the fault of a body that cannot be decoded: one that ends early has another code than one that is something else.
func (c *Client) decodeError(status int, body []byte, err error) error {
	var cut any
	if e := json.NewDecoder(bytes.NewReader(body)).Decode(&cut); errors.Is(e, io.ErrUnexpectedEOF) || errors.Is(e, io.EOF) {
		return c.server.Fault(model.Truncated, status, fmt.Errorf("the body ends early, after %d bytes: %w", len(body), e))
	}
	return c.server.Fault(model.Malformed, status, fmt.Errorf("the body is not a message: %w; it begins: %s", c.server.Clean(err), c.server.Excerpt(string(body))))
}

// response makes the answer of a complete message.
func (c *Client) response(res *http.Response, w wireReply, pieces []piece, answer string) (model.Response, error) {
	r := model.Response{Finish: finish(w), StopSequence: w.StopAt, Usage: w.Usage.counts(), Model: w.Model}
	for _, p := range pieces {
		part, err := p.part(r.Finish)
		if err != nil {
			return model.Response{}, c.server.Fault(model.Malformed, res.StatusCode, c.server.Clean(err))
		}
		if part != nil {
			r.Parts = append(r.Parts, *part)
		}
	}
	if answer != "" {
		takeAnswer(&r, answer)
	}
	settle(&r)
	if r.Finish == model.FinishRefusal && r.Text == "" && w.StopDetails != nil {
		r.Text = w.StopDetails.Explanation
	}
	r.Pause = pause(res.Header, r.Usage, time.Now())
	return r, nil
}

// part returns nil for what has no place in an answer: blocks of a kind that was
// not asked for, empty texts, and a call that the token limit cut.
func (p piece) part(why model.Finish) (*model.Part, error) {
	switch p.Type {
	case "text":
		if p.Text == "" {
			return nil, nil
		}
		return &model.Part{Text: p.Text}, nil
	case "thinking", "redacted_thinking":
		return &model.Part{Reasoning: &model.Reasoning{Provider: provider, Text: p.Thinking, Opaque: p.raw}}, nil
	case "tool_use":
		input := p.Input
		if len(input) == 0 || string(input) == "null" {
			input = json.RawMessage(`{}`)
		}
		if isObject(input) {
			return &model.Part{Call: &model.ToolCall{ID: p.ID, Name: p.Name, Arguments: input}}, nil
		}
		if why == model.FinishLength {
			return nil, nil
		}
		return nil, fmt.Errorf("the arguments of the call of %s are no JSON object", p.Name)
	}
	return nil, nil
}

// takeAnswer makes the call of the tool that takes the answer into its text. What
// the model said in addition is no part of the answer.
func takeAnswer(r *model.Response, tool string) {
	for _, p := range r.Parts {
		if p.Call == nil || p.Call.Name != tool {
			continue
		}
		text := model.Part{Text: string(p.Call.Arguments)}
		var kept []model.Part
		for _, q := range r.Parts {
			if q.Reasoning != nil || q.Call != nil && q.Call.Name != tool {
				kept = append(kept, q)
			}
		}
		r.Parts = append(kept, text)
		return
	}
}

// settle fills in Text and Finish from the parts, and drops parts that are
// nothing but it.
func settle(r *model.Response) {
	plain := true
	var text strings.Builder
	for _, p := range r.Parts {
		text.WriteString(p.Text)
		plain = plain && p.Call == nil && p.Reasoning == nil
	}
	calls := len(r.Calls()) > 0
	r.Text = text.String()
	if plain {
		r.Parts = nil
	}
	switch {
	case calls && r.Finish == model.FinishStop:
		r.Finish = model.FinishTools
	case !calls && r.Finish == model.FinishTools:
		r.Finish = model.FinishStop
	}
}

// finish maps a reason to stop. A turn that the server paused is not complete.
func finish(w wireReply) model.Finish {
	if w.Guardrail == "INTERVENED" {
		return model.FinishFilter
	}
	switch w.StopReason {
	case "max_tokens", "model_context_window_exceeded", "pause_turn":
		return model.FinishLength
	case "tool_use":
		return model.FinishTools
	case "refusal":
		return model.FinishRefusal
	case "guardrail_intervened", "content_filtered", "content_filter":
		return model.FinishFilter
	}
	return model.FinishStop
}
