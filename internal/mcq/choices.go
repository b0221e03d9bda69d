// Package mcq reads questions with choices: what the choices are, and which of them an
// answer names.
//
// It knows nothing about tasks, checks and models. It is pure.
package mcq

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/pytext"
)

// MaxChoices is how many choices a question may have: one for each letter.
const MaxChoices = 26

// Choice is one of the answers that a question offers.
type Choice struct {
	Label string `json:"label"`
	Text  string `json:"text"`
}

// Letter returns the label of the choice at a place from 0.
func Letter(i int) string { return string(rune('A' + i)) }

// errShape says what choices may look like.
var errShape = errors.New(`choices are a list of texts, a list of objects with label and text, or an object from labels to texts, such as {"A": "yes", "B": "no"}`)

// Read reads choices as a decoder of JSON or YAML returns them: a list of texts, whose labels
// are A, B and so on, a list of objects with label and text (or content), an object from
// labels to texts, or text that is JSON of one of these or has a choice on each line
// ("A. yes"). Choices without a text and without a label of their own are left out.
func Read(v any) ([]Choice, error) {
	var choices []Choice
	var err error
	switch v := v.(type) {
	case []any:
		choices, err = fromList(v)
	case []Choice:
		choices = v
	case map[string]any:
		choices, err = fromObject(v)
	case string:
		return fromText(v)
	default:
		return nil, errShape
	}
	if err != nil {
		return nil, err
	}
	return choices, check(choices)
}

func check(choices []Choice) error {
	if len(choices) == 0 {
		return errors.New("there are no choices")
	}
	seen := map[string]bool{}
	for _, c := range choices {
		label := clean(c.Label)
		if label == "" {
			return fmt.Errorf("the choice %q has no label", c.Text)
		}
		if seen[label] {
			return fmt.Errorf("the label %s is there twice", c.Label)
		}
		seen[label] = true
	}
	return nil
}

func fromList(list []any) ([]Choice, error) {
	if len(list) > MaxChoices {
		return nil, fmt.Errorf("there are %d choices, at most %d are allowed", len(list), MaxChoices)
	}
	var choices []Choice
	marked := true // every text begins with its own label
	for i, item := range list {
		c := Choice{Label: Letter(i)}
		if m, ok := item.(map[string]any); ok {
			marked = false
			if label := text(m["label"]); label != "" {
				c.Label = label
			}
			c.Text = cmp.Or(text(m["text"]), text(m["content"]))
			if c.Text == "" && text(m["label"]) == "" {
				return nil, errShape
			}
		} else if c.Text = text(item); c.Text == "" {
			continue
		}
		_, own := cutLabel(c.Text, c.Label)
		marked = marked && own
		choices = append(choices, c)
	}
	for i := range choices {
		if rest, ok := cutLabel(choices[i].Text, choices[i].Label); ok && marked {
			choices[i].Text = rest
		}
	}
	return choices, nil
}

// mark finds the label that a line begins with: "(A) ", "A) ", "A. ", "A: ".
var mark = pattern.New(`^\s*(?:\(([A-Za-z0-9]{1,2})\)|([A-Za-z0-9]{1,2})[.):])\s*`)

// cutLabel takes a label off the beginning of a text.
func cutLabel(line, label string) (rest string, ok bool) {
	m := mark.FindStringSubmatch(line)
	if m == nil || !strings.EqualFold(m[1]+m[2], label) {
		return line, false
	}
	return line[len(m[0]):], true
}

func fromObject(m map[string]any) ([]Choice, error) {
	if len(m) > MaxChoices {
		return nil, fmt.Errorf("there are %d choices, at most %d are allowed", len(m), MaxChoices)
	}
	var choices []Choice
	for _, label := range slices.SortedFunc(maps.Keys(m), byLabel) {
		if t := text(m[label]); t != "" {
			choices = append(choices, Choice{Label: strings.TrimFunc(label, pytext.IsSpace), Text: t})
		}
	}
	return choices, nil
}

// byLabel puts 2 before 10, and otherwise follows the letters.
func byLabel(a, b string) int {
	x, errX := strconv.Atoi(a)
	y, errY := strconv.Atoi(b)
	if errX == nil && errY == nil {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(a, b)
}

func fromText(s string) ([]Choice, error) {
	s = strings.TrimSpace(s)
	if s != "" && (s[0] == '[' || s[0] == '{') {
		var v any
		decoder := json.NewDecoder(strings.NewReader(s))
		decoder.UseNumber()
		if err := decoder.Decode(&v); err == nil && !decoder.More() {
			return Read(v)
		}
	}
	var choices []Choice
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		m := mark.FindStringSubmatch(line)
		if m == nil || len(choices) == MaxChoices {
			return nil, errShape
		}
		choices = append(choices, Choice{Label: m[1] + m[2], Text: line[len(m[0]):]})
	}
	return choices, check(choices)
}

// text returns a value as text, "" for null.
func text(v any) string {
	if v == nil {
		return ""
	}
	return strings.TrimFunc(pytext.Text(v), pytext.IsSpace)
}

// Labels lists the labels of choices, for messages.
func Labels(choices []Choice) string {
	labels := make([]string, len(choices))
	for i, c := range choices {
		labels[i] = c.Label
	}
	return strings.Join(labels, ", ")
}

// Lines writes choices as a question shows them, one a line: "A. yes".
func Lines(choices []Choice) string {
	lines := make([]string, len(choices))
	for i, c := range choices {
		lines[i] = strings.TrimSpace(c.Label + ". " + c.Text)
	}
	return strings.Join(lines, "\n")
}
