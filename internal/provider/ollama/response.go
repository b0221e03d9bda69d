package ollama

import (
	"cmp"
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

// wireResponse is one document of a response. A stream is many of them, the
// last of which is done; a response that is none is one that is done.
type wireResponse struct {
	Model      string          `json:"model"`
	Message    *wireAnswer     `json:"message"`
	Done       bool            `json:"done"`
	DoneReason string          `json:"done_reason"`
	Prompt     int64           `json:"prompt_eval_count"`
	Eval       int64           `json:"eval_count"`
	Error      json.RawMessage `json:"error"`
}

type wireAnswer struct {
	Content  string     `json:"content"`
	Thinking string     `json:"thinking"`
	Calls    []wireCall `json:"tool_calls"`
}

// said is what was said so far.
type said struct {
	text, thinking strings.Builder
	calls          []wireCall
}

// answer reads the response to a request.
func (c *Client) answer(ctx context.Context, res *http.Response, req model.Request) (model.Response, error) {
	switch {
	case res.StatusCode >= http.StatusBadRequest:
		return model.Response{}, c.readFault(res, req.Model)
	case res.StatusCode >= http.StatusMultipleChoices:
		return model.Response{}, c.end.RedirectError(res)
	}
	var all said
	dec := json.NewDecoder(res.Body)
	for {
		var w wireResponse
		if err := dec.Decode(&w); err != nil {
			return model.Response{}, c.unread(ctx, res.StatusCode, err)
		}
		if header.Present(w.Error) {
			return model.Response{}, c.newFault(res, w.Error, req.Model)
		}
		if err := all.add(w); err != nil {
			return model.Response{}, c.end.Fault(model.Malformed, res.StatusCode, err)
		}
		if w.Done {
			return c.newResponse(res, w, &all, req)
		}
	}
}

// add appends a document to what was said.
func (s *said) add(w wireResponse) error {
	if w.Message == nil {
		if w.Done {
			return nil
		}
		return errors.New("the body is not an answer of Ollama: it has neither a message nor an end")
	}
	s.text.WriteString(w.Message.Content)
	s.thinking.WriteString(w.Message.Thinking)
	s.calls = append(s.calls, w.Message.Calls...)
	return nil
}

// newResponse makes the answer out of all that was said and the last document.
func (c *Client) newResponse(res *http.Response, w wireResponse, all *said, req model.Request) (model.Response, error) {
	if w.DoneReason == "load" || w.DoneReason == "unload" {
		return model.Response{}, c.end.Fault(model.Server, res.StatusCode, fmt.Errorf("the server says %s instead of an answer", w.DoneReason))
	}
	resp := model.Response{
		Text: all.text.String(), Finish: finish(w.DoneReason), Model: w.Model,
		Usage: trajectory.Usage{Input: max(w.Prompt, 0), Output: max(w.Eval, 0)},
	}
	calls, err := toolCalls(all.calls, req.Messages)
	if err != nil {
		return model.Response{}, c.end.Fault(model.Malformed, res.StatusCode, err)
	}
	if len(calls) > 0 && resp.Finish == model.FinishStop {
		resp.Finish = model.FinishTools
	}
	if thought := all.thinking.String(); thought != "" {
		resp.Parts = append(resp.Parts, model.Part{Reasoning: &model.Reasoning{Provider: provider, Text: thought}})
	}
	if len(resp.Parts)+len(calls) > 0 && resp.Text != "" {
		resp.Parts = append(resp.Parts, model.Part{Text: resp.Text})
	}
	for i := range calls {
		resp.Parts = append(resp.Parts, model.Part{Call: &calls[i]})
	}
	resp.Pause = header.Pause(res.Header, resp.Usage.Input+resp.Usage.Output)
	return resp, nil
}

func finish(reason string) model.Finish {
	switch reason {
	case "length":
		return model.FinishLength
	case "content_filter": // of models that Ollama passes on to a provider
		return model.FinishFilter
	case "refusal":
		return model.FinishRefusal
	}
	return model.FinishStop
}

// toolCalls reads calls, and gives those an id that have none: one that no other
// call of the conversation has.
func toolCalls(wire []wireCall, before []model.Message) ([]model.ToolCall, error) {
	taken := map[string]bool{}
	for _, m := range before {
		for _, p := range m.Parts {
			if p.Call != nil {
				taken[p.Call.ID] = true
			}
		}
	}
	var calls []model.ToolCall
	for _, w := range wire {
		arguments, err := object(w.Function.Arguments)
		if err != nil {
			return nil, fmt.Errorf("the arguments of a call of %q are no JSON object: %w", w.Function.Name, err)
		}
		id := w.ID
		for n := len(taken); id == "" || taken[id]; n++ {
			id = fmt.Sprintf("call_%d", n)
		}
		taken[id] = true
		calls = append(calls, model.ToolCall{ID: id, Name: w.Function.Name, Arguments: arguments})
	}
	return calls, nil
}

// object returns arguments that are one JSON object. Some models write it into
// a string.
func object(raw json.RawMessage) (json.RawMessage, error) {
	if !header.Present(raw) {
		return json.RawMessage("{}"), nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		raw = json.RawMessage(text)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil || fields == nil {
		return nil, errors.Join(errors.New("want {...}"), err)
	}
	return raw, nil
}

// unread classifies a body that is not a series of documents.
func (c *Client) unread(ctx context.Context, status int, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF): // before the last document
		err = io.ErrUnexpectedEOF
	case errors.As(err, &syntax), errors.As(err, &kind):
		return c.end.Fault(model.Malformed, status, c.end.Clean(fmt.Errorf("the body is not an answer of Ollama: %w", err)))
	}
	return c.end.Unread(ctx, status, err)
}

