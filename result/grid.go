package result

import "github.com/seed-f4525e22/skillopt/score"

// Grid holds the results of all tasks of a run with all the skills that were tried on them.
type Grid struct {
	RunDir  string       `json:"run_dir"`
	Columns []GridColumn `json:"columns"` // in the order of the run
	Tasks   []GridTask   `json:"tasks"`   // of a split together, in the order in which the run reached them

	Problems []string `json:"problems,omitempty"` // files that were damaged or gone: their columns are missing
}

// GridColumn is one skill on the tasks of one split.
type GridColumn struct {
	Step  int      `json:"step"`
	Epoch int      `json:"epoch,omitempty"` // of guidance at the end of an epoch
	Arm   string   `json:"arm"`             // current, candidate, seed, best, final, or the arm of a comparison
	Split string   `json:"split"`           // train, selection, test
	Title string   `json:"title"`
	Hard  *float64 `json:"hard"` // mean, as the run has written it down; null: none
	N     int      `json:"n"`    // measured
	score.Unanswered

	// Cells has a character for each task: 1 passed, 0 failed, a to i a soft or mean score of
	// 0.1 to 0.9 rounded down (a also below that), x an error of the agent (a score of 0), u not
	// measured, . not asked.
	Cells string `json:"cells"`
}

// GridTask is a row of a Grid: a task of a split (in folds, where train and selection tasks are
// the same, it has two). What cannot be determined is null.
type GridTask struct {
	ID          string   `json:"id"`
	Type        string   `json:"type,omitempty"`
	Split       string   `json:"split"`
	Text        string   `json:"text,omitempty"` // the beginning of its question, at most 200 characters; not of test tasks, which it would be a reading of
	Asked       int      `json:"asked"`          // cells that are measured
	Solved      *float64 `json:"solved"`         // mean of them
	Flips       int      `json:"flips"`          // changes between passed and failed from one measured cell of the split to the next
	Regressions int      `json:"regressions"`    // of them, from passed to failed
	Status      string   `json:"status"`         // with the best skill: passed, failed, unmeasured, not_asked; "" of a test task whose results are not shown
	Reason      string   `json:"fail_reason,omitempty"`
}
