package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// The replies of an optimizer model, as the prompts ask for them.
type (
	analystReply struct {
		BatchSize int       `json:"batch_size"`
		Failures  []failure `json:"failure_summary,omitempty"`
		Patterns  []string  `json:"success_patterns,omitempty"`
		Patch     patch     `json:"patch"`
		Notes     []string  `json:"appendix_notes,omitempty"`
	}
	failure struct {
		Type        string `json:"failure_type"`
		Count       int    `json:"count"`
		Description string `json:"description"`
		Class       string `json:"classification,omitempty"`
	}
	patch struct {
		Reasoning string `json:"reasoning"`
		// One of these holds the changes; an empty list is written as one.
		Edits       *[]edit       `json:"edits,omitempty"`
		Suggestions *[]suggestion `json:"revise_suggestions,omitempty"`
		Candidates  *[]candidate  `json:"skill_candidates,omitempty"`
	}
	edit struct {
		Op      string `json:"op"`
		Target  string `json:"target,omitempty"`
		Content string `json:"content,omitempty"`
		Support int    `json:"support_count,omitempty"`
	}
	suggestion struct {
		Type        string `json:"type"`
		Title       string `json:"title"`
		Motivation  string `json:"motivation"`
		Instruction string `json:"instruction"`
		Priority    string `json:"priority_hint"`
		Support     int    `json:"support_count,omitempty"`
	}
	candidate struct {
		Title    string   `json:"title"`
		Summary  []string `json:"change_summary"`
		NewSkill string   `json:"new_skill"`
	}
)

// encode writes a reply as a model would: JSON with line breaks, and no escapes
// that it does not need.
func encode(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("sim: encode a reply: %v", err)) // the types above always encode
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// patch writes proposals in a form.
func (w *World) patch(f form, skill string, proposals []proposal) patch {
	out := patch{Reasoning: patchReasoning(proposals)}
	switch f {
	case asSuggestions:
		list := []suggestion{}
		for _, p := range proposals {
			list = append(list, p.suggestion())
		}
		out.Suggestions = &list
	case asCandidates:
		list := []candidate{}
		if len(proposals) > 0 {
			list = append(list, rewritten(skill, proposals))
		}
		out.Candidates = &list
	default:
		list := []edit{}
		for _, p := range proposals {
			list = append(list, p.edit())
		}
		out.Edits = &list
	}
	return out
}

func patchReasoning(proposals []proposal) string {
	if len(proposals) == 0 {
		return "nothing here calls for a change of the skill"
	}
	return "each change accounts for a difference between what was answered and what was expected"
}

func (p proposal) edit() edit {
	if p.remove {
		return edit{Op: "delete", Target: p.text, Support: p.support}
	}
	return edit{Op: "append", Content: p.text, Support: p.support}
}

// removal is how a suggestion names a statement to be removed.
const removal = "Remove this: "

func (p proposal) suggestion() suggestion {
	s := suggestion{
		Type: "add", Title: "add a note", Motivation: fmt.Sprintf("seen in %d tasks", p.support),
		Instruction: strings.TrimPrefix(p.text, "- "), Priority: "low", Support: p.support,
	}
	if p.rule != nil {
		s.Title, s.Priority = "add the rule "+p.rule.id, "high"
	}
	if p.remove {
		s.Type, s.Title, s.Instruction = "remove", "remove the rule "+p.rule.id, removal+p.text
	}
	return s
}

func rewritten(skill string, proposals []proposal) candidate {
	c := candidate{Title: "rules added"}
	for _, p := range proposals {
		if p.remove {
			skill = removeStatement(skill, p.text)
			c.Summary = append(c.Summary, "removed: "+p.text)
			continue
		}
		skill = appendLine(skill, p.text)
		c.Summary = append(c.Summary, "added: "+p.text)
	}
	c.NewSkill = skill
	return c
}

// The lines between which alone a document may change that has them.
const (
	partStart = "<!-- SKILLOPT-SLEEP:LEARNED START -->\n"
	partEnd   = "<!-- SKILLOPT-SLEEP:LEARNED END -->"
)

// appendLine adds a line to a document, before its first protected region, or within its learned
// region if it has one.
func appendLine(doc, line string) string {
	if before, rest, ok := strings.Cut(doc, partStart); ok {
		if part, after, ok := strings.Cut(rest, partEnd); ok {
			return before + partStart + appendLine(part, line) + partEnd + after
		}
	}
	at := len(doc)
	for _, mark := range []string{"<!-- SLOW_UPDATE_START -->", "<!-- APPENDIX_START -->"} {
		if i := strings.Index(doc, mark); i >= 0 {
			at = min(at, i)
		}
	}
	body := strings.TrimRight(doc[:at], "\r\n \t")
	gap := "\n"
	if last := lastLine(body); !strings.HasPrefix(strings.TrimSpace(last), "- ") {
		gap = "\n\n"
	}
	if body == "" {
		gap = ""
	}
	if at == len(doc) {
		return body + gap + line + "\n"
	}
	return body + gap + line + "\n\n" + doc[at:]
}

// removeStatement removes the first occurrence of a statement, with its line break.
func removeStatement(doc, statement string) string {
	i := strings.Index(doc, statement)
	if i < 0 {
		return doc
	}
	rest := strings.TrimPrefix(doc[i+len(statement):], "\n")
	return doc[:i] + rest
}
