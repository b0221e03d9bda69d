package optimize

import (
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/skill"
)

// Fared is how the tasks of a type went with a candidate that was not accepted, compared
// with the incumbent, as far as both were measured on them.
type Fared struct {
	Type string `json:"type,omitempty"` // "": the tasks have none
	Won  int    `json:"won"`            // tasks with a higher score
	Lost int    `json:"lost"`           // with a lower one
	Same int    `json:"same"`
}

// Bounds of what is listed.
const (
	maxMade  = 12 // edits of a step
	maxTypes = 24 // of tasks
)

func more(b *strings.Builder, n int, of string) {
	if n > 0 {
		fmt.Fprintf(b, "- and %d more %s\n", n, of)
	}
}

func writeEdit(b *strings.Builder, e skill.Edit) {
	fmt.Fprintf(b, "- %s", e.Op)
	if e.File != "" && e.File != skill.Main {
		fmt.Fprintf(b, " file=%s", oneLine(e.File, maxTried))
	}
	if e.Target != "" {
		fmt.Fprintf(b, " target=%s", oneLine(e.Target, maxTried))
	}
	if e.Content != "" {
		fmt.Fprintf(b, " content=%s", oneLine(e.Content, maxTried))
	}
	b.WriteString("\n")
}

// RenderFared writes how tasks fared, a line a type.
func RenderFared(fared []Fared) string {
	var b strings.Builder
	for _, f := range fared[:min(len(fared), maxTypes)] {
		name := f.Type
		if name == "" {
			name = "tasks without a type"
		}
		fmt.Fprintf(&b, "- %s: won %d, lost %d, same %d\n", oneLine(name, maxTargetLine), f.Won, f.Lost, f.Same)
	}
	more(&b, len(fared)-maxTypes, "types")
	return strings.TrimSuffix(b.String(), "\n")
}
