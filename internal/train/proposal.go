package train

import (
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// proposal is a candidate of a step: how it was made, and what the gate said. Its record
// is that of the step as it would be with this candidate alone.
type proposal struct {
	index  int    // among the tries of the step, 1 up
	prefix string // of keys: "e1/s3", "e1/s3/second"
	label  string // ", second try"
	again  int    // of a second try: index of what it is a part of
	shown  int    // worked examples that it adds

	merged    optimize.AggregateResult
	ranked    optimize.RankResult
	updated   optimize.UpdateResult
	candidate skill.Skill

	judged  incumbent // the candidate with what was measured of it
	verdict gate.Verdict
	weighed bool             // the gate has said something
	before  *float64         // score of the incumbent, on the items that it was judged by
	fared   []optimize.Fared // how tasks went with it, if it was not accepted

	record result.StepRecord
	begun  result.StepRecord // what is recorded of the step without any candidate
	files  map[string]any
}

// skip ends a proposal without a candidate for the gate.
func (p *proposal) skip(action, reason string) { p.record.Action, p.record.Reason = action, reason }

// candidateFolder is where the files of a candidate other than SKILL.md are in the folder of
// its step.
const candidateFolder = "candidate_skill/"

// skipUnchanged ends a proposal whose candidate is no other than the current skill.
func (p *proposal) skipUnchanged(current skill.Skill) {
	switch {
	case !p.candidate.Equal(current):
	case p.updated.Refused != "":
		p.skip(result.ActionRefused, p.updated.Refused)
	default:
		p.skip(result.ActionNoChange, "")
	}
}

// recordVerdict keeps what the gate said of the candidate, and what was measured of it.
func (p *proposal) recordVerdict(cand incumbent, v gate.Verdict, scope skill.Scope) {
	p.judged, p.verdict, p.weighed = cand, v, true
	r := &p.record
	r.Difference, r.SE, r.Phase, r.Draws = v.Difference, v.SE, string(v.Phase), v.Draws
	r.Action, r.Reason = string(v.Action), v.Reason
	r.Losses = v.Losses
	r.Candidate, p.before = v.Candidate, v.Current
	r.Unmeasured = append(r.Unmeasured, v.Unmeasured...)
	if v.Mean != nil {
		r.SelectionHard, r.SelectionSoft, r.SelectionN = &v.Mean.Hard, &v.Mean.Soft, v.N
		r.SelectionUnanswered = Summarise(cand.outcomes).Unanswered
	}
	p.files["candidate_skill.md"] = cand.skill.Text()
	for path, text := range changeableTexts(scope, cand.skill) {
		p.files[candidateFolder+path] = text
	}
	p.files["selection.json"] = trajectory.Outcomes(cand.outcomes)
}

// noteRejected notes for later analysts what was tried in vain, by any candidate.
func (p *proposal) noteRejected(all []*proposal) {
	p.updated.Applied, p.updated.Summary = nil, nil
	for _, c := range all {
		if c.weighed {
			p.updated.Applied = append(p.updated.Applied, c.updated.Applied...)
			p.updated.Summary = append(p.updated.Summary, c.updated.Summary...)
		}
	}
}

// summary returns the record of the candidate among those of its step.
func (p *proposal) summary() result.CandidateRecord {
	return result.CandidateRecord{
		Index: p.index, SecondTry: p.again, Examples: p.shown, Hash: p.record.CandidateHash, Action: p.record.Action, Reason: p.record.Reason,
		Score: p.record.Candidate, Difference: p.record.Difference, SE: p.record.SE, Edits: len(p.updated.Applied),
		Unmeasured: p.verdict.Unmeasured, Losses: p.verdict.Losses, Failures: p.record.Failures,
	}
}

func (p *proposal) isAccepted() bool { return p.weighed && p.verdict.Action.Accepted() }

// isUndecided reports whether the gate could not decide for want of measurements. If there
// are none missing, another try would find the same.
func (p *proposal) isUndecided() bool {
	return p.verdict.Action == gate.Indecisive && len(p.verdict.Unmeasured) > 0
}

// closest returns the candidate that a step without an accepted one is recorded by: of those that
// were judged the one that came nearest, else the first.
func closest(all []*proposal) *proposal {
	best := all[0]
	for _, p := range all[1:] {
		if !p.weighed {
			continue
		}
		d := compareScores(p.record.Difference, best.record.Difference)
		if !best.weighed || d > 0 || d == 0 && compareScores(p.record.Candidate, best.record.Candidate) > 0 {
			best = p
		}
	}
	return best
}
