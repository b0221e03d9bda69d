package result

import "github.com/seed-f4525e22/skillopt/trajectory"

// Rescore is how the recorded answers of a run score under other checks, or another
// extraction. Nothing of the run is changed, and no model is asked.
type Rescore struct {
	RunDir    string          `json:"run_dir"`
	Simulated bool            `json:"simulated,omitempty"`
	Sheets    []RescoredSheet `json:"sheets"` // in the order of the run

	// Decisions are those of the gate, in order; none of a run that trains nothing.
	Decisions []Rejudgement `json:"decisions"`
	// Undecided says why no decision was made again, "" if some were.
	Undecided string `json:"undecided,omitempty"`

	NotRescored map[string]int `json:"not_rescored,omitempty"`  // answers, by why
	TestLeftOut bool           `json:"test_left_out,omitempty"` // there are answers to test tasks, which were not looked at
}

// RescoredSheet is the result of one skill on some tasks, then and now.
type RescoredSheet struct {
	Where string `json:"where"` // for people
	Step  int    `json:"step"`
	Epoch int    `json:"epoch,omitempty"`
	Arm   string `json:"arm"`
	Split string `json:"split"`

	// Before and After are over the same answers: those that were rescored. Null: none was.
	Before *RescoredScore `json:"before"`
	After  *RescoredScore `json:"after"`

	Rescored    int            `json:"rescored"` // answers
	Changed     []RescoredTask `json:"changed"`  // those whose score, or answer, is another one
	NotRescored []Unrescored   `json:"not_rescored"`
}

// RescoredScore is a score with standard errors over the tasks.
type RescoredScore struct {
	Score
	HardSE *float64 `json:"hard_se"` // null: of one task there is none
	SoftSE *float64 `json:"soft_se"`
}

// RescoredTask is an answer that scores otherwise, or of which something else is scored.
type RescoredTask struct {
	ID     string `json:"id"`
	Type   string `json:"type,omitempty"`
	Sample int    `json:"sample"`

	Before Scored `json:"before"`
	After  Scored `json:"after"`

	Expected string `json:"expected,omitempty"` // now, as analysts would get it
}

// Scored is an answer with its score.
type Scored struct {
	Hard      float64                   `json:"hard"`
	Soft      float64                   `json:"soft"`
	Answer    string                    `json:"answer"`
	Extracted string                    `json:"extracted,omitempty"`
	Why       string                    `json:"why,omitempty"`
	Checks    []trajectory.CheckVerdict `json:"checks,omitempty"` // nil: not known
}

// Unrescored is an answer that was not rescored. It has no score then: none is 0.
type Unrescored struct {
	ID     string `json:"id"`
	Sample int    `json:"sample"`
	Reason string `json:"reason"`
}

// Rejudgement is a decision of the gate, then and by other scores.
type Rejudgement struct {
	Where string `json:"where"` // for people
	Epoch int    `json:"epoch"`
	Step  int    `json:"step"` // 0: of the end of an epoch
	At    string `json:"at"`   // place in the record

	Then       string   `json:"then"` // action
	ThenReason string   `json:"then_reason"`
	Difference *float64 `json:"then_difference,omitempty"`

	Now           *string  `json:"now"` // action; null: it is not known, see Unknown
	NowReason     string   `json:"now_reason,omitempty"`
	NowDifference *float64 `json:"now_difference,omitempty"`
	Changed       bool     `json:"changed"` // accepted instead of rejected, or the reverse
	Unknown       string   `json:"unknown,omitempty"`
}
