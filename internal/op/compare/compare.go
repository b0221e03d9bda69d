// Package compare is the operation that finds out whether one skill is better than another.
//
// It knows sessions, two skills and the rule that decides. It knows nothing of training.
package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/passes"
	"github.com/seed-f4525e22/skillopt/internal/session"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

const (
	defaultPasses = 10
	defaultMargin = 0.05
	compareLevel  = 0.95
)

// Run finds out whether skill b is better than skill a. Both carry out the same tasks of a
// split with the same seeds, in turns, until the difference is certain, or certainly no
// larger than a margin, or passes or limits are used up. An error that says that a
// budget is used up comes with what was measured before.
func Run(ctx context.Context, cfg config.Config, a, b skill.Skill, o session.Options) (*result.Comparison, error) {
	o.Skill = &a
	s, err := session.Prepare(ctx, cfg, o, model.Target)
	if err != nil {
		return nil, err
	}
	s.Measured = true // skills of runs are compared
	c := &comparison{session: s, skills: [2]skill.Skill{a, b}}
	split := cmp.Or(s.Split, string(task.Selection))
	err = s.Do(ctx, session.Op{
		Kind: result.Compare, Suffix: "-compare", About: about(split, s.TargetSkill(b), o),
		Check: func() error { return c.settle(split) },
		Ask:   c.plan,
		Begin: func(context.Context) error { return c.writeSkills() },
		Work:  c.work,
	})
	return c.out, err
}

// about returns what is compared with the skill of the session, for the identity.
func about(split string, b skill.Skill, o session.Options) map[string]string {
	out := session.FileEntries(session.CompareWith, b)
	out["compare"], out[session.CompareWith] = split, session.Digest([]byte(b.Text()))
	if o.Level != 0 { // how much is read must not follow from what was read
		out["compare.once"] = fmt.Sprintf("level %v, passes %d", o.Level, max(1, o.Passes))
	}
	return out
}

// skill returns the skill that carries out tasks for an arm.
func (c *comparison) skill(arm int) skill.Skill { return c.session.TargetSkill(c.skills[arm]) }

// settle checks the rules and finds the tasks.
func (c *comparison) settle(split string) error {
	s := c.session
	c.split, c.most, c.repeats = split, s.Passes, s.Models.AnswersRepeat()
	c.rule = passes.Rule{Level: compareLevel, Margin: s.Margin}
	if s.Margin == 0 {
		c.rule.Margin = defaultMargin
	}
	if c.level = s.Level; c.level != 0 && !(c.level > 0 && c.level < 1) {
		return fault.Input(fmt.Errorf("a level of %v, allowed: more than 0 and less than 1, such as 0.05", c.level))
	}
	switch {
	case c.most == 0 && c.isSingleLook():
		c.most = 1
	case c.most == 0:
		c.most = defaultPasses
	}
	if err := c.rule.Validate(); err != nil {
		return fault.Input(err)
	}
	if c.most < 1 {
		return fault.Input(fmt.Errorf("%d passes, allowed: 1 or more", c.most))
	}
	if c.repeats {
		c.most = 1
	}
	if err := s.RequireScored(); err != nil {
		return err
	}
	splits, err := session.Splits(c.split)
	if err != nil {
		return err
	}
	if len(splits) == 1 {
		if err := s.Set.Require(splits...); err != nil {
			return err
		}
	}
	for _, split := range splits {
		c.tasks = append(c.tasks, s.Set.Split(split)...)
	}
	c.splits = splits
	c.units = groupTasks(c.tasks, s.Config.Gate.Group, s.Config.Train.Seed)
	c.lost = make([]bool, len(c.tasks))
	return nil
}

// work compares in an open run and sums it up.
func (c *comparison) work(ctx context.Context) (result.Status, error) {
	s := c.session
	c.announce()
	before, err := s.ReadTest(ctx, c.splits)
	for i, sk := range c.skills {
		session.WarnOfExamples(s, sk, c.tasks)
		if err == nil {
			c.trained[i], err = s.TrainedOn(ctx, sk, c.tasks)
		}
	}
	if err == nil {
		err = c.measure(ctx)
	}
	err = s.Cause(ctx, err)
	if err != nil && fault.Of(err) != fault.OverBudget {
		return session.RunStatus(err), err
	}
	out, rerr := c.result()
	if rerr != nil {
		return "", rerr
	}
	out.TestReadBefore = before
	out.Usage, _ = s.Account()
	if werr := c.write(out); werr != nil {
		return session.RunStatus(werr), errors.Join(err, werr)
	}
	c.out = out
	if err == nil && out.Verdict == result.VerdictNotEnoughData && out.Withheld == "" && !c.isSingleLook() {
		return result.Undecided, nil // more passes can continue it
	}
	return session.RunStatus(err), err
}

// announce reports what the user should know of the two skills before anything is
// spent.
func (c *comparison) announce() {
	c.session.EmitWarnings()
	a, b := c.skill(0), c.skill(1)
	if a.Digest() == b.Digest() {
		c.session.Emit(event.Warning{Text: "A and B are the same document: what differs is chance"})
	}
	if n, m := len(a.Others()), len(b.Others()); (n == 0) != (m == 0) {
		c.session.Emit(event.Warning{Text: fmt.Sprintf("A has %s next to %s, B has %d: what is compared are the files too", wording.Plural(n, "file", "files"), skill.Main, m)})
	}
}

