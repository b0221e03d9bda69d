package train

import (
	"cmp"
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

// race lets the racing gate decide on a candidate. What it read is kept in the
// store, whatever the verdict. If another model answered than the one that the
// incumbent was measured with, the incumbent is measured again and the race is
// run once more.
func (j *judge) race(ctx context.Context, prefix string, cand *incumbent, r rule) (gate.Verdict, error) {
	j.skills.put(cand)
	before := maps.Clone(j.skills.entry(&j.skills.current).served)
	res, err := j.raceOnce(ctx, prefix, cand, r)
	if err != nil {
		return gate.Verdict{}, err
	}
	drifted, err := j.drifted(ctx, prefix, driftCheck{cand: cand, before: before, readings: res.Readings, kept: res.Kept})
	if err == nil && drifted {
		res, err = j.raceOnce(ctx, prefix+"/drift/gate", cand, r)
	}
	if err != nil {
		return gate.Verdict{}, err
	}
	v := j.vetoed(res.Verdict, cand)
	c := j.skills.entry(cand)
	if v.Action.Accepted() && j.trusting() {
		if err := j.recheck(ctx, prefix, cand); err != nil {
			return gate.Verdict{}, err
		}
	}
	if v.Action.Accepted() {
		c.Accepted = true
		v.Action = gate.Accept
		if j.skills.store.best() == c || j.skills.folds > 0 {
			v.Action = gate.AcceptNewBest
		}
	}
	j.skills.note(c, prefix, v)
	j.skills.refresh(cand)
	j.skills.refresh(&j.skills.current)
	j.skills.refresh(&j.skills.best)
	return v, j.rollouts.healthy()
}

func (j *judge) raceOnce(ctx context.Context, prefix string, cand *incumbent, r rule) (gate.Result, error) {
	policy := j.opts.racing()
	policy.NonInferior = r == notWorse
	res, err := gate.RunOver(ctx, j.raceTrial(prefix, cand), j.judging, j.watch(prefix, j.opts.keeping(policy)), j.draw(prefix, cand, nil))
	if err != nil {
		return res, err
	}
	j.skills.add(cand, res.Readings)
	j.skills.drawn(cand, res.Kept)
	res.Verdict.Unmeasured = j.unmeasuredOf(res)
	return res, j.recordReadings(ctx, prefix, res)
}

// racing is the racing gate of this run.
func (o Options) racing() gate.Race {
	p := gate.Race{Risk: o.Risk, Confirm: gate.Confirm(o.Confirm)}
	if o.Few && p.Confirm == gate.ConfirmMeasured {
		p.Confirm = gate.ConfirmNone
	}
	return p
}

// draw returns the function that makes one draw of a trial. learn, if there is one, is
// told what was measured of the candidate.
func (j *judge) draw(prefix string, cand *incumbent, learn learner) gate.Measure {
	done := j.rollouts.counter("gate", j.judges())
	return func(ctx context.Context, item int, arm gate.Arm, sample int) (trajectory.Outcome, error) {
		s := cand.skill
		if arm == gate.Incumbent {
			s = j.skills.current.skill
		}
		out, err := j.rollouts.one(ctx, rollout.Place{Prefix: prefix + "/" + string(arm), Sample: sample}, j.selection[item], s)
		if err != nil || !out.Status.Measured() {
			return out, err
		}
		done()
		if arm == gate.Candidate && learn != nil {
			learn(item, out)
		}
		return out, nil
	}
}

// raceTrial is what is known before the race.
func (j *judge) raceTrial(prefix string, cand *incumbent) gate.Trial {
	c, inc := j.skills.entry(cand), j.skills.entry(&j.skills.current)
	trial := j.trial(cand)
	trial.Candidate, trial.Incumbent, trial.Best = j.skills.store.all(c), j.skills.store.all(inc), nil
	trial.PastScores = slices.Clone(c.sums)
	trial.Past = map[gate.Arm][]gate.Pooled{gate.Candidate: slices.Clone(c.Pooled), gate.Incumbent: slices.Clone(inc.Pooled)}
	trial.Passed = map[gate.Arm][]int{gate.Candidate: slices.Clone(c.passed), gate.Incumbent: slices.Clone(inc.passed)}
	trial.Next = j.nextOf(cand)
	if !j.skills.best.skill.Equal(j.skills.current.skill) {
		b := j.skills.entry(&j.skills.best)
		trial.Best, trial.Past[gate.BestSkill] = j.skills.store.all(b), slices.Clone(b.Pooled)
	}
	trial.Deterministic, trial.Quiet, trial.Seed = j.deterministic, j.stable, seedOf(j.opts.Seed, prefix)
	trial.Types, trial.Clusters = Strata(j.selection, j.opts.Cluster)
	return trial
}

// Strata returns the type and cluster of each task, nil where there are none. cluster
// names a field of the tasks. Copies of a task are of its cluster.
func Strata(tasks []task.Task, cluster string) (types, clusters []string) {
	types = make([]string, len(tasks))
	typed := false
	for i, tk := range tasks {
		types[i] = tk.Type
		typed = typed || tk.Type != ""
	}
	if !typed {
		types = nil
	}
	return types, unitNames(tasks, cluster)
}

// unitNames names what each task counts once with: its cluster, and those of its copies.
func unitNames(tasks []task.Task, cluster string) []string {
	names, clustered := make([]string, len(tasks)), false
	ofCopies, also := map[string]string{}, map[string]string{} // the cluster of copies; the one that a cluster is a part of
	top := func(name string) string {
		for also[name] != "" {
			name = also[name]
		}
		return name
	}
	for i, t := range tasks {
		names[i] = t.Cluster(cluster)
		if t.Kin == nil || t.Kin.Group == "" {
			continue
		}
		first, known := ofCopies[t.Kin.Group]
		switch {
		case !known:
			names[i] = cmp.Or(names[i], "\x00"+t.Kin.Group)
			ofCopies[t.Kin.Group] = names[i]
		case names[i] == "":
			names[i] = first
		case top(names[i]) != top(first):
			also[top(names[i])] = top(first)
		}
	}
	for i, name := range names {
		names[i] = top(name)
		clustered = clustered || name != ""
	}
	if !clustered {
		return nil
	}
	return names
}

// seedOf gives each place of a run an order of its own.
func seedOf(seed int64, place string) int64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d/%s", seed, place)
	return int64(h.Sum64())
}

