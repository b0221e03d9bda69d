package train

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// rule says what a candidate has to show in strict mode.
type rule int

const (
	better   rule = iota // more than the incumbent
	notWorse             // as much as the incumbent: text that should do no harm
)

// learner learns of an outcome of a candidate on a selection task.
type learner func(item int, o trajectory.Outcome)

// judge lets the gate decide on candidates. It measures what the gate asks for, keeps it
// with the skills, and sees to it that what is compared was answered by one model. It
// decides nothing about which skill is the current one.
type judge struct {
	opts      Options
	selection []task.Task
	skills    *skills
	rollouts  *rollouts
	emit      event.Sink
	unwatched bool // no one hears of events
	atOnce    int
	judging   []int // selection tasks that it judges by now; nil: all
	drifts    []result.Drift

	deterministic bool // one evaluation is taken for the truth
	changed       bool // of those asked for the noise an answer has changed
	unseen        bool // the noise was to be measured, and no skill could show it yet

	// foresee returns the learner of what is measured of a candidate; it may be nil.
	foresee func(ctx context.Context, trial gate.Trial, cand *incumbent, r rule) learner
}

func (j *judge) policy(r rule) (gate.Policy, error) {
	if j.opts.Gate == gate.ModeStrict {
		return j.opts.wrapPolicy(gate.Strict{OrEqual: r == notWorse}), nil
	}
	return gate.ForMode(j.opts.Gate)
}

// wrapPolicy holds a policy to what the current skill wins, if that is asked for.
func (o Options) wrapPolicy(p gate.Policy) gate.Policy {
	if o.Keep {
		return gate.Keep{Policy: p}
	}
	return p
}

// compare lets the gate decide on a candidate. Afterwards the candidate and the
// incumbent hold what was measured of them.
func (j *judge) compare(ctx context.Context, prefix string, cand *incumbent, r rule) (gate.Verdict, error) {
	j.skills.put(cand)
	before := maps.Clone(j.skills.entry(&j.skills.current).served)
	res, err := j.decideOnce(ctx, prefix, cand, r)
	if err != nil {
		return gate.Verdict{}, err
	}
	if j.opts.Gate == gate.ModeStrict {
		drifted, err := j.checkDrift(ctx, prefix, driftCheck{cand: cand, before: before, readings: res.Readings, kept: res.Kept})
		if err == nil && drifted {
			res, err = j.decideOnce(ctx, prefix+"/drift/gate", cand, r)
		}
		if err != nil {
			return gate.Verdict{}, err
		}
		res.Verdict = j.checkLoads(res.Verdict, cand)
	}
	j.skills.note(j.skills.entry(cand), prefix, res.Verdict)
	return res.Verdict, j.rollouts.healthy()
}

// decideOnce lets the gate decide on a candidate according to what is known, and according to what it asks for.
func (j *judge) decideOnce(ctx context.Context, prefix string, cand *incumbent, r rule) (gate.Result, error) {
	policy, err := j.policy(r)
	if err != nil {
		return gate.Result{}, err
	}
	trial := j.trial(cand)
	res, err := gate.RunOver(ctx, trial, j.judging, j.watch(prefix, policy), j.draw(prefix, cand, j.foresee(ctx, trial, cand, r)))
	if err != nil {
		return res, err
	}
	if j.opts.Gate != gate.ModeOff {
		cand.outcomes = res.Candidate
		if j.skills.isKnown(*cand) {
			cand.score = res.Verdict.Candidate
		}
	}
	if j.opts.Gate == gate.ModeStrict {
		j.skills.measuredWith(res.Incumbent)
	}
	j.skills.add(cand, res.Readings)
	j.skills.noteDraws(cand, res.Kept)
	return res, j.recordWithout(ctx, prefix, res)
}

func (j *judge) trial(cand *incumbent) gate.Trial {
	p, current, best := j.opts.Projection, j.skills.current, j.skills.best
	t := gate.Trial{
		Items: taskIDs(j.selection), Candidate: cand.outcomes, Incumbent: current.outcomes, Best: best.outcomes, Projection: p, AtOnce: j.atOnce,
		Density:       gate.Density{Candidate: skillDensity(p, cand.skill), Incumbent: skillDensity(p, current.skill), Best: skillDensity(p, best.skill)},
		Deterministic: j.deterministic,
	}
	_, t.Clusters = Strata(j.selection, j.opts.Cluster)
	if j.opts.Keep { // what is asked afresh was never asked before
		t.Next = j.nextSamples(cand)
	}
	return t
}

// nextSamples returns the numbers of the next fresh samples of both arms.
func (j *judge) nextSamples(cand *incumbent) map[gate.Arm][]int {
	c, inc := j.skills.entry(cand), j.skills.entry(&j.skills.current)
	return map[gate.Arm][]int{gate.Candidate: slices.Clone(c.Next), gate.Incumbent: slices.Clone(inc.Next)}
}

// recordWithout records, with the decision, the items that are missing from it.
// To try again, or to leave the incumbent in place, is such a decision too: a
// resumed run that could measure them must not decide otherwise than the steps
// which followed.
func (j *judge) recordWithout(ctx context.Context, prefix string, res gate.Result) error {
	if len(res.Verdict.Unmeasured) == 0 {
		return nil
	}
	var keys []string
	for _, r := range slices.Concat(res.Readings, res.Kept) {
		if !r.Outcome.Status.Measured() {
			place := rollout.Place{Prefix: prefix + "/" + string(r.Arm), Sample: r.Sample}
			keys = append(keys, place.Key(j.selection[r.Item]))
		}
	}
	decision, err := json.Marshal(res.Verdict)
	if err != nil {
		return fmt.Errorf("encode verdict: %w", err)
	}
	return j.rollouts.record.Unmeasured(ctx, prefix+"/without", decision, keys)
}

// measure scores a skill on the whole selection split, and returns the items that could
// not be measured.
func (j *judge) measure(ctx context.Context, place rollout.Place, in *incumbent) (without []string, err error) {
	set := rolloutSet{place, j.selection, in.skill}
	out, err := j.rollouts.batch(ctx, "selection", set)
	if err != nil {
		return nil, err
	}
	if missing := findMissing(out); len(missing) > 0 && !gate.Enough(len(out), len(missing)) {
		return nil, tooFewMeasured(place.Prefix, len(out), len(missing), out[missing[0]].FailReason)
	}
	gone, err := j.rollouts.giveUpMissing(ctx, set, out)
	if err != nil {
		return nil, err
	}
	if len(gone) > 0 {
		without = taskIDs(gone)
		j.emit(event.Warning{Text: fmt.Sprintf("%s continues without %s that could not be measured: %v", place.Prefix, wording.Plural(len(without), "item", "items"), without)})
	}
	in.outcomes, in.score = out, gateScore(j.opts.Projection, in.skill, out)
	return without, nil
}

// draw returns the function that makes one draw of a trial. learn, if there is one, is
// given what was measured of the candidate.
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

// deriveSeed returns a seed that gives each place of a run an order of its own.
func deriveSeed(seed int64, place string) int64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d/%s", seed, place)
	return int64(h.Sum64())
}

// judges returns how many tasks the gate judges by now.
func (j *judge) judges() int {
	if j.judging == nil {
		return len(j.selection)
	}
	return len(j.judging)
}
