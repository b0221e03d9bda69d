package train

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/stats"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Stop says by which rules the loop ends before its last step. The zero value: by none.
type Stop struct {
	Perfect  bool    `json:"perfect,omitempty"`  // no task is left that the current skill does not solve, asked twice
	Score    float64 `json:"score,omitempty"`    // it has this score; 0: no rule
	Patience int     `json:"patience,omitempty"` // that many steps in a row gained nothing; 0: no rule
	Evidence bool    `json:"evidence,omitempty"` // less is left to gain than the tasks could show
}

// dropRule returns the rules without one of them. Patience is left: it counts again.
func (s Stop) dropRule(rule string) Stop {
	switch rule {
	case result.StopPerfect:
		s.Perfect = false
	case result.StopScore:
		s.Score = 0
	case result.StopEvidence:
		s.Evidence = false
	}
	return s
}

// MostConfirmations is how many passes a run makes at most to see whether what one draw of
// each task said holds: where that many found a failure, answers change, and there is no
// skill that solves everything always.
const MostConfirmations = 2

// stopper says where the loop ends before its last step. What it says follows from what is
// recorded.
type stopper struct {
	opts     Options
	data     Data
	judge    *judge
	skills   *skills
	loads    *loads
	pacer    *pacer
	rollouts *rollouts
	emit     event.Sink

	passes int    // confirmations that were made
	best   string // hash of the best skill when it was looked at last
	idle   int    // steps in a row, by now, that gained nothing
}

// place is where in the loop a run may stop.
type stopPlace struct {
	key                string // under which a confirmation is recorded
	epoch, step, units int    // that are done
}

// saw counts a step that is closed: whether it gained something. One that decided nothing,
// or whose analysts' replies were lost, says nothing of what there is to gain.
func (s *stopper) saw(r result.StepRecord) {
	if s.updateBest() {
		s.idle = 0
		return
	}
	if r.Action != string(gate.Indecisive) && (r.Patches > 0 || r.LostReplies == 0) {
		s.idle++
	}
}

// updateBest reports whether the best skill is another one than when it was looked at last, and remembers it.
func (s *stopper) updateBest() bool {
	was := s.best
	s.best = s.skills.hash(s.skills.best.skill)
	return s.best != was
}

// sawGuidance forgets idle steps where the end of an epoch has gained something.
func (s *stopper) sawGuidance() {
	if s.updateBest() {
		s.idle = 0
	}
}

// check returns why the loop ends here, nil if it continues.
func (s *stopper) check(ctx context.Context, at stopPlace) (*result.Stop, error) {
	rules := s.opts.rulesAt(at.units)
	if s.opts.begins(at.units) {
		s.idle = 0
	}
	if rules == (Stop{}) || s.opts.Gate == gate.ModeOff {
		return nil, nil
	}
	e := s.skills.entry(&s.skills.current)
	for _, rule := range []func(Stop, *entry) *result.Stop{s.checkScore, s.evident, s.patient} {
		if found := rule(rules, e); found != nil {
			return s.addDetails(found, e, at), nil
		}
	}
	if !rules.Perfect {
		return nil, nil
	}
	found, err := s.perfect(ctx, e, at)
	if err != nil || found == nil {
		return nil, err
	}
	return s.addDetails(found, e, at), nil
}

// addDetails adds to a rule that holds what it was found by.
func (s *stopper) addDetails(r *result.Stop, e *entry, at stopPlace) *result.Stop {
	r.Epoch, r.Step, r.Units, r.SkillHash = at.epoch, at.step, at.units, e.Hash
	r.StepsLeft = s.opts.Steps(s.data.Drawable()) - at.step
	r.Metric, r.Items, r.Tasks, r.Evaluations = string(s.opts.Projection.Metric), e.numMeasured(), len(e.Pooled), e.evaluations()
	if mean := e.metric(); mean != nil {
		r.Score = mean
	}
	return r
}

// metric returns the mean of the gate's metric, without what a skill's density adds. It returns nil
// if too little is measured.
func (e *entry) metric() *float64 {
	if n := e.numMeasured(); n == 0 || !gate.Enough(len(e.Pooled), len(e.Pooled)-n) {
		return nil
	}
	v, _ := overUnits(e.units, e.Pooled)
	return &v
}

// checkScore returns the rule of a score if that is reached, else nil.
func (s *stopper) checkScore(rules Stop, e *entry) *result.Stop {
	if mean := e.metric(); rules.Score > 0 && mean != nil && *mean >= rules.Score-score.Negligible {
		return &result.Stop{Rule: result.StopScore, Wanted: &rules.Score}
	}
	return nil
}

