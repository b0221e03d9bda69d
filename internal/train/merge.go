package train

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/skill"
)

// crossover merges the candidate that stands highest with the accepted ones that
// gain where it does not, and has the gate judge the outcome against it. Nil: there
// is nothing to merge. Only edits can be merged.
func (s *population) crossover(ctx context.Context, top *proposal, all []*proposal) (*proposal, error) {
	if s.optimizer.mode != optimize.ModePatch {
		return nil, nil
	}
	with := []*proposal{top}
	for _, p := range all {
		if p != top && p.accepted() && s.skills.complementary(&top.judged, &p.judged) {
			with = append(with, p)
		}
	}
	m := s.merge(with, len(all)+1)
	if m == nil {
		return nil, nil
	}
	for _, p := range all {
		if p.candidate.Equal(m.candidate) {
			return nil, nil
		}
	}
	return m, s.weighAgainst(ctx, m, top)
}

// merge applies the edits of all candidates to the incumbent, those of the first
// before all others, within the sum of their budgets. Nil: the others add nothing.
func (s *population) merge(with []*proposal, index int) *proposal {
	top := with[0]
	edits, from := slices.Clone(top.updated.Applied), []int{top.index}
	budgets := []*int{top.record.Budget}
	for _, p := range with[1:] {
		more := compatible(s.skills.current.skill, edits, p.updated.Applied)
		if len(more) > 0 {
			edits, from = append(edits, more...), append(from, p.index)
			budgets = append(budgets, p.record.Budget)
		}
	}
	if len(from) == 1 {
		return nil
	}
	m := s.assemble(top, edits, sumOf(budgets), index)
	if m != nil {
		m.prefix, m.label, m.from = s.step.prefix+"/merged", ", merged", from
	}
	return m
}

// assemble makes a candidate of given edits, within a budget, out of another one and others
// or of a part of it. Nil: it would be that one, or too long.
func (s *population) assemble(top *proposal, edits []skill.Edit, budget *int, index int) *proposal {
	opts := skill.ApplyOptions{Scope: s.skills.scope}
	if budget != nil {
		opts.Budget = *budget
	}
	text, reports := skill.Apply(s.skills.current.skill, edits, opts)
	if notes := skill.Notes(top.candidate.Text()); s.opts.SkillAware && len(notes) > 0 {
		text = opts.Scope.WithNotes(text, notes)
	}
	if text.Equal(top.candidate) || len(text.Text()) > skill.MaxBytes {
		return nil
	}
	m := s.begin(index, index)
	m.merged, m.ranked = top.merged, top.ranked
	m.candidate, m.updated = text, optimize.UpdateResult{Candidate: text, Changed: true, Edits: edits, Reports: reports}
	m.record.Merged, m.record.Ranked, m.record.Budget, m.record.Edits = top.record.Merged, len(edits), budget, reports
	m.record.Support = nil
	for i, e := range edits {
		m.record.Support = append(m.record.Support, e.SupportCount)
		if reports[i].Status.Applied() {
			m.updated.Applied = append(m.updated.Applied, e)
		}
	}
	m.files["edit_apply_report.json"] = m.updated
	return m
}

// sumOf adds up edit budgets; nil if one has no limit.
func sumOf(budgets []*int) *int {
	sum := 0
	for _, b := range budgets {
		if b == nil {
			return nil
		}
		sum += *b
	}
	return &sum
}

// weighAgainst has the gate judge a merged candidate against the one that it is to
// beat. What is known of that one may grow by it.
func (s *population) weighAgainst(ctx context.Context, m, top *proposal) error {
	base := s.skills.current
	s.skills.current = top.judged
	defer func() { s.skills.current = base }()
	if err := s.weighAmong(ctx, m, nil); err != nil {
		return err
	}
	top.judged = s.skills.current
	m.record.Reason = fmt.Sprintf("merged of candidates %s, judged against candidate %d: %s", listed(m.from), top.index, m.record.Reason)
	s.skills.entry(&m.judged).Parent = s.skills.hash(base.skill) // its edits are those to the incumbent
	return nil
}

// listed writes indices: "1, 2".
func listed(indices []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(indices), " ", ", "), "[]")
}

// beats reports whether a merged candidate is better than the one it was judged
// against. A gate that only looks accepts everything, and does not say.
func (s *population) beats(m, top *proposal) bool {
	return m.accepted() && (s.opts.Gate != gate.ModeObserve || compareScores(s.skills.standing(&m.judged), s.skills.standing(&top.judged)) > 0)
}

// compatible returns those of more edits that go together with the first: that
// are not among them, and do not touch the same text.
func compatible(s skill.Skill, first, more []skill.Edit) []skill.Edit {
	var out []skill.Edit
	for _, e := range more {
		if !slices.ContainsFunc(first, func(f skill.Edit) bool { return sameEdit(f, e) || clash(s, f, e) }) {
			out = append(out, e)
		}
	}
	return out
}

func sameEdit(a, b skill.Edit) bool {
	return a.Op == b.Op && fileOf(a) == fileOf(b) && a.Target == b.Target && strings.TrimSpace(a.Content) == strings.TrimSpace(b.Content)
}

// clash reports whether two edits touch the same text of a file: their targets
// overlap and one of them changes its own. Two texts may be put after the same place.
func clash(s skill.Skill, a, b skill.Edit) bool {
	changes := func(e skill.Edit) bool { return e.Op == skill.Replace || e.Op == skill.Delete || e.Op == skill.Move }
	if targetFile(a) != targetFile(b) || !changes(a) && !changes(b) {
		return false
	}
	text, _ := s.File(targetFile(a))
	fromA, toA, okA := targetOf(text, a)
	fromB, toB, okB := targetOf(text, b)
	return okA && okB && fromA < toB && fromB < toA
}

// fileOf is the file that an edit names.
func fileOf(e skill.Edit) string {
	if e.File == "" {
		return skill.Main
	}
	return e.File
}

// targetFile is the file in which the target of an edit stands: a move takes it out of
// SKILL.md.
func targetFile(e skill.Edit) string {
	if e.Op == skill.Move {
		return skill.Main
	}
	return fileOf(e)
}

// targetOf is where the target of an edit stands, in bytes.
func targetOf(text string, e skill.Edit) (from, to int, ok bool) {
	if e.Op == skill.Append || e.Target == "" {
		return 0, 0, false
	}
	from = strings.Index(text, e.Target)
	return from, from + len(e.Target), from >= 0
}
