//go:build cloud

package gateway

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	ant "github.com/anthropics/anthropic-sdk-go"
	antopt "github.com/anthropics/anthropic-sdk-go/option"
	oai "github.com/openai/openai-go/v3"
	oaiopt "github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
	"google.golang.org/genai"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// answer is what a client of a vendor understood.
type answer struct {
	Text    string
	Thought string
	Calls   []model.ToolCall
	Finish  string
	Usage   trajectory.Usage
}

// vendor asks through the client of a vendor: it writes req as that client does.
type vendor func(t *testing.T, url, key string, req model.Request, stream bool) (answer, error)

func vendors() map[Wire]vendor {
	return map[Wire]vendor{Chat: askChat, Responses: askResponses, Messages: askMessages, Gemini: askGemini}
}

func schemaOf(raw json.RawMessage) map[string]any {
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		panic(err)
	}
	return m
}

func imageURL(i model.Image) string {
	return "data:" + i.MIME + ";base64," + base64.StdEncoding.EncodeToString(i.Data)
}

// partsOf are the parts of a message, also of one that is text only.
func partsOf(m model.Message) []model.Part {
	if m.Parts != nil {
		return m.Parts
	}
	return []model.Part{{Text: m.Content}}
}

func oaiOptions(t *testing.T, url, key string) []oaiopt.RequestOption {
	return []oaiopt.RequestOption{oaiopt.WithBaseURL(url + "/v1"), oaiopt.WithAPIKey(key), oaiopt.WithMaxRetries(0), oaiopt.WithHTTPClient(agent(t))}
}

// ---- Chat Completions

func chatParams(req model.Request) oai.ChatCompletionNewParams {
	p := oai.ChatCompletionNewParams{Model: req.Model, ReasoningEffort: shared.ReasoningEffort(req.ReasoningEffort)}
	if req.MaxTokens > 0 {
		p.MaxCompletionTokens = param.NewOpt(int64(req.MaxTokens))
	}
	if req.Temperature != nil {
		p.Temperature = param.NewOpt(*req.Temperature)
	}
	if req.Seed != nil {
		p.Seed = param.NewOpt(*req.Seed)
	}
	for _, m := range req.Messages {
		p.Messages = append(p.Messages, chatMessages(m)...)
	}
	for _, t := range req.Tools {
		p.Tools = append(p.Tools, oai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: t.Name, Description: param.NewOpt(t.Description), Parameters: schemaOf(t.Parameters),
		}))
	}
	switch c := req.ToolChoice; c {
	case "":
	case model.ToolChoiceAuto, model.ToolChoiceNone, model.ToolChoiceRequired:
		p.ToolChoice.OfAuto = param.NewOpt(c)
	default:
		p.ToolChoice = oai.ToolChoiceOptionFunctionToolChoice(oai.ChatCompletionNamedToolChoiceFunctionParam{Name: c})
	}
	if req.Schema != nil {
		p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: req.Schema.Name, Schema: schemaOf(req.Schema.JSON)},
		}
	}
	return p
}

func chatMessages(m model.Message) []oai.ChatCompletionMessageParamUnion {
	switch m.Role {
	case model.System:
		return []oai.ChatCompletionMessageParamUnion{oai.SystemMessage(m.Text())}
	case model.User:
		var parts []oai.ChatCompletionContentPartUnionParam
		for _, p := range partsOf(m) {
			if p.Image != nil {
				parts = append(parts, oai.ImageContentPart(oai.ChatCompletionContentPartImageImageURLParam{URL: imageURL(*p.Image)}))
			} else {
				parts = append(parts, oai.TextContentPart(p.Text))
			}
		}
		return []oai.ChatCompletionMessageParamUnion{oai.UserMessage(parts)}
	case model.ToolRole:
		var out []oai.ChatCompletionMessageParamUnion
		for _, p := range m.Parts {
			out = append(out, oai.ToolMessage(p.Result.Content, p.Result.CallID))
		}
		return out
	}
	a := oai.ChatCompletionAssistantMessageParam{}
	if s := m.Text(); s != "" {
		a.Content.OfString = param.NewOpt(s)
	}
	for _, p := range m.Parts {
		if p.Call != nil {
			a.ToolCalls = append(a.ToolCalls, oai.ChatCompletionMessageToolCallUnionParam{OfFunction: &oai.ChatCompletionMessageFunctionToolCallParam{
				ID: p.Call.ID, Function: oai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: p.Call.Name, Arguments: string(p.Call.Arguments)},
			}})
		}
	}
	return []oai.ChatCompletionMessageParamUnion{{OfAssistant: &a}}
}

