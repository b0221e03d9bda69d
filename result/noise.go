package result

import "github.com/seed-f4525e22/skillopt/score"

// Noise is what asking every selection task twice with the same skill (an
// A/A pass) says about what a gate can see. Scores, deviations and effects are in
// points of the gate's metric, from 0 to 1.
type Noise struct {
	RunDir    string `json:"run_dir"`
	Simulated bool   `json:"simulated"`

	Items  int      `json:"items"`  // asked twice and scored both times
	First  float64  `json:"first"`  // mean of the first pass
	Second float64  `json:"second"` // and of the second
	Flips  []string `json:"flips"`  // ids of the tasks whose score changed

	Between float64 `json:"between"` // deviation of the tasks' means

	// Within is the deviation of one evaluation around its task's mean. It and Detectable
	// are nil where this skill cannot show what chance changes: at the floor or the ceiling.
	Within *float64 `json:"within,omitempty"`

	// Detectable is the smallest true difference between two skills, each evaluated
	// once on these tasks, that is seen in 80 % of comparisons at the two-sided 5 %
	// level: 2.8 standard errors of the difference, and no less than one task.
	Detectable *float64 `json:"minimum_detectable_effect,omitempty"`

	TooSmall bool     `json:"too_small"` // to gate on: a difference of 10 points drowns in chance, as far as that is known
	Advice   []string `json:"advice"`

	Unmeasured       []string `json:"unmeasured,omitempty"`
	score.Unanswered          // of the answers of both passes
	Calls            Calls    `json:"calls"`
	CostUSD          *float64 `json:"cost_usd"` // null: a model has no price
}

// NoiseFile is the file of a run directory with a Noise.
const NoiseFile = "noise.json"

// NoiseFloor is a Noise with how sure its figures are. Ends of intervals are null where the
// tasks are too few to show them.
type NoiseFloor struct {
	Noise

	// Changed is the share of tasks whose score changed, with its 95 % interval.
	Changed     *float64 `json:"changed"`
	ChangedLow  *float64 `json:"changed_low"`
	ChangedHigh *float64 `json:"changed_high"`

	// DetectableLow and DetectableHigh are the smallest difference that is seen if as few, or
	// as many, scores change as the interval of Changed says: by as much as those that did
	// change, or where none did, from 0 to 1. They are null without Detectable.
	DetectableLow  *float64 `json:"minimum_detectable_low"`
	DetectableHigh *float64 `json:"minimum_detectable_high"`
}
