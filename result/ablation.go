package result

import (
	"fmt"

	"github.com/seed-f4525e22/skillopt/skill"
)

// Files of a run of Ablate or Prune.
const (
	AblationFile = "ablation.json"
	PruningFile  = "pruning.json"
	WholeFile    = "skill.md"        // the skill that was looked at
	PrunedFile   = "pruned_skill.md" // what is left of it
	WholeFolder  = "skill"           // the skill that was looked at with its other files, if it has any
	PrunedFolder = "pruned_skill"    // what is left of it with its other files, if it has any
)

// What a rule does for the score.
const (
	RuleNeeded  = "needed"
	RuleUseless = "useless"
	RuleHarmful = "harmful"
	RuleUnclear = "unclear"
)

// Ablation says what each rule of a skill is worth. It is the document that
// `ablate --json` prints and ablation.json holds. Points are those of the gate's
// metric, from 0 to 1. What was not measured is null.
type Ablation struct {
	RunDir      string `json:"run_dir"`
	Simulated   bool   `json:"simulated"`
	Exploratory bool   `json:"exploratory,omitempty"` // tasks are drafts that no one has reviewed

	Skill  string  `json:"skill_hash"`
	Split  string  `json:"split"`
	Tasks  int     `json:"tasks"`
	Metric string  `json:"metric"`
	Margin float64 `json:"margin"`
	Level  float64 `json:"level"` // of the intervals, which hold however often one looks
	Passes int     `json:"max_passes"`
	// Deterministic: the model gives the same answer every time, as far as it was asked again, so
	// that one evaluation of a task is taken for all there is to know.
	Deterministic bool `json:"alike"`
	// TestRead: tasks of the test split were read.
	TestRead bool `json:"test_read,omitempty"`
	// TestReadBefore says who had read them before; null: they were not read, or
	// it is a replay.
	TestReadBefore *TestReads `json:"test_read_before,omitempty"`

	Rules []RuleWorth `json:"rules"` // in the order of the document

	FromRecord int `json:"from_record"` // answers that another run had paid for
	Usage
}

// RuleWorth is a rule and the score with it minus that without it.
type RuleWorth struct {
	Rule
	Verdict    string   `json:"verdict"`
	Worth      *float64 `json:"worth"`
	Low        *float64 `json:"low"`
	High       *float64 `json:"high"`
	Pairs      int      `json:"pairs"`
	Wins       int      `json:"wins"` // pairs in which the rule helped
	Losses     int      `json:"losses"`
	Ties       int      `json:"ties"`
	Unmeasured []string `json:"unmeasured,omitempty"` // tasks left out of a round

	Unanswered BothUnanswered `json:"unanswered,omitzero"` // answers with the rule (old) and without it (new)
}

// Pruned is what happened to a skill. It is the document that `prune --json` prints
// and pruning.json holds.
type Pruned struct {
	Ablation
	Steps       []Removal   `json:"steps"`                // in the order in which they were tried
	Removed     []Rule      `json:"removed"`              // in the order of their numbers
	SeedRules   []Rule      `json:"seed_rules,omitempty"` // that hold a line of the seed skill: they stay and were not judged
	Pruned      string      `json:"pruned_hash"`          // of what is left
	Bytes       [2]int      `json:"bytes"`                // length of the files that rules are left out of, before and after
	Certificate *NotWorse   `json:"certificate"`          // null: nothing was removed
	Text        string      `json:"-"`                    // the SKILL.md that is left
	Left        skill.Skill `json:"-"`                    // all that is left
	CertifiedOn string      `json:"certify_split"`        // split of the certificate
}

// Removal is one attempt to remove a rule: how much better the text without it
// scores than the one with it, which is what the attempts before had left.
type Removal struct {
	Rule       int      `json:"rule"`
	Removed    bool     `json:"removed"`
	Verdict    string   `json:"verdict"`
	Difference *float64 `json:"difference"`
	Low        *float64 `json:"low"`
	High       *float64 `json:"high"`
	Pairs      int      `json:"pairs"`
	Unmeasured []string `json:"unmeasured,omitempty"`
	// With are the rules that it was tried together with, itself among them: the figures
	// are of all of them. Absent where it was tried by itself.
	With []int `json:"with,omitempty"`
}

// NotWorse is the comparison of the pruned skill with the whole one by answers
// that nothing was chosen by.
type NotWorse struct {
	Certified     bool     `json:"certified"` // the loss is below the margin, at the level of the intervals
	Worse         bool     `json:"worse"`     // it is above
	HeldOut       bool     `json:"held_out"`  // the tasks are others than those that rules were judged on
	Deterministic bool     `json:"alike"`
	Tasks         int      `json:"tasks"`
	Passes        float64  `json:"passes"`
	Pairs         int      `json:"pairs"`
	Difference    *float64 `json:"difference"` // pruned minus whole
	Low           *float64 `json:"low"`
	High          *float64 `json:"high"`
	Wins          int      `json:"wins"` // of the pruned skill
	Losses        int      `json:"losses"`
	Ties          int      `json:"ties"`
	Unmeasured    []string `json:"unmeasured,omitempty"`

	Unanswered BothUnanswered `json:"unanswered,omitzero"` // answers of the whole skill (old) and of the pruned one (new)
}

// Words says in one sentence what the certificate of a pruned skill amounts to.
func (p *Pruned) Words() string {
	c := p.Certificate
	if c == nil {
		return "nothing was removed"
	}
	found := fmt.Sprintf("%s on %d %s tasks", PointsText(c.Difference, c.Low, c.High), c.Tasks, p.CertifiedOn)
	if !c.HeldOut {
		found += ", the same that rules were judged on"
	}
	found += fmt.Sprintf(", with a %.4g %% interval", 100*p.Level)
	if c.Deterministic {
		found += " that is exact for these tasks, since answers were alike"
	}
	if words := c.Unanswered.Words("whole", "pruned"); words != "" {
		found += ", not all answered (" + words + ")"
	}
	margin := fmt.Sprintf("%.4g points", 100*p.Margin)
	switch {
	case c.Certified:
		return fmt.Sprintf("certified not worse by %s or more: measured %s", margin, found)
	case c.Worse:
		return fmt.Sprintf("not certified: it is worse by more than %s, measured %s", margin, found)
	}
	return fmt.Sprintf("not certified: measured %s, which may be a loss of more than %s", found, margin)
}

// PointsText renders a difference and its interval in points of 100, "not measured"
// without one.
func PointsText(d, low, high *float64) string {
	if d == nil || low == nil || high == nil {
		return "not measured"
	}
	return fmt.Sprintf("%+.1f points [%+.1f, %+.1f]", 100**d, 100**low, 100**high)
}

// Rule is a rule of a skill document: a paragraph or a list item.
type Rule struct {
	Number   int    `json:"rule"`           // from 1, in the order of the files and of their lines
	File     string `json:"file,omitempty"` // "": SKILL.md
	Line     int    `json:"line"`           // first line, from 1
	LastLine int    `json:"last_line"`
	Text     string `json:"text"` // its lines as they are, without the last line break
}
