package gateway

import (
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/trajectory"
)

// clientTools are the types of tools that the agent runs itself, without their
// dates.
var clientTools = map[string]bool{
	"function": true, "custom": true, "namespace": true,
	"local_shell": true, "apply_patch": true, "computer_use_preview": true, "computer": true, "tool_search": true,
	"bash": true, "text_editor": true, "memory": true, "tool_search_tool_regex": true, "tool_search_tool_bm25": true,
}

// cutDate takes the date off the end of a type of Anthropic's, such as
// bash_20250124, and of OpenAI's, such as web_search_2025_08_26.
func cutDate(kind string) (name, date string) {
	name = strings.TrimRight(kind, "0123456789_")
	return name, kind[len(name):]
}

// clipName returns the beginning of a name from outside.
func clipName(s string) string { return s[:min(len(s), 64)] }

// allows reports whether a hosted tool is among those that are allowed: by its
// type, with or without its date.
func (p *passing) allows(kind string) bool {
	name, _ := cutDate(kind)
	return slices.Contains(p.hosted, kind) || slices.Contains(p.hosted, name)
}

// runs reports whether the agent runs a tool itself.
func runs(t node) bool {
	kind := t.get("type").text()
	name, _ := cutDate(kind)
	if name == "shell" {
		return t.get("environment").get("type").text() == "local"
	}
	return kind == "" || clientTools[name]
}

// tools keeps those tools that the agent runs, and those that are allowed.
func (p *passing) tools(list node) (string, bool) {
	out, kept := p.list(list, p.tool)
	return out, kept > 0
}

func (p *passing) tool(t node) (string, bool) {
	if inner := t.get("tools"); t.get("type").text() == "namespace" && inner.isList() {
		return p.object(t, func(k node) (string, bool) {
			if k.key == "tools" {
				return p.tools(k)
			}
			return k.raw, true
		})
	}
	if runs(t) || p.allows(blockKind(t)) {
		return t.raw, true
	}
	p.left.note(LeftOut{Kind: trajectory.HostedTool, What: "tool " + blockKind(t), Name: clipName(t.get("name").text())})
	p.gone = append(p.gone, t.get("name").text(), t.get("type").text())
	return "", false
}

// geminiTool keeps the declarations of a group, and what is allowed.
func (p *passing) geminiTool(t node) (string, bool) {
	kept := 0
	out, _ := p.object(t, func(k node) (string, bool) {
		switch k.key {
		case "functionDeclarations", "function_declarations", "computerUse", "computer_use":
		default:
			if !slices.Contains(p.hosted, k.key) {
				p.left.note(LeftOut{Kind: trajectory.HostedTool, What: "tool " + clipName(k.key)})
				return "", false
			}
		}
		kept++
		return k.raw, true
	})
	return out, kept > 0
}