func askChat(t *testing.T, url, key string, req model.Request, stream bool) (answer, error) {
	c := oai.NewClient(oaiOptions(t, url, key)...)
	p := chatParams(req)
	if !stream {
		res, err := c.Chat.Completions.New(t.Context(), p)
		if err != nil {
			return answer{}, err
		}
		return chatUnderstood(res), nil
	}
	p.StreamOptions.IncludeUsage = param.NewOpt(true)
	s := c.Chat.Completions.NewStreaming(t.Context(), p)
	defer s.Close()
	var acc oai.ChatCompletionAccumulator
	var usage oai.CompletionUsage // the accumulator passes over tokens written to a cache
	for s.Next() {
		usage = s.Current().Usage
		if !acc.AddChunk(s.Current()) {
			return answer{}, fmt.Errorf("the accumulator refuses %s", s.Current().RawJSON())
		}
	}
	if s.Err() != nil {
		return answer{}, s.Err()
	}
	acc.Usage = usage
	return chatUnderstood(&acc.ChatCompletion), nil
}

func chatUnderstood(res *oai.ChatCompletion) answer {
	m, u := res.Choices[0].Message, res.Usage
	a := answer{Text: m.Content, Finish: res.Choices[0].FinishReason, Usage: trajectory.Usage{
		Input: u.PromptTokens, Output: u.CompletionTokens, Cached: u.PromptTokensDetails.CachedTokens,
		CacheWrite: u.PromptTokensDetails.CacheWriteTokens, Reasoning: u.CompletionTokensDetails.ReasoningTokens,
	}}
	if m.Refusal != "" {
		a.Text, a.Finish = m.Refusal, "refusal"
	}
	for _, c := range m.ToolCalls {
		a.Calls = append(a.Calls, model.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: json.RawMessage(c.Function.Arguments)})
	}
	return a
}

// ---- Responses

func responsesParams(req model.Request) responses.ResponseNewParams {
	p := responses.ResponseNewParams{
		Model: req.Model, Store: param.NewOpt(false), Include: []responses.ResponseIncludable{"reasoning.encrypted_content"},
		Reasoning: shared.ReasoningParam{Effort: shared.ReasoningEffort(req.ReasoningEffort)},
	}
	if req.MaxTokens > 0 {
		p.MaxOutputTokens = param.NewOpt(int64(req.MaxTokens))
	}
	if req.Temperature != nil {
		p.Temperature = param.NewOpt(*req.Temperature)
	}
	for _, m := range req.Messages {
		p.Input.OfInputItemList = append(p.Input.OfInputItemList, responsesItems(m)...)
	}
	for _, t := range req.Tools {
		tool := responses.ToolParamOfFunction(t.Name, schemaOf(t.Parameters), false)
		tool.OfFunction.Description = param.NewOpt(t.Description)
		p.Tools = append(p.Tools, tool)
	}
	switch c := req.ToolChoice; c {
	case "":
	case model.ToolChoiceAuto, model.ToolChoiceNone, model.ToolChoiceRequired:
		p.ToolChoice.OfToolChoiceMode = param.NewOpt(responses.ToolChoiceOptions(c))
	default:
		p.ToolChoice.OfFunctionTool = &responses.ToolChoiceFunctionParam{Name: c}
	}
	if req.Schema != nil {
		p.Text.Format = responses.ResponseFormatTextConfigParamOfJSONSchema(req.Schema.Name, schemaOf(req.Schema.JSON))
	}
	return p
}

