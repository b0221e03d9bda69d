package gateway

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// passing is a request on its way into a model.Passage: what would run at the
// vendor, or be kept or fetched there, is taken out.
type passing struct {
	wire   Wire
	hosted []string // what of that is allowed
	left   remarks
	gone   []string // names and types of tools that were taken out
}

// filterBody returns the body of a request in the agent's own words, and what was left out of it. A
// body in which a name is twice in an object is not passed: its reader has to say which of the two
// counts.
func filterBody(wire Wire, body node, hosted []string) (text string, left remarks, ok bool) {
	if twice(body) {
		return "", remarks{}, false
	}
	p := &passing{wire: wire, hosted: hosted}
	text, _ = p.object(body, p.member)
	if len(p.gone) > 0 { // a choice of a tool that is gone would be refused
		if n, err := parseJSON([]byte(text)); err == nil {
			text, _ = p.object(n, p.choice)
		}
	}
	if wire == Responses {
		text = p.disableStore(body, text)
	}
	return text, p.left, true
}

// twice reports whether a name occurs twice in one object.
func twice(n node) bool {
	seen := make(map[string]bool, len(n.kids))
	for _, k := range n.kids {
		if n.kind == '{' && seen[k.key] || twice(k) {
			return true
		}
		if n.kind == '{' {
			seen[k.key] = true
		}
	}
	return false
}

