package sim

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

var (
	// minedTurn is a turn of a session: its number, and a line of JSON.
	minedTurn = pattern.New(`(?m)^(\d{1,6}) (\{.*\})$`)
	// minedHint names the turns that seem to be corrected.
	minedHint = pattern.New(`(?s)\n# What seems to be corrected\n\s*Turns: ([\d ]+)`)
	// minedAnswer is the answer of a reply that marks it.
	minedAnswer = pattern.New(`(?s)<answer>(.*?)</answer>`)
)

// turnSaid is what the simulated miner reads of a turn.
type turnSaid struct {
	User        string `json:"user"`
	Agent       string `json:"agent"`
	Failed      bool   `json:"failed"`
	Interrupted bool   `json:"interrupted"`
}

// mine proposes a task for each request of a session whose answer was corrected and then accepted, by plain rules:
// the prompt is what the user said, the expected answer what the accepted one marks with <answer>, else its last
// line.
func mine(p prompt) (string, error) {
	hint := minedHint.FindStringSubmatch(p.user)
	if hint == nil && !strings.Contains(p.user, "# What seems to be corrected") {
		return "", errors.New("the prompt does not say which turns seem to be corrected")
	}
	turns := map[int]turnSaid{}
	last := 0
	for _, m := range minedTurn.FindAllStringSubmatch(p.user, -1) {
		var t turnSaid
		if json.Unmarshal([]byte(m[2]), &t) == nil {
			last = parseDigits(m[1])
			turns[last] = t
		}
	}
	var corrected []int
	if hint != nil {
		for _, word := range strings.Fields(hint[1]) {
			corrected = append(corrected, parseDigits(word))
		}
	}
	tasks := []map[string]any{}
	for _, turn := range corrected {
		if slices.Contains(corrected, turn-1) {
			continue // it corrects itself
		}
		if t := proposeTask(turns, corrected, turn, last); t != nil {
			tasks = append(tasks, t)
		}
	}
	return encode(map[string]any{"tasks": tasks}), nil
}

// proposeTask returns the task of a turn that was corrected; nil: its answer was never accepted.
func proposeTask(turns map[int]turnSaid, corrected []int, turn, last int) map[string]any {
	for i := turn + 1; i <= last; i++ {
		right, ok := turns[i]
		if !ok || slices.Contains(corrected, i) || right.Agent == "" || right.Failed || right.Interrupted {
			continue
		}
		gold, kind := finalAnswer(right.Agent)
		if gold == "" || turns[turn].User == "" {
			return nil
		}
		return map[string]any{
			"asked": []int{turn}, "corrected": turn, "accepted": i, "prompt": turns[turn].User, "input": "", "gold": []string{gold},
			"checks": []map[string]any{{"type": kind, "values": []string{}, "normalize": normalizeOption(kind), "abs": nil, "min": nil, "max": nil, "feedback": ""}},
			"rubric": "", "quote": "",
		}
	}
	return nil
}

// finalAnswer returns what an answer says in the end, and the kind of check that finds it in the whole of it.
func finalAnswer(text string) (answer, kind string) {
	text = strings.TrimSpace(text)
	if m := minedAnswer.FindStringSubmatch(text); m != nil {
		return strings.TrimSpace(m[1]), "contains"
	}
	lines := strings.Split(text, "\n")
	if len(lines) == 1 {
		return text, "equals"
	}
	return strings.TrimSpace(lines[len(lines)-1]), "contains"
}

func normalizeOption(kind string) string {
	if kind == "equals" {
		return "trim"
	}
	return ""
}
