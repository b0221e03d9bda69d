package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
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
	given, args := map[string]json.RawMessage{}, Args{}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &given); err != nil { // null is as good as none
			return nil, fmt.Errorf("the arguments are not an object")
		}
	}
	for _, p := range t.Params {
		text, there := given[p.Name]
		if !there && p.Required {
			return nil, fmt.Errorf("%s is missing: %s", p.Name, p.Description)
		}
		if !there {
			continue
		}
		v, err := p.parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		args[p.Name] = v
		delete(given, p.Name)
	}
	for name := range given {
		return nil, fmt.Errorf("there is no argument %.60q; allowed are: %s", name, strings.Join(t.names(), ", "))
	}
	return args, nil
}

func (t Tool) names() []string {
	out := []string{}
	for _, p := range t.Params {
		out = append(out, p.Name)
	}
	if len(out) == 0 {
		return []string{"none"}
	}
	return out
}

// parse reads a value.
func (p Param) parse(raw json.RawMessage) (any, error) {
	var err error
	d := json.NewDecoder(bytes.NewReader(raw))
	switch raw = bytes.TrimSpace(raw); {
	case string(raw) == "null":
	case p.Type == Text:
		var v string
		if err = d.Decode(&v); err == nil {
			return v, checkText(v)
		}
	case p.Type == Integer:
		var v int
		if err = d.Decode(&v); err == nil {
			return v, nil
		}
	case p.Type == Boolean:
		var v bool
		if err = d.Decode(&v); err == nil {
			return v, nil
		}
	case p.Type == Texts:
		var v []*string
		if err = d.Decode(&v); err == nil && !slices.Contains(v, nil) {
			return checkTexts(v)
		}
	}
	return nil, fmt.Errorf("found %.60s, allowed: %s", raw, map[string]string{Text: "a text", Integer: "a whole number", Boolean: "true or false", Texts: "a list of texts"}[p.Type])
}

func checkText(v string) error {
	switch {
	case len(v) > maxText:
		return fmt.Errorf("it has %d bytes, allowed are %d", len(v), maxText)
	case strings.ContainsRune(v, 0):
		return fmt.Errorf("it holds a NUL character")
	}
	return nil
}

func checkTexts(given []*string) (out []string, err error) {
	if len(given) > maxTexts {
		return nil, fmt.Errorf("it has %d items, allowed are %d", len(given), maxTexts)
	}
	for _, v := range given {
		if err := checkText(*v); err != nil {
			return nil, err
		}
		out = append(out, *v)
	}
	return out, nil
}
