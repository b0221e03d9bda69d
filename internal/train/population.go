package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/internal/pyrand"
	"github.com/seed-f4525e22/skillopt/score"
)

// VaryTemperature is the Population.Vary with which candidates differ by the
// temperature of the optimizer; with any other they are made of different patches.
const VaryTemperature = "temperature"

// Population says how many candidates a step makes.
type Population struct {
	Size        int      // below 2: one
	Vary        string   // minibatches or temperature
	Temperature *float64 // configured for the optimizer; nil: the server's
}

// heat is the temperature of candidate i of n, from 1 up: from the configured one
// evenly up to 1, which every provider takes. Nil: as configured.
func (p Population) heat(i, n int) *float64 {
	if p.Vary != VaryTemperature || p.Temperature == nil || i == 1 || *p.Temperature >= 1 {
		return nil
	}
	v := *p.Temperature + (1-*p.Temperature)*float64(i-1)/float64(n-1)
	return &v
}

// made is how many candidates a step makes at most. Without a gate nothing tells them
// apart.
func (o Options) made() int {
	if o.Population.Size > 1 && o.Gate != "off" {
		return o.Population.Size
	}
	return 1
}

// judged is how many candidates of a step go to the gate at most: those that are
// made, and one that is merged of them.
func (o Options) judged() int { return o.judgedOf(o.made()) }

func (o Options) judgedOf(made int) int {
	if made == 1 || o.Mode != string(optimize.ModePatch) {
		return made
	}
	return made + 1
}

// hand is the patches that a candidate is made of.
type hand struct{ failures, successes []optimize.Patch }

func (h hand) size() int { return len(h.failures) + len(h.successes) }

// deal gives each candidate its patches: all of them, or a share that is drawn by
// the seed. There are no more candidates than patches to deal.
func (s *step) deal(all hand) []hand {
	n := s.Population.Size
	if s.Population.Vary == VaryTemperature {
		return slices.Repeat([]hand{all}, n)
	}
	n = max(1, min(n, all.size()))
	hands := make([]hand, n)
	place := s.prefix + "/deal"
	for k, i := range pyrand.New(seedOf(s.Seed, place)).Perm(len(all.failures)) {
		h := &hands[k%n]
		h.failures = append(h.failures, all.failures[i])
	}
	for k, i := range pyrand.New(seedOf(s.Seed, place+"/successes")).Perm(len(all.successes)) {
		h := &hands[(k+len(all.failures))%n]
		h.successes = append(h.successes, all.successes[i])
	}
	return hands
}

// variant is one of several candidates of a step: the step as it would be with
// this candidate alone.
type variant struct {
	*step
	index   int
	from    []int // of a merged one: indices of what it is made of
	again   int   // of a second try: index of what it is a part of
	cand    incumbent
	verdict gate.Verdict
	weighed bool // the gate has said something
	was     bool // its text was accepted before
	lost    int  // replies, of its own
}

// asker returns the optimizer as the candidate of this step is to be made by.
func (s *step) asker() optimize.Ask { return s.heated(s.Ask(s.prefix)) }

func (s *step) heated(ask optimize.Ask) optimize.Ask {
	if s.heat == nil {
		return ask
	}
	return func(ctx context.Context, q optimize.Question) (string, error) {
		q.Temperature = s.heat
		return ask(ctx, q)
	}
}

