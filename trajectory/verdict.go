package trajectory

import (
	"encoding/json"

	"github.com/seed-f4525e22/skillopt/internal/wording"

	"github.com/seed-f4525e22/skillopt/score"
)

// CheckVerdict is what one check said of an outcome.
type CheckVerdict struct {
	Check    string  // its name, as in the task file
	Type     string  // such as equals, not-contains; "" where the name says it
	Verdict  Verdict // whether it passed
	Score    float64 // 0..1; means nothing of a check that was not run
	Weight   float64 // 0 = reported, not counted
	Optional bool    // it may fail without hard being 0
	Saw      string  // what it judged, "" for the unchanged answer
	Why      string  // why it failed, or was not run
}

// Verdict is how a check of an outcome ended. It is a word: what is not known is no verdict.
type Verdict string

// The verdicts.
const (
	Passed Verdict = "passed"
	Failed Verdict = "failed"
	NotRun Verdict = "not_run" // nothing was decided: it has no score
)

// Bounds of what is kept of the verdicts of one outcome.
const (
	maxVerdicts = 32
	maxName     = 100 // bytes
	maxSaw      = 300
	maxWhy      = 600
)

// VerdictsOf returns the components of a score as verdicts, each text within bounds. If there are
// more checks than are kept, it first leaves out those that passed, then the last ones.
func VerdictsOf(parts []score.Component) []CheckVerdict {
	if len(parts) == 0 {
		return nil
	}
	room := maxVerdicts - min(maxVerdicts, countNot(parts))
	out := make([]CheckVerdict, 0, min(len(parts), maxVerdicts))
	for _, c := range parts {
		passed := c.Pass && !c.NotRun
		if len(out) == maxVerdicts || passed && len(parts) > maxVerdicts && room == 0 {
			continue
		}
		if passed {
			room--
		}
		out = append(out, newCheckVerdict(c))
	}
	return out
}

// countNot counts the components that did not pass.
func countNot(parts []score.Component) int {
	n := 0
	for _, c := range parts {
		if !c.Pass || c.NotRun {
			n++
		}
	}
	return n
}

func newCheckVerdict(c score.Component) CheckVerdict {
	v := CheckVerdict{
		Check: wording.Cut(c.Check, maxName), Type: wording.Cut(c.Type, maxName), Verdict: Failed, Score: c.Score, Weight: c.Weight,
		Optional: !c.Required && c.Type != "", Saw: wording.Cut(c.Saw, maxSaw), Why: wording.Cut(c.Reason, maxWhy),
	}
	if v.Type == v.Check {
		v.Type = ""
	}
	switch {
	case c.NotRun:
		v.Verdict, v.Score = NotRun, 0
	case c.Pass:
		v.Verdict = Passed
	}
	return v
}

// filedVerdict is a verdict as JSON has it.
type filedVerdict struct {
	Check    string   `json:"check"`
	Type     string   `json:"type,omitempty"`
	Verdict  Verdict  `json:"verdict"`
	Score    *float64 `json:"score"` // null: it was not run
	Weight   float64  `json:"weight"`
	Optional bool     `json:"optional,omitempty"`
	Saw      string   `json:"saw,omitempty"`
	Why      string   `json:"why,omitempty"`
}

// MarshalJSON implements json.Marshaler: the score of a check that was not run is null.
func (v CheckVerdict) MarshalJSON() ([]byte, error) {
	f := filedVerdict{v.Check, v.Type, v.Verdict, &v.Score, v.Weight, v.Optional, v.Saw, v.Why}
	if v.Verdict == NotRun {
		f.Score = nil
	}
	return json.Marshal(f)
}

// UnmarshalJSON implements json.Unmarshaler.
func (v *CheckVerdict) UnmarshalJSON(data []byte) error {
	var f filedVerdict
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	*v = CheckVerdict{f.Check, f.Type, f.Verdict, 0, f.Weight, f.Optional, f.Saw, f.Why}
	if f.Score != nil {
		v.Score = *f.Score
	}
	return nil
}
