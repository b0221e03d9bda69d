package gateway

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// gemini is how reasoning of Gemini models is marked.
const gemini = "gemini"

func geminiCodec() codec {
	return codec{
		wire: Gemini, sign: "\n\n", decode: decodeGemini, answer: geminiAnswer, stream: newGeminiStream, refuse: refuseGemini,
		count: func(tokens int64) any { return object{{"totalTokens", tokens}} },
	}
}

// decodeGemini reads the body of POST /v1beta/models/M:generateContent, and that
// of :countTokens, which may hold such a request in generateContentRequest.
func decodeGemini(in inbound) (agentRequest, error) {
	body, err := parseBody(in)
	if err != nil {
		return agentRequest{}, err
	}
	if inner := body.get("generateContentRequest"); inner.isObject() {
		body = inner
	}
	d := geminiDecoder{body: body, config: body.get("generationConfig", "generation_config")}
	d.q.body = body
	d.q.stream, d.q.list = in.stream, in.query.Get("alt") != "sse"
	d.q.stop = texts(d.config.get("stopSequences", "stop_sequences"))
	d.req = &d.q.req
	d.req.Model = in.model
	d.req.MaxTokens = count(d.config.get("maxOutputTokens", "max_output_tokens"))
	d.req.Temperature = d.config.get("temperature").float()
	d.req.TopP = d.config.get("topP", "top_p").float()
	d.req.Seed = d.config.get("seed").integer()
	d.req.ReasoningEffort = geminiEffort(d.config.get("thinkingConfig", "thinking_config"))
	for _, step := range []func() error{d.options, d.conversation, d.tools, d.choice, d.schema} {
		if err := step(); err != nil {
			return agentRequest{}, err
		}
	}
	d.q.settle(&d.conv, d.left)
	return d.q, nil
}

type geminiDecoder struct {
	body   node
	config node
	q      agentRequest
	req    *model.Request
	conv   conversation
	left   remarks
	open   []geminiCall // calls without a result, in order
}

// geminiCall is a call that waits for its result. The wire needs no ids: results
// may be matched by name and order.
type geminiCall struct{ id, name string }

func geminiEffort(n node) string {
	if level := n.get("thinkingLevel", "thinking_level").text(); level != "" && level != "THINKING_LEVEL_UNSPECIFIED" {
		return strings.ToLower(level)
	}
	return budgetEffort(count(n.get("thinkingBudget", "thinking_budget")))
}

// options looks at what the gateway has no place for.
func (d *geminiDecoder) options() error {
	if d.body.get("cachedContent", "cached_content").present() {
		return badRequest("cachedContent: nothing is stored here; send the whole conversation")
	}
	if n := d.config.get("candidateCount", "candidate_count").integer(); n != nil && *n != 1 {
		return badRequest("candidateCount: one answer a request is supported")
	}
	d.left.fields(d.body, "safetySettings")
	d.left.fields(d.config, "topK", "presencePenalty", "frequencyPenalty", "responseLogprobs", "logprobs", "responseModalities", "speechConfig", "mediaResolution")
	return nil
}

func (d *geminiDecoder) conversation() error {
	system := d.body.get("systemInstruction", "system_instruction")
	d.conv.system(system.text())
	for _, p := range system.get("parts").each() {
		d.conv.system(p.get("text").text())
	}
	contents := d.body.get("contents")
	if contents.isText() {
		d.conv.say(model.User, text(contents.text()))
		return nil
	}
	if !contents.isList() {
		return badRequest("contents: expected a list")
	}
	return contents.all(d.content)
}

func (d *geminiDecoder) content(i int, c node) error {
	switch role := c.get("role").text(); role {
	case "", "user", "function":
		return d.user(c)
	case "model":
		return d.model(c)
	default:
		return badRequest("contents[%d]: the role is %q, allowed are user and model", i, role)
	}
}

// user reads what the user and the tools say.
func (d *geminiDecoder) user(content node) error {
	var parts []model.Part
	for _, p := range content.get("parts").each() {
		if r := p.get("functionResponse", "function_response"); r.isObject() {
			if err := d.result(r); err != nil {
				return err
			}
			continue
		}
		part, err := d.part(p)
		if err != nil {
			return err
		}
		parts = append(parts, part)
	}
	d.conv.say(model.User, parts...)
	return nil
}

