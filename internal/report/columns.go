package report

import (
	"fmt"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/provenance"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
)

// column is one thing that the selection split was asked about: the seed skill, a
// step, or the guidance at the end of an epoch. The chart and the table of items
// share them.
type column struct {
	Label      string // "seed", "3", "e2"
	Title      string // "step 3"
	Anchor     string // of the explanation, "" if there is none
	Verdict    verdict
	Score      *float64
	Low, High  *float64 // 95 % interval of Score, nil if there is none
	Current    *float64 // after the decision
	Best       *float64
	Items      []record.Item
	unmeasured []string
	unanswered score.Unanswered
	origin     provenance.Origin
}

// verdict is a decision as the report shows it.
type verdict struct {
	Class string // accepted, rejected, open (nothing decided), none (no candidate), seed
	Words string
}

func newVerdict(action string) verdict {
	a := gate.Action(action)
	switch {
	case action == result.ActionBaseline:
		return verdict{"seed", "seed skill"}
	case a == gate.AcceptNewBest:
		return verdict{"accepted", "accepted, new best"}
	case a.Accepted():
		return verdict{"accepted", "accepted"}
	case action == "forced":
		return verdict{"accepted", "accepted without a gate"}
	case a == gate.RejectEarly:
		return verdict{"rejected", "rejected early"}
	case action == string(gate.Reject):
		return verdict{"rejected", "rejected"}
	case a == gate.Indecisive:
		return verdict{"open", "undecided"}
	case action == "error":
		return verdict{"open", "undecided: an error"}
	case action == result.ActionNoPatches:
		return verdict{"none", "nothing proposed"}
	case action == result.ActionNoChange:
		return verdict{"none", "nothing changed"}
	case action == result.ActionRefused:
		return verdict{"none", "refused"}
	case action == "lost":
		return verdict{"none", "no usable reply"}
	}
	return verdict{"none", line(action, idLength)}
}

func (r *Run) columns() []column {
	var out []column
	var current, best *float64
	r.Walk(func(s result.StepRecord, f record.Step) {
		c := column{
			Label: fmt.Sprint(s.Step), Title: fmt.Sprintf("step %d", s.Step), Verdict: newVerdict(s.Action),
			Score: s.Candidate, Current: s.Current, Best: s.Best, Items: f.Selection, unmeasured: s.Unmeasured, unanswered: s.SelectionUnanswered,
			origin: record.Whole(provenance.Origin{Step: s.Step}),
		}
		if s.Step == 0 {
			c.Label, c.Title, c.Score = "seed", "seed skill", s.Current
		}
		if s.Metric == string(score.Hard) && s.SelectionHard != nil && c.Score != nil && *c.Score == *s.SelectionHard {
			ci := score.Wilson(*s.SelectionHard, s.SelectionN, score.Z95)
			c.Low, c.High = &ci.Low, &ci.High
		}
		current, best = s.Current, s.Best
		out = append(out, c)
	}, func(e result.EpochRecord, _ int) {
		if e.SlowUpdate == "" {
			return
		}
		if record.SlowAccepted(e) {
			current = e.Score
			if e.SlowUpdate == string(gate.AcceptNewBest) {
				best = e.Score
			}
		}
		out = append(out, column{
			Label: fmt.Sprintf("e%d", e.Epoch), Title: fmt.Sprintf("slow update of epoch %d", e.Epoch), Verdict: newVerdict(e.SlowUpdate),
			Score: e.Score, Current: current, Best: best, Items: r.Guided[e.Epoch], unmeasured: e.Unmeasured,
			origin: record.Whole(provenance.Origin{Kind: provenance.SlowUpdate, Epoch: e.Epoch}),
		})
	})
	return out
}