// unmeasuredOf names every item that the decision lacks: those that the verdict
// leaves out and those of which a fresh sample failed to the end.
func (j *judge) unmeasuredOf(res gate.Result) []string {
	gone := map[string]bool{}
	for _, id := range res.Verdict.Unmeasured {
		gone[id] = true
	}
	for _, d := range slices.Concat(res.Readings, res.Kept) {
		if !d.Outcome.Status.Measured() {
			gone[j.skills.store.items[d.Item]] = true
		}
	}
	var out []string
	for _, id := range j.skills.store.items {
		if gone[id] {
			out = append(out, id)
		}
	}
	return out
}

// recordReadings records the verdict of a race that goes on without some
// readings: a resumed run that could make them must not decide otherwise.
func (j *judge) recordReadings(ctx context.Context, prefix string, res gate.Result) error {
	if len(res.Verdict.Unmeasured) == 0 {
		return nil
	}
	j.emit(event.Warning{Text: fmt.Sprintf("%s goes on without what could not be measured: %s", prefix, strings.Join(res.Verdict.Unmeasured, ", "))})
	return j.recordWithout(ctx, prefix, res)
}

// trusting reports whether survivors are not confirmed because answers are taken to be
// deterministic.
func (j *judge) trusting() bool {
	return j.deterministic && j.opts.Confirm == string(gate.ConfirmAuto) || (j.deterministic || j.stable) && j.opts.Confirm == string(gate.ConfirmMeasured)
}

// maxRechecked is how many items of an accepted skill are asked again while both
// arms are taken to be deterministic.
const maxRechecked = 4

// recheck asks a few items of an accepted skill again, as long as one answer of
// each is taken for the truth: the items that it solves, since only those can be
// solved by luck. An answer that changes ends that.
func (j *judge) recheck(ctx context.Context, prefix string, cand *incumbent) error {
	e, inc := j.skills.entry(cand), j.skills.entry(&j.skills.current)
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
	flips, err := j.askAgain(ctx, rollout.Place{Prefix: prefix + "/again", Sample: 1}, e, which)
	if err != nil || len(flips) == 0 {
		return err
	}
	why := "though none had before"
	if j.deterministic {
		why = "though sampling is deterministic"
	}
	j.deterministic, j.stable = false, false
	j.emit(event.Warning{Text: fmt.Sprintf(
		"asked again, %s answered otherwise %s: from here on survivors of the gate are confirmed on fresh samples", strings.Join(flips, ", "), why)})
	return nil
}

// askAgain evaluates some items of a skill once more and returns the ids of those
// whose answer or score changed.
func (j *judge) askAgain(ctx context.Context, place rollout.Place, e *entry, which []int) ([]string, error) {
	if len(which) == 0 {
		return nil, nil
	}
	slices.Sort(which)
	for _, i := range which {
		place.Sample = max(place.Sample, e.Next[i])
	}
	set := rolloutSet{place, pick(j.selection, which), e.skill}
	out, err := j.rollouts.batch(ctx, "asked again", set)
	if err != nil {
		return nil, err
	}
	gone, err := j.rollouts.giveUpMissing(ctx, set, out)
	if err != nil {
		return nil, err
	}
	if len(gone) > 0 {
		j.emit(event.Warning{Text: fmt.Sprintf("%s goes on without %v, which could not be measured", place.Prefix, idsOf(gone))})
	}
	var flips []string
	known := j.skills.store.all(e)
	for k, o := range out {
		first := known[which[k]]
		if o.Status.Measured() && first.Status.Measured() && (o.Answer != first.Answer || o.Hard != first.Hard || o.Soft != first.Soft) {
			flips = append(flips, o.ID)
		}
		j.skills.store.add(e, which[k], place.Sample, o)
	}
	return flips, nil
}
