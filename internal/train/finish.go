package train

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/plural"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/together"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// BaselineFile is the projection of a run with the outcomes of the seed skill. Where it
// stands they have been looked at.
const BaselineFile = "steps/step_0000/selection.json"

// baseline scores the seed skill on the selection split: step 0.
func (t *trainer) baseline(ctx context.Context) error {
	seed := incumbent{skill: t.Skill, origin: "seed"}
	var without []string
	if t.Gate != "off" {
		t.Events(event.StageStarted{Stage: "baseline", Total: len(t.Data.Selection)})
		t.prefetch.start(ctx, t.Skill)
		var err error
		if without, err = t.judge.measure(ctx, rollout.Place{Prefix: "seed/selection"}, &seed); err != nil {
			return err
		}
		if t.Look != nil {
			if err := t.Look(seed.outcomes); err != nil {
				return err
			}
		}
		arm := Summarise(seed.outcomes)
		t.seedArm, t.partial = &arm, partial(seed.outcomes)
		t.skills.store.addAll(t.skills.entry(&seed), 0, seed.outcomes)
	}
	t.skills.entry(&seed).Accepted = true
	if t.Gate == ModeRace && (t.Twice == nil || *t.Twice > 0) {
		var err error
		if t.history.Noise, err = t.judge.again(ctx, &seed); err != nil {
			return err
		}
	}
	t.skills.current, t.skills.best = seed, seed
	t.epochStart = seed.skill
	r := StepRecord{
		Action: ActionBaseline, Unmeasured: without, Metric: string(t.Projection.Metric), Current: seed.score, Best: seed.score,
		CurrentOrigin: seed.origin, BestOrigin: seed.origin, SkillHash: seed.skill.Hash(), SkillLen: len([]rune(seed.skill.Text())),
	}
	if t.seedArm != nil {
		r.SelectionHard, r.SelectionSoft, r.SelectionN = &t.seedArm.Hard, &t.seedArm.Soft, t.seedArm.N
	}
	t.history.Steps = append(t.history.Steps, r)
	t.Events(event.StepDone{Action: r.Action, Current: r.Current, Best: r.Best})
	if seed.outcomes != nil {
		if err := t.Files.WriteJSON(BaselineFile, trajectory.Outcomes(seed.outcomes)); err != nil {
			return err
		}
	}
	return t.writeSkill(0)
}

// finish promotes the final skill if it is better than best, then opens the
// test split.
func (t *trainer) finish(ctx context.Context) error {
	final := &FinalRecord{EndedEarly: t.parts < t.Parts(t.Data.Drawable())}
	if err := t.promote(ctx, final); err != nil {
		return err
	}
	if err := t.reselect(ctx, final); err != nil {
		return err
	}
	if err := t.freshPass(ctx); err != nil {
		return err
	}
	if err := t.wholePool(ctx); err != nil {
		return err
	}
	final.FinalScore, final.BestScore, final.BestStep = t.skills.current.score, t.skills.best.score, t.skills.best.step
	if t.Gate == ModeRace || t.fresh != nil {
		final.Reported = t.skills.reported(t.fresh)
	}
	t.history.Final = final
	if t.Test && len(t.Data.Test) > 0 {
		if err := t.test(ctx, final); err != nil {
			return err
		}
	}
	return t.writeFinal()
}

func (t *trainer) promote(ctx context.Context, final *FinalRecord) error {
	if t.Gate == "off" {
		t.skills.best = t.skills.current
		return nil
	}
	if t.skills.current.skill.Text() == t.skills.best.skill.Text() {
		return nil
	}
	if t.Gate == ModeRace {
		return t.promoteRaced(ctx, final)
	}
	if !t.skills.known(t.skills.current) {
		t.Events(event.StageStarted{Epoch: t.Epochs, Step: t.lastStep(), Stage: "final skill", Total: len(t.Data.Selection)})
		var err error
		if final.Unmeasured, err = t.judge.measure(ctx, rollout.Place{Prefix: "final/selection"}, &t.skills.current); err != nil {
			return err
		}
	}
	if t.skills.beats(t.skills.current, t.skills.best) {
		t.skills.best, final.Promoted = t.skills.current, true
	}
	return nil
}

