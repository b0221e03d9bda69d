package gateway

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// blockKind returns the kind of a block for a remark; kinds come from outside.
func blockKind(n node) string {
	kind := n.get("type").text()
	if kind == "" || len(kind) > 64 {
		return "unnamed"
	}
	return kind
}

// missingPart returns a text for content that the gateway cannot pass on, so that the model knows
// of it. To refuse it would end the agent's work: it would come again with every later request of
// the conversation.
func missingPart(what string) model.Part {
	return text("[" + what + " was left out: it cannot be shown to this model]")
}

// picture reads an image that is in the request as base64. What is no image
// is missing.
func (r *remarks) picture(mime, data string) (model.Part, error) {
	switch mime {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
	case "image/jpg":
		mime = "image/jpeg"
	default:
		r.add("content of another type than png, jpeg, gif and webp")
		return missingPart("a file"), nil
	}
	b, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		if b, err = base64.URLEncoding.DecodeString(data); err != nil {
			return model.Part{}, badRequest("an image is no base64: %v", err)
		}
	}
	return model.Part{Image: &model.Image{MIME: mime, Data: b}}, nil
}

// dataURL reads data:image/png;base64,.... The gateway fetches nothing: any other
// URL is missing.
func (r *remarks) dataURL(url string) (model.Part, error) {
	kind, data, ok := strings.Cut(strings.TrimPrefix(url, "data:"), ",")
	mime, isBase64 := strings.CutSuffix(kind, ";base64")
	if !ok || !isBase64 || !strings.HasPrefix(url, "data:") {
		r.note(LeftOut{Kind: trajectory.RemoteURL, What: "image by reference"})
		return missingPart("an image that is not in the request"), nil
	}
	return r.picture(mime, data)
}

// arguments checks those of a call, which are an object in a text. None are {}.
func arguments(s string) (json.RawMessage, error) {
	if strings.TrimSpace(s) == "" {
		return json.RawMessage("{}"), nil
	}
	n, err := parseJSON([]byte(s))
	if err != nil || !n.isObject() {
		return nil, badRequest("the arguments of a call are no JSON object")
	}
	return json.RawMessage(s), nil
}

// parameters returns the schema of a tool; one without takes nothing.
func parameters(n node) json.RawMessage {
	if !n.isObject() {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return n.bytes()
}

// texts returns the values of a string or of a list of them.
func texts(n node) []string {
	if n.isText() {
		return []string{n.text()}
	}
	var out []string
	for _, k := range n.each() {
		out = append(out, k.text())
	}
	return out
}

// count returns a number of tokens in a request, 0 when it is absent or makes no sense.
func count(n node) int {
	i := n.integer()
	if i == nil || *i < 0 || *i > 1<<31 {
		return 0
	}
	return int(*i)
}

// all calls one for each element of a list, with its place.
func (n node) all(one func(i int, n node) error) error {
	for i, k := range n.each() {
		if err := one(i, k); err != nil {
			return err
		}
	}
	return nil
}

// parseBody reads the body of a request.
func parseBody(in inbound) (node, error) {
	n, err := parseJSON(in.body)
	if err != nil {
		return n, badRequest("%v", err)
	}
	if !n.isObject() {
		return n, badRequest("the body is no JSON object")
	}
	return n, nil
}

// toolset is what a list of tools means.
type toolset struct {
	tools  []model.Tool
	others map[string]agentTool // by the names that the model knows; nil if there are none
	left   remarks
}

// add appends a tool and refuses a second one of the same name, since calls could
// not be distinguished.
func (s *toolset) add(t model.Tool) error {
	if t.Name == "" {
		return badRequest("a tool has no name")
	}
	for _, have := range s.tools {
		if have.Name == t.Name {
			return badRequest("two tools are named %q", t.Name)
		}
	}
	s.tools = append(s.tools, t)
	return nil
}

// equip gives a request its tools.
func (q *agentRequest) equip(list node, left *remarks, read func(t node, to *toolset) error) error {
	var set toolset
	for _, t := range list.each() {
		if err := read(t, &set); err != nil {
			return err
		}
	}
	q.req.Tools, q.tools = set.tools, set.others
	left.all(set.left)
	return nil
}