// patient returns the stop by the rule of steps that gain nothing, nil if the rule does not end the loop.
func (s *stopper) patient(rules Stop, _ *entry) *result.Stop {
	if rules.Patience > 0 && s.idle >= rules.Patience {
		return &result.Stop{Rule: result.StopPatience, Idle: s.idle}
	}
	return nil
}

// evident returns the stop by the rule of what is left to gain: at most the distance to the
// maximum, on each task that counts once. The rule ends the loop if the tasks could not distinguish the
// current skill from one that gained all of that and lost nothing.
func (s *stopper) evident(rules Stop, e *entry) *result.Stop {
	if !rules.Evidence || e.metric() == nil {
		return nil
	}
	left, open := e.remainingGain()
	found := &result.Stop{Rule: result.StopEvidence, Left: &left, Open: &open, Least: LeastToShow}
	shown, known := s.smallestGain(e)
	if open >= LeastToShow && (!known || left >= shown) {
		return nil
	}
	if known {
		found.Shown = &shown
	}
	return found
}

// smallestGain returns the smallest gain that the tasks distinguish from the chance of answers, 0 where
// none that was asked twice has changed. It is not known where no skill could show a change.
func (s *stopper) smallestGain(e *entry) (gain float64, known bool) {
	sigma := math.Sqrt2 * math.Sqrt(s.skills.store.evaluationVariance()) * inflation(e.units) // of the difference on one task
	if sigma == 0 {
		return 0, !s.judge.unseen
	}
	gain, err := stats.MinimumDetectable(sigma, len(e.Pooled), seenAlpha, seenPower)
	return gain, err == nil
}

// LeastToShow is on how many tasks a skill has to gain, without a loss, before that is hardly
// chance: 1/2 to the power of it is below 5 %.
const LeastToShow = 5

// TooFewToShow says why the rule of evidence would end a run with these tasks before it
// begins, "" if it would not.
func (o Options) TooFewToShow(d Data) string {
	if !o.Stop.Evidence {
		return ""
	}
	_, clusters := Strata(d.Selection, o.Cluster)
	units := len(gate.Units(len(d.Selection), clusters))
	if units >= LeastToShow {
		return ""
	}
	return fmt.Sprintf("train.stop.evidence: %s can show no gain at all, since one on fewer than %d could be chance: the run would stop before its first step; add tasks, or leave the rule out",
		nameGroups(wording.Plural(len(d.Selection), "selection task", "selection tasks"), len(d.Selection), units), LeastToShow)
}

// remainingGain returns the most that can still be gained: the mean distance to the maximum, each
// unit counting once, and on how many units there is any.
func (e *entry) remainingGain() (mean float64, open int) {
	n := 0
	for _, u := range e.units {
		sum, items := 0.0, 0
		for _, i := range u {
			if e.Pooled[i].N > 0 {
				sum += 1 - e.Pooled[i].Mean()
				items++
			}
		}
		if items == 0 {
			continue
		}
		n++
		if away := sum / float64(items); away > score.Negligible {
			mean, open = mean+away, open+1
		}
	}
	return mean / float64(max(1, n)), open
}

// perfect returns the stop by the rule of a skill to which nothing can be added: each task of the
// split is measured, and each draw of it is at the metric's maximum. One draw of a task may be
// luck: those that have no second one are asked again.
func (s *stopper) perfect(ctx context.Context, e *entry, at stopPlace) (*result.Stop, error) {
	if s.opts.Projection.DensityWeight != 0 || len(e.unmeasuredItems()) > 0 || !e.flawless() {
		return nil, nil // a skill of more directive words would score more
	}
	confirmed, err := s.confirm(ctx, e, at)
	if err != nil || !confirmed {
		return nil, err
	}
	right, err := s.loadsRight(ctx, at)
	if err != nil || !right {
		return nil, err
	}
	return &result.Stop{Rule: result.StopPerfect}, nil
}

// flawless reports whether no draw of the skill is below the maximum.
func (e *entry) flawless() bool {
	for _, p := range e.Pooled {
		if float64(p.N)-p.Sum > score.Negligible {
			return false
		}
	}
	return true
}

// singleItems lists the items with a single draw.
func (e *entry) singleItems() []int {
	var out []int
	for i, p := range e.Pooled {
		if p.N == 1 {
			out = append(out, i)
		}
	}
	return out
}

