package lab

import (
	"context"
	"math/rand/v2"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// limit ends a simulated training run; 0: not by this.
type limit struct {
	steps    int
	rollouts int // in all; the step under way is finished
	overhead int // rollouts of a step that are not the gate's
}

func (l limit) reached(h history) bool {
	spent := h.rollouts + h.steps*l.overhead
	return l.steps > 0 && h.steps >= l.steps || l.rollouts > 0 && spent >= l.rollouts
}

// history is what came of a simulated training run. Scores go from 0 to 1.
type history struct {
	start, end float64 // true means of the first and the last skill
	reported   float64 // what the run believes of the last skill
	steps      int
	rollouts   int // of the selection items, without the first pass over them
	accepts    int
	guided     int  // texts of guidance among them
	first      bool // the first edit was accepted
	certified  bool // the difference on the test items
	lost       int  // items that the first skill solves and the last does not
	vetoed     bool // of a single decision: rejected for a loss
	asked      int  // of a single decision: fresh answers about losses
}

// testItems is the size of the sealed test split, and alpha the level of the
// certificate on it.
const (
	testItems = 100
	alpha     = 0.05
)

// trainer is a training run in which the optimizer is a World.
type trainer struct {
	world World
	rule  gate.Policy
	seed  uint64 // of this run: equal for all rules, so that they are compared in the same world

	items   []string
	current *skillState
	// What is known of the current skill.
	outcomes []trajectory.Outcome
	pooled   []gate.Pooled
	next     []int
}

// purposes of numbers drawn from the seed of a run
const (
	purposeItems = iota
	purposeEdit
	purposeNoise
	purposeOrder
	purposeFresh
)

// begin draws the items and measures the first skill once.
func begin(w World, n int, rule gate.Policy, seed uint64) (*trainer, history) {
	t := &trainer{world: w, rule: rule, seed: seed, items: make([]string, n)}
	start := startSkill(t.rng(purposeItems, 0), n+testItems)
	t.take(start, t.firstPass(start))
	return t, history{start: start.truth(n)}
}

// train runs the loop as far as the gate sees it: an edit, a verdict, the next.
func train(ctx context.Context, w World, n int, rule gate.Policy, until limit, seed uint64) (history, error) {
	t, h := begin(w, n, rule, seed)
	start := t.current
	for !until.reached(h) {
		h.steps++
		if err := t.step(ctx, &h); err != nil {
			return h, err
		}
	}
	h.end, h.lost = t.current.truth(n), lostItems(start, t.current, n)
	for _, p := range t.pooled {
		h.reported += p.Mean() / float64(n)
	}
	c, err := t.certify(start)
	h.certified = c.Certified
	return h, err
}

func (t *trainer) rng(purpose, number uint64) *rand.Rand {
	return rand.New(rand.NewPCG(mix(t.seed, purpose), number))
}

// firstPass measures a skill once.
func (t *trainer) firstPass(s *skillState) []trajectory.Outcome {
	out := make([]trajectory.Outcome, len(t.items))
	for i := range out {
		out[i] = t.draw(s, i, 0)
	}
	return out
}

// take makes a skill current of which one pass is known.
func (t *trainer) take(s *skillState, outcomes []trajectory.Outcome) {
	t.current, t.outcomes = s, outcomes
	t.pooled, t.next = make([]gate.Pooled, len(outcomes)), make([]int, len(outcomes))
	for i, o := range outcomes {
		t.pooled[i], t.next[i] = gate.Pooled{Sum: o.Hard, N: 1}, 1
	}
}

// draw is one evaluation; its noise belongs to the skill, the item and the
// sample, whoever asks for it and when.
func (t *trainer) draw(s *skillState, item, sample int) trajectory.Outcome {
	o := trajectory.Outcome{Status: score.OK}
	if unit(mix(t.seed, purposeNoise, s.id, uint64(item), uint64(sample))) < s.chance[item] {
		o.Hard, o.Soft = 1, 1
	}
	return o
}

func (t *trainer) step(ctx context.Context, h *history) error {
	number := uint64(h.steps)
	candidate := t.world.edit(t.rng(purposeEdit, number), t.current, number)
	res, err := t.trial(ctx, candidate, number)
	if err != nil {
		return err
	}
	h.rollouts += len(res.Readings) + len(res.Kept)
	if !res.Verdict.Action.Accepted() {
		t.pooled, t.next = res.Pooled[gate.Incumbent], res.Next[gate.Incumbent]
		return nil
	}
	h.accepts++
	h.first = h.first || h.steps == 1
	t.current, t.outcomes = candidate, res.Candidate
	t.pooled, t.next = res.Pooled[gate.Candidate], res.Next[gate.Candidate]
	return nil
}

// certify measures the first and the last skill once each on the test items,
// which no decision has gone by, and tests the difference as a run does that reads its
// test tasks for the first time.
func (t *trainer) certify(first *skillState) (gate.Look, error) {
	var pairs []gate.Pair
	for i := len(t.items); i < len(first.chance); i++ {
		pairs = append(pairs, gate.Pair{Candidate: t.fresh(t.current, i, 1), Reference: t.fresh(first, i, 2)})
	}
	return gate.LookOnce(pairs, gate.LookExact, gate.LevelOf(alpha, 1))
}

// fresh is an evaluation for the final test alone.
func (t *trainer) fresh(s *skillState, item int, arm uint64) float64 {
	if unit(mix(t.seed, purposeFresh, arm, uint64(item))) < s.chance[item] {
		return 1
	}
	return 0
}
