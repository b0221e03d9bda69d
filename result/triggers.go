package result

// Triggers is how often an agent loads a skill by its description, over trigger tasks.
type Triggers struct {
	Agent  string                  `json:"agent"` // and the model in it, where that is known
	Splits map[string]TriggerRates `json:"splits"`
}

// TriggerRates are those of one split. A rate is null where no such prompt was measured.
type TriggerRates struct {
	Should     *LoadRate `json:"should"`               // over prompts that should load the skill: 1 is best
	ShouldNot  *LoadRate `json:"should_not"`           // over prompts that should not: 0 is best
	Unmeasured []string  `json:"unmeasured,omitempty"` // tasks, in one of the passes
	Reason     string    `json:"reason,omitempty"`     // why nothing can be told of any task; no agent was asked then
}

// LoadRate is the share of prompts on which the body of the skill was loaded.
type LoadRate struct {
	Rate   float64 `json:"rate"` // mean over the tasks
	Tasks  int     `json:"tasks"`
	Loaded int     `json:"loaded"` // of the evaluations
	// Evaluations is how often an agent was asked: once a task and pass.
	Evaluations int `json:"evaluations"`
	// SE is the standard error of the rate over tasks like these; null: one task tells none.
	SE *float64 `json:"se"`
}
