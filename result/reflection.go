package result

import "github.com/seed-f4525e22/skillopt/skill"

// Reflection is what analysts propose who have read outcomes.
type Reflection struct {
	RunDir  string        `json:"run_dir"` // its record
	Patches []skill.Patch `json:"patches"` // one an analyst that proposes edits, those of failures first
	Lost    int           `json:"lost_replies"`
	Usage
}
