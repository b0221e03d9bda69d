package result

import (
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
)

// Candidates is candidates.json: every skill that a run has put to its gate, in
// the order in which they came up, with all that was measured of them on the
// selection split.
type Candidates struct {
	Items      []string    `json:"items"` // ids of the selection items
	Candidates []Candidate `json:"candidates"`
}

// Candidate is one skill and what is known of it.
type Candidate struct {
	Hash     string            `json:"hash"`
	Origin   string            `json:"origin"`           // "seed", "step 3", "slow update, epoch 2"
	Step     int               `json:"step"`             // that made it, or after which it was made; 0 for the seed skill
	Parent   string            `json:"parent,omitempty"` // hash of the incumbent that it was made from
	Text     string            `json:"text"`
	Files    map[string]string `json:"files,omitempty"` // the files next to SKILL.md that edits may change, with their texts
	Edits    []skill.Report    `json:"edits,omitempty"`
	Judged   []Judgement       `json:"judged,omitempty"`
	Accepted bool              `json:"accepted"`       // it was the current skill once
	Best     bool              `json:"best,omitempty"` // it is what the run ships

	// By item: the sum and number of all evaluations, as gate scores, and the
	// number of the next fresh sample.
	Pooled           []gate.Pooled `json:"pooled,omitempty"`
	Solved           []int         `json:"solved,omitempty"`   // by item: evaluations with hard score 1
	Unscored         []int         `json:"unscored,omitempty"` // by item: draws that came without a score
	Next             []int         `json:"next,omitempty"`
	score.Unanswered               // of the evaluations

	Mean     *float64 `json:"mean"`     // of the items' pooled means, a cluster as one; null: too few items are measured
	Expected *float64 `json:"expected"` // the same, pulled toward the mean of all that were accepted
}

// Judgement is one decision of the gate on a candidate.
type Judgement struct {
	At         string           `json:"at"`                // key of the decision
	Against    string           `json:"against,omitempty"` // hash of the incumbent
	Action     string           `json:"action"`
	Reason     string           `json:"reason,omitempty"`
	Difference *float64         `json:"difference,omitempty"`
	SE         *float64         `json:"se,omitempty"`
	Phase      string           `json:"phase,omitempty"`
	Draws      map[gate.Arm]int `json:"draws,omitempty"`
	Losses     []gate.Loss      `json:"losses,omitempty"` // with gate.keep: as in StepRecord
}
