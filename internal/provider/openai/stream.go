package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/provider/header"
	"github.com/seed-f4525e22/skillopt/model"
)

// wireChunk is a piece of a chat completion.
type wireChunk struct {
	Model       json.RawMessage `json:"model"`
	Fingerprint json.RawMessage `json:"system_fingerprint"`
	Choices     []wireDelta     `json:"choices"`
	Usage       json.RawMessage `json:"usage"`
	Error       json.RawMessage `json:"error"`
	Filters     json.RawMessage `json:"prompt_filter_results"`
}

type wireDelta struct {
	Index        int             `json:"index"`
	FinishReason string          `json:"finish_reason"`
	StopReason   json.RawMessage `json:"stop_reason"`
	Error        json.RawMessage `json:"error"`
	Delta        struct {
		Content          json.RawMessage   `json:"content"`
		Refusal          string            `json:"refusal"`
		ReasoningContent json.RawMessage   `json:"reasoning_content"`
		Reasoning        json.RawMessage   `json:"reasoning"`
		Details          []json.RawMessage `json:"reasoning_details"`
		ToolCalls        []wireCall        `json:"tool_calls"`
	} `json:"delta"`
}

// readChatStream puts a chat completion together. It is whole when the server has
// given a reason to stop, and then its end or the counts, which come last. An end alone
// proves nothing: servers that break off an answer for another request write it too.
func (a answers) readChatStream(res *http.Response, events iter.Seq[header.Event], req *model.Request) (model.Response, error) {
	var g gathered
	for e := range events {
		if err := g.take(a.faults, res, e); err != nil {
			return model.Response{}, err
		}
		if g.done {
			break
		}
	}
	switch reasoned := g.whole.Choices != nil && (g.choice().FinishReason != "" || header.Present(g.choice().Error)); {
	case !g.done && (!reasoned || !g.counted):
		return model.Response{}, errCut
	case g.whole.Choices != nil && !reasoned:
		return model.Response{}, errNoReason
	}
	g.settle()
	return a.chatAnswer(res, nil, &g.whole, req)
}

// gathered is a chat completion in the making.
type gathered struct {
	whole    wireResponse
	content  strings.Builder
	refusal  strings.Builder
	thoughts strings.Builder
	details  []json.RawMessage
	calls    []gatheredCall
	counted  bool
	done     bool
}

type gatheredCall struct {
	index     int
	id, name  string
	arguments []byte
}

// take adds an event.
func (g *gathered) take(f faults, res *http.Response, e header.Event) error {
	data := bytes.TrimSpace(e.Data)
	if bytes.HasPrefix(data, []byte("[DONE]")) {
		g.done = true
		return nil
	}
	var chunk wireChunk
	if err := json.Unmarshal(data, &chunk); err != nil {
		return fmt.Errorf("an event is no piece of a chat completion: %w", err)
	}
	switch {
	case header.Present(chunk.Error):
		return f.bodyError(res, data, chunk.Error)
	case e.Type == "error":
		return f.bodyError(res, data, data)
	}
	g.head(chunk)
	for _, d := range chunk.Choices {
		if d.Index != 0 {
			continue
		}
		if err := g.add(d); err != nil {
			return err
		}
	}
	return nil
}

// head takes what concerns the whole.
func (g *gathered) head(chunk wireChunk) {
	if name := text(chunk.Model); name != "" {
		g.whole.Model = name
	}
	if mark := text(chunk.Fingerprint); mark != "" {
		g.whole.Fingerprint = mark
	}
	if header.Present(chunk.Filters) {
		g.whole.Filters = chunk.Filters
	}
	// Counts in an odd shape are no reason to lose an answer.
	if header.Present(chunk.Usage) {
		_ = json.Unmarshal(chunk.Usage, &g.whole.Usage)
		g.counted = true
	}
}

func (g *gathered) choice() *wireChoice {
	if len(g.whole.Choices) == 0 {
		g.whole.Choices = make([]wireChoice, 1)
	}
	return &g.whole.Choices[0]
}

func (g *gathered) add(d wireDelta) error {
	first := g.choice()
	if d.FinishReason != "" {
		first.FinishReason, first.StopReason = d.FinishReason, d.StopReason
	}
	if header.Present(d.Error) {
		first.Error = d.Error
	}
	if err := g.addContent(d.Delta.Content); err != nil {
		return err
	}
	g.refusal.WriteString(d.Delta.Refusal)
	g.thoughts.WriteString(text(d.Delta.ReasoningContent, d.Delta.Reasoning))
	g.details = append(g.details, d.Delta.Details...)
	for _, call := range d.Delta.ToolCalls {
		g.addCall(call)
	}
	return nil
}

func (g *gathered) addContent(raw json.RawMessage) error {
	switch {
	case !header.Present(raw):
	case raw[0] == '"':
		g.content.WriteString(unquote(raw))
	default:
		var parts []wirePart
		if err := json.Unmarshal(raw, &parts); err != nil {
			return errors.New("the content of an event is neither text nor parts")
		}
		text, thoughts := split(parts)
		g.content.WriteString(text)
		g.thoughts.WriteString(thoughts)
	}
	return nil
}

// addCall adds a piece of a call. Some servers number all calls 0: a new id is a
// new call.
func (g *gathered) addCall(piece wireCall) {
	index := max(len(g.calls)-1, 0)
	if piece.Index != nil {
		index = *piece.Index
	}
	at := -1
	for i := range slices.Backward(g.calls) {
		if g.calls[i].index == index && (piece.ID == "" || g.calls[i].id == "" || g.calls[i].id == piece.ID) {
			at = i
			break
		}
	}
	if at < 0 {
		g.calls = append(g.calls, gatheredCall{index: index})
		at = len(g.calls) - 1
	}
	call := &g.calls[at]
	if piece.ID != "" {
		call.id = piece.ID
	}
	if call.name == "" {
		call.name = piece.Function.Name
	}
	if header.Present(piece.Function.Arguments) {
		call.arguments = append(call.arguments, unquote(piece.Function.Arguments)...)
	}
}

// settle writes what was gathered into the form of a whole answer.
func (g *gathered) settle() {
	if g.whole.Choices == nil {
		return
	}
	m := &g.choice().Message
	m.Content, m.Refusal = g.content.String(), g.refusal.String()
	if g.thoughts.Len() > 0 {
		m.ReasoningContent = appendString(nil, g.thoughts.String())
	}
	if len(g.details) > 0 {
		m.Details, _ = json.Marshal(g.details) // each of them was read as JSON
	}
	for i := range g.calls {
		call := wireCall{ID: g.calls[i].id}
		call.Function.Name = g.calls[i].name
		call.Function.Arguments = appendString(nil, string(g.calls[i].arguments))
		m.ToolCalls = append(m.ToolCalls, call)
	}
}
