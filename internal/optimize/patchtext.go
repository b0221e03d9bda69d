package optimize

import (
	"fmt"
	"maps"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pytext"
)

func renderPatches(patches []Patch, mode Mode) string {
	var b strings.Builder
	for i, p := range patches {
		if i > 0 {
			b.WriteString("\n\n")
		}
		fmt.Fprintf(&b, "### Patch %d of %d\n\n", i+1, len(patches))
		if r := p.Reasoning(); r != "" {
			b.WriteString("Reasoning: " + oneLine(r, maxReasoning) + "\n\n")
		}
		b.WriteString(renderItems(p.Items(mode)))
	}
	return b.String()
}

// renderItems writes a JSON array, one item a line.
func renderItems(items []any) string {
	if len(items) == 0 {
		return "[]"
	}
	lines := make([]string, len(items))
	for i, item := range items {
		lines[i] = "  " + compactJSON(item)
	}
	return "[\n" + strings.Join(lines, ",\n") + "\n]"
}

// ItemLines lists the items of a patch for a prompt, one a line, each with its 0-based index
// in square brackets; files adds the files that it changes. Line breaks in items are escaped.
func ItemLines(p Patch, mode Mode, files bool) string {
	items := p.Items(mode)
	lines := make([]string, len(items))
	for i, e := range items {
		item, _ := asObject(e)
		lines[i] = fmt.Sprintf("[%d] %s", i, itemLine(item, mode, files, oneLine))
	}
	return strings.Join(lines, "\n")
}

// items returns ItemLines; with Whole it returns all of the texts, as far as they fit into the
// window. The document of a candidate is below its line, between fences.
func (v View) items(p Patch, mode Mode) string {
	if !v.Whole {
		return ItemLines(p, mode, v.Forms.Files)
	}
	var sheets []sheet
	for i, e := range p.Items(mode) {
		item, _ := asObject(e)
		sheets = append(sheets, sheet{write: func(p *pen) {
			head := maps.Clone(item)
			if mode == ModeFullRewrite {
				delete(head, "new_skill")
			}
			line := itemLine(head, mode, v.Forms.Files, func(text string, _ int) string { return p.cut(escapeNewlines(text)) })
			fmt.Fprintf(&p.b, "[%d] %s", i, line)
			if mode == ModeFullRewrite {
				p.b.WriteByte('\n')
				p.block("Document", optionalText(item["new_skill"]))
				if v.Forms.Files {
					p.block("Other files", otherTexts(item))
				}
			}
		}})
	}
	return strings.Join(write(sheets, v.room()), "\n")
}

// itemLine writes an item on one line, each of its fields by show with the length that it
// has at most where lengths are always the same. Where there is SKILL.md alone, an item
// that names a file is shown without it.
func itemLine(item map[string]any, mode Mode, files bool, show func(text string, limit int) string) string {
	var parts []string
	field := func(label, key string, limit int) {
		if v, ok := item[key]; ok && pytext.Truthy(v) {
			parts = append(parts, label+"="+show(asLabel(v), limit))
		}
	}
	switch mode {
	case ModeRewrite:
		field("type", "type", maxTargetLine)
	case ModeFullRewrite:
		field("title", "title", maxTargetLine)
	default:
		field("op", "op", maxTargetLine)
	}
	switch names := fileNames(item); {
	case !files:
	case mode != ModeFullRewrite:
		field("file", "file", maxTargetLine)
	case names != "":
		parts = append(parts, "files="+show(names, maxTargetLine))
	}
	field("support", "support_count", maxTargetLine)
	field("source", "source_type", maxTargetLine)
	switch mode {
	case ModeRewrite:
		field("priority", "priority_hint", maxTargetLine)
		field("title", "title", maxTargetLine)
		field("motivation", "motivation", maxItemLine)
		field("instruction", "instruction", maxItemLine)
	case ModeFullRewrite:
		field("content", "new_skill", maxItemLine)
	default:
		field("target", "target", maxTargetLine)
		field("content", "content", maxItemLine)
	}
	return strings.Join(parts, " ")
}

// asLabel returns the text of a value, also of one that code put in as a Go number.
func asLabel(v any) string {
	if i, ok := v.(int); ok {
		return fmt.Sprint(i)
	}
	return pytext.Text(v)
}
