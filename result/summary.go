package result

import (
	"fmt"

	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Summary is the result of a run. It is the document that `train --json` prints
// and summary.json holds. What was not measured is null.
type Summary struct {
	RunDir    string `json:"run_dir"`
	Found     bool   `json:"-"` // the run was complete already: nothing was asked
	Status    Status `json:"status"`
	Reason    string `json:"reason,omitempty"`
	Simulated bool   `json:"simulated"` // a model of the run is a simulation
	// Exploratory says that tasks of the run are drafts that no one has reviewed.
	Exploratory bool `json:"exploratory,omitempty"`
	// Limit is the most tasks of each split that were used, tasks.limit; 0: all.
	Limit int `json:"limit,omitempty"`

	Steps int `json:"steps"`
	// EndedAfter is the step after which the loop was ended early, to evaluate what
	// there was; null if it ran to its end.
	EndedAfter *int `json:"ended_after_step,omitempty"`
	// Ceiling is the key of the ceiling that ended the loop there, "" if none did: a higher
	// one continues it.
	Ceiling string `json:"ceiling,omitempty"`
	// Continues says from which finished run this one continued; null: from none.
	Continues *Continues `json:"continues,omitempty"`
	// Stop is the rule that ended the loop before its last step; null if none did.
	Stop     *Stop `json:"stop,omitempty"`
	Accepted int   `json:"accepted"`
	Rejected int   `json:"rejected"`
	Skipped  int   `json:"skipped"`
	// Examples is how many train tasks the best skill contains word for word, as worked examples.
	Examples int `json:"examples,omitempty"`
	// Score is that of the run, as RunScore returns it: the one that every window shows.
	Score RunScore `json:"score"`
	Best  Best     `json:"best"`
	Test  Test     `json:"test"`
	Usage
	Lost int `json:"lost_replies"` // optimizer calls without a usable reply
	// LeftOut is what of agents' requests did not reach the model, each thing once.
	LeftOut  []trajectory.LeftOut `json:"left_out,omitempty"`
	Warnings []string             `json:"warnings,omitempty"`
	Stages   []Stage              `json:"stages"`
	ByType   map[string]Types     `json:"test_by_type,omitempty"`

	// Effort is what episodes of an agent took on the test split with the seed skill and the best one; absent without an agent,
	// and where the seed skill is the best.
	Effort []Effort `json:"effort,omitempty"`

	// Certificate compares best and seed on the test split; null without a test.
	Certificate *Certificate `json:"certificate"`
	// Triggers is how often the agent loads the skill by its description, before and after;
	// null unless the description may change.
	Triggers *TrainTriggers `json:"triggers,omitempty"`
	// Noise is what asking tasks twice said about the selection split; null if
	// none were.
	Noise *SeedNoise `json:"noise"`
	// Drift says where another model than before began to answer.
	Drift []Drift `json:"drift,omitempty"`

	// What Train returns next to the document: the best skill, which is the seed skill until another
	// one is accepted, and the steps; null if none was taken.
	Skill   skill.Skill `json:"-"`
	History *History    `json:"-"`
}

// ExamplesWords says that the best skill contains train tasks, "" if it contains none.
func (s *Summary) ExamplesWords() string {
	if s.Examples == 0 {
		return ""
	}
	return fmt.Sprintf("the skill contains %d of your train tasks word for word, as worked examples", s.Examples)
}

// Continues is the finished run that another one continued from.
type Continues struct {
	RunID  string `json:"run_id"`
	Name   string `json:"name"`
	Steps  int    `json:"steps"`  // that were taken over from its record
	Tested bool   `json:"tested"` // its test split was read before
}

// Words says it in a sentence.
func (c Continues) Words() string {
	text := fmt.Sprintf("continues run %s, after its %s", c.Name, wording.Plural(c.Steps, "step", "steps"))
	if c.Tested {
		text += ", whose test tasks were read at its end: they are read again, and certify at a stricter level"
	}
	return text
}

// Types are the test scores of one task type by arm.
type Types map[string]Score

// Best names the best skill. Step 0 is the seed skill.
type Best struct {
	Step int `json:"step"`
	// Selection is of the fresh pass, where there was one, else of all answers.
	Selection *Score `json:"selection"`
	// Reported is the gate score of the best skill, by all passes and by each; null if
	// too little of it was measured.
	Reported *Reported `json:"reported"`
}

// Test are the scores on the test split.
type Test struct {
	Seed    *Score `json:"seed"`
	Best    *Score `json:"best"`
	Final   *Score `json:"final"`
	NoSkill *Score `json:"no_skill,omitempty"`

	// The test split is opened once a run: 0 (not, or once) is how it should be.
	Openings int  `json:"openings,omitempty"`
	Refused  bool `json:"refused,omitempty"` // opened before, for other skills or scored otherwise: it stayed closed
	// ReadBefore says who had read its tasks before; null: it is a replay, or the
	// split was not opened.
	ReadBefore *TestReads `json:"read_before,omitempty"`
}
