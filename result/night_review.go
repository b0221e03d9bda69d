package result

import "encoding/json"

// NightWords are a user's own words that a rule comes from: a task of a session.
type NightWords struct {
	Task  string `json:"task"`
	Asked string `json:"asked"` // of the agent
	Said  string `json:"said"`  // of its answer; "": nothing, such as where a command failed
}

// MinedTask is a task of a session that waits for a review.
type MinedTask struct {
	ID        string          `json:"id"`
	Held      string          `json:"held"` // why no one may use it before somebody has looked; "": it is used
	Project   string          `json:"project"`
	Skill     string          `json:"skill"`
	Trust     string          `json:"trust"`
	Session   MinedAt         `json:"session"`
	Prompt    string          `json:"prompt"`
	Gold      []string        `json:"gold"`
	Checks    json.RawMessage `json:"checks"`
	Said      string          `json:"correction"` // what the user said of the corrected answer
	Doubts    any             `json:"doubts"`
	Place     string          `json:"place"`            // where it is carried out
	Corrected string          `json:"corrected_answer"` // "": it is not kept
	Accepted  string          `json:"accepted_answer"`
}

// MinedAt is the turn of a session that has shown a task.
type MinedAt struct {
	Source  string `json:"source"`
	Session string `json:"session"`
	Turn    string `json:"turn"`
}

// MinedEdit is what a user changes of a MinedTask; what is missing stays as it is.
type MinedEdit struct {
	ID     string          `json:"id"`
	Prompt *string         `json:"prompt,omitempty"`
	Said   *string         `json:"correction,omitempty"`
	Gold   *[]string       `json:"gold,omitempty"`
	Checks json.RawMessage `json:"checks,omitempty"`
}

// Reviewed counts what was said of tasks.
type Reviewed struct {
	Accepted int `json:"accepted"`
	Rejected int `json:"rejected"`
}
