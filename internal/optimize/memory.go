package optimize

import (
	"fmt"
	"slices"
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

// Staying is a task that failed whenever it was rolled out since some step.
type Staying struct {
	ID    string
	Steps []int // in which it failed, oldest first
}

// Bounds of what analysts are told of a run.
const (
	maxMade    = 12 // edits of a step
	maxStaying = 40 // tasks
	maxTypes   = 24 // of tasks

	maxMemory = 24_000 // bytes of all steps together; the oldest are left out first
)

// Memory renders steps of a run for analysts, "" if there are none: what each found, what
// it made of it, by type of task what a candidate won and lost that was not accepted, and
// which of the tasks that an analyst is about to read failed before. Of the tasks that
// candidates are judged by it tells types and counts, never their texts.
func Memory(notes []StepNote, staying []Staying) string {
	var texts []string
	size := 0
	for _, n := range slices.Backward(notes) {
		var b strings.Builder
		n.found(&b)
		n.made(&b)
		if size += b.Len(); size > maxMemory && len(texts) > 0 {
			break
		}
		texts = append(texts, b.String())
	}
	slices.Reverse(texts)
	var b strings.Builder
	b.WriteString(strings.Join(texts, "\n"))
	if len(staying) > 0 {
		b.WriteString("\n### Failures that stay\nThese tasks failed in the steps named and fail again. What was tried did not mend them: look for another cause.\n")
	}
	for _, s := range staying[:min(len(staying), maxStaying)] {
		fmt.Fprintf(&b, "- %s: %s\n", oneLine(s.ID, maxTargetLine), steps(s.Steps))
	}
	more(&b, len(staying)-maxStaying, "tasks")
	return strings.TrimSuffix(b.String(), "\n")
}

// steps writes "step 3" or "steps 3, 4".
func steps(numbers []int) string {
	list := strings.Trim(strings.ReplaceAll(fmt.Sprint(numbers), " ", ", "), "[]")
	if len(numbers) == 1 {
		return "step " + list
	}
	return "steps " + list
}

func more(b *strings.Builder, n int, of string) {
	if n > 0 {
		fmt.Fprintf(b, "- and %d more %s\n", n, of)
	}
}

// made writes what a step made and what came of it.
func (n StepNote) made(b *strings.Builder) {
	edits, verdict := n.Accepted, "accepted"
	if len(n.Rejected)+len(n.Tried) > 0 {
		edits, verdict = n.Rejected, "rejected"
	}
	if len(edits)+len(n.Tried) == 0 {
		return
	}
	fmt.Fprintf(b, "Tried and %s (score %s before, %s after):\n", verdict, scoreText(n.Before), scoreText(n.After))
	for _, e := range edits[:min(len(edits), maxMade)] {
		writeEdit(b, e)
	}
	more(b, len(edits)-maxMade, "edits")
	for _, t := range n.Tried[:min(len(n.Tried), maxMade)] {
		fmt.Fprintf(b, "- %s\n", oneLine(t, maxTried))
	}
	more(b, len(n.Tried)-maxMade, "changes")
	if len(n.Fared) > 0 {
		fmt.Fprintf(b, "On the tasks that judge, by type:\n%s\n", RenderFared(n.Fared))
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
