package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/provider/header"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// wireResponse is the part of a response body that is used.
type wireResponse struct {
	Model       string          `json:"model"`
	Fingerprint string          `json:"system_fingerprint"`
	Choices     []wireChoice    `json:"choices"`
	Usage       wireUsage       `json:"usage"`
	Error       json.RawMessage `json:"error"`                 // some proxies answer 200 with an error
	Filters     json.RawMessage `json:"prompt_filter_results"` // Azure's, of the prompt
}

type wireChoice struct {
	FinishReason string          `json:"finish_reason"`
	StopReason   json.RawMessage `json:"stop_reason"` // vLLM's: the sequence that ended the answer, or a token's number
	Error        json.RawMessage `json:"error"`       // OpenRouter's, when the model broke down on the way
	Message      wireMessage     `json:"message"`
}

type wireMessage struct {
	Content          string          `json:"content"`
	Refusal          string          `json:"refusal"`
	ReasoningContent json.RawMessage `json:"reasoning_content"` // DeepSeek's, Qwen's and vLLM's
	Reasoning        json.RawMessage `json:"reasoning"`         // OpenRouter's, Groq's and vLLM's
	Details          json.RawMessage `json:"reasoning_details"` // OpenRouter's and MiniMax's
	ToolCalls        []wireCall      `json:"tool_calls"`
}

type wireCall struct {
	Index    *int   `json:"index"` // in streams
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"` // a string, at some servers the object itself
	} `json:"function"`
}

// tally counts tokens. What is no count, or larger than any, counts nothing: it is no
// reason to lose an answer, and no one takes 0 for what was used.
type tally int64

// UnmarshalJSON implements json.Unmarshaler.
func (n *tally) UnmarshalJSON(data []byte) error {
	var v int64
	if json.Unmarshal(data, &v) != nil {
		v = 0
	}
	*n = tally(v)
	return nil
}

type wireUsage struct {
	Prompt        tally `json:"prompt_tokens"`
	Completion    tally `json:"completion_tokens"`
	PromptDetails struct {
		Cached     tally `json:"cached_tokens"`
		CacheWrite tally `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning tally `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	CacheHit tally `json:"prompt_cache_hit_tokens"` // DeepSeek's name of cached_tokens

	// Cost is in dollars, of servers that say it. With a key of the user's own at the
	// vendor behind, it is not what the vendor takes.
	Cost   json.RawMessage `json:"cost"`
	OwnKey json.RawMessage `json:"is_byok"`
}

// usd returns what the server says that an answer cost, nil if it does not say.
func (u wireUsage) usd() *float64 {
	var cost *float64
	if string(u.OwnKey) == "true" || len(u.Cost) == 0 || json.Unmarshal(u.Cost, &cost) != nil {
		return nil
	}
	return cost
}

// wireParts is a response whose content is a list of parts instead of a string,
// as some servers with thinking models have it.
type wireParts struct {
	Choices []struct {
		Message struct {
			Content []wirePart `json:"content"`
		} `json:"message"`
	} `json:"choices"`
}

type wirePart struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Thinking json.RawMessage `json:"thinking"` // a list of parts
}

// decode reads a body. The common form is read in one go, the others only after
// it did not fit.
func decode(body []byte) (*wireResponse, error) {
	w := &wireResponse{}
	err := json.Unmarshal(body, w)
	var t *json.UnmarshalTypeError
	if !errors.As(err, &t) {
		return w, err
	}
	// Token counts and names come in odd shapes from small servers, and an answer
	// is worth more than they are. Unmarshal has read all the rest.
	aside := strings.HasPrefix(t.Field, "usage") || t.Field == "model" || t.Field == "system_fingerprint"
	if !aside && t.Field != "choices.message.content" {
		return nil, err
	}
	var parts wireParts // the error is of the first odd field, and this may be another
	if json.Unmarshal(body, &parts) == nil && len(w.Choices) > 0 && len(parts.Choices) > 0 {
		w.Choices[0].Message.setParts(parts.Choices[0].Message.Content)
		return w, nil
	}
	if aside {
		return w, nil
	}
	return nil, err
}

// setParts sets the content from a list of parts, where other servers have a text.
func (m *wireMessage) setParts(parts []wirePart) {
	said, thoughts := split(parts)
	m.Content = said
	if thoughts != "" && !header.Present(m.ReasoningContent) {
		m.ReasoningContent = appendString(nil, thoughts)
	}
}

// split separates the text of parts from the model's thoughts.
func split(parts []wirePart) (text, thoughts string) {
	for _, p := range parts {
		switch p.Type {
		case "text":
			text += p.Text
		case "thinking":
			var inner []wirePart
			if json.Unmarshal(p.Thinking, &inner) == nil {
				said, _ := split(inner)
				thoughts += said
			}
		}
	}
	return text, thoughts
}