// readFault classifies a response with an error status.
func (c *Client) readFault(res *http.Response, name string) error {
	body, err := io.ReadAll(res.Body)
	if err != nil {
		body = nil // the status says enough
	}
	return c.newFault(res, body, name)
}

// parseReason reads the reason of an error.
func parseReason(body []byte) string {
	object, text := header.Reason(body)
	var w struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(object, &w) == nil && w.Message != "" {
		return w.Message
	}
	return strings.TrimSpace(text + string(object))
}

// newFault classifies what the server says went wrong.
func (c *Client) newFault(res *http.Response, body []byte, name string) error {
	why := parseReason(body)
	text := c.end.Excerpt(why)
	if text == "" {
		text = "no reason given"
	}
	code := cmp.Or(header.Refusal(body), faultCode(res.StatusCode, why))
	if isMissingModel(why) && (code == model.NotFound || res.StatusCode < http.StatusBadRequest) {
		code = model.NotFound
		text += "; get it with: ollama pull " + c.end.Excerpt(name)
	}
	fault := c.end.Fault(code, res.StatusCode, errors.New(text))
	if code.Transient() {
		fault.RetryAfter = header.Wait(res.Header, time.Now())
	}
	return fault
}

// isMissingModel reports whether a message says that there is no such model.
func isMissingModel(why string) bool {
	why = strings.ToLower(why)
	return strings.Contains(why, "model") && (strings.Contains(why, "not found") || strings.Contains(why, "try pulling"))
}

// faultCode returns the class of an error. What the server says in words goes before a status that
// says little.
func faultCode(status int, why string) model.Code {
	why = strings.ToLower(why)
	tooLong := []string{"context length", "context window", "context size", "prompt is too long", "prompt too long"}
	if status < 400 || status == http.StatusBadRequest || status == http.StatusInternalServerError {
		for _, words := range tooLong {
			if strings.Contains(why, words) {
				return model.ContextLength
			}
		}
	}
	if code := header.ByStatus(status); code != "" {
		return code
	}
	return model.Server // within a stream, whose status was good
}
