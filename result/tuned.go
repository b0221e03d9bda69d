package result

import "fmt"

// Tuned says that a person has edited a skill after its failures were read, and which one that was.
type Tuned struct {
	Run     string `json:"run"`     // name of its directory
	RunID   string `json:"run_id"`  // of the same
	Version string `json:"version"` // of its skill
}

// Words says what a score of the skill is not, "" of a skill that no one has edited.
func (t *Tuned) Words() string {
	if t == nil {
		return ""
	}
	return fmt.Sprintf("tuned by hand, from version %s of %s: the score is no proof", t.Version, t.Run)
}
