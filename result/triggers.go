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
	Reason     string    `json:"reason,omitempty"`     // why nothing can be said of any task; no agent was asked then
}

// TrainTriggers is how often an agent loads the skill before training and after it, by split.
type TrainTriggers struct {
	Agent string                  `json:"agent"` // and the model in it, where that is known
	Seed  map[string]TriggerRates `json:"seed"`
	Best  map[string]TriggerRates `json:"best"`
}

// LoadsCompared is how often an agent loads the skill by the description of a candidate, and
// by that of the skill that it was to replace, over the trigger tasks of the selection split.
type LoadsCompared struct {
	Before TriggerRates `json:"before"`
	After  TriggerRates `json:"after"`
	// Refused is why the candidate went to the gate with the description that was there
	// before; "" if it kept its own.
	Refused string `json:"refused,omitempty"`
}

// LoadRate is the share of prompts on which the body of the skill was loaded.
type LoadRate struct {
	Rate   float64 `json:"rate"` // mean over the tasks
	Tasks  int     `json:"tasks"`
	Loaded int     `json:"loaded"` // of the evaluations
	// Evaluations is how often an agent was asked: once a task and pass.
	Evaluations int `json:"evaluations"`
	// Low and High are the 95 % interval of the rate (Wilson) over tasks like these.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// SE is the standard error of the rate over tasks like these; null: one task shows none;
	// 0 where all tasks had the same rate, which the interval does not take for certain.
	SE *float64 `json:"se"`
}
