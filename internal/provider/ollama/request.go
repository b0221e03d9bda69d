package ollama

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed-f4525e22/skillopt/model"
)

// provider marks the reasoning that this adapter wrote.
const provider = "ollama"

type wireRequest struct {
	Model     string          `json:"model"`
	Messages  []wireMessage   `json:"messages"`
	Tools     []wireTool      `json:"tools,omitempty"`
	Format    json.RawMessage `json:"format,omitempty"`
	Think     any             `json:"think,omitempty"` // a bool, or an effort
	KeepAlive json.RawMessage `json:"keep_alive,omitempty"`
	Options   wireOptions     `json:"options"`
	Stream    bool            `json:"stream"`
	// Without these a server drops messages that do not fit, and forgets the
	// beginning of the prompt when the answer is long. Old versions ignore them,
	// see Client.cut.
	Truncate bool `json:"truncate"`
	Shift    bool `json:"shift"`
}

type wireOptions struct {
	NumCtx      int      `json:"num_ctx"`
	NumPredict  int      `json:"num_predict,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	Seed        *int64   `json:"seed,omitempty"`
}

// wireMessage has its images before its text, and its thoughts before both.
type wireMessage struct {
	Role     string     `json:"role"`
	Content  string     `json:"content"`
	Thinking string     `json:"thinking,omitempty"`
	Images   [][]byte   `json:"images,omitempty"`
	Calls    []wireCall `json:"tool_calls,omitempty"`
	ToolName string     `json:"tool_name,omitempty"`
	CallID   string     `json:"tool_call_id,omitempty"`
}

type wireCall struct {
	ID       string       `json:"id,omitempty"`
	Function wireFunction `json:"function"`
}

type wireFunction struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

type wireTool struct {
	Type     string       `json:"type"`
	Function wireToolSpec `json:"function"`
}

type wireToolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

// encode returns the body of req. Equal requests give equal bytes.
func (c *Client) encode(req model.Request, window int) ([]byte, error) {
	if len(req.Messages) == 0 {
		return nil, errors.New("encode request: it has no messages")
	}
	w := wireRequest{
		Model: req.Model, Messages: messages(req.Messages), KeepAlive: c.keepAlive, Stream: c.opts.Stream,
		Options: wireOptions{NumCtx: window, NumPredict: req.MaxTokens, Temperature: req.Temperature, TopP: req.TopP, Seed: req.Seed},
	}
	if req.Schema != nil && c.opts.Structured {
		w.Format = req.Schema.JSON
	}
	var err error
	if w.Think, err = c.think(req.ReasoningEffort); err != nil {
		return nil, err
	}
	if w.Tools, err = tools(req.Tools, req.ToolChoice); err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false) // skills hold a lot of <, > and &
	if err := enc.Encode(w); err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	return buf.Bytes(), nil
}

// think returns the value of the field, nil to leave it out.
func (c *Client) think(effort string) (any, error) {
	switch {
	case effort == "none":
		return false, nil
	case effort != "" && c.opts.Think == ThinkDisabled:
		return nil, fmt.Errorf("reasoning_effort is %q and thinking is disabled: set one of the two", effort)
	case effort != "":
		return effort, nil
	case c.opts.Think != "":
		return c.opts.Think == ThinkEnabled, nil
	}
	return nil, nil
}

// tools returns the tools as a choice leaves them. The protocol has no choice: a
// model that is to call none gets none to call, and one cannot be made to call.
func tools(all []model.Tool, choice string) ([]wireTool, error) {
	switch choice {
	case model.ToolChoiceNone:
		return nil, nil
	case "", model.ToolChoiceAuto:
	default:
		return nil, fmt.Errorf("tool choice %q: Ollama's protocol has %s and %s only", choice, model.ToolChoiceAuto, model.ToolChoiceNone)
	}
	var list []wireTool
	for _, t := range all {
		list = append(list, wireTool{Type: "function", Function: wireToolSpec(t)})
	}
	return list, nil
}

// messages returns a conversation in the protocol's form, in which a message is
// images, then text, then calls, and holds one result at most.
func messages(all []model.Message) []wireMessage {
	var out []wireMessage
	names := map[string]string{} // of tools, by the id of a call
	for _, m := range all {
		switch {
		case len(m.Parts) == 0:
			out = append(out, wireMessage{Role: m.Role, Content: m.Content})
		case m.Role == model.User:
			out = append(out, userMessages(m.Parts)...)
		case m.Role == model.ToolRole:
			out = append(out, results(m.Parts, names)...)
		default:
			out = append(out, spoken(m, names))
		}
	}
	return out
}

// userMessages keeps the order of texts and images: a text that an image
// follows ends its message.
func userMessages(parts []model.Part) []wireMessage {
	out := []wireMessage{{Role: model.User}}
	for _, p := range parts {
		last := &out[len(out)-1]
		switch {
		case p.Image == nil:
			last.Content += p.Text
		case last.Content != "":
			out = append(out, wireMessage{Role: model.User, Images: [][]byte{p.Image.Data}})
		default:
			last.Images = append(last.Images, p.Image.Data)
		}
	}
	return out
}

// spoken returns a message of the model, or of the system. It leaves out thoughts of other
// providers.
func spoken(m model.Message, names map[string]string) wireMessage {
	w := wireMessage{Role: m.Role}
	for _, p := range m.Parts {
		switch {
		case p.Call != nil:
			names[p.Call.ID] = p.Call.Name
			arguments := p.Call.Arguments
			if len(arguments) == 0 {
				arguments = json.RawMessage("{}")
			}
			w.Calls = append(w.Calls, wireCall{ID: p.Call.ID, Function: wireFunction{Name: p.Call.Name, Arguments: arguments}})
		case p.Reasoning != nil && p.Reasoning.Provider == provider:
			w.Thinking += p.Reasoning.Text
		default:
			w.Content += p.Text
		}
	}
	return w
}

// results returns the messages with the results of calls, and after them their images as a user's message.
func results(parts []model.Part, names map[string]string) []wireMessage {
	var out []wireMessage
	var images [][]byte
	for _, p := range parts {
		if p.Result == nil {
			continue
		}
		w := wireMessage{Role: model.ToolRole, Content: p.Result.Content, CallID: p.Result.CallID, ToolName: p.Result.Name}
		if w.ToolName == "" {
			w.ToolName = names[p.Result.CallID]
		}
		if p.Result.IsError {
			w.Content = "Error: " + w.Content
		}
		out = append(out, w)
		for _, image := range p.Result.Images {
			images = append(images, image.Data)
		}
	}
	if len(images) > 0 {
		out = append(out, wireMessage{Role: model.User, Images: images})
	}
	return out
}
