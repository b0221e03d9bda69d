package report

import (
	"github.com/seed-f4525e22/skillopt/internal/testset"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Summary is what this package shows of summary.json. Fields that a version does
// not write are zero.
type Summary struct {
	Status      string               `json:"status"`
	Reason      string               `json:"reason"`
	Simulated   bool                 `json:"simulated"`
	Exploratory bool                 `json:"exploratory"`
	Steps       int                  `json:"steps"`
	Accepted    int                  `json:"accepted"`
	Rejected    int                  `json:"rejected"`
	Skipped     int                  `json:"skipped"`
	Best        Best                 `json:"best"`
	Test        Test                 `json:"test"`
	Certificate *train.Certificate   `json:"certificate"`
	Noise       *train.Noise         `json:"noise"`
	Controls    *train.Controls      `json:"null_controls"`
	Drift       []train.Drift        `json:"drift"`
	Calls       Calls                `json:"calls"`
	Tokens      Tokens               `json:"tokens"`
	CostUSD     *float64             `json:"cost_usd"`
	Unknown     Unknown              `json:"usage_unknown"`
	WallS       float64              `json:"wall_s"`
	Lost        int                  `json:"lost_replies"`
	Warnings    []string             `json:"warnings"`
	LeftOut     []trajectory.LeftOut `json:"left_out"`
	Stages      []Stage              `json:"stages"`
}

// Unknown counts calls that did not say what they used.
type Unknown struct {
	Calls int64 `json:"calls"`
}

// Best names the best skill by its step.
type Best struct {
	Step      int             `json:"step"`
	Selection *Arm            `json:"selection"`
	Reported  *train.Reported `json:"reported"`
}

// Test are the scores on the test split, and how often it was opened.
type Test struct {
	Seed       *Arm            `json:"seed"`
	Best       *Arm            `json:"best"`
	Final      *Arm            `json:"final"`
	NoSkill    *Arm            `json:"no_skill"`
	Openings   int             `json:"openings"` // 0: not, or once
	ReadBefore *testset.Before `json:"read_before"`
	Refused    bool            `json:"refused"` // it was open before for other skills and stayed closed
}

// Arm is a measured mean with its 95 % interval.
type Arm struct {
	Hard float64 `json:"hard"`
	Soft float64 `json:"soft"`
	N    int     `json:"n"`
	Low  float64 `json:"hard_low"`
	High float64 `json:"hard_high"`
}

// Calls counts model calls.
type Calls struct {
	Total     int64            `json:"total"`
	Inherited int64            `json:"inherited"` // answers that were taken over, beside Total
	Faults    map[string]int64 `json:"faults"`
	Reused    int64            `json:"reused"`
}

// Tokens counts tokens.
type Tokens struct {
	Input  int64 `json:"input"`
	Output int64 `json:"output"`
	Cached int64 `json:"cached"`
}

// Stage is what one stage of one role used.
type Stage struct {
	Stage   string   `json:"stage"`
	Role    string   `json:"role"`
	Calls   int64    `json:"calls"`
	Input   int64    `json:"input_tokens"`
	Output  int64    `json:"output_tokens"`
	Cached  int64    `json:"cached_tokens"`
	CostUSD *float64 `json:"cost_usd"`
}
