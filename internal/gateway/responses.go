package gateway

import (
	"slices"

	"github.com/seed-f4525e22/skillopt/model"
)

func responsesCodec() codec {
	return codec{
		wire: Responses, sign: ": waiting\n\n", decode: decodeResponses, answer: responsesAnswer, stream: newResponsesStream, refuse: refuseResponses,
		count: func(tokens int64) any { return object{{"object", "response.input_tokens"}, {"input_tokens", tokens}} },
	}
}

// decodeResponses reads the body of POST /v1/responses. Nothing is stored: the
// whole conversation must be in input.
func decodeResponses(in inbound) (agentRequest, error) {
	body, err := parseBody(in)
	if err != nil {
		return agentRequest{}, err
	}
	d := responsesDecoder{body: body}
	d.q.body = body
	d.q.stream = body.get("stream").isTrue()
	d.req = &d.q.req
	d.req.Model = body.get("model").text()
	d.req.MaxTokens = count(body.get("max_output_tokens"))
	d.req.Temperature = body.get("temperature").float()
	d.req.TopP = body.get("top_p").float()
	d.req.ReasoningEffort = body.get("reasoning").get("effort").text()
	for _, step := range []func() error{d.options, d.conversation, d.tools, d.choice, d.format} {
		if err := step(); err != nil {
			return agentRequest{}, err
		}
	}
	d.q.settle(&d.conv, d.left)
	return d.q, nil
}

type responsesDecoder struct {
	body    node
	brought []node // tools that items bring, in addition to those of the request
	q       agentRequest
	req     *model.Request
	conv    conversation
	left    remarks
}

// options looks at what the gateway has no place for.
func (d *responsesDecoder) options() error {
	for _, name := range []string{"previous_response_id", "conversation", "prompt"} {
		if d.body.get(name).present() {
			return badRequest("%s: nothing is stored here; send the whole conversation in input (store: false)", name)
		}
	}
	if d.body.get("background").isTrue() {
		return badRequest("background: not supported")
	}
	if d.body.get("parallel_tool_calls").isFalse() {
		d.left.add("parallel_tool_calls")
	}
	if d.body.get("text").get("verbosity").present() {
		d.left.add("text.verbosity")
	}
	d.left.fields(d.body, "max_tool_calls", "top_logprobs", "context_management")
	return nil
}

func (d *responsesDecoder) conversation() error {
	d.conv.system(d.body.get("instructions").text())
	input := d.body.get("input")
	if input.isText() {
		d.conv.say(model.User, text(input.text()))
		return nil
	}
	if !input.isList() {
		return badRequest("input: expected a text or a list")
	}
	return input.all(d.item)
}

func (d *responsesDecoder) item(i int, item node) error {
	switch kind := item.get("type").text(); kind {
	case "", "message":
		return d.message(i, item)
	case "function_call":
		args, err := arguments(item.get("arguments").text())
		d.conv.say(model.Assistant, call(item.get("call_id").text(), d.toolName(item), args))
		return err
	case "custom_tool_call":
		d.conv.say(model.Assistant, call(item.get("call_id").text(), d.toolName(item), wrapInput(item.get("input").text())))
		return nil
	case "tool_search_call":
		d.conv.say(model.Assistant, call(item.get("call_id").text(), toolSearch, searchArguments(item.get("arguments"))))
		return nil
	case "tool_search_output":
		d.bring(item)
		d.conv.result(newToolResult(item.get("call_id").text(), false, one(text(item.get("tools").rawText()))))
		return nil
	case "additional_tools":
		d.bring(item)
		return nil
	case "function_call_output", "custom_tool_call_output":
		parts, err := d.content(item.get("output"))
		d.conv.result(newToolResult(item.get("call_id").text(), false, parts))
		return err
	case "reasoning":
		d.conv.say(model.Assistant, responsesReasoning(item)...)
		return nil
	case "item_reference":
		return badRequest("input.%d: nothing is stored here; send the item itself (store: false)", i)
	default:
		d.conv.left.add("item " + blockKind(item))
		return nil
	}
}

func (d *responsesDecoder) message(i int, item node) error {
	roles := map[string]string{"system": model.System, "developer": model.System, "user": model.User, "assistant": model.Assistant}
	role, ok := roles[item.get("role").text()]
	if !ok {
		return badRequest("input.%d: the role is %q, allowed are system, developer, user and assistant", i, item.get("role").text())
	}
	parts, err := d.content(item.get("content"))
	d.conv.say(role, parts...)
	return err
}

// content reads a text or a list of parts, of a message or of a call's result.
func (d *responsesDecoder) content(n node) ([]model.Part, error) {
	if n.isText() {
		return []model.Part{text(n.text())}, nil
	}
	var parts []model.Part
	for _, b := range n.each() {
		switch b.get("type").text() {
		case "input_text", "output_text", "text":
			parts = append(parts, text(b.get("text").text()))
		case "refusal":
			parts = append(parts, text(b.get("refusal").text()))
		case "input_image":
			image, err := d.conv.left.dataURL(b.get("image_url").text())
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

// responsesReasoning keeps an item as it is, so that its encrypted content stays
// valid, unless it carries the reasoning of another provider.
func responsesReasoning(item node) []model.Part {
	if parts, ok := unpack(item.get("encrypted_content").text()); ok {
		return parts
	}
	r := &model.Reasoning{Provider: openAI, Opaque: item.bytes()}
	for _, list := range []node{item.get("summary"), item.get("content")} {
		for _, s := range list.each() {
			r.Text += s.get("text").text()
		}
	}
	return one(model.Part{Reasoning: r})
}

// toolName returns the name by which the model knows the tool of a call.
func (d *responsesDecoder) toolName(n node) string {
	return flat(n.get("namespace").text(), n.get("name").text())
}

// flat joins a namespace and a name. Other wires have no namespaces.
func flat(space, name string) string {
	if space == "" {
		return name
	}
	return space + "__" + name
}

func (d *responsesDecoder) tools() error {
	list := d.body.get("tools")
	list.kids = append(slices.Clip(list.each()), d.brought...)
	if len(list.kids) > 0 {
		list.kind = '['
	}
	return d.q.equip(list, &d.left, responsesTools)
}

func (d *responsesDecoder) choice() error {
	choice, err := openAIChoice(d.body.get("tool_choice"), &d.left)
	d.req.ToolChoice = choice
	return err
}

func (d *responsesDecoder) format() error {
	format := d.body.get("text").get("format")
	var err error
	d.req.Schema, err = openAISchema(format.get("type").text(), format.get("name"), format.get("schema"))
	return err
}
