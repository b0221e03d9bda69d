package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/provider/header"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// respondAll is the part of a response that is used.
type respondAll struct {
	Model      json.RawMessage   `json:"model"`
	Status     string            `json:"status"`
	Error      json.RawMessage   `json:"error"`
	Incomplete respondIncomplete `json:"incomplete_details"`
	Output     []json.RawMessage `json:"output"`
	Usage      json.RawMessage   `json:"usage"`
}

type respondIncomplete struct {
	Reason string `json:"reason"`
}

// respondItem is an item of the output, of any type.
type respondItem struct {
	Type      string        `json:"type"`
	CallID    string        `json:"call_id"`
	Name      string        `json:"name"`
	Arguments string        `json:"arguments"`
	Content   []respondPart `json:"content"`
	Summary   []respondPart `json:"summary"`
}

type respondPart struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

type respondUsage struct {
	Input        tally `json:"input_tokens"`
	Output       tally `json:"output_tokens"`
	InputDetails struct {
		Cached     tally `json:"cached_tokens"`
		CacheWrite tally `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	OutputDetails struct {
		Reasoning tally `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

// readRespond reads a whole response.
func (a answers) readRespond(res *http.Response, body []byte, req *model.Request) (model.Response, error) {
	var w respondAll
	if err := json.Unmarshal(body, &w); err != nil {
		return model.Response{}, err
	}
	return a.respondAnswer(res, body, &w, req)
}

// respondAnswer returns what w says: an answer, or an error in its place.
func (a answers) respondAnswer(res *http.Response, body []byte, w *respondAll, req *model.Request) (model.Response, error) {
	if header.Present(w.Error) || w.Output == nil || w.Status == "failed" {
		return model.Response{}, a.faults.bodyError(res, body, w.Error)
	}
	r := model.Response{Model: text(w.Model), Usage: w.counts()}
	switch {
	case w.Status == "completed" || w.Status == "": // small servers leave it out
		r.Finish = model.FinishStop
	case w.Status == "incomplete":
		r.Finish = incomplete(w.Incomplete.Reason)
	default:
		return model.Response{}, fmt.Errorf("the response has the status %q", a.faults.server.Excerpt(w.Status))
	}
	return w.response(r, req)
}

// incomplete maps a reason for an answer that is not whole. Those that are not
// known are limits of some kind.
func incomplete(reason string) model.Finish {
	if reason == "content_filter" {
		return model.FinishFilter
	}
	return model.FinishLength
}

// counts reads the usage; one in an odd shape is no reason to lose an answer.
func (w *respondAll) counts() trajectory.Usage {
	var u respondUsage
	if header.Present(w.Usage) {
		_ = json.Unmarshal(w.Usage, &u)
	}
	return trajectory.Usage{
		Input:      int64(max(u.Input, 0)),
		Output:     int64(max(u.Output, 0)),
		Cached:     int64(max(u.InputDetails.Cached, 0)),
		CacheWrite: int64(max(u.InputDetails.CacheWrite, 0)),
		Reasoning:  int64(max(u.OutputDetails.Reasoning, 0)),
	}
}

// response adds the output to r.
func (w *respondAll) response(r model.Response, req *model.Request) (model.Response, error) {
	parts := assembly{req: req}
	var text, refusal strings.Builder
	for _, raw := range w.Output {
		var item respondItem
		if err := json.Unmarshal(raw, &item); err != nil {
			return model.Response{}, fmt.Errorf("an item of the output: %w", err)
		}
		switch item.Type {
		case "message":
			said, no := item.words()
			parts.text(said)
			text.WriteString(said)
			refusal.WriteString(no)
		case "function_call":
			parts.call(item.CallID, item.Name, item.Arguments)
		case "reasoning":
			parts.addReasoning(&model.Reasoning{Provider: provider, Text: item.thoughts(), Opaque: bytes.Clone(raw)})
		}
	}
	r.Text = text.String()
	if refusal.Len() > 0 {
		r.Finish = model.FinishRefusal
		if r.Text == "" {
			r.Text = refusal.String()
			parts.text(r.Text)
		}
	}
	return parts.finish(r)
}

// words returns the text of a message, and the words of a refusal.
func (i *respondItem) words() (text, refusal string) {
	for _, p := range i.Content {
		switch p.Type {
		case "output_text", "text":
			text += p.Text
		case "refusal":
			refusal += p.Refusal
		}
	}
	return text, refusal
}

// thoughts returns what of a reasoning item is readable.
func (i *respondItem) thoughts() string {
	var texts []string
	for _, p := range append(i.Content, i.Summary...) {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// respondEvent is an event of a stream. Of the many kinds only those matter that
// finish an item or the whole.
type respondEvent struct {
	Type     string          `json:"type"`
	Response json.RawMessage `json:"response"`
	Item     json.RawMessage `json:"item"`
	Error    json.RawMessage `json:"error"`
}

// readRespondStream reads a stream to the event that holds the whole response.
func (a answers) readRespondStream(res *http.Response, events iter.Seq[header.Event], req *model.Request) (model.Response, error) {
	var items []json.RawMessage
	for sent := range events {
		data := sent.Data
		var e respondEvent
		if err := json.Unmarshal(data, &e); err != nil {
			return model.Response{}, fmt.Errorf("an event is none of a response: %w", err)
		}
		switch e.Type {
		case "response.output_item.done":
			if header.Present(e.Item) {
				items = append(items, e.Item)
			}
		case "response.completed", "response.incomplete", "response.failed":
			return a.lastRespond(res, e.Response, items, req)
		case "error":
			if header.Present(e.Error) {
				data = e.Error
			}
			return model.Response{}, a.faults.bodyError(res, data, withoutType(data))
		default:
			if header.Present(e.Error) {
				return model.Response{}, a.faults.bodyError(res, data, e.Error)
			}
		}
	}
	return model.Response{}, errCut
}

// lastRespond reads the response in the last event. A server that leaves out what
// it has sent already is given the items that came before.
func (a answers) lastRespond(res *http.Response, raw json.RawMessage, items []json.RawMessage, req *model.Request) (model.Response, error) {
	var w respondAll
	if err := json.Unmarshal(raw, &w); err != nil {
		return model.Response{}, errors.New("the last event holds no response")
	}
	if len(w.Output) == 0 {
		w.Output = append([]json.RawMessage{}, items...)
	}
	return a.respondAnswer(res, raw, &w, req)
}

// withoutType takes the type of an event off, which is not that of the error in
// it.
func withoutType(data json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil || string(fields["type"]) != `"error"` {
		return data
	}
	delete(fields, "type")
	b, err := json.Marshal(fields)
	if err != nil {
		return data
	}
	return b
}
