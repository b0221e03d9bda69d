// Package score holds what a measurement of one rollout is: a hard and a soft
// score, where they came from, and whether there is a measurement at all.
//
// It knows nothing about tasks, checks, models or how a rollout was made.
// Everything in it is pure and safe for concurrent use.
package score

// Status says what kind of evidence an outcome is.
type Status string

const (
	// OK: the rollout ended and was scored.
	OK Status = "ok"
	// AgentError: the target failed within the task's own limits (deadline,
	// turns, output length, refusal). It scores 0, with its reason.
	AgentError Status = "agent_error"
	// Unmeasured: a provider or the transport failed. There is no score; it
	// must never enter a mean.
	Unmeasured Status = "unmeasured"
)

// Measured reports whether the status carries a score.
func (s Status) Measured() bool { return s == OK || s == AgentError }

// Component is the contribution of one check to a Score.
type Component struct {
	Check    string  `json:"check"`              // name of the check, as in the task file
	Type     string  `json:"type,omitempty"`     // such as equals, not-contains; any and all are groups
	Score    float64 `json:"score"`              // 0..1
	Weight   float64 `json:"weight"`             // >= 0; 0 = reported, not counted
	Required bool    `json:"required,omitempty"` // if it fails, hard is 0
	Pass     bool    `json:"pass"`               // after negation
	Saw      string  `json:"saw,omitempty"`      // what it judged, where that is not the unchanged answer
	Reason   string  `json:"reason,omitempty"`   // why it failed, one line
	NotRun   bool    `json:"not_run,omitempty"`  // nothing was decided: it has no score, and Reason says why
}

// Score is the measurement of one rollout.
type Score struct {
	Hard       float64     `json:"hard"` // 0..1, usually 0 or 1
	Soft       float64     `json:"soft"` // 0..1, partial credit
	Reason     string      `json:"reason,omitempty"`
	Cause      Cause       `json:"cause,omitempty"`    // of Reason; "": it is not known
	Feedback   string      `json:"feedback,omitempty"` // for analysts only, at most MaxFeedback bytes
	Components []Component `json:"parts,omitempty"`
}

// MaxFeedback is the most feedback, in bytes, that a check or an environment
// may pass to the analysts.
const MaxFeedback = 4 << 10
