package gemini

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

// wireReply is the part of a response body, or of a piece of a stream, that is
// used.
type wireReply struct {
	Candidates []struct {
		Content struct {
			Parts []part `json:"parts"`
		} `json:"content"`
		FinishReason  string `json:"finishReason"`
		FinishMessage string `json:"finishMessage"`
	} `json:"candidates"`
	Feedback *struct {
		BlockReason        string `json:"blockReason"`
		BlockReasonMessage string `json:"blockReasonMessage"`
	} `json:"promptFeedback"`
	Usage *wireUsage      `json:"usageMetadata"`
	Model string          `json:"modelVersion"`
	Error json.RawMessage `json:"error"`
}

// wireUsage counts tokens. Prompt holds those read from a cache; Candidates does
// not hold the thoughts.
type wireUsage struct {
	Prompt     *int64 `json:"promptTokenCount"`
	Cached     *int64 `json:"cachedContentTokenCount"`
	Candidates *int64 `json:"candidatesTokenCount"`
	Thoughts   *int64 `json:"thoughtsTokenCount"`
}

// answer is what has arrived of an answer so far.
type answer struct {
	parts  []part
	begun  bool // there was a candidate
	reason string
	words  string // on the reason
	model  string
	usage  wireUsage
}

// document reads a response that is one document.
func (c *Client) document(ctx context.Context, res *http.Response, req *request) (model.Response, error) {
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return model.Response{}, c.server.Unread(ctx, res.StatusCode, err)
	}
	var a answer
	if err := c.take(&a, res, body); err != nil {
		return model.Response{}, err
	}
	if !a.begun {
		return model.Response{}, c.server.Fault(model.Malformed, res.StatusCode, fmt.Errorf("the body has no answer; it begins: %s", c.server.Excerpt(string(body))))
	}
	return c.response(res, &a, req)
}

// events reads a stream to its end. The protocol has no last event: what ends is
// the answer whose reason to stop is known.
func (c *Client) events(ctx context.Context, res *http.Response, req *request) (model.Response, error) {
	var a answer
	for e, err := range header.Events(res.Body) {
		if err != nil {
			return model.Response{}, c.server.Unread(ctx, res.StatusCode, err)
		}
		if err := c.take(&a, res, e.Data); err != nil {
			var cut *model.Error
			if errors.As(err, &cut) && cut.Code == model.Truncated { // the event is whole: it is no JSON
				return model.Response{}, c.server.Fault(model.Malformed, res.StatusCode, cut.Err)
			}
			return model.Response{}, err
		}
	}
	if a.reason == "" {
		return model.Response{}, c.server.Fault(model.Truncated, res.StatusCode, fmt.Errorf("the stream ends early: %w", io.ErrUnexpectedEOF))
	}
	return c.response(res, &a, req)
}

// take adds a document to an answer.
func (c *Client) take(a *answer, res *http.Response, data []byte) error {
	var w wireReply
	if err := json.Unmarshal(data, &w); err != nil {
		return c.decodeError(res.StatusCode, data, err)
	}
	if header.Present(w.Error) {
		return c.detailError(res.StatusCode, readDetail(data), res.Header)
	}
	if w.Usage != nil {
		a.usage.merge(*w.Usage)
	}
	if w.Model != "" {
		a.model = w.Model
	}
	if len(w.Candidates) == 0 {
		return c.checkFeedback(w, res.StatusCode)
	}
	first := w.Candidates[0]
	a.begun = true
	for _, p := range first.Content.Parts {
		a.add(p)
	}
	if first.FinishReason != "" {
		a.reason, a.words = first.FinishReason, first.FinishMessage
	}
	return nil
}

// checkFeedback reports a prompt that the provider refused.
func (c *Client) checkFeedback(w wireReply, status int) error {
	if w.Feedback == nil || w.Feedback.BlockReason == "" {
		return nil
	}
	text := strings.TrimSpace("the prompt is blocked: " + w.Feedback.BlockReason + " " + w.Feedback.BlockReasonMessage)
	return c.server.Fault(model.ContentFilter, status, errors.New(c.server.Excerpt(text)))
}

// decodeError distinguishes a body that ends early from one that is something else.
func (c *Client) decodeError(status int, body []byte, err error) error {
	var cut any
	if e := json.NewDecoder(bytes.NewReader(body)).Decode(&cut); errors.Is(e, io.ErrUnexpectedEOF) || errors.Is(e, io.EOF) {
		return c.server.Fault(model.Truncated, status, fmt.Errorf("the body ends early, after %d bytes: %w", len(body), e))
	}
	return c.server.Fault(model.Malformed, status, fmt.Errorf("the body is not an answer: %w; it begins: %s", c.server.Clean(err), c.server.Excerpt(string(body))))
}

// add appends a part. Texts of one kind are one text, as long as none is signed:
// a signature belongs to the part that it came with.
func (a *answer) add(p part) {
	if n := len(a.parts); n > 0 && p.mergeable() && a.parts[n-1].mergeable() && p.Thought == a.parts[n-1].Thought {
		text := *a.parts[n-1].Text + *p.Text
		a.parts[n-1].Text = &text
		return
	}
	a.parts = append(a.parts, p)
}

