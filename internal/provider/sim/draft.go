package sim

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// drawDraft keeps the draws of drafted tasks apart from the others.
const drawDraft uint64 = 64

var (
	draftSlot   = pattern.New(`\{\{([^{}]*)\}\}`)
	draftRange  = pattern.New(`^(\d{1,9})\.\.(\d{1,9})$`)
	assignment  = pattern.New(`(?m)^- (\d{1,3}) tasks? on lines (\d{1,6})-(\d{1,6}) of `)
	countedLine = pattern.New(`(?m)^(\d+)\| (.*)$`)
)

// drafts checks the templates from which tasks are drafted: their slots, and that
// the world knows what they ask.
func (c *compiler) drafts(w *World) {
	for i, text := range w.drafts {
		key := fmt.Sprintf("draft[%d]", i)
		if !c.slots(key, text) {
			return
		}
		if p, err := w.solve(w.fill(text, 0)); err != nil || p == nil {
			c.fail(key, "no kind of task recognises it (%q)", w.fill(text, 0))
		}
	}
}

// slots checks the slots of a template, and reports whether all can be filled.
func (c *compiler) slots(key, text string) bool {
	for _, m := range draftSlot.FindAllStringSubmatch(text, -1) {
		r := draftRange.FindStringSubmatch(m[1])
		if r == nil && !strings.Contains(m[1], "|") || r != nil && parseDigits(r[1]) > parseDigits(r[2]) {
			c.fail(key, "found {{%s}}, allowed are {{LOW..HIGH}} and {{one|another}}", m[1])
			return false
		}
	}
	return true
}

// fill puts drawn numbers and words into the slots of a template.
func (w *World) fill(text string, id uint64) string {
	n := uint64(0)
	return draftSlot.Regexp().ReplaceAllStringFunc(text, func(slot string) string {
		n++
		slot = slot[2 : len(slot)-2]
		if r := draftRange.FindStringSubmatch(slot); r != nil {
			low := parseDigits(r[1])
			return strconv.Itoa(low + w.pick(parseDigits(r[2])-low+1, drawDraft, id, n))
		}
		words := strings.Split(slot, "|")
		return words[w.pick(len(words), drawDraft, id, n)]
	})
}

// parseDigits parses digits that a pattern has matched.
func parseDigits(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0 // more digits than the patterns allow
	}
	return n
}

// draft writes the tasks that a prompt asks for: templates of the world file in
// turn, with the answer of a target that follows the skill in the prompt to the
// letter.
func (w *World) draft(p prompt) (string, error) {
	if len(w.drafts) == 0 {
		return "", fmt.Errorf("the simulated world %s cannot draft tasks: its world file has no templates for them (key draft)", w.name)
	}
	asked := assignment.FindAllStringSubmatch(p.user, -1)
	if len(asked) == 0 {
		return "", errors.New("the prompt does not say which lines of the skill the tasks are to test")
	}
	lines := map[int]string{}
	var skill strings.Builder
	for _, m := range countedLine.FindAllStringSubmatch(p.user, -1) {
		lines[parseDigits(m[1])] = m[2]
		skill.WriteString(m[2] + "\n")
	}
	r := w.read(skill.String())
	var tasks []map[string]any
	for _, a := range asked {
		for n := range parseDigits(a[1]) {
			id := mix(p.id(), uint64(len(tasks)))
			text := w.fill(w.drafts[w.pick(len(w.drafts), drawDraft, id)], id)
			s, err := w.solve(text)
			if err != nil {
				return "", err
			}
			if s == nil {
				return "", fmt.Errorf("no kind of task of the world %s recognises %q", w.name, firstLine(text))
			}
			tasks = append(tasks, map[string]any{
				"line": findTextLine(lines, parseDigits(a[2]), parseDigits(a[3]), n), "prompt": text, "gold": []string{s.follow(s.plain, r.stated)},
				"checks": []map[string]any{{"type": "equals", "normalize": "trim"}},
			})
		}
	}
	return encode(map[string]any{"tasks": tasks}), nil
}

// findTextLine returns the nth of the lines that hold text, from the beginning again
// when there are fewer.
func findTextLine(lines map[int]string, from, to, n int) int {
	var found []int
	for i := from; i <= to && len(found) <= len(lines); i++ {
		if text := strings.TrimSpace(lines[i]); text != "" && !strings.HasPrefix(text, "#") {
			found = append(found, i)
		}
	}
	if len(found) == 0 {
		return from
	}
	return found[n%len(found)]
}
