package train

import (
	"context"
	"fmt"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/skill"
)

// A bundle of edits is judged as a whole: one that hurts takes those that help down with
// it. A second try costs no rollouts of train tasks: the optimizer is told, by type, what
// the bundle won and lost on the tasks that judge, says which edits it would try without
// the others, and the gate judges those like any candidate.

// onceMore gives the only candidate of a step, which was not accepted, its second try.
// unjudged is the record as it was before.
func (s *step) onceMore(ctx context.Context, unjudged StepRecord, cand incumbent, v gate.Verdict) error {
	if !s.SecondTry {
		return nil
	}
	c := *s
	c.files = map[string]any{}
	for _, name := range []string{"candidate_skill.md", "edit_apply_report.json", "selection.json"} {
		c.files[name] = s.files[name]
	}
	s.record = unjudged
	done, err := s.secondTry(ctx, []*variant{{step: &c, index: 1, cand: cand, verdict: v, weighed: true}})
	if !done {
		c.record.LostReplies = s.record.LostReplies
		s.record = c.record
	}
	return err
}

// secondTry tries a part of the candidate again that came nearest, when the gate has
// rejected all of them. It reports whether it has closed the matter: that part was judged.
func (s *step) secondTry(ctx context.Context, all []*variant) (done bool, err error) {
	first := nearest(all)
	if !s.SecondTry || s.mode != optimize.ModePatch || !first.weighed || !first.verdict.Action.Rejected() || len(first.updated.Applied) < 2 {
		return false, nil
	}
	prefix := first.prefix + "/second"
	if room, err := s.pacer.roomFor(ctx, prefix, Part{Name: PartSecondTry, Step: s.number, Tasks: 1}); !room || err != nil {
		return false, err
	}
	choice, err := optimize.SecondTry(ctx, optimize.SecondTryInput{
		Ask: s.Ask(prefix), Prompts: s.Prompts, Edits: first.updated.Applied, Fared: first.went,
		Skill: s.skills.current.skill.Text(), MetaSkill: s.memory.metaSkill, View: s.view(),
	})
	if err != nil {
		return false, err
	}
	s.files["second_try.json"] = choice
	s.record.LostReplies += len(choice.Lost)
	part := s.partOf(first, choice.Keep, len(all)+1)
	if part == nil {
		return false, nil
	}
	part.prefix = prefix
	if err := part.weighAmong(ctx, all); err != nil {
		return false, err
	}
	part.record.Reason = fmt.Sprintf("second try, with %d of %d edits: %s", len(choice.Keep), choice.Of, part.record.Reason)
	all = append(all, part)
	if part.accepted() {
		s.crown(part, all)
		return true, nil
	}
	s.takeOver(nearest(all), all)
	s.reject(all)
	return true, nil
}

// partOf is a candidate with some of another one's edits, nil if there is nothing to judge.
func (s *step) partOf(first *variant, keep []int, index int) *variant {
	if len(keep) == 0 {
		return nil
	}
	edits := make([]skill.Edit, len(keep))
	for i, k := range keep {
		edits[i] = first.updated.Applied[k]
	}
	part := s.assembled(first, edits, first.record.Budget, index)
	if part == nil || part.candidate.Text() == s.skills.current.skill.Text() {
		return nil
	}
	part.label, part.again = ", second try", first.index
	part.record.Notes = first.record.Notes
	return part
}