func (p part) mergeable() bool {
	return p.Text != nil && p.Data == nil && p.Call == nil && !header.Present(p.Signature)
}

// merge takes over the counts that are given: they are totals.
func (u *wireUsage) merge(v wireUsage) {
	for _, n := range []struct{ to, from **int64 }{
		{&u.Prompt, &v.Prompt}, {&u.Cached, &v.Cached}, {&u.Candidates, &v.Candidates}, {&u.Thoughts, &v.Thoughts},
	} {
		if *n.from != nil {
			*n.to = *n.from
		}
	}
}

func (u wireUsage) counts() trajectory.Usage {
	count := func(n *int64) int64 {
		if n == nil {
			return 0
		}
		return max(*n, 0)
	}
	return trajectory.Usage{
		Input:     count(u.Prompt),
		Cached:    count(u.Cached),
		Output:    count(u.Candidates) + count(u.Thoughts),
		Reasoning: count(u.Thoughts),
	}
}

// response makes the answer of a complete one.
func (c *Client) response(res *http.Response, a *answer, req *request) (model.Response, error) {
	r := model.Response{Usage: a.usage.counts(), Model: a.model}
	var code model.Code
	if r.Finish, code = finish(a.reason); code != "" {
		text := strings.TrimSpace("the answer ended with " + a.reason + " " + a.words)
		return model.Response{}, c.server.Fault(code, res.StatusCode, errors.New(c.server.Excerpt(text)))
	}
	for _, p := range a.parts {
		parts, err := p.parts(req.ids, r.Finish)
		if err != nil {
			return model.Response{}, c.server.Fault(model.Malformed, res.StatusCode, c.server.Clean(err))
		}
		r.Parts = append(r.Parts, parts...)
	}
	settle(&r)
	r.Pause = header.Pause(res.Header, r.Usage.Input+r.Usage.Output)
	return r, nil
}

// parts returns a part of an answer, with its signature, if any, before it. A call
// that the token limit cut is left out.
func (p part) parts(ids *ids, why model.Finish) ([]model.Part, error) {
	var out []model.Part
	if p.Call != nil && !p.Call.whole() {
		if why == model.FinishLength {
			return nil, nil
		}
		return nil, fmt.Errorf("the arguments of the call of %s are no JSON object", p.Call.Name)
	}
	alone := p.Text != nil && (p.Thought || *p.Text == "") && p.Call == nil
	switch {
	case alone && !p.Thought && !header.Present(p.Signature):
		return nil, nil
	case alone, header.Present(p.Signature):
		r, err := p.reasoningPart(alone)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	switch {
	case p.Call != nil:
		args := p.Call.Args
		if !header.Present(args) {
			args = json.RawMessage(`{}`)
		}
		out = append(out, model.Part{Call: &model.ToolCall{ID: ids.id(p.Call.ID), Name: p.Call.Name, Arguments: args}})
	case p.Text != nil && !alone:
		out = append(out, model.Part{Text: *p.Text})
	}
	return out, nil
}

// whole reports whether a call's arguments are what they must be; none are none.
func (f functionCall) whole() bool { return !header.Present(f.Args) || isObject(f.Args) }

// reasoningPart returns a thought or a signature as a part; alone says that it was a part of its
// own.
func (p part) reasoningPart(alone bool) (model.Part, error) {
	o := opaque{Thought: p.Thought}
	r := &model.Reasoning{Provider: provider}
	if alone {
		o.Text, r.Text = p.Text, *p.Text
	}
	if header.Present(p.Signature) {
		o.Signature = p.Signature
	}
	raw, err := json.Marshal(o)
	r.Opaque = raw
	return model.Part{Reasoning: r}, err
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
	r.Text = text.String()
	if plain {
		r.Parts = nil
	}
	if len(r.Calls()) > 0 && r.Finish == model.FinishStop {
		r.Finish = model.FinishTools
	}
}

// finish maps a reason to stop, to an answer's or to a failure's class. A call
// that the model got wrong is no answer, and asking again may help; nor is one
// that ended for a reason that the server does not name.
func finish(reason string) (model.Finish, model.Code) {
	switch reason {
	case "MAX_TOKENS", "CONTINUATION":
		return model.FinishLength, ""
	case "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "MODEL_ARMOR", "JAILBREAK":
		return model.FinishFilter, ""
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE":
		return "", model.Malformed
	case "OTHER", "IMAGE_OTHER":
		return "", model.Server
	}
	return model.FinishStop, ""
}

// retryDelay reads a wait such as "34.07s".
func retryDelay(text string) time.Duration {
	const longest = 24 * time.Hour
	d, err := time.ParseDuration(strings.TrimSpace(text))
	if err != nil {
		return 0
	}
	return min(max(d, 0), longest)
}
