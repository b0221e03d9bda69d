// Package event holds the typed events of a run. Their JSON form is the wire
// format of `--events` and of the dashboard: one flat object an event.
//
// It knows nothing about who sends or receives them.
package event

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/seed-f4525e22/skillopt/score"
)

// Event is one thing that happened in a run.
type Event interface {
	// Kind is the value of the "event" field on the wire.
	Kind() string
}

// Sink receives events. It is called from one goroutine at a time, in order,
// and must not block for long: the run waits for it.
type Sink func(Event)

// RunStarted is the first event of a run or of a resumed run.
type RunStarted struct {
	RunDir    string `json:"run_dir"`
	RunID     string `json:"run_id"`
	Resumed   bool   `json:"resumed"`
	Recorded  int    `json:"recorded"` // calls already in the record
	Train     int    `json:"train"`
	Selection int    `json:"selection"`
	Test      int    `json:"test"`
	Folds     int    `json:"folds,omitempty"` // in which Train and Selection are the same tasks; 0: they are two splits
	Steps     int    `json:"steps"`           // of the whole run
	MaxCalls  int    `json:"max_calls"`
	Continues string `json:"continues,omitempty"` // from which finished run it continues, in words
}

// StageStarted says that a stage of a step begins. Total is how many rollouts
// or calls it will make, 0 if that is not known.
type StageStarted struct {
	Epoch int    `json:"epoch"`
	Step  int    `json:"step"`
	Stage string `json:"stage"`
	Total int    `json:"total"`
}

// Progress says how far the current stage is, and what the run has used. After a
// call of the optimizer it has the stage of that call and no total.
type Progress struct {
	Stage  string   `json:"stage"`
	Done   int      `json:"done"`
	Total  int      `json:"total"`
	Calls  int64    `json:"calls"`
	Input  int64    `json:"input_tokens"`
	Output int64    `json:"output_tokens"`
	Cost   *float64 `json:"cost_usd"` // null: a model has no price, or is simulated
}

// StepDone reports the decision of a step. Step 0 is the seed skill's score.
type StepDone struct {
	Epoch     int      `json:"epoch"`
	Step      int      `json:"step"`
	Action    string   `json:"action"`
	Rollout   *float64 `json:"rollout_hard"` // mean of the train batch, null if unmeasured
	Candidate *float64 `json:"candidate_score"`
	Current   *float64 `json:"current_score"`
	Best      *float64 `json:"best_score"`
	BestStep  int      `json:"best_step"`
	Edits     int      `json:"edits"`
	Budget    int      `json:"edit_budget"`
	Examples  int      `json:"examples,omitempty"` // worked examples that an accepted candidate adds

	// How much better the candidate was than the current skill, the standard error, and on
	// how many items.
	Difference *float64 `json:"difference,omitempty"`
	SE         *float64 `json:"difference_se,omitempty"`
	N          int      `json:"selection_n,omitempty"`

	RolloutUnanswered   score.Unanswered `json:"rollout_unanswered,omitzero"`
	SelectionUnanswered score.Unanswered `json:"selection_unanswered,omitzero"` // of the candidate; step 0: of the seed skill
}

// CandidateJudged reports what the gate said of one of several candidates of a
// step. StepDone says which one is taken.
type CandidateJudged struct {
	Epoch      int      `json:"epoch"`
	Step       int      `json:"step"`
	Candidate  int      `json:"candidate"` // from 1 up
	Action     string   `json:"action"`
	Score      *float64 `json:"candidate_score"`      // null if it was not measured
	Difference *float64 `json:"difference,omitempty"` // to what it was judged against
}

// EpochDone reports what the end of an epoch decided.
type EpochDone struct {
	Epoch      int    `json:"epoch"`
	SlowUpdate string `json:"slow_update"` // action, "" if there was none
	MetaSkill  bool   `json:"meta_skill"`
}

// Stopped says which rule ended the loop before its last step, and with which figures. The final
// evaluation follows.
type Stopped struct {
	Rule      string   `json:"rule"` // perfect, score, patience, evidence
	Epoch     int      `json:"epoch"`
	Step      int      `json:"step"`       // the last that was carried out, 0 for none
	StepsLeft int      `json:"steps_left"` // that are left out
	Score     *float64 `json:"score"`      // of the current skill on the selection split, by the gate's metric
	Words     string   `json:"words"`
}

// TestDone is a score on the test split.
type TestDone struct {
	Arm  string  `json:"arm"` // seed, best, final, no_skill
	Hard float64 `json:"hard"`
	Soft float64 `json:"soft"`
	N    int     `json:"n"`
	score.Unanswered
}