func (c *comparison) writeSkills() error {
	for i, name := range []string{"skill_a.md", "skill_b.md"} {
		if err := c.session.Run.WriteFile(name, []byte(c.skills[i].Text())); err != nil {
			return err
		}
	}
	return nil
}

// toOutcomes returns what files hold of passes.
func toOutcomes(passes [][]trajectory.Outcome) []trajectory.Outcomes {
	out := make([]trajectory.Outcomes, len(passes))
	for i, pass := range passes {
		out[i] = pass
	}
	return out
}

// write leaves the outcomes and the result.
func (c *comparison) write(out *result.Comparison) error {
	r, kept := c.session.Run, *out
	kept.RunDir = "." // a run directory can be moved
	if err := r.WriteJSON("outcomes.json", map[string][]trajectory.Outcomes{"a": toOutcomes(c.outcomes[0]), "b": toOutcomes(c.outcomes[1])}); err != nil {
		return err
	}
	return r.WriteJSON("comparison.json", kept)
}

// result sums up the looks that are complete.
func (c *comparison) result() (*result.Comparison, error) {
	differences := c.differences()
	j, err := c.rule.Judge(differences)
	if err != nil {
		return nil, err
	}
	s := c.session
	out := &result.Comparison{
		RunDir: c.session.Run.Dir, Simulated: s.Simulated(), Exploratory: s.CountDrafts(c.splits) > 0, Limit: s.Config.Tasks.Limit,
		Verdict: string(j.Verdict), About: result.OverTasksLikeThese, Metric: s.Config.Gate.Metric,
		Difference: j.Mean, Low: j.Low, High: j.High, Level: c.rule.Level, Margin: c.rule.Margin,
		A: result.ComparedSkill{Skill: c.skill(0).Digest(), TrainedOn: c.trained[0]}, B: result.ComparedSkill{Skill: c.skill(1).Digest(), TrainedOn: c.trained[1]},
		Split: c.split, Tasks: len(c.tasks), Passes: len(c.outcomes[0]), MaxPasses: c.most,
		Pairs: len(differences), Wins: j.Wins, Losses: j.Losses, Ties: j.Ties, Deterministic: c.repeats,
		ByTask: c.byTask(), Unmeasured: c.listLostTasks(),
		Effort: train.CompareEffort(slices.Concat(c.collectOutcomes(0)...), slices.Concat(c.collectOutcomes(1)...), s.Config.Train.Seed),
	}
	if out.Passes > 1 {
		out.About = result.OverTheseTasks
	}
	if c.isSingleLook() {
		if err := c.lookOnce(out); err != nil {
			return nil, err
		}
	}
	for i, arm := range []*result.ComparedSkill{&out.A, &out.B} {
		if arm.Score, _, err = session.PooledScore(c.collectOutcomes(i)); err != nil {
			return nil, err
		}
	}
	if j.Verdict == passes.NotEnoughData && !c.isSingleLook() {
		out.Needs, err = c.needs(differences)
	}
	c.withhold(out)
	return out, err
}

// withheld says why a verdict is no verdict, "" for one that is: a skill that was chosen by these
// tasks is ahead on them because it was.
func (c *comparison) withheld(verdict string) string {
	arm, other := 1, 0
	switch verdict {
	case result.VerdictBetter:
	case result.VerdictWorse:
		arm, other = 0, 1
	default:
		return ""
	}
	t := c.trained[arm]
	if t == nil {
		return ""
	}
	return fmt.Sprintf("no verdict: %[1]s is ahead of %[2]s on %[3]s, but it was selected with %[4]d of them in %[5]s; compare on other tasks",
		[]string{"A", "B"}[arm], []string{"A", "B"}[other], wording.Plural(len(c.tasks), "task", "tasks"), t.Tasks, t.Run)
}

// withhold takes a verdict back that is none.
func (c *comparison) withhold(out *result.Comparison) {
	if out.Withheld = c.withheld(out.Verdict); out.Withheld == "" {
		return
	}
	out.Verdict = result.VerdictNotEnoughData
	if out.Look != nil {
		out.Look.Certified, out.Look.AtLeast = false, nil
	}
}

func (c *comparison) needs(differences []float64) (*result.Needs, error) {
	times, ok, err := c.rule.Needs(differences)
	if !ok || err != nil {
		return nil, err
	}
	n := &result.Needs{Pairs: times * len(differences)}
	if c.repeats {
		n.Tasks = (n.Pairs*len(c.tasks) + len(c.units) - 1) / len(c.units)
	} else {
		n.Passes = (n.Pairs + len(c.units) - 1) / len(c.units)
	}
	return n, nil
}

// coverage ends a comparison that lacks too many of the tasks.
func (c *comparison) coverage(missing int, reason string) error {
	return &train.NothingMeasuredError{Place: "compare", Reason: fmt.Sprintf("%d of %s without a score in an arm: %s", missing, wording.Plural(len(c.tasks), "task is", "tasks are"), reason)}
}

// project returns the score that the comparison goes by. Texts do not count, only what they lead
// to.
func (c *comparison) project(hard, soft float64) float64 {
	g := c.session.Config.Gate
	return score.Projection{Metric: score.Metric(g.Metric), MixedWeight: g.MixedWeight}.Of(score.Pair{Hard: hard, Soft: soft}, 0)
}