// populate makes several candidates of the same rollouts, has the gate judge each
// against the incumbent, and takes the best of the accepted or what comes of
// merging them.
func (s *step) populate(ctx context.Context, budget int, patches hand) error {
	s.prefetch.uncertain() // which of them is taken is not known before all are weighed
	var all []*variant
	hands, err := s.hands(ctx, budget, patches)
	if err != nil {
		return err
	}
	for i, h := range hands {
		v := s.variant(i+1, len(hands))
		if err := v.make(ctx, budget, h); err != nil {
			return err
		}
		all = append(all, v)
	}
	for i, v := range all {
		drifts := len(s.judge.drifts)
		if err := v.weighAmong(ctx, all[:i]); err != nil {
			return err
		}
		if len(s.judge.drifts) == drifts {
			continue
		}
		if err := s.weighAnew(ctx, all[:i]); err != nil {
			return err
		}
	}
	if err := undecided(all); err != nil {
		s.takeOver(nearest(all), all)
		return err
	}
	taken := s.champion(all)
	if taken == nil {
		done, err := s.secondTry(ctx, all)
		if !done && err == nil {
			s.takeOver(nearest(all), all)
			s.reject(all)
		}
		return err
	}
	merged, err := s.crossed(ctx, taken, all)
	if err != nil {
		return err
	}
	if merged != nil {
		if all = append(all, merged); s.beats(merged, taken) {
			taken = merged
		}
	}
	s.crown(taken, all)
	return nil
}

// variant begins candidate index of n. The first has the keys that a step with
// one candidate has.
func (s *step) variant(index, n int) *variant {
	c := *s
	c.files = map[string]any{}
	c.record.Notes, c.record.Unmeasured = slices.Clip(c.record.Notes), slices.Clip(c.record.Unmeasured)
	p := s.Population
	if s.warms(s.number) {
		p.Vary = VaryTemperature
	}
	c.heat = p.heat(index, n)
	if index > 1 {
		c.prefix, c.label = fmt.Sprintf("%s/p%d", s.prefix, index), fmt.Sprintf(", candidate %d", index)
	}
	return &variant{step: &c, index: index}
}

// make lets the optimizer make the candidate.
func (v *variant) make(ctx context.Context, budget int, h hand) error {
	before := v.record.LostReplies
	defer func() { v.lost = v.record.LostReplies - before }()
	if h.size() == 0 && len(v.record.Notes) == 0 {
		return v.skip(ActionNoPatches, "")
	}
	if err := v.propose(ctx, budget, h); err != nil {
		return err
	}
	switch {
	case v.candidate.Text() != v.skills.current.skill.Text():
		return nil
	case v.updated.Refused != "":
		return v.skip(ActionRefused, v.updated.Refused)
	}
	return v.skip(ActionNoChange, "")
}

// weighAmong has the gate judge the candidate, unless there is nothing to judge or
// an earlier one has the same text.
func (v *variant) weighAmong(ctx context.Context, earlier []*variant) error {
	if v.record.Action != "" {
		return nil
	}
	for _, e := range earlier {
		if e.candidate.Text() == v.candidate.Text() {
			return v.skip(ActionDuplicate, fmt.Sprintf("it equals candidate %d", e.index))
		}
	}
	if e, ok := v.skills.store.byHash[v.candidate.Hash()]; ok {
		v.was = e.Accepted
	}
	cand, verdict, err := v.weigh(ctx)
	if err != nil && !errors.Is(err, errIndecisive) {
		return err
	}
	v.cand, v.verdict, v.weighed = cand, verdict, true
	v.Events(event.CandidateJudged{
		Epoch: v.epoch, Step: v.number, Candidate: v.index, Action: v.record.Action, Score: v.record.Candidate, Difference: v.record.Difference,
	})
	return nil
}

// weighAnew judges those again of whom all was forgotten since, because another model
// answers now.
func (s *step) weighAnew(ctx context.Context, earlier []*variant) error {
	for _, v := range earlier {
		if !v.weighed || s.skills.entry(&v.cand).evaluations() > 0 {
			continue
		}
		v.prefix += "/anew"
		s.skills.entry(&v.cand).Accepted = v.was
		v.record.Action, v.record.Unmeasured = "", slices.Clip(s.record.Unmeasured)
		if err := v.weighAmong(ctx, nil); err != nil {
			return err
		}
	}
	return nil
}

// undecided is errIndecisive if the gate could decide on none of those it saw, for
// want of measurements.
func undecided(all []*variant) error {
	reason := ""
	for _, v := range all {
		switch {
		case !v.weighed:
		case v.verdict.Action == gate.Indecisive && len(v.verdict.Unmeasured) > 0:
			reason = v.verdict.Reason
		default:
			return nil
		}
	}
	if reason == "" {
		return nil
	}
	return fmt.Errorf("%w: %s", errIndecisive, reason)
}

