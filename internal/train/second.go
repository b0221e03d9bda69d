package train

import (
	"context"
	"fmt"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// A bundle of edits is judged as a whole: one that hurts takes those that help down with
// it. A second try costs no rollouts of train tasks. The optimizer sees by type what the
// bundle won and lost on the tasks that judge, and selects the edits that it would try
// without the others. Then both halves of the bundle have a try.

// secondTry has the gate judge parts of the step's candidate, which it has rejected, and
// promotes the first that it accepts. unjudged is the record of the step before that.
func (s *candidates) secondTry(ctx context.Context, unjudged result.StepRecord) error {
	first := s.firstTry()
	if !s.opts.SecondTry || s.optimizer.mode != optimize.ModePatch || !first.weighed || !first.verdict.Action.Rejected() || len(first.updated.Applied) < 2 || changesNothing(first.fared) {
		return nil
	}
	prefix := first.prefix + "/second"
	if room, err := s.roomForTry(ctx, prefix); !room || err != nil {
		return err
	}
	choice, err := s.optimizer.secondTry(ctx, prefix, first, s.evidence())
	if err != nil {
		return err
	}
	lost := s.step.record.LostReplies + len(choice.Lost)
	s.step.files["second_try.json"] = choice
	all := []*proposal{first}
	for k, keep := range append([][]int{choice.Keep}, halves(first.updated.Applied)...) {
		part := s.newPart(first, unjudged, keep, len(all)+1)
		if part == nil || hasTry(all, part) {
			continue
		}
		if part.prefix = prefix; k > 0 {
			part.prefix = fmt.Sprintf("%s/half%d", prefix, k)
			if room, err := s.roomForTry(ctx, part.prefix); err != nil {
				return err
			} else if !room {
				break
			}
		}
		if err := s.weighPart(ctx, part, len(keep), choice.Of); err != nil {
			return err
		}
		if all = append(all, part); part.isAccepted() {
			break
		}
	}
	s.closeTries(all, lost)
	return nil
}

// closeTries records the step by the part that was accepted, else by the try that was
// closest to it.
func (s *candidates) closeTries(all []*proposal, lost int) {
	if s.step.record.LostReplies = lost; len(all) == 1 {
		return
	}
	last := all[len(all)-1]
	if last.isAccepted() {
		s.takeOver(last, all)
		s.skills.adopt(last.judged, last.verdict)
		return
	}
	s.takeOver(closest(all), all)
	s.step.noteRejected(all)
}

// firstTry returns the candidate of the step as the first of its tries.
func (s *candidates) firstTry() *proposal {
	first := *s.step
	first.index, first.files = 1, map[string]any{}
	for _, name := range []string{"candidate_skill.md", "edit_apply_report.json", "selection.json"} {
		first.files[name] = s.step.files[name]
	}
	for _, path := range changeable(s.skills.scope, first.candidate) {
		first.files[candidateFolder+path] = s.step.files[candidateFolder+path]
	}
	return &first
}

func (s *candidates) roomForTry(ctx context.Context, prefix string) (bool, error) {
	return s.pacer.roomFor(ctx, prefix, Unit{Name: UnitSecondTry, Step: s.id.number, Tasks: 1})
}

// changesNothing reports whether a bundle has changed the result of no task: none of its edits can
// have hidden what another one gains.
func changesNothing(fared []optimize.Fared) bool {
	for _, f := range fared {
		if f.Won+f.Lost > 0 {
			return false
		}
	}
	return true
}

// halves returns the edits that add text and those that change or remove some, by index, or
// both halves of the edits if all are of one kind.
func halves(edits []skill.Edit) [][]int {
	var adds, others []int
	for i, e := range edits {
		if e.Op == skill.Append || e.Op == skill.InsertAfter {
			adds = append(adds, i)
		} else {
			others = append(others, i)
		}
	}
	if len(adds) > 0 && len(others) > 0 {
		return [][]int{adds, others}
	}
	all := append(adds, others...)
	return [][]int{all[:len(all)/2], all[len(all)/2:]}
}

// hasTry reports whether a try has the same text.
func hasTry(all []*proposal, part *proposal) bool {
	for _, p := range all {
		if p.candidate.Equal(part.candidate) {
			return true
		}
	}
	return false
}

// weighPart has the gate judge a part of a candidate.
func (s *candidates) weighPart(ctx context.Context, part *proposal, edits, of int) error {
	if err := s.weigh(ctx, part); err != nil {
		return err
	}
	part.record.Reason = fmt.Sprintf("second try, with %d of %d edits: %s", edits, of, part.record.Reason)
	s.emit(event.CandidateJudged{
		Epoch: s.id.epoch, Step: s.id.number, Candidate: part.index, Action: part.record.Action, Score: part.record.Candidate, Difference: part.record.Difference,
	})
	return nil
}

// secondTry asks the optimizer which edits of a rejected candidate it would try again.
func (o *optimizer) secondTry(ctx context.Context, prefix string, first *proposal, e evidence) (optimize.SecondTryResult, error) {
	document, view, err := o.document(e.current, e.outcomes)
	if err != nil {
		return optimize.SecondTryResult{}, err
	}
	return optimize.SecondTry(ctx, optimize.SecondTryInput{
		Ask: o.ask(prefix), Prompts: o.prompts, Edits: first.updated.Applied, Fared: first.fared,
		Skill: document, MetaSkill: o.memory.metaSkill, View: view,
	})
}

// newPart returns a candidate with some of another one's edits, nil if there is nothing to
// judge.
func (s *candidates) newPart(first *proposal, unjudged result.StepRecord, keep []int, index int) *proposal {
	if len(keep) == 0 {
		return nil
	}
	edits := make([]skill.Edit, len(keep))
	for i, k := range keep {
		edits[i] = first.updated.Applied[k]
	}
	opts := skill.ApplyOptions{Scope: s.skills.scope}
	if first.record.Budget != nil {
		opts.Budget = *first.record.Budget
	}
	text, reports := skill.Apply(s.skills.current.skill, edits, opts)
	if notes := skill.Notes(first.candidate.Text()); s.opts.SkillAware && len(notes) > 0 {
		text = opts.Scope.WithNotes(text, notes)
	}
	if text.Equal(s.skills.current.skill) || len(text.Text()) > skill.MaxBytes {
		return nil
	}
	part := &proposal{
		index: index, label: ", second try", again: first.index, merged: first.merged, ranked: first.ranked, candidate: text,
		updated: optimize.UpdateResult{Candidate: text, Changed: true, Edits: edits, Reports: reports}, record: unjudged, files: map[string]any{},
	}
	part.record.Merged, part.record.Ranked, part.record.Edits = first.record.Merged, len(edits), reports
	part.record.Support = nil
	for i, e := range edits {
		part.record.Support = append(part.record.Support, e.SupportCount)
		if reports[i].Status.Applied() {
			part.updated.Applied = append(part.updated.Applied, e)
		}
	}
	part.files["edit_apply_report.json"] = part.updated
	return part
}
