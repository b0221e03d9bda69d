package run

import "github.com/seed-f4525e22/skillopt/result"

// Plan is what a run has before it: who watches it learns how much of it is done.
type Plan struct {
	Train     int `json:"train"` // tasks
	Selection int `json:"selection"`
	Test      int `json:"test"`
	Folds     int `json:"folds,omitempty"` // in which Train and Selection are the same tasks; 0: they are two splits
	Steps     int `json:"steps,omitempty"` // of training

	// Expected is what the whole run was expected to take when the last session began; nil: no one
	// could say, or no one was asked.
	Expected *Expected `json:"expected,omitempty"`
}

// Expected is a forecast of a whole run, what was spent before it included.
type Expected struct {
	Calls   result.Interval  `json:"calls"`
	Input   result.Interval  `json:"input_tokens"`
	Output  result.Interval  `json:"output_tokens"`
	USD     *result.Interval `json:"cost_usd"`          // null: a model has no price, or is simulated
	Basis   string           `json:"basis"`             // estimated, learned, measured
	Without []string         `json:"without,omitempty"` // roles whose tokens or prices no one knows: they are in no sum
}

// NewExpected returns what is noted of a forecast; nil of none.
func NewExpected(f *result.Forecast) *Expected {
	if f == nil {
		return nil
	}
	return &Expected{Calls: f.Calls, Input: f.Input, Output: f.Output, USD: f.USD, Basis: f.Basis, Without: f.Unknown}
}

// SetPlan notes in the manifest what the run has before it.
func (r *Run) SetPlan(p Plan) error {
	r.Manifest.Plan = &p
	return r.SetStatus(result.Running)
}
