package check

import (
	"maps"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/mcq"
	"github.com/seed-f4525e22/skillopt/task"
)

// taskText returns the task as a judge is shown it: what the target was asked and, where the task
// has choices that are not in it, the choices. For a task without a prompt, whose question a
// template puts together, it returns the field question, or all fields of text.
func taskText(w *subject, choices []mcq.Choice) string {
	text := w.Question
	if strings.TrimSpace(text) == "" {
		text = fieldsText(w.task)
	}
	if slices.ContainsFunc(choices, func(c mcq.Choice) bool { return !strings.Contains(text, c.Text) }) {
		text = strings.TrimSpace(text + "\n\nChoices:\n" + mcq.Lines(choices))
	}
	return text
}

func fieldsText(t task.Task) string {
	if question, ok := t.Data["question"].(string); ok && strings.TrimSpace(question) != "" {
		return question
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(t.Data)) {
		if text, ok := t.Data[name].(string); ok && strings.TrimSpace(text) != "" {
			lines = append(lines, name+": "+text)
		}
	}
	return strings.Join(lines, "\n")
}

// choicesShown returns the choices of a task, nil if it has none that can be read.
func choicesShown(t task.Task, field string) []mcq.Choice {
	choices, err := readChoices(t, field)
	if err != nil {
		return nil
	}
	return choices
}

// withTexts puts the text of a choice behind a reference that is its label.
func withTexts(references []string, choices []mcq.Choice) []string {
	if choices == nil {
		return references
	}
	full := slices.Clone(references)
	for i, r := range full {
		for _, c := range choices {
			if strings.EqualFold(strings.TrimSpace(r), c.Label) {
				full[i] = mcq.Lines([]mcq.Choice{c})
			}
		}
	}
	return full
}
