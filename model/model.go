// Package model is the seam between the product and language models: one
// interface of one method, the request and the response it speaks, and errors
// classified so that a caller can decide whether to wait, to stop or to score.
//
// It knows nothing about any vendor, about retries, limits, prices or records;
// those wrap a Client from outside.
package model

import (
	"context"
	"encoding/json"
	"time"

	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Client sends one request to one model.
type Client interface {
	// Generate blocks until the model has answered or ctx is done. It may be
	// called concurrently. It makes one attempt: it neither retries nor waits
	// for a limit. Every failure is an *Error (see Code); a cancelled ctx is
	// returned as is, and one whose deadline has passed as a Timeout (see
	// Interrupted).
	Generate(ctx context.Context, req Request) (Response, error)
}

// Message roles.
const (
	System    = "system"
	User      = "user"
	Assistant = "assistant"
	ToolRole  = "tool" // the results of calls; its Parts are results and nothing else
)

// Message is one message of a conversation.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`         // the text, of a message that is nothing else
	Parts   []Part `json:"parts,omitempty"` // of a message that is more than text; Content is "" then
}

// Request is what an answer depends on (all but Tags and Passage), and Tags, which
// it does not depend on.
type Request struct {
	Model    string    `json:"model"`
	Messages []Message `json:"messages"`
	Schema   *Schema   `json:"schema,omitempty"` // structured output wanted; an adapter without it ignores it

	Tools      []Tool `json:"tools,omitempty"`
	ToolChoice string `json:"tool_choice,omitempty"` // a ToolChoice constant, or the name of a tool; "" = auto

	Sampling
	Tags Tags `json:"-"`

	// Passage is the same request as somebody else put it; nil is normal.
	Passage *Passage `json:"-"`
}

// Sampling is how an answer is drawn. Nil and zero values leave the server's
// default.
type Sampling struct {
	Temperature     *float64 `json:"temperature,omitempty"`
	TopP            *float64 `json:"top_p,omitempty"`
	MaxTokens       int      `json:"max_tokens,omitempty"`
	ReasoningEffort string   `json:"reasoning_effort,omitempty"`
	Seed            *int64   `json:"seed,omitempty"`
}

// Deterministic reports whether equal requests may be expected to get equal
// answers: the temperature is set, and zero.
func (s Sampling) Deterministic() bool { return s.Temperature != nil && *s.Temperature == 0 }

// Over returns base, with the fields that s sets taken from s.
func (s Sampling) Over(base Sampling) Sampling {
	if s.Temperature != nil {
		base.Temperature = s.Temperature
	}
	if s.TopP != nil {
		base.TopP = s.TopP
	}
	if s.MaxTokens != 0 {
		base.MaxTokens = s.MaxTokens
	}
	if s.ReasoningEffort != "" {
		base.ReasoningEffort = s.ReasoningEffort
	}
	if s.Seed != nil {
		base.Seed = s.Seed
	}
	return base
}

// Schema asks for an answer that is one JSON value of the given JSON Schema.
type Schema struct {
	Name string          `json:"name"`
	JSON json.RawMessage `json:"json"`
}

// Tags say on whose behalf a request is made. Adapters put them into headers.
type Tags struct {
	Stage string // one of the Stage constants
	Role  string // target, optimizer or judge
	Run   string // name of the run
}

// The roles that a model can play.
const (
	Target    = "target"
	Optimizer = "optimizer"
	Judge     = "judge"
)

// The stages of training that call models.
const (
	StageRollout        = "rollout"
	StageAnalystError   = "analyst_error"
	StageAnalystSuccess = "analyst_success"
	StageContrast       = "analyst_contrast" // of the best and the worst answers to the same tasks
	StageMerge          = "merge"
	StageMergeFinal     = "merge_final"
	StageRanking        = "ranking"
	StageSlowUpdate     = "slow_update"
	StageMetaSkill      = "meta_skill"
	StageLRAutonomous   = "lr_autonomous"
	StageRewrite        = "rewrite"
	StageJudge          = "judge"
	StageDraft          = "draft"       // tasks from a skill without any
	StageDraftCheck     = "draft_check" // their author answers them without the expected answer
	StageMine           = "mine"        // tasks from what sessions of agents show
	StageCheck          = "check"       // commands that score what an agent left; no model is called
)

// Finish says why an answer ended.
type Finish string

const (
	FinishStop    Finish = "stop"
	FinishLength  Finish = "length"  // cut by max_tokens
	FinishFilter  Finish = "filter"  // content filter
	FinishRefusal Finish = "refusal" // the model declined
	FinishTools   Finish = "tools"   // the model waits for the results of its calls
)

// Refusal names the cause for which an answer that ended so is a refusal, "" if it is none.
func (f Finish) Refusal() string {
	switch f {
	case FinishFilter:
		return string(ContentFilter)
	case FinishRefusal:
		return string(f)
	}
	return ""
}

// Response is a model's answer.
type Response struct {
	Text string `json:"text"`
	// Parts is the whole answer in order, its text included, when it is more than
	// text: calls of tools, reasoning. A conversation continues with them as the
	// Parts of an assistant's message. Nil when Text is all.
	Parts       []Part           `json:"parts,omitempty"`
	Finish      Finish           `json:"finish"`
	Usage       trajectory.Usage `json:"usage"`
	Model       string           `json:"model,omitempty"`       // as the server named it
	Fingerprint string           `json:"fingerprint,omitempty"` // system fingerprint, if any

	// StopSequence is the sequence before which an answer with FinishStop ended, as
	// far as that is reported; "" = the answer ended by itself, or no one says.
	StopSequence string `json:"stop_sequence,omitempty"`
	// CostUSD is what the provider says that the call cost, nil if it does not say. It
	// is no part of the answer.
	CostUSD *float64 `json:"-"`

	// Pause is how long the server asks to wait before the next request, since
	// what it grants is used up; 0 = not at all. It is no part of the answer.
	Pause time.Duration `json:"-"`
}

// Served names the model that answered, as the server did, with its fingerprint
// behind it if there is one; "" if the server named none.
func (r Response) Served() string {
	if r.Fingerprint == "" {
		return r.Model
	}
	return r.Model + " " + r.Fingerprint
}
