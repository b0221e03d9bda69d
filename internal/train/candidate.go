package train

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"strings"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
)

// candidates makes the candidate of one step, has the gate judge it, and promotes it, or a
// part of it, to the current skill.
type candidates struct {
	opts      Options
	optimizer *optimizer
	judge     *judge
	skills    *skills
	pacer     *pacer
	emit      event.Sink
	verify    func(ctx context.Context, key string, s skill.Skill) (refused string, err error) // see Deps.Verify
	loads     *loads

	id    stepID
	batch *batch
	step  *proposal // what is recorded of the step: in the end that of the candidate it is recorded by
}

func (s *candidates) evidence() evidence {
	return evidence{
		step: s.id, current: s.skills.current.skill, budget: s.optimizer.analystBudget(s.id.number), failed: s.batch.answered.countFailedTasks(),
		outcomes: s.batch.outcomes,
	}
}

// run makes the candidate of analysts' patches and lets the gate decide on it. If it is
// rejected parts of it have a second try.
func (s *candidates) run(ctx context.Context, all patches) error {
	if err := s.optimizer.propose(ctx, s.step, s.evidence(), all); err != nil {
		return err
	}
	if s.step.skipUnchanged(s.skills.current.skill); s.step.record.Action != "" {
		return nil
	}
	unjudged := s.step.record
	if err := s.weigh(ctx, s.step); err != nil {
		return err
	}
	if s.step.isUndecided() {
		return fmt.Errorf("%w: %s", errIndecisive, s.step.verdict.Reason)
	}
	if s.step.isAccepted() {
		s.skills.adopt(s.step.judged, s.step.verdict)
		return nil
	}
	return s.secondTry(ctx, unjudged)
}

// weigh asks the gate about a candidate and keeps what it says, unless the candidate is
// refused before. The incumbent stays in its place.
func (s *candidates) weigh(ctx context.Context, p *proposal) error {
	if err := s.guard(ctx, p); err != nil || p.record.Action != "" {
		return err
	}
	if s.verify != nil {
		refused, err := s.verify(ctx, p.prefix+"/verify", p.candidate)
		if err != nil {
			return err
		}
		if refused != "" {
			p.skip(result.ActionRefused, refused)
			return nil
		}
	}
	cand := incumbent{skill: p.candidate, step: s.id.number, origin: fmt.Sprintf("step %d%s", s.id.number, p.label), edits: p.record.Edits}
	p.record.CandidateHash, p.record.CandidateLen = s.skills.hash(cand.skill), skillLength(cand.skill)
	s.emit(event.StageStarted{Epoch: s.id.epoch, Step: s.id.number, Stage: "gate", Total: s.judge.judges()})
	v, err := s.judge.compare(ctx, p.prefix+"/gate", &cand, better)
	if err != nil {
		return err
	}
	if v.Action.Rejected() {
		p.fared, p.record.Failures = s.skills.compareByType(&cand), s.skills.failures(&cand)
	}
	if v.Action.Rejected() && s.skills.scope.DescriptionAlone() {
		s.loads.inVain(p.candidate, v.Reason)
	}
	p.recordVerdict(cand, v, s.skills.scope)
	return nil
}

// takeOver makes a candidate's record and files those of the step.
func (s *candidates) takeOver(chosen *proposal, all []*proposal) {
	step := *chosen
	step.prefix, step.label = s.step.prefix, s.step.label
	step.files = s.step.files
	step.record.LostReplies = s.step.record.LostReplies
	for _, p := range all {
		step.include(p, p == chosen && p.isAccepted())
	}
	maps.Copy(step.files, chosen.files)
	s.step = &step
}

// include adds a candidate to the record and the files of its step.
func (p *proposal) include(c *proposal, taken bool) {
	summary := c.summary()
	if rest := strings.TrimPrefix(c.prefix, p.prefix+"/"); rest != c.prefix {
		summary.Place = rest + "/"
	}
	summary.Taken = taken
	p.record.Candidates = append(p.record.Candidates, summary)
	name := fmt.Sprintf("p%d/", c.index)
	for file, content := range c.files {
		p.files[name+file] = content
	}
}

// compareScores orders scores, one that is missing before all others.
func compareScores(a, b *float64) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return compareMeans(*a, *b)
}

// compareMeans orders scores. What differs by rounding alone is equal.
func compareMeans(a, b float64) int {
	if math.Abs(a-b) <= score.Negligible {
		return 0
	}
	return cmp.Compare(a, b)
}

// skillLength returns the length of a skill in characters.
func skillLength(s skill.Skill) int { return len([]rune(s.Text())) }
