package train

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// ModeRace is the gate that races candidates, confirms survivors on fresh
// samples and pools all that was ever measured of a skill.
const ModeRace = "race"

// race lets the racing gate decide on a candidate. What it read is kept in the
// store, whatever the verdict. If another model answered than the one that the
// incumbent was measured with, the incumbent is measured again and the race is
// run once more.
func (t *trainer) race(ctx context.Context, prefix string, cand *incumbent, r rule) (gate.Verdict, error) {
	t.put(cand)
	before := maps.Clone(t.entry(&t.current).served)
	res, err := t.raceOnce(ctx, prefix, cand, r)
	if err != nil {
		return gate.Verdict{}, err
	}
	drifted, err := t.drifted(ctx, prefix, driftCheck{cand: cand, before: before, readings: res.Readings})
	if err == nil && drifted {
		res, err = t.raceOnce(ctx, prefix+"/drift/gate", cand, r)
	}
	if err != nil {
		return gate.Verdict{}, err
	}
	v := res.Verdict
	c := t.entry(cand)
	if v.Action.Accepted() && t.trusting() {
		if err := t.recheck(ctx, prefix, cand); err != nil {
			return gate.Verdict{}, err
		}
	}
	if v.Action.Accepted() {
		c.Accepted = true
		v.Action = gate.Accept
		if t.store.best() == c || t.Data.InFolds() {
			v.Action = gate.AcceptNewBest
		}
	}
	t.judged(c, prefix, v)
	t.refresh(cand)
	t.refresh(&t.current)
	t.refresh(&t.best)
	return v, t.rollouts.healthy()
}

func (t *trainer) raceOnce(ctx context.Context, prefix string, cand *incumbent, r rule) (gate.Result, error) {
	policy := t.racing()
	policy.NonInferior = r == notWorse
	res, err := gate.RunOver(ctx, t.raceTrial(prefix, cand), t.judging, policy, t.draw(prefix, cand))
	if err != nil {
		return res, err
	}
	arms := map[gate.Arm]*entry{gate.Candidate: t.entry(cand), gate.Incumbent: t.entry(&t.current)}
	for _, d := range res.Readings {
		t.store.add(arms[d.Arm], d.Item, d.Sample, d.Outcome)
	}
	res.Verdict.Unmeasured = t.unmeasuredOf(res)
	return res, t.recordReadings(ctx, prefix, res)
}

// racing is the racing gate of this run.
func (o Options) racing() gate.Race {
	p := gate.Race{Risk: o.Risk, Confirm: gate.Confirm(o.Confirm)}
	if o.Few && p.Confirm == gate.ConfirmMeasured {
		p.Confirm = gate.ConfirmNone
	}
	return p
}

// draw returns the function that makes one draw of a trial.
func (t *trainer) draw(prefix string, cand *incumbent) gate.Measure {
	done := t.rollouts.counter("gate", t.judges())
	return func(ctx context.Context, item int, arm gate.Arm, sample int) (out trajectory.Outcome, err error) {
		s := cand.skill
		if arm == gate.Incumbent {
			s = t.current.skill
		}
		out, err = t.rollouts.one(ctx, rollout.Place{Prefix: prefix + "/" + string(arm), Sample: sample}, t.Data.Selection[item], s)
		if err == nil && out.Status.Measured() {
			done()
		}
		return out, err
	}
}

// raceTrial is what is known before the race.
func (t *trainer) raceTrial(prefix string, cand *incumbent) gate.Trial {
	c, inc := t.entry(cand), t.entry(&t.current)
	trial := t.trial(cand)
	trial.Candidate, trial.Incumbent, trial.Best = c.outcomes, inc.outcomes, nil
	trial.PastScores = slices.Clone(c.sums)
	trial.Past = map[gate.Arm][]gate.Pooled{gate.Candidate: slices.Clone(c.Pooled), gate.Incumbent: slices.Clone(inc.Pooled)}
	trial.Next = map[gate.Arm][]int{gate.Candidate: slices.Clone(c.Next), gate.Incumbent: slices.Clone(inc.Next)}
	if t.best.skill.Text() != t.current.skill.Text() {
		b := t.entry(&t.best)
		trial.Best, trial.Past[gate.BestSkill] = b.outcomes, slices.Clone(b.Pooled)
	}
	trial.Alike, trial.Quiet, trial.Seed = t.alike, t.quiet, seedOf(t.Seed, prefix)
	trial.Types, trial.Clusters = t.strata()
	return trial
}

