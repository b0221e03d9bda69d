package skillopt

import (
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Summary is what a run came to. It is the document that `train --json` prints
// and summary.json holds. What was not measured is null.
type Summary struct {
	RunDir    string `json:"run_dir"`
	Status    string `json:"status"` // completed, stopped, budget, waiting or failed
	Reason    string `json:"reason,omitempty"`
	Simulated bool   `json:"simulated"` // a model of the run is a simulation
	// Exploratory says that tasks of the run are drafts that nobody has reviewed.
	Exploratory bool `json:"exploratory,omitempty"`

	Steps int `json:"steps"`
	// EndedAfter is the step after which the loop was ended early, to evaluate what
	// there was; null if it ran to its end.
	EndedAfter *int         `json:"ended_after_step,omitempty"`
	Accepted   int          `json:"accepted"`
	Rejected   int          `json:"rejected"`
	Skipped    int          `json:"skipped"`
	Best       BestSummary  `json:"best"`
	Test       TestSummary  `json:"test"`
	Calls      CallSummary  `json:"calls"`
	Tokens     TokenSummary `json:"tokens"`
	CostUSD    *float64     `json:"cost_usd"` // null: a model has no price
	// Unknown says what of the above is an estimate; null if all of it is known.
	Unknown *UnknownUsage `json:"usage_unknown,omitempty"`
	WallS   float64       `json:"wall_s"`
	Lost    int           `json:"lost_replies"` // optimizer calls without a usable reply
	// LeftOut is what of agents' requests did not reach the model, each thing once.
	LeftOut  []trajectory.LeftOut `json:"left_out,omitempty"`
	Warnings []string             `json:"warnings,omitempty"`
	Stages   []StageSummary       `json:"stages"`
	ByType   map[string]Types     `json:"test_by_type,omitempty"`

	// Certificate compares best and seed on the test split; null without a test.
	Certificate *train.Certificate `json:"certificate"`
	// Noise is what asking tasks twice said about the selection split; null if
	// none were.
	Noise *train.Noise `json:"noise"`
	// NullControls counts how often the gate took the current skill for better than
	// itself; null if it was not tried.
	NullControls *train.Controls `json:"null_controls,omitempty"`
	// Drift says where another model than before began to answer.
	Drift []train.Drift `json:"drift,omitempty"`
}

// Types are the test scores of one task type by arm.
type Types map[string]Score

// BestSummary names the best skill. Step 0 is the seed skill.
type BestSummary struct {
	Step      int    `json:"step"`
	Selection *Score `json:"selection"`
	// Reported is the gate score of the best skill, told in three ways; null if
	// too little of it was measured.
	Reported *train.Reported `json:"reported"`
}

// TestSummary are the scores on the test split.
type TestSummary struct {
	Seed    *Score `json:"seed"`
	Best    *Score `json:"best"`
	Final   *Score `json:"final"`
	NoSkill *Score `json:"no_skill,omitempty"`

	// The test split is opened once a run: 0 (not, or once) is how it should be.
	Openings int  `json:"openings,omitempty"`
	Refused  bool `json:"refused,omitempty"` // opened before, for other skills or scored otherwise: it stayed closed
	// ReadBefore says who had read its tasks before; null: an older program began the
	// run, it is a replay, or the split was not opened.
	ReadBefore *TestReads `json:"read_before,omitempty"`
}

// Score is a measured mean.
type Score struct {
	Hard float64 `json:"hard"`
	Soft float64 `json:"soft"`
	N    int     `json:"n"`
	Low  float64 `json:"hard_low"`  // 95 % Wilson interval of hard
	High float64 `json:"hard_high"` //
}

// CallSummary counts model calls that were paid for.
type CallSummary struct {
	Total   int64            `json:"total"`
	ByStage map[string]int64 `json:"by_stage"`
	Faults  map[string]int64 `json:"faults,omitempty"` // attempts without a result, by class
	Reused  int64            `json:"reused"`           // answered from the record within the run

	// Inherited are answers that the record took over and others paid for: the run
	// that this one is a fork of, a cache or another record. Not all need be used;
	// Total counts none of them.
	Inherited int64 `json:"inherited,omitempty"`
}

// TokenSummary counts tokens.
type TokenSummary struct {
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

// StageSummary is what one stage of one role used.
type StageSummary struct {
	Stage   string   `json:"stage"`
	Role    string   `json:"role"`
	Calls   int64    `json:"calls"`
	Input   int64    `json:"input_tokens"`
	Output  int64    `json:"output_tokens"`
	Cached  int64    `json:"cached_tokens"` // of the input, read from the provider's cache
	CostUSD *float64 `json:"cost_usd"`      // null: not known
}

func scoreOf(a *train.Arm) *Score {
	if a == nil || a.N == 0 {
		return nil
	}
	return &Score{Hard: a.Hard, Soft: a.Soft, N: a.N, Low: a.Low, High: a.High}
}

// describe fills in what training decided.
func (s *Summary) describe(r *train.Result) {
	if r == nil {
		return
	}
	s.Steps = max(len(r.History.Steps)-1, 0)
	s.Accepted, s.Rejected, s.Skipped, s.Lost = r.Accepted, r.Rejected, r.Skipped, r.Lost
	s.Best = BestSummary{Step: r.BestStep, Selection: scoreOf(r.Selection), Reported: r.Reported}
	s.Certificate, s.Noise, s.NullControls, s.Drift = r.Certificate, r.History.Noise, r.History.Controls(), r.History.Drift
	if r.History.Final == nil {
		return
	}
	final := r.History.Final
	if final.EndedEarly {
		s.EndedAfter = &s.Steps
	}
	test := final.Test
	s.Test = TestSummary{Seed: scoreOf(test["seed"]), Best: scoreOf(test["best"]), Final: scoreOf(test["final"]), NoSkill: scoreOf(test["no_skill"]), Openings: final.TestOpenings, Refused: final.TestRefused, ReadBefore: r.ReadBefore}
	for arm, a := range test {
		for name, t := range a.ByType {
			if s.ByType == nil {
				s.ByType = map[string]Types{}
			}
			if s.ByType[name] == nil {
				s.ByType[name] = Types{}
			}
			if measured := scoreOf(&t); measured != nil {
				s.ByType[name][arm] = *measured
			}
		}
	}
}
