package optimize

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/internal/prompt"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/skill"
)

// Bounds of what is reported of prompts on which a skill was or was not loaded.
const (
	loadsWrong = 40  // of each kind, that went wrong
	loadsRight = 12  // of each kind, that went right
	loadLength = 300 // bytes of one
	triedLast  = 8   // descriptions that were not taken: the newest
)

// DescriptionInput is a skill whose description may be replaced.
type DescriptionInput struct {
	Prompts *prompt.Set
	Skill   skill.Skill
	Alone   bool   // nothing else may be changed
	Loads   []Load // what happened to prompts with this description; may be empty
	Tried   []TriedDescription
}

// TriedDescription is a description that was not taken, and why.
type TriedDescription struct{ Text, Why string }

// Load is whether an agent that was asked something loaded the skill.
type Load struct {
	Prompt         string
	Should, Loaded bool
}

// Description writes what the optimizer learns of the description of a skill: in System
// how an edit replaces it, in User what it is and on which prompts agents loaded the skill
// by it: of each kind at most 40 on which they were wrong and 12 on which they were right,
// and the newest 8 descriptions that were tried in vain.
func Description(in DescriptionInput) (prompt.Text, error) {
	doc, err := skill.Parse(in.Skill.Text())
	if err != nil {
		return prompt.Text{}, fmt.Errorf("read the description: %w", err)
	}
	return in.Prompts.Description(prompt.DescriptionInput{
		Description: doc.Description, Length: utf8.RuneCountInString(doc.Description), Most: skill.MaxDescription,
		Alone: in.Alone, Loads: strings.TrimSpace(loadsText(in.Loads) + "\n\n" + triedText(in.Tried)),
	})
}

// triedText lists descriptions that were not taken, each with the reason.
func triedText(tried []TriedDescription) string {
	if len(tried) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Descriptions that were tried and not taken:")
	for _, t := range tried[max(0, len(tried)-triedLast):] {
		fmt.Fprintf(&b, "\n- %s\n  Not taken: %s", escapeNewlines(t.Text), escapeNewlines(t.Why))
	}
	return b.String()
}

// loadsText writes prompts in four lists: what went wrong first.
func loadsText(loads []Load) string {
	var b strings.Builder
	for _, should := range []bool{true, false} {
		var wrong, right []string
		for _, l := range loads {
			switch {
			case l.Should != should:
			case l.Loaded == should:
				right = append(right, l.Prompt)
			default:
				wrong = append(wrong, l.Prompt)
			}
		}
		if should {
			list(&b, "Should load the skill, and did not load it", wrong, loadsWrong)
			list(&b, "Should load the skill, and did", right, loadsRight)
		} else {
			list(&b, "Should not load the skill, and loaded it", wrong, loadsWrong)
			list(&b, "Should not load the skill, and did not", right, loadsRight)
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// list writes the first of some prompts, one a line.
func list(b *strings.Builder, head string, prompts []string, most int) {
	if len(prompts) == 0 {
		return
	}
	fmt.Fprintf(b, "%s (%s):\n", head, wording.Plural(len(prompts), "prompt", "prompts"))
	for _, p := range prompts[:min(most, len(prompts))] {
		fmt.Fprintf(b, "- %s\n", wording.Middle(escapeNewlines(strings.TrimSpace(p)), loadLength))
	}
	b.WriteByte('\n')
}