// readChat reads a whole chat completion.
func (a answers) readChat(res *http.Response, body []byte, req *model.Request) (model.Response, error) {
	w, err := decode(body)
	if err != nil {
		return model.Response{}, err
	}
	return a.chatAnswer(res, body, w, req)
}

// chatAnswer returns what w says: an answer, or an error in its place. body is
// what to show when it is neither.
func (a answers) chatAnswer(res *http.Response, body []byte, w *wireResponse, req *model.Request) (model.Response, error) {
	if len(w.Choices) == 0 {
		if !header.Present(w.Error) && promptFiltered(w.Filters) {
			return model.Response{}, a.faults.status(model.ContentFilter, res.StatusCode, errors.New("the content filter stopped the prompt"))
		}
		return model.Response{}, a.faults.bodyError(res, body, w.Error)
	}
	if first := w.Choices[0]; first.FinishReason == "error" || header.Present(first.Error) {
		return model.Response{}, a.faults.bodyError(res, body, first.Error)
	}
	r, err := w.response(req)
	if a.cost {
		r.CostUSD = w.Usage.usd()
	}
	return r, err
}

// promptFiltered reports whether Azure's results of filters hold one that
// stopped the prompt.
func promptFiltered(raw json.RawMessage) bool {
	var results []struct {
		Filters map[string]json.RawMessage `json:"content_filter_results"`
	}
	if !header.Present(raw) || json.Unmarshal(raw, &results) != nil {
		return false
	}
	for _, r := range results {
		for _, f := range r.Filters {
			var one struct {
				Filtered bool `json:"filtered"`
			}
			if json.Unmarshal(f, &one) == nil && one.Filtered {
				return true
			}
		}
	}
	return false
}

// readAll reads a body into one allocation if its length is known.
func readAll(res *http.Response) ([]byte, error) {
	const trusted = 1 << 20 // a length above this is believed only as it arrives
	if res.ContentLength < 0 || res.ContentLength > trusted {
		return io.ReadAll(res.Body)
	}
	// The spare room lets ReadFrom see the end without growing.
	b := bytes.NewBuffer(make([]byte, 0, res.ContentLength+bytes.MinRead))
	_, err := b.ReadFrom(res.Body)
	return b.Bytes(), err
}

func (w *wireResponse) response(req *model.Request) (model.Response, error) {
	first := &w.Choices[0]
	r := model.Response{
		Text:        first.Message.Content,
		Finish:      finish(first.FinishReason),
		Usage:       w.Usage.counts(),
		Model:       w.Model,
		Fingerprint: w.Fingerprint,
	}
	if r.Finish == model.FinishStop {
		r.StopSequence = text(first.StopReason)
	}
	if first.Message.Refusal != "" {
		r.Finish = model.FinishRefusal
		if r.Text == "" {
			r.Text = first.Message.Refusal
		}
	}
	reasoning := first.Message.toReasoning()
	if reasoning == nil && len(first.Message.ToolCalls) == 0 {
		return r, nil
	}
	parts := assembly{req: req}
	parts.addReasoning(reasoning)
	parts.text(r.Text)
	for _, call := range first.Message.ToolCalls {
		parts.call(call.ID, call.Function.Name, unquote(call.Function.Arguments))
	}
	return parts.finish(r)
}

// toReasoning returns what the model thought, or nil.
func (m *wireMessage) toReasoning() *model.Reasoning {
	r := &model.Reasoning{Provider: provider, Text: text(m.ReasoningContent, m.Reasoning)}
	if len(m.Details) > 0 && m.Details[0] == '[' && string(m.Details) != "[]" {
		r.Opaque = m.Details
	}
	if r.Text == "" && r.Opaque == nil {
		return nil
	}
	return r
}

// text returns the first of the fields that is a text with something in it.
func text(fields ...json.RawMessage) string {
	for _, raw := range fields {
		if len(raw) > len(`""`) && raw[0] == '"' {
			return unquote(raw)
		}
	}
	return ""
}

// unquote returns the text in a JSON string, and other JSON as it is.
func unquote(raw json.RawMessage) string {
	var text string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

func (u wireUsage) counts() trajectory.Usage {
	return trajectory.Usage{
		Input:      int64(max(u.Prompt, 0)),
		Output:     int64(max(u.Completion, 0)),
		Cached:     int64(max(u.PromptDetails.Cached, u.CacheHit, 0)),
		Reasoning:  int64(max(u.CompletionDetails.Reasoning, 0)),
		CacheWrite: int64(max(u.PromptDetails.CacheWrite, 0)),
	}
}

// finish maps a reason to stop. Those that servers added to OpenAI's all
// mean that the model was done.
func finish(reason string) model.Finish {
	switch reason {
	case "length", "max_tokens":
		return model.FinishLength
	case "content_filter":
		return model.FinishFilter
	case "refusal":
		return model.FinishRefusal
	}
	return model.FinishStop
}
