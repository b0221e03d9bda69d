package gemini

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"google.golang.org/genai"

	"github.com/seed-f4525e22/skillopt/model"
)

// request is a request in the protocol's form.
type request struct {
	model    string
	contents []content
	config   *genai.GenerateContentConfig
	tags     model.Tags
	ids      *ids
	passage  *model.Passage // nil: the request is our own
	body     []byte         // of a passage
}

// request puts req into the protocol's form.
func (c *Client) request(req model.Request) (*request, error) {
	system, contents, err := conversation(req.Messages)
	if err != nil {
		return nil, err
	}
	config := &genai.GenerateContentConfig{
		MaxOutputTokens: int32(min(max(req.MaxTokens, 0), math.MaxInt32)),
	}
	if config.Temperature, err = single("temperature", req.Temperature); err != nil {
		return nil, err
	}
	if config.TopP, err = single("top_p", req.TopP); err != nil {
		return nil, err
	}
	if req.Seed != nil {
		seed := int32(*req.Seed & math.MaxInt32)
		config.Seed = &seed
	}
	if len(system) > 0 {
		config.SystemInstruction = &genai.Content{Parts: system}
	}
	if req.Schema != nil && c.o.Structured {
		if err := checkJSON("the schema "+req.Schema.Name, req.Schema.JSON); err != nil {
			return nil, err
		}
		config.ResponseMIMEType, config.ResponseJsonSchema = "application/json", req.Schema.JSON
	}
	if err := offer(config, req.Tools, req.ToolChoice); err != nil {
		return nil, err
	}
	config.ThinkingConfig, err = c.think(req.ReasoningEffort)
	return &request{model: req.Model, contents: contents, config: config, tags: req.Tags, ids: newIDs(req.Messages)}, err
}

// single puts a number into the protocol's precision. The SDK would send an
// empty request for one that JSON does not know.
func single(what string, n *float64) (*float32, error) {
	if n == nil {
		return nil, nil
	}
	f := float32(*n)
	if math.IsNaN(*n) || math.IsInf(float64(f), 0) {
		return nil, fmt.Errorf("%s %v: not a number that can be sent", what, *n)
	}
	return &f, nil
}

// checkJSON is for what the SDK would silently send as nothing.
func checkJSON(what string, raw json.RawMessage) error {
	if !json.Valid(raw) {
		return fmt.Errorf("%s is no JSON", what)
	}
	return nil
}

// offer sets the tools. A choice without tools means nothing.
func offer(config *genai.GenerateContentConfig, tools []model.Tool, choice string) error {
	if len(tools) == 0 {
		return nil
	}
	offered := &genai.Tool{}
	for _, t := range tools {
		f := &genai.FunctionDeclaration{Name: t.Name, Description: t.Description}
		if len(t.Parameters) > 0 {
			if err := checkJSON("the schema of the tool "+t.Name, t.Parameters); err != nil {
				return err
			}
			f.ParametersJsonSchema = t.Parameters
		}
		offered.FunctionDeclarations = append(offered.FunctionDeclarations, f)
	}
	config.Tools = []*genai.Tool{offered}
	if choice != "" {
		config.ToolConfig = &genai.ToolConfig{FunctionCallingConfig: calling(choice)}
	}
	return nil
}

func calling(choice string) *genai.FunctionCallingConfig {
	switch choice {
	case model.ToolChoiceAuto:
		return &genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeAuto}
	case model.ToolChoiceNone:
		return &genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeNone}
	case model.ToolChoiceRequired:
		return &genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeAny}
	}
	return &genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeAny, AllowedFunctionNames: []string{choice}}
}

// think sets how much the model shall think.
func (c *Client) think(effort string) (*genai.ThinkingConfig, error) {
	if c.o.Thinking == ThinkNone {
		return nil, nil
	}
	t := &genai.ThinkingConfig{IncludeThoughts: c.o.Thoughts}
	switch {
	case effort == "" && !c.o.Thoughts:
		return nil, nil
	case effort == "":
	case c.o.Thinking == ThinkBudget:
		budget, err := c.budget(effort)
		if err != nil {
			return nil, err
		}
		t.ThinkingBudget = &budget
	default:
		t.ThinkingLevel = level(effort)
	}
	return t, nil
}

// level is an effort in the words of the protocol, which knows none that is less
// than minimal and none that is more than high.
func level(effort string) genai.ThinkingLevel {
	switch effort {
	case "none", "off":
		return genai.ThinkingLevelMinimal
	case "xhigh", "max":
		return genai.ThinkingLevelHigh
	}
	return genai.ThinkingLevel(strings.ToUpper(effort))
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

var errNoMessages = errors.New("it has no messages besides the system's")
