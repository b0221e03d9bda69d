package gemini

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/seed-f4525e22/skillopt/model"
)

// request is a request in the protocol's form.
type request struct {
	path    string // of the model
	body    []byte
	stream  bool
	tags    model.Tags
	ids     *ids
	passage *model.Passage // nil: the request is our own
}

// object is one of JSON.
type object = map[string]any

// request puts req into the protocol's form. Equal requests give equal bytes.
func (c *Client) request(req model.Request) (*request, error) {
	path, err := c.modelPath(req.Model)
	if err != nil {
		return nil, err
	}
	system, contents, err := conversation(req.Messages)
	if err != nil {
		return nil, err
	}
	config, err := c.config(req)
	if err != nil {
		return nil, err
	}
	w := object{"contents": contents, "generationConfig": config}
	if len(system) > 0 {
		w["systemInstruction"] = object{"parts": system, "role": roleUser}
	}
	if err := offer(w, req.Tools, req.ToolChoice); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(w); err != nil {
		return nil, err
	}
	return &request{path: path, body: b.Bytes(), stream: c.o.Stream, tags: req.Tags, ids: newIDs(req.Messages)}, nil
}

// config returns how the answer is drawn and formed.
func (c *Client) config(req model.Request) (object, error) {
	config := object{}
	if req.MaxTokens > 0 {
		config["maxOutputTokens"] = min(req.MaxTokens, math.MaxInt32)
	}
	if err := errors.Join(single(config, "temperature", req.Temperature), single(config, "topP", req.TopP)); err != nil {
		return nil, err
	}
	if req.Seed != nil {
		config["seed"] = int32(*req.Seed & math.MaxInt32)
	}
	if req.Schema != nil && c.o.Structured {
		schema, err := decode("the schema "+req.Schema.Name, req.Schema.JSON)
		if err != nil {
			return nil, err
		}
		config["responseMimeType"], config["responseJsonSchema"] = "application/json", schema
	}
	think, err := c.think(req.ReasoningEffort)
	if think != nil {
		config["thinkingConfig"] = think
	}
	return config, err
}

// single sets a number in the protocol's precision, if there is one.
func single(config object, name string, n *float64) error {
	if n == nil {
		return nil
	}
	f := float32(*n)
	if math.IsNaN(*n) || math.IsInf(float64(f), 0) {
		return fmt.Errorf("%s %v: not a number that can be sent", name, *n)
	}
	config[name] = f
	return nil
}

// decode returns a schema as a value, which is written the same however it came.
func decode(what string, raw json.RawMessage) (v any, err error) {
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, fmt.Errorf("%s is no JSON", what)
	}
	return v, nil
}

// offer sets the tools. A choice without tools means nothing.
func offer(w object, tools []model.Tool, choice string) error {
	if len(tools) == 0 {
		return nil
	}
	var offered []object
	for _, t := range tools {
		f := object{"name": t.Name}
		if t.Description != "" {
			f["description"] = t.Description
		}
		if len(t.Parameters) > 0 {
			schema, err := decode("the schema of the tool "+t.Name, t.Parameters)
			if err != nil {
				return err
			}
			f["parametersJsonSchema"] = schema
		}
		offered = append(offered, f)
	}
	w["tools"] = []object{{"functionDeclarations": offered}}
	if choice != "" {
		w["toolConfig"] = object{"functionCallingConfig": callingConfig(choice)}
	}
	return nil
}

func callingConfig(choice string) object {
	switch choice {
	case model.ToolChoiceAuto:
		return object{"mode": "AUTO"}
	case model.ToolChoiceNone:
		return object{"mode": "NONE"}
	case model.ToolChoiceRequired:
		return object{"mode": "ANY"}
	}
	return object{"mode": "ANY", "allowedFunctionNames": []string{choice}}
}

// think returns how much the model shall think; nil says nothing of it.
func (c *Client) think(effort string) (object, error) {
	if c.o.Thinking == ThinkNone || effort == "" && !c.o.Thoughts {
		return nil, nil
	}
	t := object{}
	if c.o.Thoughts {
		t["includeThoughts"] = true
	}
	switch {
	case effort == "":
	case c.o.Thinking == ThinkBudget:
		budget, err := c.budget(effort)
		if err != nil {
			return nil, err
		}
		t["thinkingBudget"] = budget
	default:
		t["thinkingLevel"] = level(effort)
	}
	return t, nil
}

// level returns an effort in the words of the protocol, which knows none that is less than minimal
// and none that is more than high.
func level(effort string) string {
	switch effort {
	case "none", "off":
		return "MINIMAL"
	case "xhigh", "max":
		return "HIGH"
	}
	return strings.ToUpper(effort)
}

// budget returns the tokens that an effort is worth. The highest is what all
// models that take a budget allow.
func (c *Client) budget(effort string) (int32, error) {
	const least = 512
	budgets := map[string]int32{"minimal": least, "low": 2048, "medium": 8192, "high": 16384, "xhigh": 24576, "max": 24576, "none": 0, "off": 0}
	budget, ok := budgets[effort]
	if !ok {
		return 0, fmt.Errorf("reasoning effort %q: allowed are none, minimal, low, medium, high, xhigh and max", effort)
	}
	if c.o.AlwaysThinks {
		budget = max(budget, least)
	}
	return budget, nil
}

var errNoMessages = errors.New("it has no messages but the system's")