// NoiseFloor reports how much chance changes on the selection split, by asking a skill's tasks twice. Within
// and Detectable are in gate-score points, 0..1, and nil where the skill cannot show it.
type NoiseFloor struct {
	At            string   `json:"at,omitempty"` // step or end of an epoch that the skill is of; empty: the seed skill
	Items         int      `json:"items"`
	Twice         int      `json:"twice"` // asked twice
	Flips         int      `json:"flips"` // of those, answered otherwise the second time
	Within        *float64 `json:"within,omitempty"`
	Detectable    *float64 `json:"minimum_detectable_effect,omitempty"`
	Deterministic bool     `json:"alike"` // one evaluation is taken for the truth
}

// Certificate says whether the best skill is better than the seed skill on the
// test split, and how sure that is.
type Certificate struct {
	Certified  bool     `json:"certified"`
	Difference *float64 `json:"difference"` // best minus seed, in gate-score points; null if nothing was measured
	Low        *float64 `json:"low"`        // 95 % interval
	High       *float64 `json:"high"`       //
	AtLeast    *float64 `json:"at_least"`   // null unless certified

	Test    string   `json:"test"`                // exact or bound
	Reading int      `json:"reading,omitempty"`   // of the test tasks, 1 is the first; missing: not known
	Level   *float64 `json:"level,omitempty"`     // of this reading
	P       *float64 `json:"p_greater,omitempty"` // of the exact test
	EValue  *float64 `json:"e_value,omitempty"`   // of the bound
	Assumes string   `json:"assumes,omitempty"`   // what it takes for granted

	Words string `json:"words"`
}

// Compared says what a comparison of two skills knows after a look. Differences
// are B - A, null without pairs.
type Compared struct {
	Pass       int      `json:"pass"`
	Pairs      int      `json:"pairs"`
	Difference *float64 `json:"difference"`
	Low        *float64 `json:"low"`
	High       *float64 `json:"high"`
	Verdict    string   `json:"verdict"` // better, worse, no_difference, not_enough_data
}

// Warning is something that the user should know and that did not stop the run.
type Warning struct {
	Text string `json:"text"`
}

// Waiting says that a model's endpoint has given nothing but failures for a few
// seconds. The run continues when it answers, and stops when its patience is over.
type Waiting struct {
	Endpoint  string  `json:"endpoint"`
	Model     string  `json:"model"`
	Reason    string  `json:"reason"` // the last failure
	FailingS  float64 `json:"failing_s"`
	PatienceS float64 `json:"patience_s"`
}

// RunDone is the last event.
type RunDone struct {
	Status string  `json:"status"` // completed, stopped, budget, failed
	Reason string  `json:"reason,omitempty"`
	WallS  float64 `json:"wall_s"`
}

// StoreRead says what happened to a store of an agent's sessions in a harvest.
type StoreRead struct {
	Source   string `json:"source"` // the agent, such as claude
	State    string `json:"state"`  // new, changed, unchanged, failed
	Sessions int    `json:"sessions"`
	Turns    int    `json:"turns"`
	LeftOut  int    `json:"left_out"` // sessions
	Problems int    `json:"problems"`
	Bytes    int64  `json:"bytes"` // read now
}

// HarvestDone is the last event of a harvest.
type HarvestDone struct {
	Stores   int   `json:"stores"`
	Sessions int   `json:"sessions"` // read now
	Turns    int   `json:"turns"`
	Bytes    int64 `json:"bytes"`
	Kept     int   `json:"kept"` // sessions
	DryRun   bool  `json:"dry_run"`
}

func (StoreRead) Kind() string       { return "store_read" }
func (HarvestDone) Kind() string     { return "harvest_done" }
func (RunStarted) Kind() string      { return "run_started" }
func (StageStarted) Kind() string    { return "stage_started" }
func (Progress) Kind() string        { return "progress" }
func (StepDone) Kind() string        { return "step_done" }
func (CandidateJudged) Kind() string { return "candidate_judged" }
func (EpochDone) Kind() string       { return "epoch_done" }
func (Stopped) Kind() string         { return "stopped" }
func (TestDone) Kind() string        { return "test_done" }
func (NoiseFloor) Kind() string      { return "noise_floor" }
func (Certificate) Kind() string     { return "certificate" }
func (Compared) Kind() string        { return "compared" }
func (Warning) Kind() string         { return "warning" }
func (Waiting) Kind() string         { return "waiting" }
func (RunDone) Kind() string         { return "run_done" }

// Marshal returns the wire form of e: its own fields with "event" and "time"
// (RFC 3339, UTC) before them, on one line.
func Marshal(e Event, at time.Time) ([]byte, error) {
	body, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("encode event %s: %w", e.Kind(), err)
	}
	head := fmt.Appendf(nil, `{"event":%q,"time":%q`, e.Kind(), at.UTC().Format(time.RFC3339Nano))
	if len(body) > 2 {
		head = append(head, ',')
	}
	return append(head, body[1:]...), nil
}
