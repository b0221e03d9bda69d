package run

import "github.com/seed-f4525e22/skillopt/result"

// Plan is what a run has before it: who watches it is told how much of it is done.
type Plan struct {
	Train     int `json:"train"` // tasks
	Selection int `json:"selection"`
	Test      int `json:"test"`
	Folds     int `json:"folds,omitempty"` // in which Train and Selection are the same tasks; 0: they are two splits
	Steps     int `json:"steps,omitempty"` // of training
}

// SetPlan notes in the manifest what the run has before it.
func (r *Run) SetPlan(p Plan) error {
	r.Manifest.Plan = &p
	return r.SetStatus(result.Running)
}
