package result

// Mine is the result of mining tasks from sessions of agents.
type Mine struct {
	RunDir    string     `json:"run_dir"` // its record
	Simulated bool       `json:"simulated"`
	Funnel    MineFunnel `json:"funnel"`
	Recorded  int        `json:"recorded"` // calls that the record answered
	Usage

	// Tasks are lines of JSON, each a task (member task, with the fields of a task file) and
	// what is known of it: trust, project, skill, seen, at, place, input, outcome, held, unfit.
	// No one has reviewed any.
	Tasks []byte `json:"-"`
}

// MineFunnel counts what happened to sessions, and to the tasks that were proposed from them.
type MineFunnel struct {
	Sessions   int         `json:"sessions"`
	LeftOut    []MineCount `json:"left_out,omitempty"` // sessions without tasks, by reason, the most frequent first
	Candidates int         `json:"candidates"`         // sessions that show an outcome
	Asked      int         `json:"asked"`              // sessions that a model was asked about
	Proposed   int         `json:"proposed"`           // tasks
	Fell       []MineCount `json:"fell,omitempty"`     // tasks, by reason
	Merged     int         `json:"merged"`             // tasks, into one that was shown before
	Held       int         `json:"held"`               // of Kept: for a person to look at first
	Unfit      int         `json:"unfit"`              // of Kept: cannot be carried out again
	Kept       int         `json:"kept"`               // tasks

	// The first three of each, with why.
	HeldExamples  []MineExample `json:"held_examples,omitempty"`
	UnfitExamples []MineExample `json:"unfit_examples,omitempty"`
	KeptExamples  []MineExample `json:"kept_examples,omitempty"` // neither held nor unfit; the detail is the trust
}

// MineCount is how often a reason was met.
type MineCount struct {
	Reason   string        `json:"reason"` // continues after "sessions that" or "tasks that"
	N        int           `json:"n"`
	Examples []MineExample `json:"examples,omitempty"` // the first ones, at most three
}

// MineExample is a session, or a task that was proposed of one.
type MineExample struct {
	Source  string `json:"source"` // the agent
	Session string `json:"session"`
	Prompt  string `json:"prompt,omitempty"` // of the task, its beginning
	Detail  string `json:"detail,omitempty"` // what was wrong
}
