// Package trajectory holds what happened in one rollout: the turns, the answer,
// its score and what it cost.
//
// It knows nothing about models, skills or how outcomes are used. It is pure.
package trajectory

import (
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/score"
)

// Turn is one event of a trajectory. Exactly one of three shapes is filled in:
// a message (Role and Content), a tool call (Tool or Action with Observation),
// or a step of an environment (Step, Action, Observation).
type Turn struct {
	Kind        Kind   `json:"kind,omitempty"`
	Role        string `json:"role,omitempty"`
	Content     string `json:"content,omitempty"`
	Step        string `json:"step,omitempty"` // label of an environment step
	Action      string `json:"action,omitempty"`
	Observation string `json:"observation,omitempty"`
}

// Kind distinguishes the shapes of a Turn. The zero value is a message.
type Kind string

const (
	Message  Kind = ""
	ToolCall Kind = "tool_call"
	EnvStep  Kind = "step"
)

// Usage counts the tokens of one or more model calls. Cached tokens (read from a
// provider's cache) and those of CacheWrite (written to it) are part of Input,
// reasoning tokens are part of Output.
type Usage struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	Cached     int64 `json:"cached,omitempty"`
	Reasoning  int64 `json:"reasoning,omitempty"`
	CacheWrite int64 `json:"cache_write,omitempty"`
}

// Add returns the sum of two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input:     u.Input + v.Input,
		Output:    u.Output + v.Output,
		Cached:    u.Cached + v.Cached,
		Reasoning: u.Reasoning + v.Reasoning, CacheWrite: u.CacheWrite + v.CacheWrite,
	}
}

// Outcome is the result of one rollout of one task. Hard and Soft mean nothing
// unless Status.Measured().
type Outcome struct {
	ID         string       `json:"id"`
	Type       string       `json:"type,omitempty"`
	Status     score.Status `json:"status"`
	Hard       float64      `json:"hard"`
	Soft       float64      `json:"soft"`
	Answer     string       `json:"answer,omitempty"`      // what was extracted and scored
	Extracted  string       `json:"extracted,omitempty"`   // the rule that found it, such as "tag:answer", or "nothing found"; "": there is no rule, or it is not known
	FailReason string       `json:"fail_reason,omitempty"` // "class: detail", empty on success
	Feedback   string       `json:"feedback,omitempty"`    // for analysts only
	// Checks are the verdicts of the checks, in their order; nil: none was run.
	Checks     []CheckVerdict `json:"checks,omitempty"`
	Question   string         `json:"question,omitempty"`   // the task's prompt, as the target saw it
	Reference  string         `json:"reference,omitempty"`  // gold or hidden text, for analysts only
	Trajectory []Turn         `json:"trajectory,omitempty"` // without the system prompt, which all rollouts of a batch share
	Usage      Usage          `json:"usage"`
	Served     string         `json:"served,omitempty"`   // the model that answered, as the server named it, with its system fingerprint
	LeftOut    []LeftOut      `json:"left_out,omitempty"` // what of an agent's requests did not reach the model
	Load       Load           `json:"load,omitempty"`     // of a trigger task: whether the body of the skill was loaded
	Refused    string         `json:"refused,omitempty"`  // of an episode: the cause for which a request of it was refused
	Cause      score.Cause    `json:"-"`                  // why the task was failed; the record of what was scored has it
	Told       Told           `json:"-"`                  // by an agent, for analysts only; the record of the episode has it
	Seconds    float64        `json:"-"`                  // how long an agent took; the record of the episode has it; 0: that is not known
}

// Unanswered names the cause for which the target could not show what it can, "" if nothing
// kept it from that, or it solved the task all the same.
func (o *Outcome) Unanswered() string {
	if !o.Status.Measured() || o.Hard >= 1 {
		return ""
	}
	if class, _, _ := strings.Cut(o.FailReason, ":"); o.Status == score.AgentError && (class == score.Deadline || slices.Contains(score.Refusals(), class)) {
		return class
	}
	return o.Refused
}

// Load is whether an agent loaded the body of a skill; "" where that is not known.
type Load string

// The two.
const (
	Loaded    Load = "loaded"
	NotLoaded Load = "not_loaded"
)

// Told is what a model is given apart from the skill and the task.
type Told struct {
	System string `json:"system,omitempty"` // its system message
	Tools  string `json:"tools,omitempty"`  // what it can call, one a line
}