func responsesItems(m model.Message) []responses.ResponseInputItemUnionParam {
	var out []responses.ResponseInputItemUnionParam
	var said responses.ResponseInputMessageContentListParam
	for _, p := range partsOf(m) {
		switch {
		case p.Image != nil:
			said = append(said, responses.ResponseInputContentUnionParam{OfInputImage: &responses.ResponseInputImageParam{
				ImageURL: param.NewOpt(imageURL(*p.Image)), Detail: "auto",
			}})
		case p.Call != nil:
			out = append(out, responses.ResponseInputItemParamOfFunctionCall(string(p.Call.Arguments), p.Call.ID, p.Call.Name))
		case p.Result != nil:
			item := responses.ResponseInputItemParamOfFunctionCallOutput(p.Result.Content)
			item.OfFunctionCallOutput.CallID = param.NewOpt(p.Result.CallID)
			out = append(out, item)
		case p.Reasoning != nil:
			var item responses.ResponseReasoningItemParam
			if err := json.Unmarshal(p.Reasoning.Opaque, &item); err != nil {
				panic(err)
			}
			out = append(out, responses.ResponseInputItemUnionParam{OfReasoning: &item})
		case m.Role == model.Assistant:
			out = append(out, responses.ResponseInputItemParamOfMessage(p.Text, responses.EasyInputMessageRoleAssistant))
		default:
			said = append(said, responses.ResponseInputContentUnionParam{OfInputText: &responses.ResponseInputTextParam{Text: p.Text}})
		}
	}
	if said != nil {
		out = append(out, responses.ResponseInputItemParamOfMessage(said, responses.EasyInputMessageRole(m.Role)))
	}
	return out
}

func askResponses(t *testing.T, url, key string, req model.Request, stream bool) (answer, error) {
	c := oai.NewClient(oaiOptions(t, url, key)...)
	p := responsesParams(req)
	if !stream {
		res, err := c.Responses.New(t.Context(), p)
		if err != nil {
			return answer{}, err
		}
		return responsesUnderstood(res), nil
	}
	s := c.Responses.NewStreaming(t.Context(), p)
	defer s.Close()
	var acc responses.ResponseAccumulator
	seq := int64(0)
	for s.Next() {
		e := s.Current()
		if e.SequenceNumber != seq {
			return answer{}, fmt.Errorf("event %d has number %d", seq, e.SequenceNumber)
		}
		seq++
		var u responses.ResponsesServerEventUnion
		if err := json.Unmarshal([]byte(e.RawJSON()), &u); err != nil {
			return answer{}, err
		}
		if err := acc.AddEvent(u); err != nil {
			return answer{}, err
		}
		if e.Type == "response.failed" {
			return answer{}, fmt.Errorf("%s: %s", e.Response.Error.Code, e.Response.Error.Message)
		}
	}
	if s.Err() != nil {
		return answer{}, s.Err()
	}
	res, err := acc.ReconstructedResponse()
	if err != nil {
		return answer{}, err
	}
	if got := acc.Snapshot().OutputText(); got != res.OutputText() {
		return answer{}, fmt.Errorf("the deltas say %q and the end %q", got, res.OutputText())
	}
	return responsesUnderstood(res), nil
}

func responsesUnderstood(res *responses.Response) answer {
	u := res.Usage
	a := answer{Text: res.OutputText(), Finish: string(res.Status), Usage: trajectory.Usage{
		Input: u.InputTokens, Output: u.OutputTokens, Cached: u.InputTokensDetails.CachedTokens,
		CacheWrite: u.InputTokensDetails.CacheWriteTokens, Reasoning: u.OutputTokensDetails.ReasoningTokens,
	}}
	if res.IncompleteDetails.Reason != "" {
		a.Finish = string(res.IncompleteDetails.Reason)
	}
	for _, item := range res.Output {
		switch v := item.AsAny().(type) {
		case responses.ResponseFunctionToolCall:
			a.Calls = append(a.Calls, model.ToolCall{ID: v.CallID, Name: v.Name, Arguments: json.RawMessage(v.Arguments)})
		case responses.ResponseReasoningItem:
			a.Thought += v.RawJSON()
		case responses.ResponseOutputMessage:
			for _, c := range v.Content {
				if c.Refusal != "" {
					a.Text, a.Finish = c.Refusal, "refusal"
				}
			}
		}
	}
	return a
}

// ---- Messages

