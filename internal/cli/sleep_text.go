package cli

import (
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/plural"
	"github.com/seed-f4525e22/skillopt/internal/sleep/correction"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
)

// turnFacts are the lines about a turn besides what was said.
func turnFacts(tools []transcript.Tool, files []string, skill, by string, redacted int) []string {
	var out []string
	if len(tools) > 0 {
		out = append(out, "tools: "+toolsText(tools))
	}
	if len(files) > 0 {
		out = append(out, "wrote: "+oneLine(strings.Join(files, ", ")))
	}
	if skill != "" {
		out = append(out, fmt.Sprintf("skill: %s (by %s)", oneLine(skill), by))
	}
	if redacted > 0 {
		out = append(out, plural.Of(redacted, "secret", "secrets")+" redacted")
	}
	return out
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
