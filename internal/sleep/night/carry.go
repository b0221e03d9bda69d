package night

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/level"
	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
	"github.com/seed-f4525e22/skillopt/skill"
)

// maxPairs is after how many pairs a candidate that is undecided is dropped.
const maxPairs = 60

// carry continues with an earlier night's proposal of a document: it and the live document answer the tasks that are
// new to both, and the evidence is added to what there was. It holds however often it is looked at (Ville's inequality).
func (n trainer) carry(ctx context.Context, j *job) error {
	at := slices.IndexFunc(j.past, func(c bank.Candidate) bool { return c.State == bank.Carried || c.Settled == n.report.ID })
	if at < 0 {
		return nil
	}
	c := j.past[at]
	j.out.Continued = &Continued{Candidate: c.Number, Night: c.Night, State: string(c.State), Reason: c.Reason, Needs: 1 / level.Half(c.Level)}
	if c.State != bank.Carried { // this night settled it, before it was interrupted
		return n.count(j, &c)
	}
	if reason := endReason(&c, j); reason != "" {
		return n.drop(ctx, j, &c, reason)
	}
	staged, err := n.stagedSkill(&c, j)
	if err != nil {
		return n.drop(ctx, j, &c, "what was staged cannot be read any more: "+err.Error())
	}
	fresh := slices.DeleteFunc(j.picked.train(), func(k bank.Cluster) bool {
		return slices.Contains(c.Known, k.Number) || slices.ContainsFunc(c.Pairs, func(p bank.Pair) bool { return p.Cluster == k.Number }) ||
			k.Tasks[0].Reviewed != bank.Accepted && !n.exploratory(&c)
	})
	if len(fresh) > 0 {
		if err := n.pair(ctx, j, &c, staged, fresh); err != nil || c.State != bank.Carried {
			return err
		}
	}
	return n.weigh(ctx, j, &c)
}

// exploratory reports whether a candidate can never be certified, since it rests on tasks that no one has reviewed. Its
// pairs may be of such tasks too.
func (n trainer) exploratory(c *bank.Candidate) bool { return c.Exploratory }

// endReason returns why evidence for a candidate ends; "": it continues.
func endReason(c *bank.Candidate, j *job) string {
	switch {
	case c.Live != j.doc.Digest():
		return "the live file has changed since it was made: evidence begins again with the next proposal"
	case c.Terms != j.terms:
		return "the model, the agent or the way of scoring has changed: evidence begins again with the next proposal"
	}
	return ""
}

func (n trainer) drop(ctx context.Context, j *job, c *bank.Candidate, reason string) error {
	c.State, c.Reason, c.Settled = bank.Dropped, reason, n.report.ID
	j.out.Continued.State, j.out.Continued.Reason = string(c.State), reason
	return n.Bank.Update(ctx, *c)
}

// pair has both texts answer tasks, and keeps what they scored.
func (n trainer) pair(ctx context.Context, j *job, c *bank.Candidate, staged skill.Skill, fresh []bank.Cluster) error {
	look, scores, err := n.pairs(ctx, j, staged, fresh)
	if look != nil {
		j.out.Continued.Run = look.Run
	}
	if err != nil {
		return err
	}
	if othersAnswer(c.Served, j.served) {
		return n.drop(ctx, j, c, fmt.Sprintf("models.target is answered by %s now, and was by %s: evidence begins again with the next proposal", strings.Join(j.served, ", "), strings.Join(c.Served, ", ")))
	}
	if len(c.Served) == 0 {
		c.Served = j.served
	}
	for _, s := range scores {
		number, ok := findClusterNumber(fresh, s.ID)
		if !ok {
			continue
		}
		c.Pairs = append(c.Pairs, bank.Pair{Cluster: number, Night: n.report.ID, Live: s.A, Staged: s.B})
	}
	return n.Bank.Update(ctx, *c)
}

// weigh says what all pairs of a candidate amount to.
func (n trainer) weigh(ctx context.Context, j *job, c *bank.Candidate) error {
	half := level.Half(c.Level)
	better, err := gate.Certificate{Test: gate.TestMean, Alpha: half}.Add(toGatePairs(c.Pairs, false))
	if err != nil {
		return err
	}
	worse, err := gate.Certificate{Test: gate.TestMean, Alpha: supportedLevel}.Add(toGatePairs(c.Pairs, true))
	if err != nil {
		return err
	}
	if err := n.count(j, c); err != nil {
		return err
	}
	out := j.out.Continued
	out.Reason = fmt.Sprintf("won %d and lost %d of %d new tasks so far", better.Wins, better.Losses, better.N)
	switch {
	case better.Certified && !n.exploratory(c):
		c.State, c.Reason = bank.Certified, fmt.Sprintf("better on tasks like these: evidence %.3g of %.3g over %d new tasks", better.Wealth, 1/half, better.N)
	case worse.Certified:
		c.State, c.Reason = bank.Dropped, fmt.Sprintf("worse: it lost %d and won %d of %d new tasks", better.Losses, better.Wins, better.N)
	case better.N >= maxPairs:
		c.State, c.Reason = bank.Dropped, fmt.Sprintf("undecided after %d new tasks", better.N)
	default:
		return nil
	}
	c.Settled = n.report.ID
	out.State, out.Reason = string(c.State), c.Reason
	return n.Bank.Update(ctx, *c)
}

// count says what there is of a candidate's pairs.
func (n trainer) count(j *job, c *bank.Candidate) error {
	better, err := gate.Certificate{Test: gate.TestMean, Alpha: level.Half(c.Level)}.Add(toGatePairs(c.Pairs, false))
	if err != nil {
		return err
	}
	out := j.out.Continued
	out.Pairs, out.Wins, out.Losses, out.Tonight = better.N, better.Wins, better.Losses, 0
	for _, p := range c.Pairs {
		if p.Night == n.report.ID {
			out.Tonight++
		}
	}
	if better.N > 0 {
		out.Evidence = &better.Wealth
	}
	return nil
}

func toGatePairs(pairs []bank.Pair, reversed bool) []gate.Pair {
	out := make([]gate.Pair, len(pairs))
	for i, p := range pairs {
		out[i] = gate.Pair{Candidate: p.Staged, Reference: p.Live}
		if reversed {
			out[i] = gate.Pair{Candidate: p.Live, Reference: p.Staged}
		}
	}
	return out
}

// stagedSkill returns what an earlier night has staged for a document, as it was staged.
func (n trainer) stagedSkill(c *bank.Candidate, j *job) (skill.Skill, error) {
	p, err := Open(n.Dir, n.Project, c.Night)
	if err != nil {
		return skill.Skill{}, err
	}
	staged, err := p.stagedSkill(j.doc.ID(), j.folder)
	if err == nil && target.Digest(staged.Text()) != c.Text {
		err = fmt.Errorf("night %s: the proposal for %s is not the one that was staged", c.Night, j.doc.ID())
	}
	return staged, err
}