func messagesParams(req model.Request) ant.MessageNewParams {
	p := ant.MessageNewParams{Model: ant.Model(req.Model), MaxTokens: int64(req.MaxTokens)}
	if req.Temperature != nil {
		p.Temperature = ant.Float(*req.Temperature)
	}
	p.OutputConfig.Effort = ant.OutputConfigEffort(req.ReasoningEffort)
	for _, m := range req.Messages {
		switch m.Role {
		case model.System:
			p.System = append(p.System, ant.TextBlockParam{Text: m.Text()})
		case model.Assistant:
			p.Messages = append(p.Messages, ant.NewAssistantMessage(messagesBlocks(m)...))
		default:
			p.Messages = append(p.Messages, ant.NewUserMessage(messagesBlocks(m)...))
		}
	}
	for _, t := range req.Tools {
		s := schemaOf(t.Parameters)
		tool := ant.ToolUnionParamOfTool(ant.ToolInputSchemaParam{Properties: s["properties"]}, t.Name)
		tool.OfTool.Description = ant.String(t.Description)
		p.Tools = append(p.Tools, tool)
	}
	switch c := req.ToolChoice; c {
	case "":
	case model.ToolChoiceAuto:
		p.ToolChoice.OfAuto = &ant.ToolChoiceAutoParam{}
	case model.ToolChoiceNone:
		p.ToolChoice.OfNone = &ant.ToolChoiceNoneParam{}
	case model.ToolChoiceRequired:
		p.ToolChoice.OfAny = &ant.ToolChoiceAnyParam{}
	default:
		p.ToolChoice = ant.ToolChoiceParamOfTool(c)
	}
	if req.Schema != nil {
		p.OutputConfig.Format = ant.JSONOutputFormatParam{Schema: schemaOf(req.Schema.JSON)}
	}
	return p
}

func messagesBlocks(m model.Message) []ant.ContentBlockParamUnion {
	var out []ant.ContentBlockParamUnion
	for _, p := range partsOf(m) {
		switch {
		case p.Image != nil:
			out = append(out, ant.NewImageBlockBase64(p.Image.MIME, base64.StdEncoding.EncodeToString(p.Image.Data)))
		case p.Call != nil:
			out = append(out, ant.NewToolUseBlock(p.Call.ID, p.Call.Arguments, p.Call.Name))
		case p.Result != nil:
			out = append(out, ant.NewToolResultBlock(p.Result.CallID, p.Result.Content, p.Result.IsError))
		case p.Reasoning != nil:
			var b ant.ThinkingBlockParam
			if err := json.Unmarshal(p.Reasoning.Opaque, &b); err != nil {
				panic(err)
			}
			out = append(out, ant.ContentBlockParamUnion{OfThinking: &b})
		default:
			out = append(out, ant.NewTextBlock(p.Text))
		}
	}
	return out
}

func askMessages(t *testing.T, url, key string, req model.Request, stream bool) (answer, error) {
	c := ant.NewClient(antopt.WithBaseURL(url), antopt.WithAPIKey(key), antopt.WithMaxRetries(0), antopt.WithHTTPClient(agent(t)))
	p := messagesParams(req)
	if !stream {
		res, err := c.Messages.New(t.Context(), p)
		if err != nil {
			return answer{}, err
		}
		return messagesUnderstood(res), nil
	}
	s := c.Messages.NewStreaming(t.Context(), p)
	defer s.Close()
	var acc ant.Message
	for s.Next() {
		if err := acc.Accumulate(s.Current()); err != nil {
			return answer{}, err
		}
	}
	if s.Err() != nil {
		return answer{}, s.Err()
	}
	return messagesUnderstood(&acc), nil
}

func messagesUnderstood(res *ant.Message) answer {
	u := res.Usage
	a := answer{Finish: string(res.StopReason), Usage: trajectory.Usage{
		Input:  u.InputTokens + u.CacheReadInputTokens + u.CacheCreationInputTokens,
		Output: u.OutputTokens, Cached: u.CacheReadInputTokens, CacheWrite: u.CacheCreationInputTokens,
	}}
	for _, b := range res.Content {
		switch v := b.AsAny().(type) {
		case ant.TextBlock:
			a.Text += v.Text
		case ant.ThinkingBlock:
			a.Thought += v.Thinking + "|" + v.Signature
		case ant.ToolUseBlock:
			a.Calls = append(a.Calls, model.ToolCall{ID: v.ID, Name: v.Name, Arguments: v.Input})
		}
	}
	return a
}

// ---- Gemini

