package cli

import (
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/sleep/correction"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// turnFacts returns the lines about a turn apart from what was said.
func turnFacts(t *transcript.Turn) []string {
	var out []string
	if len(t.Tools) > 0 {
		out = append(out, "tools: "+toolsText(t.Tools))
	}
	for _, c := range t.Commands {
		out = append(out, "ran: "+oneLine(c.Text)+exitText(c))
	}
	if len(t.Read) > 0 {
		out = append(out, "read: "+oneLine(strings.Join(t.Read, ", ")))
	}
	if len(t.Files) > 0 {
		out = append(out, "wrote: "+oneLine(strings.Join(t.Files, ", ")))
	}
	if t.Skill != "" {
		out = append(out, fmt.Sprintf("skill: %s (by %s)", oneLine(t.Skill), t.SkillBy))
	}
	if t.Redacted > 0 {
		out = append(out, wording.Plural(t.Redacted, "secret", "secrets")+" redacted")
	}
	return out
}

// exitText says with what code a command ended, and whether it is the one that ran.
func exitText(c transcript.Command) string {
	var facts []string
	if c.Exit != nil {
		facts = append(facts, fmt.Sprintf("exit code %d", *c.Exit))
	}
	if c.Altered {
		facts = append(facts, "not word for word")
	}
	if len(facts) == 0 {
		return ""
	}
	return " (" + strings.Join(facts, ", ") + ")"
}

// toolsText lists tools, equal neighbours once.
func toolsText(tools []transcript.Tool) string {
	var out []string
	for i := 0; i < len(tools); {
		j := i
		for j < len(tools) && tools[j].Name == tools[i].Name && okText(tools[j]) == okText(tools[i]) {
			j++
		}
		text := oneLine(tools[i].Name) + okText(tools[i])
		if j-i > 1 {
			text += fmt.Sprintf(" x%d", j-i)
		}
		out = append(out, text)
		i = j
	}
	return strings.Join(out, ", ")
}

func okText(t transcript.Tool) string {
	switch {
	case t.OK == nil:
		return " (?)"
	case *t.OK:
		return ""
	}
	return " (failed)"
}

func signsText(signs []correction.Sign) string {
	words := map[correction.Sign]string{correction.Stopped: "you stopped it", correction.Again: "the same files were written again", correction.Said: "your next words reject it"}
	var out []string
	for _, s := range signs {
		out = append(out, words[s])
	}
	return strings.Join(out, "; ")
}
