package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/model"
)

// respondParams is the body of a request to Responses. Nothing is stored at the
// server: a conversation is sent whole, and the model's reasoning goes back in
// encrypted form.
type respondParams struct {
	Model             string            `json:"model"`
	Instructions      string            `json:"instructions,omitempty"`
	Input             []any             `json:"input"`
	Temperature       *float64          `json:"temperature,omitempty"`
	TopP              *float64          `json:"top_p,omitempty"`
	MaxOutputTokens   int               `json:"max_output_tokens,omitempty"`
	Reasoning         *respondReasoning `json:"reasoning,omitempty"`
	Text              *respondText      `json:"text,omitempty"`
	Tools             []respondTool     `json:"tools,omitempty"`
	ToolChoice        any               `json:"tool_choice,omitempty"`
	ParallelToolCalls *bool             `json:"parallel_tool_calls,omitempty"`
	PromptCacheKey    string            `json:"prompt_cache_key,omitempty"`
	Include           []string          `json:"include,omitempty"`
	Store             bool              `json:"store"`
	Stream            bool              `json:"stream,omitempty"`
}

type respondReasoning struct {
	Effort string `json:"effort"`
}

type respondText struct {
	Format respondFormat `json:"format"`
}

// respondFormat and respondTool say that the schema is not strict: strict mode
// takes only a subset of JSON Schema.
type respondFormat struct {
	Type   string          `json:"type"`
	Name   string          `json:"name,omitempty"`
	Schema json.RawMessage `json:"schema,omitempty"`
}

type respondTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
}

type respondNamed struct {
	Type string `json:"type"`
	Name string `json:"name"`
}

// The items of a conversation.
type (
	respondMessage struct {
		Role    string `json:"role"`
		Content any    `json:"content"` // a string or a list of respondContent
	}
	respondContent struct {
		Type     string `json:"type"`
		Text     string `json:"text,omitempty"`
		ImageURL string `json:"image_url,omitempty"`
	}
	respondCall struct {
		Type      string `json:"type"`
		CallID    string `json:"call_id"`
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	respondResult struct {
		Type   string `json:"type"`
		CallID string `json:"call_id"`
		Output any    `json:"output"` // a string or a list of respondContent
	}
)

// respond makes one request to Responses; a bare one does not ask for reasoning
// that can be sent back.
func (c *Client) respond(ctx context.Context, req *model.Request, bare bool) (model.Response, error) {
	body, err := c.bodies.respond(req, bare)
	if err != nil {
		return model.Response{}, c.faults.plain(model.BadRequest, err)
	}
	return c.send(ctx, req, responsesPath, body, respondProtocol())
}

// respond returns the body of req for Responses. Equal requests give equal
// bytes.
func (e *encoder) respond(req *model.Request, bare bool) ([]byte, error) {
	if len(req.Messages) == 0 {
		return nil, errors.New("encode request: it has no messages")
	}
	p, err := e.respondParams(req)
	if err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	if !bare {
		p.Include = []string{"reasoning.encrypted_content"}
	}
	var b bytes.Buffer
	b.Grow(bodySize(req) + 256)
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(p); err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	object := bytes.TrimRight(b.Bytes(), "\n")
	object = append(object[:len(object)-1], e.extra...)
	return append(object, '}'), nil
}

func (e *encoder) respondParams(req *model.Request) (*respondParams, error) {
	q := &e.quirks
	p := &respondParams{Model: req.Model, MaxOutputTokens: req.MaxTokens, Temperature: req.Temperature, TopP: req.TopP, Stream: e.stream}
	if q.NoTemperature {
		p.Temperature, p.TopP = nil, nil
	}
	if err := q.checkEffort(req.ReasoningEffort); err != nil {
		return nil, err
	}
	if req.ReasoningEffort != "" && q.EffortField != NoField {
		p.Reasoning = &respondReasoning{Effort: req.ReasoningEffort}
	}
	switch {
	case req.Schema == nil:
	case e.schema.get() == SchemaNative:
		p.Text = &respondText{respondFormat{Type: SchemaNative, Name: req.Schema.Name, Schema: req.Schema.JSON}}
	case e.schema.get() == SchemaObject:
		p.Text = &respondText{respondFormat{Type: SchemaObject}}
	}
	if q.CacheKey {
		p.PromptCacheKey = e.key.of(req)
	}
	if err := e.offerRespond(p, req); err != nil {
		return nil, err
	}
	rest := req.Messages
	p.Instructions, rest = instructions(rest)
	for i, m := range rest {
		items, err := respondItems(m)
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", len(req.Messages)-len(rest)+i, err)
		}
		p.Input = append(p.Input, items...)
	}
	if p.Input == nil {
		p.Input = []any{}
	}
	return p, nil
}

