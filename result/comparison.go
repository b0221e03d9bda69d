package result

import "github.com/seed-f4525e22/skillopt/gate"

// Verdicts of a Comparison, on B against A.
const (
	VerdictBetter        = "better"
	VerdictWorse         = "worse"
	VerdictNoDifference  = "no_difference" // none larger than the margin
	VerdictNotEnoughData = "not_enough_data"
)

// What the interval of a Comparison is about.
const (
	// OverTasksLikeThese: one pass, in which each task was one draw.
	OverTasksLikeThese = "tasks_like_these"
	// OverTheseTasks: several passes over the same tasks.
	OverTheseTasks = "these_tasks"
)

// Comparison is the result of comparing two skills. It is the document that
// `compare --json` prints and comparison.json holds. Differences are B - A, in
// points of the score from 0 to 1. What was not measured is null.
type Comparison struct {
	RunDir    string `json:"run_dir"`
	Simulated bool   `json:"simulated"`
	// Exploratory says that tasks are drafts that no one has reviewed.
	Exploratory bool `json:"exploratory,omitempty"`
	// Limit is the most tasks of each split that were used, tasks.limit; 0: all.
	Limit int `json:"limit,omitempty"`

	Verdict string `json:"verdict"`
	// Withheld says, in words, why a skill that is ahead is not called better, "" if none is.
	Withheld string `json:"withheld,omitempty"`

	About      string   `json:"about"`      // what verdict and interval are about
	Metric     string   `json:"metric"`     // hard, soft or mixed: gate.metric
	Difference *float64 `json:"difference"` // mean over the pairs
	Low        *float64 `json:"low"`        // bounds that hold at all looks together
	High       *float64 `json:"high"`       //
	Level      float64  `json:"level"`      // probability with which they do
	Margin     float64  `json:"margin"`     // the largest difference that does not matter

	// Look is the only look of a comparison that was to look once; null of the others, and where
	// it did not reach the look. Difference, Low and High are there all the same: they hold
	// at any number of looks, and say less.
	Look *ComparisonLook `json:"look,omitempty"`

	A ComparedSkill `json:"a"`
	B ComparedSkill `json:"b"`

	Split     string `json:"split"`
	Tasks     int    `json:"tasks"` // in the split
	Passes    int    `json:"passes"`
	MaxPasses int    `json:"max_passes"`
	Pairs     int    `json:"pairs"` // of a task, or of the tasks of a gate.group, in one pass
	Wins      int    `json:"wins"`  // pairs in which B scored higher
	Losses    int    `json:"losses"`
	Ties      int    `json:"ties"`

	// Deterministic says that the model gives the same answer every time, so that a second pass
	// shows nothing.
	Deterministic bool `json:"fixed,omitempty"`
	// Needs is how much would probably decide, if there is not enough data. It is
	// null if that is not foreseeable.
	Needs *Needs `json:"needs,omitempty"`

	// Effort is what episodes of an agent took with A and with B; absent without an agent.
	Effort []Effort `json:"effort,omitempty"`

	ByTask     []TaskDifference `json:"by_task"`              // in the order of the tasks
	Unmeasured []string         `json:"unmeasured,omitempty"` // tasks left out of both arms

	Usage

	// TestReadBefore says who had read the test set before; null: it was not read, or
	// it is a replay.
	TestReadBefore *TestReads `json:"test_read_before,omitempty"`
}

// ComparisonLook is a test of the claim that B is better, by a sample whose size was settled
// before, looked at once.
type ComparisonLook struct {
	Test  gate.LookTest `json:"test"`
	Level float64       `json:"level"` // the probability that Certified or AtLeast is wrong

	N      int `json:"n"` // pairs; a task over its passes, a cluster as one
	Wins   int `json:"wins"`
	Losses int `json:"losses"`
	Ties   int `json:"ties"`

	P         *float64 `json:"p_greater,omitempty"` // of the exact test, one-sided
	EValue    *float64 `json:"e_value,omitempty"`   // of the bound: certified at 1/level, which it does not pass
	Certified bool     `json:"certified"`           // B is better
	AtLeast   *float64 `json:"at_least"`            // lower bound of the mean difference, at the same level; null unless certified
}

// ComparedSkill is one of the two skills and its scores over the pairs.
type ComparedSkill struct {
	Skill string `json:"skill_hash"`
	Score *Score `json:"score"`
	// TrainedOn says that a training chose the skill by these tasks. That it is ahead on them
	// is then no verdict: there is not enough data.
	TrainedOn *TrainedOn `json:"trained_on,omitempty"`
}

// Needs is an amount of data, in all, not in addition to what there is.
type Needs struct {
	Pairs  int `json:"pairs"`
	Passes int `json:"passes,omitempty"` // over the same tasks
	Tasks  int `json:"tasks,omitempty"`  // when further passes show nothing
}

// TaskDifference is what the two skills scored on one task, by the metric of the
// comparison, on average over the passes.
type TaskDifference struct {
	ID string  `json:"id"`
	A  float64 `json:"a"`
	B  float64 `json:"b"`
	N  int     `json:"n"` // passes
}
