package result

import "github.com/seed-f4525e22/skillopt/gate"

// JointVerdict says what the last confirmation of a night found.
type JointVerdict string

// The verdicts.
const (
	JointStands  JointVerdict = "stands"  // nothing shows that all of it is worse than the live documents
	JointWorse   JointVerdict = "worse"   // adopted as a whole it would be worse, or lose what was won
	JointSkipped JointVerdict = "skipped" // it was not measured, or not all of it
)

// NightJoint is the last confirmation of a night that has staged several documents: all live ones against all staged ones, on
// the open tasks of each of them, on fresh answers. Scores are hard. What was not measured is null.
type NightJoint struct {
	Targets    []string     `json:"targets"` // ids
	Verdict    JointVerdict `json:"verdict"`
	Reason     string       `json:"reason"`
	N          int          `json:"n"` // tasks that both have answered
	Wins       int          `json:"wins"`
	Losses     int          `json:"losses"`
	Ties       int          `json:"ties"`
	Difference *float64     `json:"difference"` // mean over the pairs, within -1 and 1
	Low        *float64     `json:"low"`        // interval of it at Level, which holds however often it is looked at
	High       *float64     `json:"high"`
	Level      float64      `json:"level"`      // of the interval
	Lost       []gate.Loss  `json:"lost"`       // tasks that the live ones win and the staged ones lost, asked afresh
	Unmeasured []string     `json:"unmeasured"` // tasks without a score in an arm
	Runs       []string     `json:"runs"`       // below sleep.dir

	Unanswered BothUnanswered `json:"unanswered,omitzero"` // answers of the live documents (old) and of the staged ones (new)
}
