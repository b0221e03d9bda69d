package check

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/mcq"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/task"
)

// buildMCQ compiles mcq: the answer names the right one of the choices that a field of the
// task holds.
func buildMCQ(s *spec, n *node) {
	field := s.text("choices", "choices")
	form := s.choice("form", mcq.Forms()...)
	fixed := s.operands(true)
	n.gold = fixed == nil
	goldOf := func(t task.Task) []string {
		if fixed != nil {
			return fixed
		}
		return t.Gold
	}
	n.holds = "names the choice of " + newOperandSet(fixed, strings.TrimSpace).describe()
	n.suits = func(t task.Task) error { return suitsMCQ(t, field, form, goldOf(t)) }
	n.look = func(_ context.Context, w *subject, _ string) (verdict, error) {
		choices, err := readChoices(w.task, field)
		if err != nil {
			return verdict{broken: true, reason: err.Error()}, nil
		}
		return choiceVerdict(form, w.Answer, goldOf(w.task), choices), nil
	}
}

func readChoices(t task.Task, field string) ([]mcq.Choice, error) {
	v, ok := findField(t, field)
	if !ok {
		return nil, fmt.Errorf("the task has no field %s with its choices; name the field by choices: FIELD, or write when: %s if only some tasks have choices", field, field)
	}
	choices, err := mcq.Read(v)
	if err != nil {
		return nil, fmt.Errorf("its field %s: %w", field, err)
	}
	return choices, nil
}

// findField returns a field of a task, or one within a field ("mcq.choices"), as templates
// name them. One that is null, false, or empty is not there.
func findField(t task.Task, name string) (any, bool) {
	var v any = t.Fields()
	for key := range strings.SplitSeq(name, ".") {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	switch x := v.(type) {
	case nil:
		return nil, false
	case bool:
		return v, x
	case string:
		return v, strings.TrimSpace(x) != ""
	case []any:
		return v, len(x) > 0
	case map[string]any:
		return v, len(x) > 0
	}
	return v, true
}

func suitsMCQ(t task.Task, field, form string, gold []string) error {
	choices, err := readChoices(t, field)
	if err != nil {
		return err
	}
	for _, g := range gold {
		if _, ok := mcq.Gold(form, g, choices); !ok {
			return fmt.Errorf("gold %s is no choice; allowed are the labels %s and the texts of the choices", quote(g), mcq.Labels(choices))
		}
	}
	return nil
}

func choiceVerdict(form, answer string, gold []string, choices []mcq.Choice) verdict {
	if len(gold) == 0 {
		return unequal(answer, nil)
	}
	var v verdict
	var accepted []string
	for _, g := range gold {
		right, _ := mcq.Gold(form, g, choices)
		label, why := mcq.Parse(form, answer, right, choices)
		if label == right && right != "" {
			return verdict{score: 1, pass: true, saw: "choice " + label}
		}
		accepted = append(accepted, right)
		v.reason = fmt.Sprintf("chose %s, expected %s", label, quoteTexts(accepted))
		v.saw, v.cause = "choice "+label, score.OtherAnswer
		if why != "" {
			v.saw, v.cause = "", score.NoAnswer
			v.reason = fmt.Sprintf("%s%s; expected %s", why, got(answer), quoteTexts(accepted))
		}
	}
	return v
}
