package optimize

import (
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/prompt"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/skill"
)

// Region writes what the optimizer learns of the only part of a document that may change:
// in System how edits are held to it, in User how long it is.
func Region(prompts *prompt.Set, document string) (prompt.Text, error) {
	held, err := skill.LearnedText(document)
	if err != nil {
		return prompt.Text{}, fmt.Errorf("read the learned region: %w", err)
	}
	return prompts.Region(prompt.RegionInput{
		Start: skill.LearnedStart, End: skill.LearnedEnd, Lines: wording.Plural(strings.Count(held, "\n"), "line", "lines"),
	})
}