// promoteRaced puts a final skill that no gate has seen to it, against the best.
func (t *trainer) promoteRaced(ctx context.Context, final *FinalRecord) error {
	if t.skills.known(t.skills.current) && t.skills.entry(&t.skills.current).Accepted {
		return nil
	}
	t.Events(event.StageStarted{Epoch: t.Epochs, Step: t.lastStep(), Stage: "final skill", Total: len(t.Data.Selection)})
	last := t.skills.current
	t.skills.current = t.skills.best
	v, err := t.judge.race(ctx, "final/gate", &last, better)
	t.skills.current = last
	if err != nil {
		return err
	}
	final.Unmeasured = v.Unmeasured
	if v.Action.Accepted() {
		t.skills.choose()
		final.Promoted = t.skills.best.skill.Text() == last.skill.Text()
	}
	return nil
}

// test scores the arms on the test split, equal arms once. It runs after the
// last decision and nothing is decided by it.
func (t *trainer) test(ctx context.Context, final *FinalRecord) error {
	arms := []testArm{{"seed", t.Skill, t.Skill.Text()}, {"best", t.skills.best.skill, t.skills.best.skill.Text()}, {"final", t.skills.current.skill, t.skills.current.skill.Text()}}
	if t.NoSkill {
		arms = append(arms, testArm{name: "no_skill", skill: skill.New(""), text: noSkill})
	}
	t.Events(event.StageStarted{Epoch: t.Epochs, Step: t.lastStep(), Stage: "test", Total: len(t.Data.Test)})
	opened, err := t.open(ctx, arms)
	if err != nil {
		return err
	}
	if opened.tell(t, final); opened.refused {
		return nil
	}
	if err := t.claim(ctx, opened); err != nil {
		return err
	}
	if err := t.settle(ctx, opened); err != nil {
		return err
	}
	t.readBefore = opened.before
	outcomes := make([][]trajectory.Outcome, len(arms))
	g, gctx := together.WithContext(ctx)
	for i, a := range arms {
		if sameAs(arms, i) < i {
			continue
		}
		g.Go(func() (err error) {
			outcomes[i], err = t.rollouts.all(gctx, rolloutSet{opened.place(a), t.Data.Test, a.skill}, t.rollouts.counter("test "+a.name, len(t.Data.Test)))
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if err := t.rollouts.healthy(); err != nil {
		return err
	}
	if err := t.coverTest(ctx, opened, arms, outcomes); err != nil {
		return err
	}
	final.Test = map[string]*Arm{}
	for i, a := range arms {
		arm := Summarise(outcomes[sameAs(arms, i)])
		final.Test[a.name] = &arm
		t.Events(event.TestDone{Arm: a.name, Hard: arm.Hard, Soft: arm.Soft, N: arm.N})
	}
	if t.Alpha > 0 {
		t.certified(final, opened, outcomes[0], outcomes[sameAs(arms, 1)])
	}
	return t.Files.WriteJSON("test_outcomes.json", namedOutcomes(arms, outcomes))
}

// noSkill marks the arm without a skill: it is not the arm of an empty one.
const noSkill = "\x00no skill"

type testArm struct {
	name  string
	skill skill.Skill
	text  string
}

// sameAs returns the first arm with the same text.
func sameAs(arms []testArm, i int) int {
	return slices.IndexFunc(arms, func(a testArm) bool { return a.text == arms[i].text })
}

// testPlace is where the rollouts of an arm stand when the test split is opened
// for the nth time.
func testPlace(n int, arm string) rollout.Place {
	if n > 1 {
		return rollout.Place{Prefix: fmt.Sprintf("final/test/open%d/%s", n, arm)}
	}
	return rollout.Place{Prefix: "final/test/" + arm}
}

// coverTest sees to it that all arms are compared on the same items: one that is
// missing in any arm is left out of all, recorded and named. With too many
// missing there is no comparison, and nothing is reported.
func (t *trainer) coverTest(ctx context.Context, opened *seal, arms []testArm, outcomes [][]trajectory.Outcome) error {
	missing := map[int]string{}
	for i := range arms {
		for _, j := range missingOf(outcomes[i]) {
			missing[j] = outcomes[i][j].FailReason
		}
	}
	if len(missing) == 0 {
		return nil
	}
	out := slices.Sorted(maps.Keys(missing))
	if !gate.Enough(len(t.Data.Test), len(missing)) {
		return tooFewMeasured("final/test", len(t.Data.Test), len(missing), missing[out[0]])
	}
	for i, a := range arms {
		if outcomes[i] == nil {
			continue
		}
		if own := missingOf(outcomes[i]); len(own) > 0 {
			place := opened.place(a)
			if err := t.rollouts.giveUp(ctx, place.Prefix+"/without", place, pick(t.Data.Test, own)); err != nil {
				return err
			}
		}
		for _, j := range out {
			o := &outcomes[i][j]
			*o = trajectory.Outcome{ID: t.Data.Test[j].ID, Type: t.Data.Test[j].Type, Status: score.Unmeasured, FailReason: missing[j]}
		}
	}
	t.Events(event.Warning{Text: fmt.Sprintf("the test goes without %s that could not be measured: %v", plural.Of(len(out), "item", "items"), idsOf(pick(t.Data.Test, out)))})
	return nil
}

func idsOf(tasks []task.Task) []string {
	ids := make([]string, len(tasks))
	for i, tk := range tasks {
		ids[i] = tk.ID
	}
	return ids
}

func namedOutcomes(arms []testArm, outcomes [][]trajectory.Outcome) trajectory.Named {
	out := trajectory.Named{}
	for i, a := range arms {
		if outcomes[i] != nil {
			out[a.name] = outcomes[i]
		}
	}
	return out
}

// Summarise returns the mean scores of the measured outcomes with their
// interval, whole and by task type.
func Summarise(out []trajectory.Outcome) Arm {
	arm := summary(out)
	types := map[string][]trajectory.Outcome{}
	for _, o := range out {
		if o.Type != "" {
			types[o.Type] = append(types[o.Type], o)
		}
	}
	if len(types) > 1 {
		arm.ByType = map[string]Arm{}
		for name, list := range types {
			arm.ByType[name] = summary(list)
		}
	}
	return arm
}

func summary(out []trajectory.Outcome) Arm {
	p, n := mean(out)
	arm := Arm{Hard: p.Hard, Soft: p.Soft, N: n}
	if n > 0 {
		ci := score.Wilson(p.Hard, n, 1.959963984540054)
		arm.Low, arm.High = ci.Low, ci.High
	}
	for _, i := range missingOf(out) {
		arm.Unmeasured = append(arm.Unmeasured, out[i].ID)
	}
	return arm
}

// mean returns the mean of the measured outcomes and their number.
func mean(out []trajectory.Outcome) (score.Pair, int) {
	pairs := make([]score.Pair, 0, len(out))
	for _, o := range out {
		if o.Status.Measured() {
			pairs = append(pairs, score.Pair{Hard: o.Hard, Soft: o.Soft})
		}
	}
	return score.Mean(pairs), len(pairs)
}

// missingOf returns the indices of outcomes without a score.
func missingOf(out []trajectory.Outcome) []int {
	var missing []int
	for i, o := range out {
		if !o.Status.Measured() {
			missing = append(missing, i)
		}
	}
	return missing
}

// pick returns the elements at the given indices.
func pick[T any](list []T, at []int) []T {
	out := make([]T, len(at))
	for i, j := range at {
		out[i] = list[j]
	}
	return out
}