// confirm asks the tasks again that were asked once, and reports whether each was solved each
// time. A run that has no room for it ends there, as it does before a step, which would take
// more: what it decides does not depend on its ceilings.
func (s *stopper) confirm(ctx context.Context, e *entry, at stopPlace) (bool, error) {
	which := e.singleItems()
	if len(which) == 0 {
		return true, nil
	}
	if left := s.opts.Steps(s.data.Drawable()) - at.step; s.passes >= MostConfirmations || left*s.opts.BatchSize*s.opts.Accumulation < len(which) {
		return false, nil // what is left of the loop takes less than to know that it is in vain
	}
	if _, err := s.pacer.admit(Unit{Name: UnitConfirmation, Step: at.step, Tasks: len(which), Key: at.key}); err != nil {
		return false, err
	}
	s.passes++
	s.emit(event.StageStarted{Epoch: at.epoch, Step: at.step, Stage: "confirmation", Total: len(which)})
	place := rollout.Place{Prefix: at.key, Sample: 1}
	for _, i := range which {
		place.Sample = max(place.Sample, e.Next[i])
	}
	for part := range slices.Chunk(which, ceilDiv(len(which), confirmParts)) {
		if good, err := s.confirmPart(ctx, e, place, part); err != nil || !good {
			return false, err
		}
	}
	return true, nil
}

// confirmParts is in how many parts a confirmation asks: after one with a failure the others
// are spared.
const confirmParts = 4

// confirmPart asks some tasks again, and reports whether each was solved.
func (s *stopper) confirmPart(ctx context.Context, e *entry, place rollout.Place, which []int) (good bool, err error) {
	set := rolloutSet{place, pick(s.judge.selection, which), e.skill}
	out, err := s.rollouts.batch(ctx, "confirmation", set)
	if err != nil {
		return false, err
	}
	gone, err := s.rollouts.giveUpMissing(ctx, set, out)
	if err != nil {
		return false, err
	}
	for k, o := range out {
		s.skills.store.add(e, which[k], place.Sample, o)
	}
	return len(gone) == 0 && e.flawless(), nil
}

// loadsRight reports whether the agent loads the current skill where it should and nowhere
// else, where trigger tasks are measured along with the others: a better description would be a
// gain.
func (s *stopper) loadsRight(ctx context.Context, at stopPlace) (bool, error) {
	if !s.loads.on() {
		return true, nil
	}
	current := s.skills.current.skill
	if rollout.Untellable(current) != "" {
		return false, nil
	}
	out, err := s.loads.of(ctx, at.key, task.Selection, current)
	if err != nil {
		return false, err
	}
	for _, o := range out {
		if !o.Status.Measured() || o.Hard < 1-score.Negligible {
			return false, nil
		}
	}
	return true, nil
}

// mayFollow reports whether the loop may end after the unit that is under way, as far as
// that depends on something else than what the tasks score with the skill that it leaves.
func (s *stopper) mayFollow(units int) bool {
	rules := s.opts.rulesAt(units)
	return rules.Score > 0 || rules.Evidence || rules.Patience > 0 && s.idle+1 >= rules.Patience
}

// mayBePerfect reports whether nothing that is known of a skill keeps the loop from ending
// with it.
func (s *stopper) mayBePerfect(units int, sk skill.Skill, seen []trajectory.Outcome) bool {
	if !s.opts.rulesAt(units).Perfect || s.opts.Projection.DensityWeight != 0 {
		return false
	}
	for _, o := range seen {
		if o.Status.Measured() && outcomeScore(s.opts.Projection, o) < 1-score.Negligible {
			return false
		}
	}
	e := s.skills.store.byHash[s.skills.hash(sk)]
	return e == nil || e.flawless()
}

// stopKey returns the key in the record of a confirmation after a unit.
func stopKey(unit string) string { return unit + "/stop" }

// ConfirmationMark occurs in the keys of the rollouts of confirmations, and in no others.
const ConfirmationMark = "/stop/"

// remains reports whether the loop asks for anything more after inEpoch steps of an epoch.
func (t *trainer) remains(epoch, inEpoch int) bool {
	last := epoch == t.opts.Epochs
	if inEpoch < t.sampler.stepsPerEpoch() {
		return true
	}
	return !last || t.opts.looksBack(epoch)
}

// stops ends the loop with ErrEnded if a rule says so. Where nothing is left of it, or
// somebody has ended it, nothing is asked for that.
func (t *trainer) stops(ctx context.Context, at stopPlace, remains bool) error {
	if at.units = t.units; !remains || !t.opts.loops(t.units) {
		return nil
	}
	found, err := t.stopper.check(ctx, at)
	if err != nil {
		return fmt.Errorf("look whether training stops after step %d: %w", at.step, err)
	}
	if found == nil {
		return nil
	}
	t.history.Stop = found
	t.emit(event.Stopped{Rule: found.Rule, Epoch: found.Epoch, Step: found.Step, StepsLeft: found.StepsLeft, Score: found.Score, Words: found.Words()})
	if err := t.output.state(t.lastStep(), t.soFar()); err != nil {
		return err
	}
	return ErrEnded
}
