package result

import (
	"fmt"
	"math"

	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// The rules that end a loop before its last step.
const (
	StopPerfect  = "perfect"
	StopScore    = "score"
	StopPatience = "patience"
	StopEvidence = "evidence"
)

// Stop says which rule ended the loop before its last step, and on what figures. Scores and gains go
// from 0 to 1. It follows from what the run has recorded.
type Stop struct {
	Rule      string `json:"rule"`
	Epoch     int    `json:"epoch"`
	Step      int    `json:"step"`       // the last that was carried out; 0: the seed skill was scored and nothing else
	Units     int    `json:"parts"`      // of the loop that were carried out: steps and ends of epochs
	StepsLeft int    `json:"steps_left"` // that were not

	SkillHash   string   `json:"skill_hash"` // the current skill then
	Metric      string   `json:"metric"`
	Score       *float64 `json:"score"` // of it on the selection split; null: too little was measured
	Items       int      `json:"items"` // selection tasks that were measured with it
	Tasks       int      `json:"tasks"` // of the selection split
	Evaluations int      `json:"evaluations"`

	Wanted *float64 `json:"wanted,omitempty"` // score: what the rule asks for
	Idle   int      `json:"idle,omitempty"`   // patience: steps in a row that gained nothing

	// Of evidence: the most that could still be gained, on how many tasks (clusters count as
	// one), the gain that the tasks distinguish from changing answers (0: none changed; nil: no skill
	// could show a change), and on how
	// many tasks a gain is needed before it is hardly chance.
	Left  *float64 `json:"left,omitempty"`
	Open  *int     `json:"open,omitempty"`
	Shown *float64 `json:"shown,omitempty"`
	Least int      `json:"least,omitempty"`
}

// Words says it in a sentence.
func (s *Stop) Words() string {
	at := fmt.Sprintf("after step %d", s.Step)
	if s.Step == 0 {
		at = "before the first step"
	}
	text := fmt.Sprintf("stopped %s (train.stop.%s): %s", at, s.Rule, s.why())
	if s.StepsLeft > 0 {
		text += fmt.Sprintf("; %s left out", wording.Plural(s.StepsLeft, "step is", "steps are"))
	}
	return text
}

// why returns the reason, with its figures.
func (s *Stop) why() string {
	tasks := wording.Plural(s.Tasks, "selection task", "selection tasks")
	switch s.Rule {
	case StopPerfect:
		return fmt.Sprintf("each of %s was solved each time, in %d evaluations", tasks, s.Evaluations)
	case StopScore:
		return fmt.Sprintf("the selection score %.3f (%s) has reached %.3g", of(s.Score), s.Metric, of(s.Wanted))
	case StopPatience:
		return fmt.Sprintf("%s in a row gained nothing", wording.Plural(s.Idle, "step", "steps"))
	case StopEvidence:
		if s.Open != nil && *s.Open < s.Least {
			return fmt.Sprintf("only %d of %s can still gain, and a gain on fewer than %d could be chance", *s.Open, tasks, s.Least)
		}
		return fmt.Sprintf("at most %.1f points are left to gain, and %s show %.1f at the least, since answers change", 100*of(s.Left), tasks, 100*of(s.Shown))
	}
	return s.Rule
}

// of returns a figure that the rule has: a file that somebody has changed may lack it.
func of(f *float64) float64 {
	if f == nil {
		return math.NaN()
	}
	return *f
}
