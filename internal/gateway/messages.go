package gateway

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// anthropic is how reasoning of Anthropic's models is marked.
const anthropic = "anthropic"

func messagesCodec() codec {
	return codec{
		wire: Messages, sign: "event: ping\ndata: {\"type\":\"ping\"}\n\n", decode: decodeMessages, answer: messagesAnswer, stream: newMessagesStream, refuse: refuseMessages,
		count: func(tokens int64) any { return object{{"input_tokens", tokens}} },
	}
}

// decodeMessages reads the body of POST /v1/messages.
func decodeMessages(in inbound) (agentRequest, error) {
	body, err := parseBody(in)
	if err != nil {
		return agentRequest{}, err
	}
	d := messagesDecoder{body: body}
	d.q.body = body
	d.q.stream = body.get("stream").isTrue()
	d.q.stop = texts(body.get("stop_sequences"))
	d.req = &d.q.req
	d.req.Model = body.get("model").text()
	d.req.MaxTokens = count(body.get("max_tokens"))
	d.req.Temperature = body.get("temperature").float()
	d.req.TopP = body.get("top_p").float()
	d.req.ReasoningEffort = messagesEffort(body)
	d.left.fields(body, "top_k", "context_management", "service_tier", "inference_geo", "speed")
	if body.get("mcp_servers").present() {
		d.left.note(LeftOut{Kind: trajectory.HostedTool, What: "mcp_servers"})
	}
	if body.get("container").present() {
		d.left.note(LeftOut{Kind: trajectory.StoredState, What: "container"})
	}
	for _, step := range []func() error{d.system, d.conversation, d.tools, d.choice, d.schema} {
		if err := step(); err != nil {
			return agentRequest{}, err
		}
	}
	d.q.settle(&d.conv, d.left)
	return d.q, nil
}

type messagesDecoder struct {
	body node
	q    agentRequest
	req  *model.Request
	conv conversation
	left remarks

	loaded []string // tools that results refer to
}

// messagesEffort returns the effort that is asked for. Older requests give a number of tokens to
// think with instead.
func messagesEffort(body node) string {
	if effort := body.get("output_config").get("effort").text(); effort != "" {
		return effort
	}
	thinking := body.get("thinking")
	budget := count(thinking.get("budget_tokens"))
	if thinking.get("type").text() != "enabled" {
		return ""
	}
	return budgetEffort(budget)
}

// budgetEffort returns the effort that a number of tokens to think with represents.
func budgetEffort(budget int) string {
	switch {
	case budget <= 0:
		return ""
	case budget <= 4096:
		return "low"
	case budget <= 16384:
		return "medium"
	}
	return "high"
}

func (d *messagesDecoder) system() error {
	system := d.body.get("system")
	if system.isText() {
		d.conv.system(system.text())
		return nil
	}
	for _, b := range system.each() {
		// Claude Code describes itself to Anthropic's billing in a block of its own.
		if s := b.get("text").text(); !strings.HasPrefix(s, "x-anthropic-billing-header:") {
			d.conv.system(s)
		}
	}
	return nil
}

func (d *messagesDecoder) conversation() error {
	list := d.body.get("messages")
	if !list.isList() {
		return badRequest("messages: expected a list")
	}
	return list.all(func(i int, m node) error {
		role := m.get("role").text()
		if role != model.User && role != model.Assistant && role != model.System {
			return badRequest("messages.%d: the role is %q, allowed are user and assistant", i, role)
		}
		return d.message(role, m.get("content"))
	})
}

// message reads one message. The results of calls are in a user's message
// there, and are a message of their own here.
func (d *messagesDecoder) message(role string, content node) error {
	if content.isText() {
		d.conv.say(role, text(content.text()))
		return nil
	}
	var parts []model.Part
	for _, b := range content.each() {
		if b.get("type").text() == "tool_result" {
			if err := d.result(b); err != nil {
				return err
			}
			continue
		}
		p, err := d.block(b)
		if err != nil {
			return err
		}
		parts = append(parts, p...)
	}
	d.conv.say(role, parts...)
	return nil
}

