package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Kinds of parameters.
const (
	Text    = "string"
	Integer = "integer"
	Boolean = "boolean"
	Texts   = "array" // of strings
)

// Bounds of what a model may name.
const (
	maxText  = 4096 // bytes
	maxTexts = 64
)

// Tool is what a model may call.
type Tool struct {
	Name, Title, Description string
	Params                   []Param
	Writes                   bool // it changes something, or costs something
	Destructive              bool // it changes what is not its own

	// Run carries out a call whose arguments keep to Params. An error is an answer for the model.
	Run func(ctx context.Context, c *Call) (string, error)
}

// Param is an argument of a tool.
type Param struct {
	Name, Description string
	Type              string
	Required          bool
}

// Args are arguments by name: string, int, bool or []string.
type Args map[string]any

// Call is a call of a tool.
type Call struct {
	*Peer

	Args  Args
	token any // of progress; nil: the client wants to hear of none
}

// describe returns the tool as the protocol has it.
func (t Tool) describe() *sdk.Tool {
	properties, required := map[string]any{}, []string{}
	for _, p := range t.Params {
		d := map[string]any{"type": p.Type, "description": p.Description}
		switch p.Type {
		case Text:
			d["maxLength"] = maxText
		case Texts:
			d["items"], d["maxItems"] = map[string]any{"type": "string", "maxLength": maxText}, maxTexts
		}
		if properties[p.Name] = d; p.Required {
			required = append(required, p.Name)
		}
	}
	closed := false
	return &sdk.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description,
		InputSchema: marshal(map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}),
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: !t.Writes, DestructiveHint: &t.Destructive, OpenWorldHint: &closed},
	}
}

// answer carries out a call.
func (t Tool) answer(ctx context.Context, slots chan struct{}, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	args, err := t.parse(r.Params.Arguments)
	if err != nil {
		return newAnswer("", fmt.Errorf("%s: %w", t.Name, err)), nil
	}
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	text, err := t.Run(ctx, &Call{Peer: &Peer{r.Session}, Args: args, token: r.Params.GetProgressToken()})
	return newAnswer(text, err), nil
}

func newAnswer(text string, err error) *sdk.CallToolResult {
	out := &sdk.CallToolResult{IsError: err != nil}
	if err != nil {
		out.Content = append(out.Content, &sdk.TextContent{Text: cutText(err.Error(), maxAnswer)})
	}
	if text != "" {
		out.Content = append(out.Content, &sdk.TextContent{Text: cutText(text, maxAnswer)})
	}
	return out
}

// parse checks arguments.
func (t Tool) parse(raw json.RawMessage) (Args, error) {
	given, args, names := map[string]json.RawMessage{}, Args{}, []string{}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &given); err != nil { // null is as good as none
			return nil, fmt.Errorf("the arguments are not an object")
		}
	}
	for _, p := range t.Params {
		names = append(names, p.Name)
		text, there := given[p.Name]
		switch delete(given, p.Name); {
		case !there && p.Required:
			return nil, fmt.Errorf("%s is missing: %s", p.Name, p.Description)
		case !there:
			continue
		}
		var err error
		if args[p.Name], err = p.parse(text); err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	for name := range given {
		return nil, fmt.Errorf("there is no argument %.60q; allowed are: %s", name, cmp.Or(strings.Join(names, ", "), "none"))
	}
	return args, nil
}

// parse reads a value.
func (p Param) parse(raw json.RawMessage) (v any, err error) {
	allowed := ""
	switch p.Type {
	case Integer:
		v, allowed = decode[int](raw), "a whole number"
	case Boolean:
		v, allowed = decode[bool](raw), "true or false"
	case Texts:
		v, allowed = decode[[]string](raw), fmt.Sprintf("a list of at most %d texts", maxTexts)
	default:
		v, allowed = decode[string](raw), "a text"
	}
	list, many := v.([]string)
	if text, one := v.(string); one {
		list = []string{text}
	}
	for _, text := range list {
		if len(text) > maxText || strings.ContainsRune(text, 0) {
			v, allowed = nil, fmt.Sprintf("a text of at most %d bytes without NUL", maxText)
		}
	}
	if v == nil || many && len(list) > maxTexts {
		return nil, fmt.Errorf("found %.60s, allowed: %s", raw, allowed)
	}
	return v, nil
}

// decode reads a value of a type, nil if it is of another.
func decode[T any](raw json.RawMessage) any {
	var v *T
	if json.Unmarshal(raw, &v) != nil || v == nil {
		return nil
	}
	return *v
}
