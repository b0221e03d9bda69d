package gateway

import (
	"encoding/json"
	"slices"

	"github.com/seed-f4525e22/skillopt/model"
)

// Kinds of tools whose calls are items of their own.
const (
	customTool = "custom"
	toolSearch = "tool_search" // also the name by which a model knows it
)

// bring takes the tools that an item of the conversation brings. Codex sends all of
// its tools so to models that it knows to read them there, and what a search of
// its tools has found.
func (d *responsesDecoder) bring(item node) {
	for _, t := range item.get("tools").each() {
		if !slices.ContainsFunc(d.brought, func(have node) bool { return have.raw == t.raw }) {
			d.brought = append(d.brought, t)
		}
	}
}

// responsesTools reads a tool, or a namespace of them.
func responsesTools(t node, to *toolset) error {
	if t.get("type").text() != "namespace" {
		return responsesTool("", t, to)
	}
	for _, inner := range t.get("tools").each() {
		if err := responsesTool(t.get("name").text(), inner, to); err != nil {
			return err
		}
	}
	return nil
}

// responsesTool reads a function, or what can be described to other models as one: a
// tool that takes a text is a function with one text.
func responsesTool(space string, t node, to *toolset) error {
	own := agentTool{space: space, name: t.get("name").text()}
	tool := model.Tool{Description: t.get("description").text()}
	switch kind := t.get("type").text(); {
	case kind == "function":
		tool.Parameters = parameters(t.get("parameters"))
	case kind == customTool:
		own.kind = kind
		tool.Description += grammar(t.get("format"))
		tool.Parameters = json.RawMessage(`{"type":"object","properties":{"input":{"type":"string","description":"The whole input, as it is."}},"required":["input"],"additionalProperties":false}`)
	case kind == toolSearch && t.get("execution").text() == "client":
		own.kind, own.name = kind, toolSearch
		tool.Parameters = parameters(t.get("parameters"))
	default:
		to.left.tool(t)
		return nil
	}
	tool.Name = flat(space, own.name)
	if space != "" || own.kind != "" {
		if to.others == nil {
			to.others = map[string]agentTool{}
		}
		to.others[tool.Name] = own
	}
	return to.add(tool)
}

// grammar says in words which texts a tool takes.
func grammar(format node) string {
	definition := format.get("definition").text()
	if definition == "" {
		return ""
	}
	return "\n\nThe input must follow this grammar (" + clipName(format.get("syntax").text()) + "):\n\n" + definition
}

// wrapInput returns the arguments of the function that represents a tool which takes a text, and
// unwrapInput returns the text in them. What a model wrote otherwise is the text.
func wrapInput(input string) json.RawMessage {
	b, err := document(object{{"input", input}})
	if err != nil {
		return json.RawMessage("{}") // a text can be written
	}
	return json.RawMessage(b[:len(b)-1])
}

func unwrapInput(arguments json.RawMessage) string {
	n, err := parseJSON(arguments)
	if input := n.get("input"); err == nil && input.isText() {
		return input.text()
	}
	if err == nil && len(n.kids) == 1 && n.kids[0].isText() {
		return n.kids[0].text()
	}
	return string(arguments)
}

// searchArguments returns the arguments of a search.
func searchArguments(n node) json.RawMessage {
	if !n.isObject() {
		return json.RawMessage("{}")
	}
	return n.bytes()
}