// strata returns the type and cluster of each selection item, nil where there are
// none.
func (t *trainer) strata() (types, clusters []string) {
	return Strata(t.Data.Selection, t.Cluster)
}

// Strata returns the type and cluster of each task, nil where there are none. cluster
// names a field of the tasks.
func Strata(tasks []task.Task, cluster string) (types, clusters []string) {
	types, clusters = make([]string, len(tasks)), make([]string, len(tasks))
	typed, clustered := false, false
	for i, tk := range tasks {
		types[i] = tk.Type
		typed = typed || tk.Type != ""
		clusters[i] = tk.Cluster(cluster)
		clustered = clustered || clusters[i] != ""
	}
	if !typed {
		types = nil
	}
	if !clustered {
		clusters = nil
	}
	return types, clusters
}

// seedOf gives each place of a run an order of its own.
func seedOf(seed int64, place string) int64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d/%s", seed, place)
	return int64(h.Sum64())
}

// entry is what the store knows of a skill.
func (t *trainer) entry(in *incumbent) *entry { return t.store.of(in, t.bonus(in)) }

// bonus is what a skill's density adds to its gate score.
func (t *trainer) bonus(in *incumbent) float64 {
	return t.Projection.DensityWeight * t.density(in.skill)
}

// refresh brings a skill up to what the store knows of it now. What the store learns
// later does not change it: its outcomes are written beside what the run does next.
func (t *trainer) refresh(in *incumbent) {
	e := t.entry(in)
	if e.evaluations() == 0 {
		return
	}
	in.outcomes, in.score = slices.Clone(e.outcomes), e.mean()
}

// choose makes the best of the accepted candidates the best skill.
func (t *trainer) choose() {
	if t.Data.InFolds() {
		t.best = t.current
	} else if e := t.store.best(); e != nil && e.Hash != t.best.skill.Hash() {
		t.best = incumbent{skill: e.skill, step: e.Step, origin: e.Origin}
	}
	t.refresh(&t.best)
}

// promoteRaced puts a final skill that no gate has seen to it, against the best.
func (t *trainer) promoteRaced(ctx context.Context, final *FinalRecord) error {
	if t.known(t.current) && t.entry(&t.current).Accepted {
		return nil
	}
	t.Events(event.StageStarted{Epoch: t.Epochs, Step: t.lastStep(), Stage: "final skill", Total: len(t.Data.Selection)})
	last := t.current
	t.current = t.best
	v, err := t.race(ctx, "final/gate", &last, better)
	t.current = last
	if err != nil {
		return err
	}
	final.Unmeasured = v.Unmeasured
	if v.Action.Accepted() {
		t.choose()
		final.Promoted = t.best.skill.Text() == last.skill.Text()
	}
	return nil
}

// put notes with a candidate where it comes from. What was never accepted before
// comes from where it was proposed last.
func (t *trainer) put(cand *incumbent) {
	if e := t.entry(cand); !e.Accepted {
		e.Origin, e.Step, e.Parent, e.Edits = cand.origin, cand.step, t.current.skill.Hash(), cand.edits
	}
}

// remember keeps what a gate without a race has read.
func (t *trainer) remember(prefix string, cand *incumbent, res gate.Result) {
	t.put(cand)
	arms := map[gate.Arm]*entry{gate.Candidate: t.entry(cand), gate.Incumbent: t.entry(&t.current)}
	for _, d := range res.Readings {
		t.store.add(arms[d.Arm], d.Item, d.Sample, d.Outcome)
	}
	t.judged(arms[gate.Candidate], prefix, res.Verdict)
}

// bestArm sums up the selection scores of the best skill: those that nothing was
// decided by, if there are any.
func (t *trainer) bestArm() Arm {
	if t.fresh != nil {
		return t.arm(t.fresh)
	}
	if t.Gate != ModeRace {
		return t.arm(t.best.outcomes)
	}
	return t.arm(t.entry(&t.best).means())
}

// judged notes a decision with its candidate.
func (t *trainer) judged(c *entry, prefix string, v gate.Verdict) {
	c.Judged = append(c.Judged, Judgement{
		At: prefix, Against: t.current.skill.Hash(), Action: string(v.Action), Reason: v.Reason, Difference: v.Difference, SE: v.SE, Phase: string(v.Phase), Draws: v.Draws,
	})
}

