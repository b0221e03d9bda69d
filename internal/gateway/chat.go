package gateway

import (
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// openAI is how reasoning of OpenAI's models, and of servers that speak its
// protocols, is marked.
const openAI = "openai"

func chatCodec() codec {
	return codec{wire: Chat, sign: ": waiting\n\n", decode: decodeChat, answer: chatAnswer, stream: newChatStream, refuse: refuseChat}
}

// decodeChat reads the body of POST /v1/chat/completions.
func decodeChat(in inbound) (agentRequest, error) {
	body, err := parseBody(in)
	if err != nil {
		return agentRequest{}, err
	}
	d := chatDecoder{body: body}
	d.q.body = body
	d.q.stream = body.get("stream").isTrue()
	d.q.usage = body.get("stream_options").get("include_usage").isTrue()
	d.q.stop = texts(body.get("stop"))
	d.req = &d.q.req
	d.req.Model = body.get("model").text()
	d.req.MaxTokens = count(body.get("max_completion_tokens", "max_tokens"))
	d.req.Temperature = body.get("temperature").float()
	d.req.TopP = body.get("top_p").float()
	d.req.Seed = body.get("seed").integer()
	d.req.ReasoningEffort = body.get("reasoning_effort").text()
	if d.req.ReasoningEffort == "" {
		d.req.ReasoningEffort = body.get("reasoning").get("effort").text() // as OpenRouter names it
	}
	for _, step := range []func() error{d.options, d.conversation, d.tools, d.choice, d.format} {
		if err := step(); err != nil {
			return agentRequest{}, err
		}
	}
	d.q.settle(&d.conv, d.left)
	return d.q, nil
}

type chatDecoder struct {
	body node
	q    agentRequest
	req  *model.Request
	conv conversation
	left remarks
}

// options looks at what the gateway has no place for.
func (d *chatDecoder) options() error {
	if n := d.body.get("n").integer(); n != nil && *n != 1 {
		return badRequest("n: one answer a request is supported")
	}
	d.left.fields(d.body, "logit_bias", "logprobs", "top_k", "min_p", "modalities", "prediction", "functions", "verbosity")
	if d.body.get("web_search_options").present() {
		d.left.note(LeftOut{Kind: trajectory.HostedTool, What: "web_search_options"})
	}
	for _, name := range []string{"presence_penalty", "frequency_penalty"} {
		if p := d.body.get(name).float(); p != nil && *p != 0 {
			d.left.add(name)
		}
	}
	if d.body.get("parallel_tool_calls").isFalse() {
		d.left.add("parallel_tool_calls")
	}
	return nil
}

func (d *chatDecoder) conversation() error {
	list := d.body.get("messages")
	if !list.isList() {
		return badRequest("messages: expected a list")
	}
	return list.all(d.message)
}

func (d *chatDecoder) message(i int, m node) error {
	switch role := m.get("role").text(); role {
	case "system", "developer":
		return d.addMessage(model.System, m)
	case "user":
		return d.addMessage(model.User, m)
	case "assistant":
		return d.readAnswer(m)
	case "tool":
		return d.result(m)
	default:
		return badRequest("messages.%d: the role is %q, allowed are system, developer, user, assistant and tool", i, role)
	}
}

func (d *chatDecoder) addMessage(role string, m node) error {
	parts, err := d.content(m.get("content"))
	d.conv.say(role, parts...)
	return err
}

// content reads a text or a list of parts.
func (d *chatDecoder) content(n node) ([]model.Part, error) {
	if n.isText() {
		return []model.Part{text(n.text())}, nil
	}
	var parts []model.Part
	for _, b := range n.each() {
		switch b.get("type").text() {
		case "text":
			parts = append(parts, text(b.get("text").text()))
		case "refusal":
			parts = append(parts, text(b.get("refusal").text()))
		case "image_url":
			image, err := d.conv.left.dataURL(b.get("image_url").get("url").text() + b.get("image_url").text())
			if err != nil {
				return nil, err
			}
			parts = append(parts, image)
		default:
			d.conv.left.add("content " + blockKind(b))
			parts = append(parts, missingPart("content of type "+blockKind(b)))
		}
	}
	return parts, nil
}

// chatReasoning returns the reasoning that some servers add to an answer, and that some agents hand
// back. The wire itself has no place for it.
func chatReasoning(m node) []model.Part {
	words, details := m.get("reasoning_content", "reasoning").text(), m.get("reasoning_details")
	if words == "" && !details.isList() {
		return nil
	}
	r := model.Reasoning{Provider: openAI, Text: words}
	if details.isList() {
		r.Opaque = details.bytes()
	}
	return one(model.Part{Reasoning: &r})
}

// readAnswer reads an answer of the model.
func (d *chatDecoder) readAnswer(m node) error {
	parts := chatReasoning(m)
	said, err := d.content(m.get("content"))
	if err != nil {
		return err
	}
	parts = append(parts, said...)
	if refusal := m.get("refusal").text(); refusal != "" {
		parts = append(parts, text(refusal))
	}
	for _, c := range m.get("tool_calls").each() {
		f := c.get("function")
		if !f.isObject() {
			d.conv.left.add("call " + blockKind(c))
			continue
		}
		args, err := arguments(f.get("arguments").text())
		if err != nil {
			return err
		}
		parts = append(parts, call(c.get("id").text(), f.get("name").text(), args))
	}
	d.conv.say(model.Assistant, parts...)
	return nil
}

func (d *chatDecoder) result(m node) error {
	parts, err := d.content(m.get("content"))
	if err != nil {
		return err
	}
	d.conv.result(newToolResult(m.get("tool_call_id").text(), false, parts))
	return nil
}

func (d *chatDecoder) tools() error {
	return d.q.equip(d.body.get("tools"), &d.left, chatTool)
}

func chatTool(t node, to *toolset) error {
	f := t.get("function")
	if !f.isObject() {
		to.left.tool(t)
		return nil
	}
	return to.add(model.Tool{Name: f.get("name").text(), Description: f.get("description").text(), Parameters: parameters(f.get("parameters"))})
}

func (d *chatDecoder) choice() error {
	choice, err := openAIChoice(d.body.get("tool_choice"), &d.left)
	d.req.ToolChoice = choice
	return err
}

// openAIChoice reads tool_choice of both of OpenAI's wires: a word, a tool, or a
// list of allowed ones, of which only the mode is kept.
func openAIChoice(n node, left *remarks) (string, error) {
	if n.isText() {
		switch word := n.text(); word {
		case "auto", "none", "required":
			return word, nil
		default:
			return "", badRequest("tool_choice: %q is unknown, allowed are auto, none, required and a tool", word)
		}
	}
	switch n.get("type").text() {
	case "":
		return "", nil
	case "function", customTool:
		return n.get("function").get("name").text() + n.get("name").text(), nil
	case "allowed_tools":
		left.add("tool_choice.allowed_tools")
		return n.get("allowed_tools").get("mode").text() + n.get("mode").text(), nil
	}
	left.add("tool_choice " + blockKind(n))
	return "", nil
}

func (d *chatDecoder) format() error {
	format := d.body.get("response_format")
	schema := format.get("json_schema")
	var err error
	d.req.Schema, err = openAISchema(format.get("type").text(), schema.get("name"), schema.get("schema"))
	return err
}

// openAISchema returns the form of the answer that is asked for. "json_object" asks for any object.
func openAISchema(kind string, name, schema node) (*model.Schema, error) {
	switch kind {
	case "", "text":
		return nil, nil
	case "json_object":
		return &model.Schema{Name: "answer", JSON: []byte(`{"type":"object"}`)}, nil
	case "json_schema":
		if !schema.isObject() {
			return nil, badRequest("the format json_schema has no schema")
		}
		return &model.Schema{Name: name.text(), JSON: schema.bytes()}, nil
	}
	return nil, badRequest("the format %q is unknown", kind)
}
