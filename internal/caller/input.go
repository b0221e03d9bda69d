package caller

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/model"
)

// shareFrom is the length in bytes from which a part that may repeat is stored
// as a shared part. Below it a reference saves nothing.
const shareFrom = 256

// storedInput is the own part of a call's input: the request with references in
// place of shared parts. Its JSON is what the record holds.
type storedInput struct {
	Source   string          `json:"source,omitempty"` // what answers under the model's name, see Role.Source
	Model    string          `json:"model"`
	Messages []storedMessage `json:"messages,omitempty"`
	Schema   *storedSchema   `json:"schema,omitempty"`
	Tools    *storedSchema   `json:"tools,omitempty"` // the list, under the name of the choice
	model.Sampling
	Episode json.RawMessage `json:"episode,omitempty"` // what an episode depends on
}

type storedMessage struct {
	Role    string `json:"role"`
	Content string `json:"content,omitempty"`
	Parts   bool   `json:"parts,omitempty"`  // the content is the JSON of the message's parts
	Shared  *int   `json:"shared,omitempty"` // index of the shared part that is the content
}

type storedSchema struct {
	Name   string          `json:"name"`
	JSON   json.RawMessage `json:"json,omitempty"`
	Shared *int            `json:"shared,omitempty"`
}

// input returns what the answer to req depends on. The last message is the
// call's own; those before it are likely to be in other calls too: the
// system message with the skill, the earlier turns of a conversation.
func (c *Caller) input(r *role, req *model.Request) (journal.Input, error) {
	var in journal.Input
	share := func(text string) *int {
		at := len(in.Shared)
		in.Shared = append(in.Shared, c.parts.blob(text))
		return &at
	}
	stored := storedInput{Source: r.Source, Model: req.Model, Sampling: req.Sampling, Messages: make([]storedMessage, len(req.Messages))}
	for i, m := range req.Messages {
		content, err := encodeContent(m)
		if err != nil {
			return in, err
		}
		stored.Messages[i].Role, stored.Messages[i].Parts = m.Role, len(m.Parts) > 0
		if len(content) >= shareFrom && (i < len(req.Messages)-1 || m.Role == model.System) {
			stored.Messages[i].Shared = share(content)
		} else {
			stored.Messages[i].Content = content
		}
	}
	shareJSON := func(name string, text json.RawMessage) *storedSchema {
		if len(text) >= shareFrom {
			return &storedSchema{Name: name, Shared: share(string(text))}
		}
		return &storedSchema{Name: name, JSON: text}
	}
	if s := req.Schema; s != nil {
		stored.Schema = shareJSON(s.Name, s.JSON)
	}
	if len(req.Tools) > 0 {
		list, err := json.Marshal(req.Tools)
		if err != nil {
			return in, fmt.Errorf("encode the tools of a request: %w", err)
		}
		stored.Tools = shareJSON(req.ToolChoice, list)
	}
	own, err := encode(stored)
	in.Own = own
	return in, err
}

// encodeContent returns a message's text, or the JSON of its parts.
func encodeContent(m model.Message) (string, error) {
	if len(m.Parts) == 0 {
		return m.Content, nil
	}
	b, err := json.Marshal(withoutPixels(m.Parts))
	if err != nil {
		return "", fmt.Errorf("encode the parts of a message: %w", err)
	}
	return string(b), nil
}

// withoutPixels replaces the pixels of images with their hashes: the record shows whether
// one is another, and does not hold it again with every answer.
func withoutPixels(parts []model.Part) []model.Part {
	if !slices.ContainsFunc(parts, func(p model.Part) bool { return p.Image != nil }) {
		return parts
	}
	parts = slices.Clone(parts)
	for i, p := range parts {
		if p.Image != nil {
			sum := sha256.Sum256(p.Image.Data)
			parts[i].Image = &model.Image{MIME: p.Image.MIME, Data: sum[:]}
		}
	}
	return parts
}

