package sim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// drawTrigger keeps the draws of drafted trigger tasks apart from the others.
const drawTrigger uint64 = 65

// triggerAssignment is how a prompt asks for trigger tasks, by kind.
var triggerAssignment = pattern.New(`(?m)^- (\d{1,3}) prompts? of the kind (should|should_not): `)

// triggers checks the templates from which trigger tasks are drafted: their slots, and that
// there are some of either kind.
func (c *compiler) triggers(w *World) {
	if (len(w.triggers.Should) == 0) != (len(w.triggers.ShouldNot) == 0) {
		c.fail("triggers", "templates of one kind, both are needed: should and should_not")
	}
	for i, text := range w.triggers.Should {
		c.slots(fmt.Sprintf("triggers.should[%d]", i), text)
	}
	for i, text := range w.triggers.ShouldNot {
		c.slots(fmt.Sprintf("triggers.should_not[%d]", i), text)
	}
}

// draftTriggers writes the trigger tasks that a prompt asks for: templates of the world file,
// with drawn numbers and words.
func (w *World) draftTriggers(p prompt, asked [][]string) (string, error) {
	if len(w.triggers.Should) == 0 {
		return "", fmt.Errorf("the simulated world %s cannot draft trigger tasks: its world file has no templates for them (key triggers)", w.name)
	}
	var list []map[string]any
	for _, a := range asked {
		from := w.triggers.Should
		if a[2] == "should_not" {
			from = w.triggers.ShouldNot
		}
		for range parseDigits(a[1]) {
			id := mix(p.id(), uint64(len(list)))
			list = append(list, map[string]any{
				"trigger": a[2], "prompt": w.fill(from[w.pick(len(from), drawTrigger, id)], id), "why": "a template of the world file",
			})
		}
	}
	return encode(map[string]any{"prompts": list}), nil
}

// isOpinion reports whether a prompt asks which requests should load a skill.
func isOpinion(user string) bool { return strings.Contains(user, headRequests) }

// headRequests is the heading behind which such a prompt has the requests, one a line.
const headRequests = "\n# The requests\n"

// opinions says of requests whether they come from a template that should load the skill.
func (w *World) opinions(p prompt) (string, error) {
	_, list, _ := strings.Cut(p.user, headRequests)
	var out []map[string]any
	for line := range strings.Lines(list) {
		var r struct {
			N      int
			Prompt string
		}
		if json.Unmarshal([]byte(line), &r) != nil {
			continue
		}
		loads := slices.ContainsFunc(w.triggers.Should, func(text string) bool { return fits(text, r.Prompt) })
		out = append(out, map[string]any{"n": r.N, "load": loads})
	}
	return encode(map[string]any{"opinions": out}), nil
}

// fits reports whether a text can come from a template.
func fits(template, text string) bool {
	from := 0
	for i, part := range draftSlot.Regexp().Split(template, -1) {
		at := strings.Index(text[from:], part)
		if at < 0 || i == 0 && at > 0 {
			return false
		}
		from += at + len(part)
	}
	return true
}
