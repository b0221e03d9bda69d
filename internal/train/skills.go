package train

import (
	"cmp"
	"slices"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// skills is what a run knows of its skills: the current and the best one, and every
// candidate with what was measured of it on the selection split. It measures nothing.
type skills struct {
	gate          gate.Mode // its mode
	projection    score.Projection
	selection     []task.Task
	folds         int // of the tasks, each measured when its fold judges; 0: there are none
	current, best incumbent
	scope         skill.Scope
	store         *store
}

// incumbent is a skill with what is known of it.
type incumbent struct {
	skill    skill.Skill
	step     int
	origin   string               // "seed", "step 3", "slow update, epoch 2"
	outcomes []trajectory.Outcome // on the selection split, nil if it was not measured
	score    *float64
	edits    []skill.Report // that made it of the incumbent before it
}

func newSkills(o Options, d Data, scope skill.Scope) *skills {
	_, clusters := Strata(d.Selection, o.Cluster)
	s := &skills{gate: o.Gate, projection: o.Projection, selection: d.Selection, folds: d.NumFolds(), scope: scope}
	s.store = newStore(taskIDs(d.Selection), clusters, o.Projection)
	s.store.folded, s.store.scope = d.NumFolds() > 1, scope
	return s
}

// hash names a skill by the part of it that edits may change.
func (s *skills) hash(sk skill.Skill) string { return s.scope.Hash(sk) }

// skillDensity returns the share of directive words in a skill, 0 if it does not count.
func skillDensity(p score.Projection, s skill.Skill) float64 {
	if p.DensityWeight == 0 {
		return 0
	}
	return skill.Density(s.Text(), nil)
}

// gateScore returns the gate score of outcomes made with a skill, nil if none was measured.
func gateScore(p score.Projection, s skill.Skill, out []trajectory.Outcome) *float64 {
	m, n := mean(out)
	if n == 0 {
		return nil
	}
	v := p.Of(m, skillDensity(p, s))
	return &v
}

// outcomeScore returns the gate score of one outcome, without what the skill's density adds.
func outcomeScore(p score.Projection, o trajectory.Outcome) float64 {
	return p.Of(score.Pair{Hard: o.Hard, Soft: o.Soft}, 0)
}

// entry returns what the store knows of a skill.
func (s *skills) entry(in *incumbent) *entry {
	return s.store.of(in, s.projection.DensityWeight*skillDensity(s.projection, in.skill))
}

// isKnown reports whether enough of a skill was measured to claim anything of it. In folds it
// is measured on those that judged it.
func (s *skills) isKnown(in incumbent) bool {
	if in.outcomes == nil {
		return false
	}
	n, missing := len(in.outcomes), len(findMissing(in.outcomes))
	return gate.Enough(n, missing) || s.folds > 1 && missing < n
}

// beats reports whether a scores above b on the items that both have.
func (s *skills) beats(a, b incumbent) bool {
	var both []int
	for i := range s.selection {
		if a.outcomes[i].Status.Measured() && b.outcomes[i].Status.Measured() {
			both = append(both, i)
		}
	}
	x, y := gateScore(s.projection, a.skill, pick(a.outcomes, both)), gateScore(s.projection, b.skill, pick(b.outcomes, both))
	return x != nil && *x > *y
}

// bestIsCurrent reports whether the best skill is the current one.
func (s *skills) bestIsCurrent() bool { return s.best.skill.Equal(s.current.skill) }

// adopt makes an accepted candidate the incumbent.
func (s *skills) adopt(cand incumbent, v gate.Verdict) {
	s.entry(&cand).Accepted = true
	s.current = cand
	if v.Action == gate.AcceptNewBest || s.gate == gate.ModeOff || s.folds > 1 {
		s.best = cand
	}
}

// refresh brings a skill up to what the store knows of it now. What the store learns
// later does not change it: its outcomes are written while the run does what follows.
func (s *skills) refresh(in *incumbent) {
	e := s.entry(in)
	if e.evaluations() == 0 {
		return
	}
	in.outcomes, in.score = s.store.all(e), e.mean()
}

// refreshShipped brings the best and the current skill up to what the store knows.
func (s *skills) refreshShipped() {
	s.refresh(&s.best)
	s.refresh(&s.current)
}

// put notes with a candidate where it comes from. What was never accepted before
// comes from where it was proposed last.
func (s *skills) put(cand *incumbent) {
	if e := s.entry(cand); !e.Accepted {
		e.Origin, e.Step, e.Parent, e.Edits = cand.origin, cand.step, s.hash(s.current.skill), cand.edits
	}
}

// noteDraws notes which samples were asked for about losses, so that none is fresh again. They
// were asked only where the candidate had lost, so that they are pooled with no others.
func (s *skills) noteDraws(cand *incumbent, readings []gate.Reading) {
	arms := map[gate.Arm]*entry{gate.Candidate: s.entry(cand), gate.Incumbent: s.entry(&s.current)}
	for _, d := range readings {
		next := arms[d.Arm].Next
		next[d.Item] = max(next[d.Item], d.Sample+1)
	}
}

// add takes in what was read of a candidate and of the current skill.
func (s *skills) add(cand *incumbent, readings []gate.Reading) {
	arms := map[gate.Arm]*entry{gate.Candidate: s.entry(cand), gate.Incumbent: s.entry(&s.current)}
	for _, d := range readings {
		s.store.add(arms[d.Arm], d.Item, d.Sample, d.Outcome)
	}
}

// note notes a decision with its candidate.
func (s *skills) note(c *entry, prefix string, v gate.Verdict) {
	c.Judged = append(c.Judged, result.Judgement{
		At: prefix, Against: s.hash(s.current.skill), Action: string(v.Action), Reason: v.Reason, Difference: v.Difference, SE: v.SE, Phase: string(v.Phase), Draws: v.Draws,
		Losses: v.Losses,
	})
}

// measuredWith keeps what a comparison measured of the incumbent, so that the next one
// does not measure it again. Too little of it makes no score.
func (s *skills) measuredWith(outcomes []trajectory.Outcome) {
	isBest := s.best.outcomes != nil && s.bestIsCurrent()
	s.current.outcomes, s.current.score = outcomes, nil
	if !s.isKnown(s.current) {
		return
	}
	s.current.score = gateScore(s.projection, s.current.skill, outcomes)
	if isBest {
		s.best.outcomes, s.best.score = outcomes, s.current.score
	}
}

// forget drops what was measured of any skill.
func (s *skills) forget() {
	for _, e := range s.store.order {
		e.forget()
	}
}

// compareByType sums up by type how tasks went with a candidate, compared with the incumbent, as
// far as both were measured on them: in the order in which their types come up.
func (s *skills) compareByType(cand *incumbent) []optimize.Fared {
	c, base := s.entry(cand), s.entry(&s.current)
	var out []optimize.Fared
	at := map[string]int{}
	for i, p := range base.Pooled {
		q := c.Pooled[i]
		if p.N == 0 || q.N == 0 {
			continue
		}
		kind := s.selection[i].Type
		k, ok := at[kind]
		if !ok {
			k, out = len(out), append(out, optimize.Fared{Type: kind})
			at[kind] = k
		}
		switch d := compareMeans(q.Mean(), p.Mean()); {
		case d > 0:
			out[k].Won++
		case d < 0:
			out[k].Lost++
		default:
			out[k].Same++
		}
	}
	return out
}

// failures sums up why a candidate failed tasks that judge, those that it lost to the current
// skill first.
func (s *skills) failures(cand *incumbent) (out result.CauseCounts) {
	c, base := s.entry(cand), s.entry(&s.current)
	for i, cause := range c.failed {
		if cause == "" {
			continue
		}
		k := slices.IndexFunc(out, func(f result.CauseCount) bool { return f.Cause == cause })
		if k < 0 {
			k, out = len(out), append(out, result.CauseCount{Cause: cause})
		}
		out[k].Failed++
		if p := base.Pooled[i]; p.N > 0 && compareMeans(c.Pooled[i].Mean(), p.Mean()) < 0 {
			out[k].Lost++
		}
	}
	slices.SortFunc(out, func(a, b result.CauseCount) int {
		return cmp.Or(b.Lost-a.Lost, b.Failed-a.Failed, cmp.Compare(a.Cause, b.Cause))
	})
	return out
}

// rolledOut notes how many samples of some tasks the current skill is asked for in batches, so
// that none of them is fresh for a gate. Of one sample gates know by themselves.
func (s *skills) rolledOut(tasks []task.Task, samples int) {
	if samples < 2 {
		return
	}
	e := s.entry(&s.current)
	for _, t := range tasks {
		i := slices.Index(s.store.items, t.ID)
		e.Next[i] = max(e.Next[i], samples)
	}
}

// unread returns what gates have measured of the current skill on some tasks and no
// analyst has read yet, and notes that it is read; open are those that are left.
func (s *skills) unread(tasks []task.Task) (out []trajectory.Outcome, open []int) {
	e := s.entry(&s.current)
	out = make([]trajectory.Outcome, len(tasks))
	known := s.store.all(e)
	for k, t := range tasks {
		i := slices.Index(s.store.items, t.ID)
		if e.read[i] || !known[i].Status.Measured() {
			open = append(open, k)
			continue
		}
		out[k], e.read[i] = known[i], true
	}
	return out, open
}