func encode(stored storedInput) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(stored); err != nil {
		return nil, fmt.Errorf("encode input: %w", err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// restore returns the stored input with its references resolved. It is the inverse of input.
func restore(in journal.Input) (storedInput, error) {
	var stored storedInput
	if err := json.Unmarshal(in.Own, &stored); err != nil {
		return stored, fmt.Errorf("decode input: %w", err)
	}
	text := func(ref *int, own string) string {
		if ref == nil || *ref < 0 || *ref >= len(in.Shared) {
			return own
		}
		return in.Shared[*ref].Text()
	}
	for i := range stored.Messages {
		m := &stored.Messages[i]
		m.Content, m.Shared = text(m.Shared, m.Content), nil
	}
	for _, s := range []*storedSchema{stored.Schema, stored.Tools} {
		if s != nil {
			s.JSON, s.Shared = json.RawMessage(text(s.Shared, string(s.JSON))), nil
		}
	}
	return stored, nil
}

// describeDivergence describes how the recorded input of key differs from the one now.
func (c *Caller) describeDivergence(ctx context.Context, key string, now journal.Input) error {
	before, err := c.journal.Input(ctx, key)
	if err != nil {
		return err
	}
	e := &DivergedError{Key: key}
	e.Part, e.Recorded, e.Now = firstDifference(before, now)
	return e
}

// side is a named part of an input.
type side struct{ name, value string }

// firstDifference names the first part in which two inputs differ.
func firstDifference(before, now journal.Input) (part, was, is string) {
	a, b := sides(before), sides(now)
	for i := range max(len(a), len(b)) {
		var x, y side
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x == y {
			continue
		}
		name := x.name
		if name == "" {
			name = y.name
		}
		was, is = excerpts(x.value, y.value)
		return name, was, is
	}
	return "encoding", "that of another version", "that of this one"
}

// sides lists the parts of an input in a fixed order.
func sides(in journal.Input) []side {
	stored, err := restore(in)
	if err != nil {
		return []side{{"input", string(in.Own)}}
	}
	list := []side{{"source", stored.Source}, {"model", stored.Model}}
	add := func(name string, v any) {
		text, err := json.Marshal(v)
		if err != nil {
			text = []byte(err.Error())
		}
		list = append(list, side{name, string(text)})
	}
	add("temperature", stored.Temperature)
	add("top_p", stored.TopP)
	add("max_tokens", stored.MaxTokens)
	add("reasoning_effort", stored.ReasoningEffort)
	add("seed", stored.Seed)
	add("schema", stored.Schema)
	add("tools", stored.Tools)
	add("the episode's input", stored.Episode)
	for i, b := range in.Shared {
		if len(stored.Messages) == 0 {
			list = append(list, side{fmt.Sprintf("shared part %d of the episode's input", i+1), b.Text()})
		}
	}
	for i, m := range stored.Messages {
		list = append(list, side{fmt.Sprintf("message %d (%s)", i+1, m.Role), m.Content})
	}
	return list
}

// excerpts returns quoted pieces of two texts around their first difference.
func excerpts(a, b string) (string, string) {
	const before, after = 20, 60
	x, y := []rune(a), []rune(b)
	at := 0
	for at < len(x) && at < len(y) && x[at] == y[at] {
		at++
	}
	cut := func(r []rune) string {
		from, to := max(0, at-before), min(len(r), at+after)
		text := fmt.Sprintf("%q", string(r[min(from, len(r)):to]))
		if from > 0 {
			text = "..." + text
		}
		if to < len(r) {
			text += "..."
		}
		return text
	}
	return cut(x), cut(y)
}

// parts remembers the blobs of long texts, so that a text which is in
// thousands of calls is hashed once.
type parts struct {
	mu    sync.RWMutex
	blobs map[string]journal.Blob
}

// maxParts bounds the texts that are kept. When it is reached all are dropped:
// those in use are back after one call each.
const maxParts = 128

func newParts() *parts { return &parts{blobs: make(map[string]journal.Blob)} }

func (p *parts) blob(text string) journal.Blob {
	p.mu.RLock()
	b, ok := p.blobs[text]
	p.mu.RUnlock()
	if ok {
		return b
	}
	return p.add(text)
}

// blobFromBytes returns the blob of bytes, as blob does of a text. It copies only those it has not seen.
func (p *parts) blobFromBytes(text []byte) journal.Blob {
	p.mu.RLock()
	b, ok := p.blobs[string(text)]
	p.mu.RUnlock()
	if ok {
		return b
	}
	return p.add(string(text))
}

func (p *parts) add(text string) journal.Blob {
	b := journal.NewBlob(text)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.blobs) >= maxParts {
		clear(p.blobs)
	}
	p.blobs[text] = b
	return b
}

// complete adds to what a call asks what its role says.
func (c *Caller) complete(r *role, stage string, req *model.Request) {
	if req.Model == "" {
		req.Model = r.Model
	}
	req.Sampling = req.Sampling.Over(r.Sampling)
	req.Tags = model.Tags{Stage: stage, Role: r.name, Run: c.opts.RunName}
}

// withError returns messages with a reply that could not be used and the reason.
func withError(messages []model.Message, reply string, reason error) []model.Message {
	text := fmt.Sprintf("Your reply could not be used: %v\nAnswer the request above again, completely and in the form it asks for.", reason)
	messages = slices.Clone(messages)
	if reply == "" && len(messages) > 0 && messages[len(messages)-1].Role == model.User {
		// Many servers refuse an empty message, and two of one role in a row.
		messages[len(messages)-1].Content += "\n\n" + text
		return messages
	}
	if reply != "" {
		messages = append(messages, model.Message{Role: model.Assistant, Content: reply})
	}
	return append(messages, model.Message{Role: model.User, Content: text})
}