func (d *messagesDecoder) block(b node) ([]model.Part, error) {
	switch b.get("type").text() {
	case "text":
		return one(text(b.get("text").text())), nil
	case "image":
		p, err := d.image(b.get("source"))
		return one(p), err
	case "document":
		return one(d.document(b)), nil
	case "tool_use":
		input := json.RawMessage("{}")
		if n := b.get("input"); n.isObject() {
			input = n.bytes()
		}
		return one(call(b.get("id").text(), b.get("name").text(), input)), nil
	case "thinking", "redacted_thinking":
		return messagesReasoning(b), nil
	default:
		d.conv.left.add("block " + blockKind(b))
		return nil, nil
	}
}

// messagesReasoning keeps a block as it is, so that its signature stays valid,
// unless it carries the reasoning of another provider.
func messagesReasoning(b node) []model.Part {
	if parts, ok := unpack(b.get("signature").text()); ok {
		return parts
	}
	return one(model.Part{Reasoning: &model.Reasoning{Provider: anthropic, Text: b.get("thinking").text(), Opaque: b.bytes()}})
}

func (d *messagesDecoder) image(source node) (model.Part, error) {
	if source.get("type").text() == "base64" {
		return d.conv.left.picture(source.get("media_type").text(), source.get("data").text())
	}
	return d.conv.left.dataURL(source.get("url").text())
}

// document takes documents that are text.
func (d *messagesDecoder) document(b node) model.Part {
	source := b.get("source")
	switch source.get("type").text() {
	case "text":
		return text(source.get("data").text())
	case "content":
		content := source.get("content")
		var s []string
		for _, k := range content.each() {
			s = append(s, k.get("text").text())
		}
		return text(content.text() + strings.Join(s, "\n\n"))
	}
	d.conv.left.add("document that is no text")
	return missingPart("a document")
}

func (d *messagesDecoder) result(b node) error {
	content := b.get("content")
	parts := one(text(content.text()))
	var loaded []string
	for _, k := range content.each() {
		if k.get("type").text() == "tool_reference" {
			loaded = append(loaded, k.get("tool_name").text())
			continue
		}
		p, err := d.block(k)
		if err != nil {
			return err
		}
		parts = append(parts, p...)
	}
	if len(loaded) > 0 {
		parts = append(parts, text("loaded: "+strings.Join(loaded, ", ")))
	}
	d.loaded = append(d.loaded, loaded...)
	d.conv.result(newToolResult(b.get("tool_use_id").text(), b.get("is_error").isTrue(), parts))
	return nil
}

// tools leaves out what the agent has yet to load, as Anthropic's server does: a tool that is
// deferred and no result refers to. Where the server itself was to search for tools, which it
// cannot here, all are offered.
func (d *messagesDecoder) tools() error {
	list := d.body.get("tools")
	hosted := slices.ContainsFunc(list.each(), func(t node) bool { return strings.HasPrefix(t.get("type").text(), "tool_search_tool") })
	return d.q.equip(list, &d.left, func(t node, to *toolset) error {
		if !hosted && t.get("defer_loading").isTrue() && !slices.Contains(d.loaded, t.get("name").text()) {
			return nil
		}
		return messagesTool(t, to)
	})
}

func messagesTool(t node, to *toolset) error {
	if kind := t.get("type").text(); kind != "" && kind != "custom" {
		to.left.tool(t)
		return nil
	}
	return to.add(model.Tool{Name: t.get("name").text(), Description: t.get("description").text(), Parameters: parameters(t.get("input_schema"))})
}

func (d *messagesDecoder) choice() error {
	choice := d.body.get("tool_choice")
	switch kind := choice.get("type").text(); kind {
	case "":
	case "auto":
		d.req.ToolChoice = model.ToolChoiceAuto
	case "any":
		d.req.ToolChoice = model.ToolChoiceRequired
	case "none":
		d.req.ToolChoice = model.ToolChoiceNone
	case "tool":
		d.req.ToolChoice = choice.get("name").text()
	default:
		return badRequest("tool_choice: the type %q is unknown", kind)
	}
	if choice.get("disable_parallel_tool_use").isTrue() {
		d.left.add("tool_choice.disable_parallel_tool_use")
	}
	return nil
}

func (d *messagesDecoder) schema() error {
	format := d.body.get("output_config").get("format")
	if !format.present() {
		format = d.body.get("output_format") // as it was named in its beta
	}
	if format.get("type").text() != "json_schema" {
		return nil
	}
	schema := format.get("schema")
	if !schema.isObject() {
		return badRequest("output_config.format.schema: expected a JSON Schema")
	}
	d.req.Schema = &model.Schema{Name: "answer", JSON: schema.bytes()}
	return nil
}
