package train

import (
	"context"
	"fmt"

	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// A bundle of edits is judged as a whole: one that hurts takes those that help down with
// it. A second try costs no rollouts of train tasks: the optimizer is told, by type, what
// the bundle won and lost on the tasks that judge, says which edits it would try without
// the others, and the gate judges those like any candidate.

// onceMore gives the only candidate of a step, which was not accepted, its second try.
// unjudged is the record as it was before.
func (s *population) onceMore(ctx context.Context, unjudged result.StepRecord) error {
	if !s.opts.SecondTry {
		return nil
	}
	only := *s.step
	only.index, only.files = 1, map[string]any{}
	for _, name := range []string{"candidate_skill.md", "edit_apply_report.json", "selection.json"} {
		only.files[name] = s.step.files[name]
	}
	for _, path := range changeable(s.skills.scope, only.candidate) {
		only.files[candidateFolder+path] = s.step.files[candidateFolder+path]
	}
	s.step.record = unjudged
	done, err := s.secondTry(ctx, []*proposal{&only})
	if !done {
		only.record.LostReplies = s.step.record.LostReplies
		s.step.record = only.record
	}
	return err
}

// secondTry tries a part of the candidate again that came nearest, when the gate has
// rejected all of them. It reports whether it has closed the matter: that part was judged.
func (s *population) secondTry(ctx context.Context, all []*proposal) (done bool, err error) {
	first := closest(all)
	if !s.opts.SecondTry || s.optimizer.mode != optimize.ModePatch || !first.weighed || !first.verdict.Action.Rejected() || len(first.updated.Applied) < 2 {
		return false, nil
	}
	prefix := first.prefix + "/second"
	if room, err := s.pacer.roomFor(ctx, prefix, Unit{Name: UnitSecondTry, Step: s.id.number, Tasks: 1}); !room || err != nil {
		return false, err
	}
	choice, err := s.optimizer.secondTry(ctx, prefix, first, s.evidence())
	if err != nil {
		return false, err
	}
	s.step.files["second_try.json"] = choice
	s.step.record.LostReplies += len(choice.Lost)
	part := s.partOf(first, choice.Keep, len(all)+1)
	if part == nil {
		return false, nil
	}
	part.prefix = prefix
	if err := s.weighAmong(ctx, part, all); err != nil {
		return false, err
	}
	part.record.Reason = fmt.Sprintf("second try, with %d of %d edits: %s", len(choice.Keep), choice.Of, part.record.Reason)
	all = append(all, part)
	if part.accepted() {
		s.promote(part, all)
		return true, nil
	}
	s.takeOver(closest(all), all)
	s.step.rejected(all)
	return true, nil
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

// partOf is a candidate with some of another one's edits, nil if there is nothing to judge.
func (s *population) partOf(first *proposal, keep []int, index int) *proposal {
	if len(keep) == 0 {
		return nil
	}
	edits := make([]skill.Edit, len(keep))
	for i, k := range keep {
		edits[i] = first.updated.Applied[k]
	}
	part := s.assemble(first, edits, first.record.Budget, index)
	if part == nil || part.candidate.Equal(s.skills.current.skill) {
		return nil
	}
	part.label, part.again = ", second try", first.index
	part.record.Notes = first.record.Notes
	return part
}