func (v *variant) accepted() bool { return v.weighed && v.verdict.Action.Accepted() }

// champion is the accepted candidate that stands highest, the first of equal ones;
// nil if none was accepted.
func (s *step) champion(all []*variant) *variant {
	var best *variant
	for _, v := range all {
		if v.accepted() && (best == nil || compareScores(s.skills.standing(&v.cand), s.skills.standing(&best.cand)) > 0) {
			best = v
		}
	}
	return best
}

// nearest is the candidate that a step without an accepted one is recorded by: of
// those that were judged the one that came nearest, else the first.
func nearest(all []*variant) *variant {
	best := all[0]
	for _, v := range all[1:] {
		if !v.weighed {
			continue
		}
		d := compareScores(v.record.Difference, best.record.Difference)
		if !best.weighed || d > 0 || d == 0 && compareScores(v.record.Candidate, best.record.Candidate) > 0 {
			best = v
		}
	}
	return best
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

// crown makes the candidate that is taken the incumbent. Others that were accepted
// were never the current skill.
func (s *step) crown(taken *variant, all []*variant) {
	s.takeOver(taken, all)
	for _, v := range all {
		if v.weighed {
			s.skills.entry(&v.cand).Accepted = v == taken || v.was
		}
	}
	if s.Gate == ModeRace {
		taken.verdict.Action = gate.Accept
		if s.skills.store.best() == s.skills.entry(&taken.cand) {
			taken.verdict.Action = gate.AcceptNewBest
		}
		s.record.Action = string(taken.verdict.Action)
		for i := range s.record.Candidates {
			if c := &s.record.Candidates[i]; c.Taken {
				c.Action = s.record.Action
			}
		}
		if taken.from != nil { // it was judged against another candidate
			s.record.Difference, s.record.SE = difference(s.record.Candidate, s.skills.entry(&s.skills.current).mean()), nil
		}
	}
	s.skills.adopt(taken.cand, taken.verdict)
}

// difference is a - b, nil if one of them is not known.
func difference(a, b *float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	d := *a - *b
	return &d
}

// takeOver makes a candidate's record and files those of the step.
func (s *step) takeOver(chosen *variant, all []*variant) {
	lost := s.record.LostReplies
	s.record = chosen.record
	for _, v := range all {
		lost += v.lost
		s.record.Candidates = append(s.record.Candidates, s.candidateRecord(v, v == chosen && v.accepted()))
		name := fmt.Sprintf("p%d/", v.index)
		for file, content := range v.files {
			s.files[name+file] = content
		}
	}
	s.record.LostReplies = lost
	maps.Copy(s.files, chosen.files)
	s.merged, s.ranked, s.updated = chosen.merged, chosen.ranked, chosen.updated
	s.candidate, s.before, s.went = chosen.candidate, chosen.before, chosen.went
}

func (s *step) candidateRecord(v *variant, taken bool) CandidateRecord {
	out := CandidateRecord{
		Index: v.index, Merged: v.from, SecondTry: v.again, Hash: v.record.CandidateHash, Action: v.record.Action, Reason: v.record.Reason,
		Score: v.record.Candidate, Difference: v.record.Difference, SE: v.record.SE, Edits: len(v.updated.Applied),
		Unmeasured: v.verdict.Unmeasured, Taken: taken,
	}
	if v.accepted() && s.Gate == ModeRace {
		out.Shrunken = s.skills.standing(&v.cand)
	}
	return out
}

// reject tells later analysts what was tried in vain, by any candidate.
func (s *step) reject(all []*variant) {
	var tried []string
	s.updated.Applied = nil
	for _, v := range all {
		if v.weighed {
			s.updated.Applied = append(s.updated.Applied, v.updated.Applied...)
			tried = append(tried, v.updated.Summary...)
		}
	}
	s.updated.Summary = tried
}