// unmeasuredOf names every item that the decision lacks: those that the verdict
// leaves out and those of which a fresh sample failed to the end.
func (t *trainer) unmeasuredOf(res gate.Result) []string {
	gone := map[string]bool{}
	for _, id := range res.Verdict.Unmeasured {
		gone[id] = true
	}
	for _, d := range res.Readings {
		if !d.Outcome.Status.Measured() {
			gone[t.store.items[d.Item]] = true
		}
	}
	var out []string
	for _, id := range t.store.items {
		if gone[id] {
			out = append(out, id)
		}
	}
	return out
}

// recordReadings records the verdict of a race that goes on without some
// readings: a resumed run that could make them must not decide otherwise.
func (t *trainer) recordReadings(ctx context.Context, prefix string, res gate.Result) error {
	if len(res.Verdict.Unmeasured) == 0 {
		return nil
	}
	t.Events(event.Warning{Text: fmt.Sprintf("%s goes on without what could not be measured: %s", prefix, strings.Join(res.Verdict.Unmeasured, ", "))})
	return t.recordWithout(ctx, prefix, res)
}

// trusting reports whether survivors are not confirmed because answers are taken to be
// alike every time.
func (t *trainer) trusting() bool {
	return t.alike && t.Confirm == string(gate.ConfirmAuto) || (t.alike || t.quiet) && t.Confirm == string(gate.ConfirmMeasured)
}

// maxRechecked is how many items of an accepted skill are asked again while both
// arms are taken to answer alike.
const maxRechecked = 4

// recheck asks a few items of an accepted skill again, as long as one answer of
// each is taken for the truth: the items that it solves, since only those can be
// solved by luck. An answer that changes ends that.
func (t *trainer) recheck(ctx context.Context, prefix string, cand *incumbent) error {
	e, inc := t.entry(cand), t.entry(&t.current)
	var gained, kept []int
	for i, p := range e.Pooled {
		switch {
		case p.N == 0 || p.Sum == 0:
		case inc.Pooled[i].N > 0 && p.Mean() > inc.Pooled[i].Mean():
			gained = append(gained, i)
		default:
			kept = append(kept, i)
		}
	}
	which := append(gained, kept...)
	which = which[:min(len(which), maxRechecked)]
	flips, err := t.askAgain(ctx, rollout.Place{Prefix: prefix + "/again", Sample: 1}, e, which)
	if err != nil || len(flips) == 0 {
		return err
	}
	why := "though none had before"
	if t.alike {
		why = "though sampling is deterministic"
	}
	t.alike, t.quiet = false, false
	t.Events(event.Warning{Text: fmt.Sprintf(
		"asked again, %s answered otherwise %s: from here on survivors of the gate are confirmed on fresh samples", strings.Join(flips, ", "), why)})
	return nil
}

// askAgain evaluates some items of a skill once more and returns the ids of those
// whose answer or score changed.
func (t *trainer) askAgain(ctx context.Context, place rollout.Place, e *entry, which []int) ([]string, error) {
	if len(which) == 0 {
		return nil, nil
	}
	slices.Sort(which)
	tasks := pick(t.Data.Selection, which)
	for _, i := range which {
		place.Sample = max(place.Sample, e.Next[i])
	}
	out, err := t.rollouts.batch(ctx, "asked again", rolloutSet{place, tasks, e.skill})
	if err != nil {
		return nil, err
	}
	if missing := missingOf(out); len(missing) > 0 {
		gone := pick(tasks, missing)
		if err := t.rollouts.giveUp(ctx, place.Prefix+"/without", place, gone); err != nil {
			return nil, err
		}
		t.Events(event.Warning{Text: fmt.Sprintf("%s goes on without %v, which could not be measured", place.Prefix, idsOf(gone))})
	}
	var flips []string
	for k, o := range out {
		first := e.outcomes[which[k]]
		if o.Status.Measured() && first.Status.Measured() && (o.Answer != first.Answer || o.Hard != first.Hard || o.Soft != first.Soft) {
			flips = append(flips, o.ID)
		}
		t.store.add(e, which[k], place.Sample, o)
	}
	return flips, nil
}