// object writes an object with what one makes of its members. It is as it was if
// none changes.
func (p *passing) object(n node, one func(node) (string, bool)) (string, bool) {
	var b strings.Builder
	changed := false
	for _, k := range n.kids {
		raw, keep := one(k)
		if changed = changed || !keep || raw != k.raw; !keep {
			continue
		}
		name, err := json.Marshal(k.key)
		if err != nil {
			continue // a string can be written
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.Write(name)
		b.WriteByte(':')
		b.WriteString(raw)
	}
	if !changed {
		return n.raw, true
	}
	return "{" + b.String() + "}", true
}

// list writes a list with what one makes of its elements, as object does, and returns how many elements are left.
func (p *passing) list(n node, one func(node) (string, bool)) (string, int) {
	var kept []string
	changed := false
	for _, k := range n.kids {
		raw, keep := one(k)
		changed = changed || !keep || raw != k.raw
		if keep {
			kept = append(kept, raw)
		}
	}
	if !changed {
		return n.raw, len(kept)
	}
	return "[" + strings.Join(kept, ",") + "]", len(kept)
}

// member returns a member of the request as it is passed on, and reports whether it is kept.
func (p *passing) member(k node) (string, bool) {
	switch k.key {
	case "tools":
		if !k.isList() {
			return k.raw, true
		}
		if p.wire == Gemini {
			out, kept := p.list(k, p.geminiTool)
			return out, kept > 0 || len(k.kids) == 0
		}
		out, kept := p.tools(k)
		return out, kept || len(k.kids) == 0
	case "messages", "input", "contents":
		return p.dropReferences(k), true
	case "mcp_servers", "web_search_options", "search_parameters", "enable_search", "plugins":
		return p.dropMember(k, trajectory.HostedTool)
	case "store", "container", "previous_response_id", "conversation", "background", "cachedContent", "cached_content":
		if k.key == "store" && !k.isTrue() {
			return k.raw, true
		}
		return p.dropMember(k, trajectory.StoredState)
	case "models", "fallbacks", "route":
		return p.dropMember(k, trajectory.Field) // the model is that of the session
	}
	return k.raw, true
}

// dropMember leaves a member out, unless it is allowed.
func (p *passing) dropMember(k node, kind string) (string, bool) {
	if !k.present() || kind == trajectory.HostedTool && p.allows(k.key) {
		return k.raw, true
	}
	p.left.note(LeftOut{Kind: kind, What: k.key})
	return "", false
}

// choice drops the choice of a tool that is gone.
func (p *passing) choice(k node) (string, bool) {
	if k.key != "tool_choice" || !k.isObject() {
		return k.raw, true
	}
	for _, name := range p.gone {
		if name != "" && (k.get("name").text() == name || k.get("type").text() == name) {
			p.left.add("tool_choice")
			return "", false
		}
	}
	return k.raw, true
}

// disableStore has OpenAI keep nothing, since it keeps what it gets by default. An agent that
// relied on it gets the reasoning itself, to send it back.
func (p *passing) disableStore(body node, text string) string {
	if body.get("store").isFalse() {
		return text
	}
	text = strings.TrimSuffix(strings.TrimSpace(text), "}") + `,"store":false}`
	if !body.get("include").present() {
		text = strings.TrimSuffix(text, "}") + `,"include":["reasoning.encrypted_content"]}`
	}
	return text
}

// dropReferences takes references to what is elsewhere out of a conversation. Values that
// hold none are as they were.
func (p *passing) dropReferences(n node) string {
	switch n.kind {
	case '[':
		out, _ := p.list(n, func(k node) (string, bool) { return p.item(k), true })
		return out
	case '{':
		out, _ := p.object(n, func(k node) (string, bool) {
			if k.kind != '[' {
				return k.raw, true
			}
			switch k.key {
			case "content", "output", "parts":
				return p.dropReferences(k), true
			case "tools": // of an item that brings tools
				out, _ := p.tools(k)
				return out, true
			}
			return k.raw, true
		})
		return out
	}
	return n.raw
}

// item returns one element of a conversation or of a content as it is passed on. An element that is
// elsewhere becomes a text by which the model reads that it was left out.
func (p *passing) item(n node) string {
	kind := elsewhere(n)
	if kind == "" {
		return p.dropReferences(n)
	}
	what := n.get("type").text()
	if what == "" {
		what = "fileData"
	}
	p.left.note(LeftOut{Kind: kind, What: clipName(what)})
	text := missingPart("content that is not in the request").Text
	o := object{{"type", "text"}, {"text", text}}
	switch p.wire {
	case Responses:
		o = object{{"type", "input_text"}, {"text", text}}
	case Gemini:
		o = object{{"text", text}}
	}
	b, err := document(o)
	if err != nil {
		return n.raw // two strings can be written
	}
	return strings.TrimSpace(string(b))
}

// elsewhere returns the kind of what is not in the request but at an address or with the vendor, ""
// of anything else.
func elsewhere(n node) string {
	source, image, file := n.get("source"), n.get("image_url"), n.get("fileData", "file_data")
	for _, id := range []node{source.get("file_id"), n.get("file_id"), n.get("file").get("file_id")} {
		if id.isText() {
			return trajectory.StoredState
		}
	}
	if n.get("type").text() == "container_upload" {
		return trajectory.StoredState
	}
	for _, url := range []node{source.get("url"), image, image.get("url"), n.get("file_url"), file.get("fileUri", "file_uri")} {
		if url.isText() && url.text() != "" && !strings.HasPrefix(url.text(), "data:") {
			return trajectory.RemoteURL
		}
	}
	return ""
}

// vendorHeaders returns the headers of agents that change what a request means to a vendor.
func vendorHeaders(wire Wire, h http.Header) map[string][]string {
	names := []string{"Openai-Beta", "X-Openai-Internal-Codex-Responses-Lite"}
	switch wire {
	case Messages:
		names = []string{"Anthropic-Beta", "Anthropic-Version"}
	case Gemini:
		names = nil
	}
	out := map[string][]string{}
	for _, name := range names {
		if v := h[name]; v != nil {
			out[name] = v
		}
	}
	return out
}

// passage returns the request in the agent's words, and what was left out of it. The passage is nil
// if the model's server speaks another protocol.
func (h *Handle) passage(wire Wire, q agentRequest, header http.Header) (*model.Passage, remarks) {
	if !model.Passes(h.session.Client, string(wire)) || q.list && q.stream {
		return nil, remarks{}
	}
	text, left, ok := filterBody(wire, q.body, h.session.Hosted)
	if !ok {
		return nil, remarks{}
	}
	return &model.Passage{Wire: string(wire), Body: []byte(text), Header: vendorHeaders(wire, header), Stream: q.stream, Set: h.session.Sampling}, left
}
