package result

import (
	"cmp"
	"fmt"

	"github.com/seed-f4525e22/skillopt/score"
)

// Score is a measured mean.
type Score struct {
	Hard float64 `json:"hard"`
	Soft float64 `json:"soft"`
	N    int     `json:"n"`
	Low  float64 `json:"hard_low"`  // 95 % Wilson interval of hard
	High float64 `json:"hard_high"` //
	score.Unanswered
}

// Refusals says, of two scores that are compared, that their sides were refused differently
// often; "" if they were not, or one of them is not measured.
func (s *Score) Refusals(name string, other *Score, otherName string) string {
	if s == nil || other == nil || s.Unanswered.Words() == other.Unanswered.Words() {
		return ""
	}
	return fmt.Sprintf("not answered alike often: %s %s, %s %s; the difference of their scores may be that",
		name, cmp.Or(s.Unanswered.Words(), "always"), otherName, cmp.Or(other.Unanswered.Words(), "always"))
}

// BothUnanswered counts what could not be answered on each side of a comparison: what is in
// use, or whole, and what it is compared with.
type BothUnanswered struct {
	Old score.Unanswered `json:"old"`
	New score.Unanswered `json:"new"`
}

// Words returns the counts with the names of the sides, "" where both are none.
func (b BothUnanswered) Words(old, other string) string {
	if b.Old.Words() == "" && b.New.Words() == "" {
		return ""
	}
	return fmt.Sprintf("%s: %s; %s: %s", old, cmp.Or(b.Old.Words(), "none refused"), other, cmp.Or(b.New.Words(), "none refused"))
}

// Calls counts model calls that were paid for.
type Calls struct {
	Total   int64            `json:"total"`
	ByStage map[string]int64 `json:"by_stage"`
	Faults  map[string]int64 `json:"faults,omitempty"` // attempts without a result, by class
	Reused  int64            `json:"reused"`           // answered from the record within the run

	// Inherited are answers that the record took over and others paid for: the run
	// that this one is a fork of, a cache or another record. Not all need be used;
	// Total counts none of them.
	Inherited int64 `json:"inherited,omitempty"`

	// FromRuns are those of Inherited that were taken from other runs of the folder, each
	// with its origin. They count no call, no tokens and no money.
	FromRuns int64 `json:"from_runs,omitempty"`
}

// Tokens counts tokens.
type Tokens struct {
	Input  int64 `json:"input"`
	Output int64 `json:"output"`
	Cached int64 `json:"cached"`
}

// UnknownUsage are calls that did not say what they used, or nothing that can be
// true: tokens and cost of a run count them as the most that they can have used.
type UnknownUsage struct {
	Calls     int64 `json:"calls"`
	Unbounded int64 `json:"unbounded,omitempty"` // of them: those that nothing bounds, which count as nothing
	Tokens    int64 `json:"tokens_at_most"`      // of the rest

	// What attempts without an answer may have been charged for, at most. It is no
	// part of tokens and cost, and counts for ceilings.
	FailedTokens int64    `json:"failed_tokens_at_most,omitempty"`
	FailedUSD    *float64 `json:"failed_usd_at_most,omitempty"` // null: a model has no price
}

// Stage is what one stage of one role used.
type Stage struct {
	Stage   string   `json:"stage"`
	Role    string   `json:"role"`
	Calls   int64    `json:"calls"`
	Input   int64    `json:"input_tokens"`
	Output  int64    `json:"output_tokens"`
	Cached  int64    `json:"cached_tokens"` // of the input, read from the provider's cache
	CostUSD *float64 `json:"cost_usd"`      // null: not known
}

// Usage is what a run has used of models, all its sessions together.
type Usage struct {
	Calls   Calls         `json:"calls"`
	Tokens  Tokens        `json:"tokens"`
	CostUSD *float64      `json:"cost_usd"`                // null: a model has no price
	Unknown *UnknownUsage `json:"usage_unknown,omitempty"` // what of the above is an estimate; null: all of it is known
	WallS   float64       `json:"wall_s"`                  // seconds of this session
}