func (e *encoder) offerRespond(p *respondParams, req *model.Request) error {
	form, offered, err := e.quirks.choice(req)
	if err != nil || !offered {
		return err
	}
	for _, t := range req.Tools {
		p.Tools = append(p.Tools, respondTool{Type: "function", Name: t.Name, Description: t.Description, Parameters: parameters(t)})
	}
	p.ParallelToolCalls = e.quirks.Parallel
	switch form {
	case "":
	case FormNamed:
		p.ToolChoice = respondNamed{Type: "function", Name: req.ToolChoice}
	case model.ToolChoiceRequired:
		p.ToolChoice = e.quirks.requiredChoice()
	default:
		p.ToolChoice = form
	}
	return nil
}

// instructions takes the system messages off the beginning of a conversation.
func instructions(messages []model.Message) (string, []model.Message) {
	var texts []string
	for len(messages) > 0 && messages[0].Role == model.System {
		texts = append(texts, messages[0].Text())
		messages = messages[1:]
	}
	return strings.Join(texts, "\n\n"), messages
}

// respondItems returns a message as items of the protocol.
func respondItems(m model.Message) ([]any, error) {
	if len(m.Parts) == 0 {
		return []any{respondMessage{Role: m.Role, Content: m.Content}}, nil
	}
	switch m.Role {
	case model.Assistant:
		return respondAnswer(m.Parts)
	case model.ToolRole:
		return respondResults(m.Parts)
	}
	content, err := respondContents(m.Parts)
	return []any{respondMessage{Role: m.Role, Content: content}}, err
}

func respondContents(parts []model.Part) ([]respondContent, error) {
	var all []respondContent
	for _, p := range parts {
		switch {
		case p.Image != nil:
			all = append(all, respondImage(*p.Image))
		case p.Call != nil || p.Result != nil || p.Reasoning != nil:
			return nil, errors.New("it may hold texts and images only")
		default:
			all = append(all, respondContent{Type: "input_text", Text: p.Text})
		}
	}
	return all, nil
}

func respondImage(i model.Image) respondContent {
	url := appendDataURL(nil, i)
	return respondContent{Type: "input_image", ImageURL: string(url[1 : len(url)-1])}
}

func respondAnswer(parts []model.Part) ([]any, error) {
	// Reasoning that nothing follows, as of an answer that was cut, is refused.
	last := len(parts)
	for last > 0 && parts[last-1].Reasoning != nil {
		last--
	}
	var items []any
	for _, p := range parts[:last] {
		switch {
		case p.Image != nil || p.Result != nil:
			return nil, errors.New("an answer holds neither images nor results")
		case p.Call != nil:
			items = append(items, respondCall{"function_call", p.Call.ID, p.Call.Name, arguments(p.Call.Arguments)})
		case p.Reasoning != nil:
			if item := reasoningItem(p.Reasoning); item != nil {
				items = append(items, item)
			}
		case p.Text != "":
			items = append(items, respondMessage{Role: model.Assistant, Content: p.Text})
		}
	}
	return items, nil
}

// reasoningItem returns the item of reasoning that is sent back, or nil. The server knows what is
// neither encrypted nor readable by its id alone, and it keeps nothing.
func reasoningItem(r *model.Reasoning) json.RawMessage {
	var item struct {
		Type      string            `json:"type"`
		Encrypted string            `json:"encrypted_content"`
		Content   []json.RawMessage `json:"content"`
	}
	if r.Provider != provider || json.Unmarshal(r.Opaque, &item) != nil || item.Type != "reasoning" || item.Encrypted == "" && item.Content == nil {
		return nil
	}
	return r.Opaque
}

func respondResults(parts []model.Part) ([]any, error) {
	var items []any
	for _, p := range parts {
		if p.Result == nil {
			return nil, errors.New("it may hold results only")
		}
		item := respondResult{Type: "function_call_output", CallID: p.Result.CallID, Output: resultText(*p.Result)}
		if len(p.Result.Images) > 0 {
			content := []respondContent{{Type: "input_text", Text: resultText(*p.Result)}}
			for _, i := range p.Result.Images {
				content = append(content, respondImage(i))
			}
			item.Output = content
		}
		items = append(items, item)
	}
	return items, nil
}
