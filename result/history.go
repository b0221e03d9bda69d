package result

import (
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
)

// Actions of a step, beyond the verdicts of the gate.
const (
	ActionBaseline  = "baseline"        // step 0: the seed skill's score
	ActionNoPatches = "skip_no_patches" // analysts proposed nothing that can be used
	ActionNoChange  = "skip_no_change"  // the candidate equals the current skill
	ActionRefused   = "skip_refused"    // a rewrite that broke a protected region
	ActionNoGain    = "skip_no_gain"    // worked examples scored no higher on train tasks, and nothing else was tried
)

// StepRecord is one line of history.json: decisions, scores and edits, never
// times or costs, so that equal seeds give equal bytes. Null is not measured.
type StepRecord struct {
	Step              int              `json:"step"`
	Epoch             int              `json:"epoch"`
	StepInEpoch       int              `json:"step_in_epoch"`
	Fold              *int             `json:"fold,omitempty"` // that judged it, from 0 up; nil: there are none
	Action            string           `json:"action"`
	Reason            string           `json:"reason,omitempty"`
	Retried           bool             `json:"retried,omitempty"` // the first try was indecisive
	RolloutHard       *float64         `json:"rollout_hard"`
	RolloutSoft       *float64         `json:"rollout_soft"`
	RolloutN          int              `json:"rollout_n"`
	RolloutUnanswered score.Unanswered `json:"rollout_unanswered,omitzero"`

	Patches        int   `json:"n_patches"`
	FailurePatches int   `json:"n_failure_patches"`
	SuccessPatches int   `json:"n_success_patches"`
	LostReplies    int   `json:"n_lost_replies"`
	Merged         int   `json:"n_edits_merged"`
	Ranked         int   `json:"n_edits_ranked"`
	Budget         *int  `json:"edit_budget"` // null = no cap
	Support        []int `json:"support_counts,omitempty"`

	CandidateHash       string           `json:"candidate_hash,omitempty"`
	CandidateLen        int              `json:"candidate_skill_len,omitempty"`
	SelectionHard       *float64         `json:"selection_hard"`
	SelectionSoft       *float64         `json:"selection_soft"`
	SelectionN          int              `json:"selection_n"`
	SelectionUnanswered score.Unanswered `json:"selection_unanswered,omitzero"`
	Metric              string           `json:"gate_metric,omitempty"`
	Candidate           *float64         `json:"candidate_gate_score"`
	Current             *float64         `json:"current_score"`
	Best                *float64         `json:"best_score"`
	BestStep            int              `json:"best_step"`
	CurrentOrigin       string           `json:"current_origin"`
	BestOrigin          string           `json:"best_origin"`
	SkillHash           string           `json:"skill_hash"`
	SkillLen            int              `json:"skill_len"`
	Unmeasured          []string         `json:"unmeasured,omitempty"` // items without which a decision was made
	Refused             string           `json:"refused,omitempty"`
	Edits               []skill.Report   `json:"edits,omitempty"`
	Loads               *LoadsCompared   `json:"loads,omitempty"` // of a candidate with another description
	Notes               []string         `json:"appendix_notes,omitempty"`

	Curriculum map[string]float64 `json:"curriculum,omitempty"`

	// How much better the candidate was, in gate-score points, with its standard error;
	// the part of the trial that decided; and what was read of each arm.
	Difference *float64         `json:"difference,omitempty"`
	SE         *float64         `json:"difference_se,omitempty"`
	Phase      string           `json:"gate_phase,omitempty"`
	Draws      map[gate.Arm]int `json:"gate_draws,omitempty"`

	// With gate.keep: tasks that the current skill wins and the candidate lost, though the gate
	// would accept it otherwise, with the fresh answers about them.
	Losses []gate.Loss `json:"losses,omitempty"`

	Failures CauseCounts `json:"failures,omitempty"` // of a candidate that the gate rejected

	Examples *ExamplesRecord `json:"examples,omitempty"` // of the first step, if worked examples were drawn

	// Of a step that made several candidates only: each of them. The record is that
	// of the one that was taken, or of the one that came nearest.
	Candidates []CandidateRecord `json:"candidates,omitempty"`
}

// ExamplesRecord is how draws of worked examples were compared.
type ExamplesRecord struct {
	Draws  []ExampleDraw `json:"draws"`
	Chosen int           `json:"chosen,omitempty"` // the number of the draw that met the gate, from 1
	Reason string        `json:"reason,omitempty"` // why none did
}

// Words says what was compared, and the result.
func (r *ExamplesRecord) Words() string {
	var draws []string
	for i, d := range r.Draws {
		text := fmt.Sprintf("%d by %s", len(d.Tasks), d.Order)
		if d.Score != nil {
			text += fmt.Sprintf(" %.3f on %d", *d.Score, d.N)
		}
		if i+1 == r.Chosen {
			text += " (chosen)"
		}
		draws = append(draws, text)
	}
	out := "draws compared on train tasks that none contains: " + strings.Join(draws, ", ")
	if r.Reason != "" {
		out += "; none met the gate: " + r.Reason
	}
	return out
}

// ExampleDraw is a draw of worked examples.
type ExampleDraw struct {
	Order string   `json:"order"` // kinds, failures or short
	Tasks []string `json:"tasks"`
	Score *float64 `json:"score"` // the mean on train tasks that no draw contains
	N     int      `json:"n"`     // how many of them
}