// part reads a text or an image.
func (d *geminiDecoder) part(p node) (model.Part, error) {
	if t := p.get("text"); t.isText() {
		return text(t.text()), nil
	}
	if data := p.get("inlineData", "inline_data"); data.isObject() {
		return d.conv.left.picture(data.get("mimeType", "mime_type").text(), data.get("data").text())
	}
	if p.get("fileData", "file_data").present() {
		d.conv.left.note(LeftOut{Kind: trajectory.RemoteURL, What: "fileData"})
		return missingPart("a file that is not in the request"), nil
	}
	for _, k := range p.kids {
		d.conv.left.add("part " + k.key[:min(len(k.key), 64)])
	}
	return model.Part{}, nil
}

// model reads an answer of the model.
func (d *geminiDecoder) model(content node) error {
	for _, p := range content.get("parts").each() {
		d.conv.say(model.Assistant, geminiSigned(p)...)
		if p.get("thought").isTrue() {
			continue
		}
		if c := p.get("functionCall", "function_call"); c.isObject() {
			d.call(c)
			continue
		}
		part, err := d.part(p)
		if err != nil {
			return err
		}
		d.conv.say(model.Assistant, part)
	}
	return nil
}

// geminiSigned returns the reasoning whose signature is at a part. Thoughts without one go back to
// no model. Agents put words of their own where a signature is missing; those are dropped.
func geminiSigned(p node) []model.Part {
	signature := p.get("thoughtSignature", "thought_signature").text()
	plain, err := base64.StdEncoding.DecodeString(signature)
	if err != nil || signature == "" || strings.HasPrefix(signature, "skip_") {
		return nil
	}
	if parts, ok := unpack(string(plain)); ok {
		return parts
	}
	r := model.Reasoning{Provider: gemini}
	kept := geminiThought{Thought: p.get("thought").isTrue(), Signature: signature}
	if words := p.get("text"); words.isText() && (kept.Thought || words.text() == "") {
		r.Text = words.text()
		kept.Text = &r.Text
	}
	b, err := json.Marshal(kept)
	if err != nil {
		return nil
	}
	r.Opaque = b
	return one(model.Part{Reasoning: &r})
}

// geminiThought is what is kept of a thought for Gemini's models: a part of its
// own, or, without a text, the signature of the part that follows.
type geminiThought struct {
	Text      *string `json:"text,omitempty"`
	Thought   bool    `json:"thought,omitempty"`
	Signature string  `json:"thoughtSignature,omitempty"`
}

func (d *geminiDecoder) call(c node) {
	made := geminiCall{id: c.get("id").text(), name: c.get("name").text()}
	if made.id == "" {
		made.id = "call_" + strconv.Itoa(len(d.conv.calls)+1)
	}
	args := json.RawMessage("{}")
	if n := c.get("args"); n.isObject() {
		args = n.bytes()
	}
	d.open = append(d.open, made)
	d.conv.say(model.Assistant, call(made.id, made.name, args))
}

// answers takes the call that a result belongs to off the list of open ones: by
// its id, by its name, or the oldest.
func (d *geminiDecoder) answers(id, name string) geminiCall {
	for _, same := range []func(geminiCall) bool{
		func(c geminiCall) bool { return id != "" && c.id == id },
		func(c geminiCall) bool { return c.name == name },
	} {
		for i, c := range d.open {
			if same(c) {
				d.open = append(d.open[:i:i], d.open[i+1:]...)
				return c
			}
		}
	}
	return geminiCall{id: id, name: name}
}

func (d *geminiDecoder) result(n node) error {
	made := d.answers(n.get("id").text(), n.get("name").text())
	r := model.ToolResult{CallID: made.id, Name: made.name}
	r.Content, r.IsError = geminiResult(n.get("response"))
	for _, p := range n.get("parts").each() {
		part, err := d.part(p)
		if err != nil {
			return err
		}
		if part.Image != nil {
			r.Images = append(r.Images, *part.Image)
		}
	}
	d.conv.result(r)
	return nil
}

// geminiResult reads what a call gave. The wire wants an object: one with
// nothing but output or error is a text.
func geminiResult(n node) (content string, failed bool) {
	if len(n.kids) == 1 {
		if output := n.get("output"); output.isText() {
			return output.text(), false
		}
		if e := n.get("error"); e.isText() {
			return e.text(), true
		}
	}
	return n.rawText(), n.get("error").present()
}
