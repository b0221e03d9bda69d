package record

import (
	"time"

	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
)

// Progress is how far a run is: one look at it, by a process that has no part in it.
type Progress struct {
	RunDir    string        `json:"run_dir"`
	RunID     string        `json:"run_id"`
	At        time.Time     `json:"at"` // of the look
	Kind      result.Kind   `json:"kind"`
	Status    result.Status `json:"status"`
	Killed    bool          `json:"killed,omitempty"` // its status is running, and no process works on it
	Reason    string        `json:"reason,omitempty"` // why it did not complete, where it wrote that down
	Simulated bool          `json:"simulated"`
	Begun     time.Time     `json:"begun"`

	Epoch int       `json:"epoch,omitempty"` // of the work that is done
	Step  int       `json:"step"`            // so too; 0: before the first step, or outside of training
	Plan  *run.Plan `json:"plan"`            // null before that is known

	Work []Work `json:"work"` // what was answered last, the latest first; empty once it has ended

	Spending

	Ceilings Ceilings `json:"ceilings"`

	Current *Standing `json:"current"` // null: not scored yet
	Best    *Standing `json:"best"`

	Decisions []Decided `json:"decisions"` // the last ones, the latest last
	Faults    []Faulted `json:"faults"`    // so too

	Pulse
}

// Ended reports whether nothing more comes.
func (p Progress) Ended() bool { return p.Status != result.Running || p.Killed }

// Spending is what a run has used so far, over all its sessions.
type Spending struct {
	Calls      int64            `json:"calls"`       // replies received, those within episodes among them
	LastMinute int              `json:"last_minute"` // of them
	Inherited  int64            `json:"inherited,omitempty"`
	Episodes   int64            `json:"episodes,omitempty"`
	Failed     map[string]int64 `json:"failed"`                  // attempts that gave no result, by class
	Unknown    int64            `json:"usage_unknown,omitempty"` // calls and episodes that did not say what they used; tokens and cost have the most that it can have been, or nothing
	Tokens     result.Tokens    `json:"tokens"`
	USD        *float64         `json:"cost_usd"` // null: a model has no price, or is simulated, or nothing bounds what an unknown one used
}

// Pulse says whether a run is alive.
type Pulse struct {
	Entries   int64      `json:"entries"`              // that the record holds
	Unread    int64      `json:"unread,omitempty"`     // of them, not counted yet: a long record is read in parts
	LastEntry *time.Time `json:"last_entry"`           // when the last answer came in; null: none has
	SilentS   *float64   `json:"silent_s,omitempty"`   // since then, of a run at work
	StageOf   string     `json:"last_stage,omitempty"` // what the last entry was for
}

// Ceilings are those that the run stops at; null is none.
type Ceilings struct {
	Calls  *int64   `json:"calls"`
	Tokens *int64   `json:"tokens"`
	USD    *float64 `json:"usd"`
	Time   string   `json:"time,omitempty"`
}

// Work is a place of the run at which tasks are asked.
type Work struct {
	Place
	Stage    string `json:"stage"`        // what its calls are for
	Answered int    `json:"answered"`     // tasks, or calls where no task is asked
	Of       int    `json:"of,omitempty"` // at most; 0: not known
}

// Standing is the score of a skill.
type Standing struct {
	result.RunScore
	Origin string `json:"origin"` // seed, step 3, slow update, epoch 2
}

// Decided is a decision of the run.
type Decided struct {
	Step       int      `json:"step"`
	Epoch      int      `json:"epoch"`
	End        bool     `json:"end,omitempty"` // of the end of the epoch
	Action     string   `json:"action"`
	Reason     string   `json:"reason,omitempty"`
	Score      *float64 `json:"score"`
	Difference *float64 `json:"difference,omitempty"`
	N          int      `json:"n,omitempty"`
	score.Unanswered
}

// Faulted is an attempt that gave no result.
type Faulted struct {
	Seq   int64      `json:"seq"`
	Ended *time.Time `json:"ended"`
	Place
	Code  string `json:"code"`
	Stage string `json:"stage"`
}
