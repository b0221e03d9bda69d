package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	Error       json.RawMessage `json:"error"` // some proxies answer 200 with an error
}

type wireChoice struct {
	FinishReason string          `json:"finish_reason"`
	Error        json.RawMessage `json:"error"` // OpenRouter's, when the model broke down on the way
	Message      struct {
		Content string `json:"content"`
		Refusal string `json:"refusal"`
	} `json:"message"`
}

type wireUsage struct {
	Prompt        int64 `json:"prompt_tokens"`
	Completion    int64 `json:"completion_tokens"`
	PromptDetails struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	CacheHit int64 `json:"prompt_cache_hit_tokens"` // DeepSeek's name of cached_tokens
}

// wireParts is a response whose content is a list of parts instead of a string,
// as some servers with thinking models have it.
type wireParts struct {
	Choices []struct {
		Message struct {
			Content []struct {
				Type string `json:"type"`
				Text string `json:"text"`
			} `json:"content"`
		} `json:"message"`
	} `json:"choices"`
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
		w.Choices[0].Message.Content = parts.text()
		return w, nil
	}
	if aside {
		return w, nil
	}
	return nil, err
}

// text joins the parts of the first choice that are text; the model's thoughts
// are left out.
func (p wireParts) text() string {
	var b strings.Builder
	for _, part := range p.Choices[0].Message.Content {
		if part.Type == "text" {
			b.WriteString(part.Text)
		}
	}
	return b.String()
}

// answer reads the response to a request that the server accepted.
func (c *Client) answer(ctx context.Context, res *http.Response) (model.Response, error) {
	if res.StatusCode >= http.StatusMultipleChoices {
		return model.Response{}, c.redirected(res)
	}
	body, err := readAll(res)
	if err != nil {
		return model.Response{}, c.unread(ctx, res.StatusCode, err)
	}
	w, err := decode(body)
	if err != nil {
		return model.Response{}, c.undecoded(res.StatusCode, body, err)
	}
	if len(w.Choices) == 0 {
		return model.Response{}, c.broken(res, body, w.Error)
	}
	if first := w.Choices[0]; first.FinishReason == "error" || present(first.Error) {
		return model.Response{}, c.broken(res, body, first.Error)
	}
	resp := w.response()
	resp.Pause = header.Pause(res.Header, resp.Usage.Input+resp.Usage.Output)
	return resp, nil
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

func (w *wireResponse) response() model.Response {
	first := w.Choices[0]
	r := model.Response{
		Text:        first.Message.Content,
		Finish:      finish(first.FinishReason),
		Usage:       w.Usage.counts(),
		Model:       w.Model,
		Fingerprint: w.Fingerprint,
	}
	if first.Message.Refusal != "" {
		r.Finish = model.FinishRefusal
		if r.Text == "" {
			r.Text = first.Message.Refusal
		}
	}
	return r
}

func (u wireUsage) counts() trajectory.Usage {
	return trajectory.Usage{
		Input:     max(u.Prompt, 0),
		Output:    max(u.Completion, 0),
		Cached:    max(u.PromptDetails.Cached, u.CacheHit, 0),
		Reasoning: max(u.CompletionDetails.Reasoning, 0),
	}
}

// finish maps a reason to stop. Those that servers made up beside OpenAI's all
// mean that the model was done.
func finish(reason string) model.Finish {
	switch reason {
	case "length", "max_tokens":
		return model.FinishLength
	case "content_filter":
		return model.FinishFilter
	}
	return model.FinishStop
}

// excerpt makes text from a server fit for a message: one line, not long, without
// credentials. It blanks them well before it cuts, so that none is cut in two
// and shown in part.
func (c *Client) excerpt(text string) string {
	const read, scrubbed, shown = 64 << 10, 4 << 10, 300
	text = strings.Join(strings.Fields(text[:min(len(text), read)]), " ")
	text = c.scrub.Replace(text[:min(len(text), scrubbed)])
	if len(text) > shown {
		text = text[:shown] + "..."
	}
	return strings.ToValidUTF8(text, "?")
}

// undecoded tells a body that ends early from one that is something else.
func (c *Client) undecoded(status int, body []byte, err error) error {
	var cut wireResponse
	if e := json.NewDecoder(bytes.NewReader(body)).Decode(&cut); errors.Is(e, io.ErrUnexpectedEOF) || errors.Is(e, io.EOF) {
		return c.faultStatus(model.Truncated, status, fmt.Errorf("the body ends early, after %d bytes: %w", len(body), e))
	}
	return c.faultStatus(model.Malformed, status, fmt.Errorf("the body is not a chat completion: %w; it begins: %s", err, c.excerpt(string(body))))
}
