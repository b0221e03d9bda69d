package train

import (
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// Result is the result of a run.
type Result struct {
	// ReadBefore are the readings of the test's tasks before this run's. It depends on
	// what else ran, so it is no part of the history. Nil: no account is kept of them, or
	// the test split was not opened.
	ReadBefore *result.TestReads

	History   result.History
	Seed      skill.Skill
	Best      skill.Skill
	Final     skill.Skill
	BestStep  int
	Accepted  int
	Rejected  int
	Skipped   int
	Selection *result.Arm // of best, nil if unmeasured
	Baseline  *result.Arm // of the seed skill
	Lost      int         // replies without a usable answer
	Units     int         // of the loop that are done: steps and ends of epochs

	Reported    *result.Reported    // nil if too little of the best skill was measured
	Certificate *result.Certificate // nil without a test
	Effort      []result.Effort     // nil unless an agent carried out the tasks of the test
}