// CandidateRecord is one of several candidates of a step.
type CandidateRecord struct {
	Index      int      `json:"index"`                // 1 up
	SecondTry  int      `json:"second_try,omitempty"` // index of the rejected one that it is a part of
	Examples   int      `json:"examples,omitempty"`   // worked examples that it adds; no model wrote it then
	Place      string   `json:"place,omitempty"`      // of its keys below those of the step: "second/", "second/half1/", "examples/"
	Hash       string   `json:"hash,omitempty"`
	Action     string   `json:"action"`
	Reason     string   `json:"reason,omitempty"`
	Edits      int      `json:"n_edits"`              // of them are in it
	Score      *float64 `json:"gate_score"`           // null: not judged, or too little was measured
	Difference *float64 `json:"difference,omitempty"` // to what it was judged against
	SE         *float64 `json:"difference_se,omitempty"`
	Unmeasured []string `json:"unmeasured,omitempty"` // items that it was judged without
	Taken      bool     `json:"taken,omitempty"`      // it became the current skill

	Losses   []gate.Loss `json:"losses,omitempty"`   // as in StepRecord
	Failures CauseCounts `json:"failures,omitempty"` // as in StepRecord
}

// CauseCounts are why a rejected candidate failed selection tasks, by cause: never a text of a
// task, its gold or a reply.
type CauseCounts []CauseCount

// CauseCount counts the tasks that were failed for one cause.
type CauseCount struct {
	Cause  score.Cause `json:"cause"`
	Failed int         `json:"failed"` // tasks that it failed at least once
	Lost   int         `json:"lost"`   // of them, those on which the current skill has the higher score
}

// Words returns the causes with their counts, "" if there are none.
func (counts CauseCounts) Words() string {
	var out []string
	for _, c := range counts {
		text := fmt.Sprintf("%d x %s", c.Failed, c.Cause)
		if c.Lost > 0 {
			text += fmt.Sprintf(" (%d lost)", c.Lost)
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// EpochRecord is what the end of an epoch decided.
type EpochRecord struct {
	Epoch      int            `json:"epoch"`
	SlowUpdate string         `json:"slow_update,omitempty"` // accept_new_best, accept, reject, forced, lost, ...
	Guidance   string         `json:"guidance,omitempty"`
	Pairs      map[string]int `json:"pairs,omitempty"` // comparison counts by category
	Score      *float64       `json:"slow_update_score,omitempty"`
	MetaSkill  string         `json:"meta_skill,omitempty"`
	Lost       []string       `json:"lost_replies,omitempty"`
	Unmeasured []string       `json:"unmeasured,omitempty"`
	Losses     []gate.Loss    `json:"losses,omitempty"`   // of the guidance: as in StepRecord
	Failures   CauseCounts    `json:"failures,omitempty"` // of the guidance: as in StepRecord
	SkillHash  string         `json:"skill_hash"`
}

// History is history.json.
type History struct {
	Steps  []StepRecord  `json:"steps"`
	Epochs []EpochRecord `json:"epochs"`
	Final  *FinalRecord  `json:"final,omitempty"`
	Stop   *Stop         `json:"stop,omitempty"`  // why the loop ended before its last step; nil: no rule ended it
	Noise  *SeedNoise    `json:"noise,omitempty"` // what asking twice said
	Drift  []Drift       `json:"drift,omitempty"` // where another model began to answer
}

// FinalRecord is what was decided and measured after the last step.
type FinalRecord struct {
	Promoted   bool            `json:"promoted"`              // the final skill became best
	EndedEarly bool            `json:"ended_early,omitempty"` // the loop was ended before its last step
	FinalScore *float64        `json:"final_selection_score"`
	BestScore  *float64        `json:"best_score"`
	BestStep   int             `json:"best_step"`
	Unmeasured []string        `json:"unmeasured,omitempty"` // items that the final selection score goes without
	Test       map[string]*Arm `json:"test,omitempty"`       // seed, best, final, no_skill

	// How often the agent loads the skill, by arm (seed, best) and split; nil unless the
	// description may change.
	Loads map[string]map[string]TriggerRates `json:"loads,omitempty"`

	Reported   *Reported       `json:"best_reported,omitempty"` // the best skill's selection score
	Comparison *TestComparison `json:"comparison,omitempty"`    // best against seed on the test split

	// The test split is opened once a run.
	TestOpenings int  `json:"test_openings,omitempty"` // 0: not at all, or once
	TestRefused  bool `json:"test_refused,omitempty"`  // it was opened before, for other skills or scored otherwise, and stays closed
}

// Arm is a score of one skill on a split.
type Arm struct {
	Hard float64 `json:"hard"`
	Soft float64 `json:"soft"`
	N    int     `json:"n"`
	Low  float64 `json:"hard_low"`  // Wilson interval of hard, 95 %
	High float64 `json:"hard_high"` //
	score.Unanswered
	ByType     map[string]Arm `json:"by_type,omitempty"`
	Unmeasured []string       `json:"unmeasured,omitempty"`
}

// Drift says that another model answered from some place on.
type Drift struct {
	At   string   `json:"at"`
	From []string `json:"from"`
	To   []string `json:"to"`
}

// Score returns the score without its parts, nil if nothing was measured, and of nil.
func (a *Arm) Score() *Score {
	if a == nil || a.N == 0 {
		return nil
	}
	return &Score{Hard: a.Hard, Soft: a.Soft, N: a.N, Low: a.Low, High: a.High, Unanswered: a.Unanswered}
}