func geminiConfig(req model.Request) *genai.GenerateContentConfig {
	c := &genai.GenerateContentConfig{MaxOutputTokens: int32(req.MaxTokens)}
	if req.Temperature != nil {
		f := float32(*req.Temperature)
		c.Temperature = &f
	}
	if req.Seed != nil {
		s := int32(*req.Seed)
		c.Seed = &s
	}
	if req.ReasoningEffort != "" {
		c.ThinkingConfig = &genai.ThinkingConfig{ThinkingLevel: genai.ThinkingLevel(req.ReasoningEffort)}
	}
	for _, t := range req.Tools {
		c.Tools = append(c.Tools, &genai.Tool{FunctionDeclarations: []*genai.FunctionDeclaration{
			{Name: t.Name, Description: t.Description, ParametersJsonSchema: schemaOf(t.Parameters)},
		}})
	}
	if req.ToolChoice != "" {
		calling := &genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeAny}
		switch req.ToolChoice {
		case model.ToolChoiceAuto:
			calling.Mode = genai.FunctionCallingConfigModeAuto
		case model.ToolChoiceNone:
			calling.Mode = genai.FunctionCallingConfigModeNone
		case model.ToolChoiceRequired:
		default:
			calling.AllowedFunctionNames = []string{req.ToolChoice}
		}
		c.ToolConfig = &genai.ToolConfig{FunctionCallingConfig: calling}
	}
	if req.Schema != nil {
		c.ResponseMIMEType, c.ResponseJsonSchema = "application/json", schemaOf(req.Schema.JSON)
	}
	return c
}

func askGemini(t *testing.T, url, key string, req model.Request, stream bool) (answer, error) {
	ctx := t.Context()
	c, err := genai.NewClient(ctx, &genai.ClientConfig{
		APIKey: key, Backend: genai.BackendGeminiAPI, HTTPClient: agent(t), HTTPOptions: genai.HTTPOptions{BaseURL: url},
	})
	if err != nil {
		return answer{}, err
	}
	config := geminiConfig(req)
	var contents []*genai.Content
	for _, m := range req.Messages {
		content := &genai.Content{Role: "user", Parts: geminiSent(m)}
		switch m.Role {
		case model.System:
			config.SystemInstruction = content
			continue
		case model.Assistant:
			content.Role = "model"
		}
		contents = append(contents, content)
	}
	if !stream {
		res, err := c.Models.GenerateContent(ctx, req.Model, contents, config)
		if err != nil {
			return answer{}, err
		}
		return geminiUnderstood(res), nil
	}
	return geminiStreamed(ctx, c, req.Model, contents, config)
}

func geminiStreamed(ctx context.Context, c *genai.Client, name string, contents []*genai.Content, config *genai.GenerateContentConfig) (answer, error) {
	var last *genai.GenerateContentResponse
	for res, err := range c.Models.GenerateContentStream(ctx, name, contents, config) {
		if err != nil {
			return answer{}, err
		}
		last = res
	}
	if last == nil {
		return answer{}, errors.New("an empty stream")
	}
	return geminiUnderstood(last), nil
}

func geminiSent(m model.Message) []*genai.Part {
	var out []*genai.Part
	for _, p := range partsOf(m) {
		switch {
		case p.Image != nil:
			out = append(out, &genai.Part{InlineData: &genai.Blob{MIMEType: p.Image.MIME, Data: p.Image.Data}})
		case p.Call != nil:
			out = append(out, &genai.Part{FunctionCall: &genai.FunctionCall{ID: p.Call.ID, Name: p.Call.Name, Args: schemaOf(p.Call.Arguments)}})
		case p.Result != nil:
			key := "output"
			if p.Result.IsError {
				key = "error"
			}
			out = append(out, &genai.Part{FunctionResponse: &genai.FunctionResponse{
				ID: p.Result.CallID, Name: p.Result.Name, Response: map[string]any{key: p.Result.Content},
			}})
		default:
			out = append(out, &genai.Part{Text: p.Text})
		}
	}
	return out
}

func geminiUnderstood(res *genai.GenerateContentResponse) answer {
	c := res.Candidates[0]
	a := answer{Finish: string(c.FinishReason)}
	if u := res.UsageMetadata; u != nil {
		a.Usage = trajectory.Usage{
			Input: int64(u.PromptTokenCount), Output: int64(u.CandidatesTokenCount + u.ThoughtsTokenCount),
			Cached: int64(u.CachedContentTokenCount), Reasoning: int64(u.ThoughtsTokenCount),
		}
	}
	for _, p := range c.Content.Parts {
		switch {
		case p.Thought:
			a.Thought += p.Text
		case p.FunctionCall != nil:
			args, err := json.Marshal(p.FunctionCall.Args)
			if err != nil {
				panic(err)
			}
			a.Calls = append(a.Calls, model.ToolCall{ID: p.FunctionCall.ID, Name: p.FunctionCall.Name, Arguments: args})
		default:
			a.Text += p.Text
		}
	}
	return a
}
