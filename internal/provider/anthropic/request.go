package anthropic

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/model"
)

// wireRequest is the body of a request. Only what is set is sent: a server may
// refuse a field that it does not know.
type wireRequest struct {
	Model        string        `json:"model"`
	MaxTokens    int           `json:"max_tokens"`
	Tools        []wireTool    `json:"tools,omitempty"`
	ToolChoice   *wireChoice   `json:"tool_choice,omitempty"`
	System       []block       `json:"system,omitempty"`
	Messages     []wireMessage `json:"messages"`
	Thinking     *wireThinking `json:"thinking,omitempty"`
	OutputConfig *wireOutput   `json:"output_config,omitempty"`
	Temperature  *float64      `json:"temperature,omitempty"`
	TopP         *float64      `json:"top_p,omitempty"`
	Stream       bool          `json:"stream,omitempty"`

	answer string // the tool whose input is the answer; "" = there is none
}

type wireTool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"input_schema"`
	CacheControl *cacheControl   `json:"cache_control,omitempty"`
}

type wireChoice struct {
	Type string `json:"type"`
	Name string `json:"name,omitempty"`
	// One is set where the answer comes as a call: a second call would leave it
	// open which of them counts.
	One bool `json:"disable_parallel_tool_use,omitempty"`
}

type wireThinking struct {
	Type   string `json:"type"`
	Budget int    `json:"budget_tokens,omitempty"`
}

type wireOutput struct {
	Effort string      `json:"effort,omitempty"`
	Format *wireFormat `json:"format,omitempty"`
}

type wireFormat struct {
	Type   string          `json:"type"`
	Schema json.RawMessage `json:"schema"`
}

// cacheControl marks the end of a prefix that the server shall keep.
type cacheControl struct {
	Type string `json:"type"`
}

func ephemeral() *cacheControl { return &cacheControl{Type: "ephemeral"} }

// encode returns the body of a request. Equal requests give equal bytes. Unlike
// json.Marshal it leaves <, > and & alone, which skills hold a lot.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// request puts req into the protocol's form.
func (c *Client) request(req model.Request) (*wireRequest, error) {
	w := &wireRequest{Model: req.Model, MaxTokens: req.MaxTokens, Temperature: req.Temperature, TopP: req.TopP, Stream: c.o.Stream}
	if w.MaxTokens == 0 {
		w.MaxTokens = c.o.MaxTokens
	}
	if c.o.Sampling == SamplingNone {
		w.Temperature, w.TopP = nil, nil
	}
	if c.o.Sampling == SamplingOne && w.Temperature != nil {
		w.TopP = nil
	}
	var err error
	if w.System, w.Messages, err = conversation(req.Messages); err != nil {
		return nil, err
	}
	if err := c.think(w, req.ReasoningEffort); err != nil {
		return nil, err
	}
	w.offer(req.Tools, req.ToolChoice)
	if req.Schema != nil {
		c.structure(w, *req.Schema)
	}
	if !c.o.NoCache {
		w.mark(len(req.Tools) > 0)
	}
	return w, nil
}

// effortOff are the efforts that ask for no thinking at all.
func effortOff(effort string) bool { return effort == "none" || effort == "off" }

// think sets how much the model shall think. An effort that other vendors have
// below low is low here.
func (c *Client) think(w *wireRequest, effort string) error {
	switch {
	case effort == "" || c.o.Thinking == ThinkNone:
		return nil
	case effortOff(effort) && c.o.AlwaysThinks:
		return nil
	case effortOff(effort):
		w.Thinking = &wireThinking{Type: "disabled"}
		return nil
	case c.o.Thinking == ThinkBudget:
		budget, err := effortBudget(effort, w.MaxTokens)
		if err != nil {
			return err
		}
		w.Thinking = &wireThinking{Type: "enabled", Budget: budget}
		return nil
	case effort == "minimal":
		effort = "low"
	}
	w.Thinking = &wireThinking{Type: "adaptive"}
	w.OutputConfig = &wireOutput{Effort: effort}
	return nil
}

// leastBudget is what the protocol demands as a budget of thinking.
const leastBudget = 1024

// effortBudget returns the tokens that an effort is worth. They are part of the limit
// of output tokens, of which at least a quarter is left for the answer.
func effortBudget(effort string, limit int) (int, error) {
	budgets := map[string]int{"minimal": leastBudget, "low": 2048, "medium": 8192, "high": 16384, "xhigh": 32768, "max": 65536}
	budget, ok := budgets[effort]
	if !ok {
		return 0, fmt.Errorf("reasoning effort %q: allowed are none, minimal, low, medium, high, xhigh and max", effort)
	}
	budget = min(budget, limit/4*3)
	if budget < leastBudget {
		return 0, fmt.Errorf("max_tokens %d: too small to think: it holds the thinking too, which takes at least %d tokens; raise it or set no reasoning effort", limit, leastBudget)
	}
	return budget, nil
}

// offer sets the tools. A choice without tools means nothing.
func (w *wireRequest) offer(tools []model.Tool, choice string) {
	for _, t := range tools {
		w.Tools = append(w.Tools, wireTool{Name: t.Name, Description: t.Description, InputSchema: parameters(t.Parameters)})
	}
	if len(tools) == 0 {
		return
	}
	switch choice {
	case "":
	case model.ToolChoiceAuto, model.ToolChoiceNone:
		w.ToolChoice = &wireChoice{Type: choice}
	case model.ToolChoiceRequired:
		w.ToolChoice = &wireChoice{Type: "any"}
	default:
		w.ToolChoice = &wireChoice{Type: "tool", Name: choice}
	}
}

// parameters returns a tool's schema. The protocol demands one.
func parameters(schema json.RawMessage) json.RawMessage {
	if len(schema) == 0 {
		return json.RawMessage(`{"type":"object"}`)
	}
	return schema
}

// structure asks for an answer of the schema.
func (c *Client) structure(w *wireRequest, s model.Schema) {
	switch c.o.Structured {
	case StructuredNative:
		if w.OutputConfig == nil {
			w.OutputConfig = &wireOutput{}
		}
		w.OutputConfig.Format = &wireFormat{Type: "json_schema", Schema: s.JSON}
	case StructuredTool:
		w.answerByTool(s, c.o.AlwaysThinks || w.Thinking != nil && w.Thinking.Type != "disabled")
	}
}

// answerByTool adds a tool that takes the answer. The model must call it if it
// has no other tools, and some tool if it has. A thinking model cannot be forced
// to: it is instructed.
func (w *wireRequest) answerByTool(s model.Schema, thinks bool) {
	w.answer = freeName(s.Name, w.Tools)
	w.Tools = append(w.Tools, wireTool{
		Name:        w.answer,
		Description: "Takes the final answer. Call it once, with the whole answer as its input.",
		InputSchema: parameters(s.JSON),
	})
	switch {
	case thinks:
		if w.ToolChoice == nil || w.ToolChoice.Type == "none" {
			w.ToolChoice = &wireChoice{Type: "auto"}
		}
		w.System = append(w.System, block{Type: "text", Text: "Give your final answer by calling the tool " + w.answer + ", and in no other way."})
	case len(w.Tools) == 1, w.ToolChoice != nil && w.ToolChoice.Type == "none":
		w.ToolChoice = &wireChoice{Type: "tool", Name: w.answer}
	case w.ToolChoice == nil || w.ToolChoice.Type == "auto":
		w.ToolChoice = &wireChoice{Type: "any"}
	}
	w.ToolChoice.One = true
}

// freeName makes a name that the protocol allows and no tool has.
func freeName(wish string, tools []wireTool) string {
	allowed := func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}
	name := strings.Map(allowed, wish)
	name = name[:min(len(name), 56)]
	if name == "" {
		name = "answer"
	}
	for slices.ContainsFunc(tools, func(t wireTool) bool { return t.Name == name }) {
		name += "_"
	}
	return name
}

// mark sets the ends of what the server shall keep, in the order in which a
// prompt is read: the last tool, the last system text, and places in the
// conversation. Of these the first two are the same for all tasks of a batch. A
// chat may be asked the same again with another last message: its last message
// but one is marked. A loop of calls and results continues from all that it has sent:
// its last message is marked, which the next request reads, and the one that the
// request before this one ended with, which is found by that however many blocks
// have come since. The protocol allows four.
func (w *wireRequest) mark(loop bool) {
	if n := len(w.Tools); n > 0 {
		w.Tools[n-1].CacheControl = ephemeral()
	}
	if n := len(w.System); n > 0 {
		w.System[n-1].CacheControl = ephemeral()
	}
	n := len(w.Messages)
	switch {
	case loop:
		markLast(w.Messages[n-1].Content)
		if n > 2 {
			markLast(w.Messages[n-3].Content)
		}
	case n > 1:
		markLast(w.Messages[n-2].Content)
	}
}

// markLast marks the last block that can be marked: thoughts cannot.
func markLast(content []block) {
	for i := len(content) - 1; i >= 0; i-- {
		if content[i].raw == nil {
			content[i].CacheControl = ephemeral()
			return
		}
	}
}

var errNoMessages = errors.New("encode request: it has no messages but the system's")
