package sim

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// judged matches a text between marks in a request to a judge: its name, and the text itself.
var judged = pattern.New(`(?s)(\[\[[0-9a-f]{16}) begin\]\] (question|reference|answer|handed in)\n(.*?)\n\[\[[0-9a-f]{16} end\]\] (?:question|reference|answer|handed in)`)

// judgedCriteria are the criteria of a request: all of them as a list, or the one.
var (
	judgedCriteria  = pattern.New(`(?s)\nThe criteria:\n(.*?)\n\nReply with`)
	judgedCriterion = pattern.New(`(?s)\nThe criterion:\n(.*?)\n\nReply with`)
	numberedLine    = pattern.New(`(?m)^\d+\. (.*)$`)
	quotedWords     = pattern.New(`"([^"]+)"`)
)

// judge plays a judge by equality, which is no judgement: an answer is equivalent if its letters
// and digits are those of a reference, and meets a criterion if it holds the words that the
// criterion has in quotes, or all of the criterion where it has none. Each reason says so.
func (w *World) judge(p prompt) (string, error) {
	parts := map[string]string{}
	for _, m := range judged.FindAllStringSubmatch(p.user, -1) {
		parts[m[2]] = m[3]
	}
	if reference, ok := parts["reference"]; ok && parts["handed in"] == "" {
		return equivalence(parts["answer"], reference), nil
	}
	handed, ok := parts["handed in"]
	if !ok {
		return "", fmt.Errorf("the simulated world %s finds neither an answer with a reference nor what was handed in to judge", w.name)
	}
	if m := judgedCriterion.FindStringSubmatch(p.user); m != nil {
		return encode(grade(m[1], handed)), nil
	}
	list := judgedCriteria.FindStringSubmatch(p.user)
	if list == nil {
		return "", fmt.Errorf("the simulated world %s finds no criteria to judge by", w.name)
	}
	grades := map[string]any{}
	for i, m := range numberedLine.FindAllStringSubmatch(list[1], -1) {
		grades[strconv.Itoa(i+1)] = grade(m[1], handed)
	}
	return encode(grades), nil
}

// equivalence returns the verdict on an answer. Each line of the reference is a reference too.
func equivalence(answer, reference string) string {
	got := normalizeWords(answer)
	same := false
	for line := range strings.Lines(reference) {
		same = same || got != "" && got == normalizeWords(line)
	}
	same = same || got != "" && got == normalizeWords(reference)
	why := "simulated judge: other letters than any reference"
	if same {
		why = "simulated judge: the letters of a reference"
	}
	return encode(map[string]any{"reason": why, "equivalent": same})
}

// grade returns the grade of one criterion.
func grade(criterion, handed string) map[string]any {
	wanted := []string{criterion}
	if quoted := quotedWords.FindAllStringSubmatch(criterion, -1); len(quoted) > 0 {
		wanted = nil
		for _, m := range quoted {
			wanted = append(wanted, m[1])
		}
	}
	missing := ""
	for _, words := range wanted {
		if !strings.Contains(normalizeWords(handed), normalizeWords(words)) {
			missing = words
			break
		}
	}
	if missing != "" {
		return map[string]any{"reason": fmt.Sprintf("simulated judge: %.60q is not there", missing), "score": 0}
	}
	return map[string]any{"reason": "simulated judge: the words are there", "score": 1}
}

// normalizeWords returns the letters and digits of a text, in small letters, with one space between words.
func normalizeWords(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return strings.Join(words, " ")
}
