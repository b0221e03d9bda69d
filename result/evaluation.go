package result

import (
	"fmt"

	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Evaluation is the score of one skill.
type Evaluation struct {
	RunDir    string `json:"run_dir"`
	Simulated bool   `json:"simulated"`
	// Exploratory says that tasks of the splits are drafts that no one has reviewed.
	Exploratory bool `json:"exploratory,omitempty"`
	// Limit is the most tasks of each split that were used, tasks.limit; 0: all.
	Limit int `json:"limit,omitempty"`

	// Tuned says that the skill was edited by hand; absent: no one said so.
	Tuned *Tuned `json:"tuned_by_hand,omitempty"`

	Skill  string                `json:"skill_hash"`
	Splits map[string]SplitScore `json:"splits"`
	// Some says, of splits of which some tasks alone were scored, how many; absent: all were.
	Some map[string]Share `json:"some,omitempty"`
	// Triggers is how often the agent loads the skill; absent: the splits have no trigger
	// tasks. They are no part of the scores.
	Triggers *Triggers `json:"triggers,omitempty"`
	Usage
	// LeftOut is what of agents' requests did not reach the model, each thing once.
	LeftOut []trajectory.LeftOut `json:"left_out,omitempty"`
	// TestReadBefore says who had read the test set before; null: it was not read, or
	// it is a replay.
	TestReadBefore *TestReads `json:"test_read_before,omitempty"`
}

// Share is how many tasks of how many.
type Share struct {
	Tasks int `json:"tasks"`
	Of    int `json:"of"`
}

// SplitScore is the score on one split.
type SplitScore struct {
	Score
	ByType     map[string]Score `json:"by_type,omitempty"`
	Unmeasured []string         `json:"unmeasured,omitempty"` // in one of the passes

	// TrainedOn says that a training chose the skill by these tasks; absent: none is known.
	TrainedOn *TrainedOn `json:"trained_on,omitempty"`

	// Repeats is there after several passes (WithPasses): the score is then the
	// mean over all of them.
	Repeats *Repeats `json:"repeats,omitempty"`
}

// TrainedOn is a training that chose a skill by the tasks on which the skill is scored: it is
// ahead there because it was chosen there.
type TrainedOn struct {
	Run   string `json:"run"`
	Tasks int    `json:"tasks"` // that it chose by
}

// Words says what a score of the skill is not, "" if no such training is known.
func (t *TrainedOn) Words() string {
	if t == nil {
		return ""
	}
	return fmt.Sprintf("chosen by %d of these tasks in %s: expect less on new ones", t.Tasks, t.Run)
}

// Repeats is what several passes over the same tasks say about chance. Deviations
// are of the hard score; null is not known.
type Repeats struct {
	Passes      int      `json:"passes"`
	Evaluations int      `json:"evaluations"`
	Within      *float64 `json:"within"`  // deviation of one evaluation around its task's mean; null where this skill cannot show it, at the floor or the ceiling
	Between     *float64 `json:"between"` // deviation of the tasks' true means

	// Detectable is the smallest difference of two skills that a comparison on
	// these tasks with as many passes of each shows four times in five. It is null
	// when no answer changed.
	Detectable *float64 `json:"detectable"`

	Flips []string `json:"flips"` // tasks whose score changed from pass to pass
}
