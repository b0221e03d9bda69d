package skillopt

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/passes"
	"github.com/seed-f4525e22/skillopt/internal/plural"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/internal/wire"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Verdicts of a Comparison, on B against A.
const (
	VerdictBetter        = string(passes.Better)
	VerdictWorse         = string(passes.Worse)
	VerdictNoDifference  = string(passes.NoDifference) // none larger than the margin
	VerdictNotEnoughData = string(passes.NotEnoughData)
)

// What the interval of a Comparison is about.
const (
	// OverTasksLikeThese: one pass, in which each task was one draw.
	OverTasksLikeThese = "tasks_like_these"
	// OverTheseTasks: several passes over the same tasks.
	OverTheseTasks = "these_tasks"
)

// Comparison is what comparing two skills came to. It is the document that
// `compare --json` prints and comparison.json holds. Differences are B - A, in
// points of the score from 0 to 1. What was not measured is null.
type Comparison struct {
	RunDir    string `json:"run_dir"`
	Simulated bool   `json:"simulated"`
	// Exploratory says that tasks are drafts that nobody has reviewed.
	Exploratory bool `json:"exploratory,omitempty"`

	Verdict    string   `json:"verdict"`
	About      string   `json:"about"`      // what verdict and interval are about
	Metric     string   `json:"metric"`     // hard, soft or mixed: gate.metric
	Difference *float64 `json:"difference"` // mean over the pairs
	Low        *float64 `json:"low"`        // bounds that hold at all looks together
	High       *float64 `json:"high"`       //
	Level      float64  `json:"level"`      // probability with which they do
	Margin     float64  `json:"margin"`     // the largest difference that does not matter

	A ComparedSkill `json:"a"`
	B ComparedSkill `json:"b"`

	Split     string `json:"split"`
	Tasks     int    `json:"tasks"` // in the split
	Passes    int    `json:"passes"`
	MaxPasses int    `json:"max_passes"`
	Pairs     int    `json:"pairs"` // of a task, or of the tasks of a gate.cluster, in one pass
	Wins      int    `json:"wins"`  // pairs in which B scored higher
	Losses    int    `json:"losses"`
	Ties      int    `json:"ties"`

	// Fixed says that the model answers alike every time, so that a second pass
	// shows nothing.
	Fixed bool `json:"fixed,omitempty"`
	// Needs is how much would probably decide, if there is not enough data. It is
	// null if that is not foreseeable.
	Needs *Needs `json:"needs,omitempty"`

	ByTask     []TaskDifference `json:"by_task"`              // in the order of the tasks
	Unmeasured []string         `json:"unmeasured,omitempty"` // tasks left out of both arms

	Calls   CallSummary   `json:"calls"`
	Tokens  TokenSummary  `json:"tokens"`
	CostUSD *float64      `json:"cost_usd"`
	Unknown *UnknownUsage `json:"usage_unknown,omitempty"` // what of tokens and cost is an estimate
	WallS   float64       `json:"wall_s"`

	// TestReadBefore says who had read the test set before; null: it was not read, or an
	// older program began the run.
	TestReadBefore *TestReads `json:"test_read_before,omitempty"`
}

// ComparedSkill is one of the two skills and its scores over the pairs.
type ComparedSkill struct {
	Skill string `json:"skill_hash"`
	Score *Score `json:"score"`
}

// Needs is an amount of data, in all, not in addition to what there is.
type Needs struct {
	Pairs  int `json:"pairs"`
	Passes int `json:"passes,omitempty"` // over the same tasks
	Tasks  int `json:"tasks,omitempty"`  // when further passes show nothing
}

// TaskDifference is what the two skills scored on one task, by the metric of the
// comparison, on average over the passes.
type TaskDifference struct {
	ID string  `json:"id"`
	A  float64 `json:"a"`
	B  float64 `json:"b"`
	N  int     `json:"n"` // passes
}

const (
	defaultPasses = 10
	defaultMargin = 0.05
	compareLevel  = 0.95
)

// Compare tells whether skill b is better than skill a. Both carry out the same
// tasks of a split (WithSplit; default test) with the same seeds, in turns, until
// the difference is certain, or certainly no larger than a margin (WithMargin), or
// the passes (WithPasses) or limits are used up. The skill of the configuration is
// not used. It is recorded as training is; a comparison without a verdict goes on
// when it is called again with more passes. The error is an *Error; beside one
// that says that a budget is used up there is what was measured before.
func Compare(ctx context.Context, cfg Config, a, b skill.Skill, opts ...Option) (*Comparison, error) {
	s, err := prepare(ctx, cfg, append(slices.Clone(opts), WithSkill(a)), model.Target)
	if err != nil {
		return nil, classify(err, "")
	}
	c, err := s.comparison(b)
	if err != nil {
		return nil, classify(err, "")
	}
	s.command = "compare"
	s.identify("compare", c.split)
	s.identify("compare.with", digest([]byte(b.Text())))
	s.cfg.Run.Name = s.runName() + "-compare"
	s.older = true // skills of runs are compared
	r, err := s.open(ctx)
	if err != nil {
		return nil, classify(err, "")
	}
	result, err := c.run(ctx, r)
	return result, closed(r, err)
}

// comparison checks the rules and finds the tasks.
func (s *setup) comparison(b skill.Skill) (*comparison, error) {
	c := &comparison{setup: s, skills: [2]skill.Skill{s.skill, b}, split: s.split, most: s.passes, fixed: s.answersAlike()}
	c.rule = passes.Rule{Level: compareLevel, Margin: s.margin}
	if s.margin == 0 {
		c.rule.Margin = defaultMargin
	}
	if c.most == 0 {
		c.most = defaultPasses
	}
	if c.split == "" {
		c.split = string(task.Test)
	}
	if err := c.rule.Validate(); err != nil {
		return nil, &inputError{err}
	}
	if c.most < 1 {
		return nil, &inputError{fmt.Errorf("%d passes, allowed: 1 or more", c.most)}
	}
	if c.fixed {
		c.most = 1
	}
	splits, err := splitsOf(c.split)
	if err != nil {
		return nil, err
	}
	if len(splits) == 1 {
		if err := s.set.Require(splits...); err != nil {
			return nil, err
		}
	}
	for _, split := range splits {
		c.tasks = append(c.tasks, s.set.Split(split)...)
	}
	c.splits = splits
	c.units = unitsOf(c.tasks, s.cfg.Gate.Cluster, s.cfg.Train.Seed)
	c.lost = make([]bool, len(c.tasks))
	return c, nil
}

// answersAlike reports whether a second pass would get the answers of the first.
func (s *setup) answersAlike() bool {
	_, judged := s.models[model.Judge]
	return !s.episodes() && !judged && s.cfg.Record.Reuse != "never" && wire.Sampling(s.model(model.Target)).Deterministic()
}

// run compares in an open run directory and sums it up.
func (c *comparison) run(ctx context.Context, r *run.Run) (*Comparison, error) {
	s := c.setup
	began := s.now()
	if err := s.askFor(r, 2*len(c.tasks)*c.most, c.splits); err != nil {
		return nil, err
	}
	if err := c.writeInput(r); err != nil {
		return nil, err
	}
	w, err := s.world(ctx, r)
	if err != nil {
		return nil, err
	}
	defer w.close()
	c.world = w
	c.announce()
	before, err := w.readsTest(ctx, c.splits)
	if err == nil {
		err = c.measure(ctx)
	}
	err = w.cause(ctx, err)
	if err != nil && kindOf(err) != OverBudget {
		return nil, s.endEvaluation(r, err)
	}
	result, rerr := c.result()
	if rerr != nil {
		return nil, rerr
	}
	result.TestReadBefore = before
	var sum Summary
	w.account(&sum)
	result.Calls, result.Tokens, result.CostUSD, result.Unknown, result.WallS = sum.Calls, sum.Tokens, sum.CostUSD, sum.Unknown, s.now().Sub(began).Seconds()
	if werr := c.write(r, result, err); werr != nil {
		return nil, errors.Join(err, werr)
	}
	return result, err
}

// announce tells what the user should know of the two skills before anything is
// spent.
func (c *comparison) announce() {
	for _, text := range c.setup.warnings {
		c.world.events(event.Warning{Text: text})
	}
	if c.skills[0].Text() == c.skills[1].Text() {
		c.world.events(event.Warning{Text: "A and B are the same document: what differs is chance"})
	}
}

func (c *comparison) writeInput(r *run.Run) error {
	if err := c.setup.writeConfig(r); err != nil {
		return err
	}
	for i, name := range []string{"skill_a.md", "skill_b.md"} {
		if err := r.WriteFile(name, []byte(c.skills[i].Text())); err != nil {
			return err
		}
	}
	return nil
}

// filed is what files hold of passes.
func filed(passes [][]trajectory.Outcome) []trajectory.Outcomes {
	out := make([]trajectory.Outcomes, len(passes))
	for i, pass := range passes {
		out[i] = pass
	}
	return out
}

// write leaves the result and how the run ended. Without a verdict it has not
// ended: with more passes it goes on.
func (c *comparison) write(r *run.Run, result *Comparison, err error) error {
	kept := *result
	kept.RunDir = "." // a run directory can be moved
	if err := r.WriteJSON("outcomes.json", map[string][]trajectory.Outcomes{"a": filed(c.outcomes[0]), "b": filed(c.outcomes[1])}); err != nil {
		return err
	}
	if err := r.WriteJSON("comparison.json", kept); err != nil {
		return err
	}
	status := statusOf(err)
	if err == nil && result.Verdict == VerdictNotEnoughData {
		status = "undecided"
	}
	return r.SetStatus(status)
}

// result sums up the looks that are complete.
func (c *comparison) result() (*Comparison, error) {
	differences := c.differences()
	j, err := c.rule.Judge(differences)
	if err != nil {
		return nil, err
	}
	s := c.setup
	out := &Comparison{
		RunDir: c.world.run.Dir, Simulated: s.simulated(), Exploratory: s.unreviewed(c.splits) > 0,
		Verdict: string(j.Verdict), About: OverTasksLikeThese, Metric: s.cfg.Gate.Metric,
		Difference: j.Mean, Low: j.Low, High: j.High, Level: c.rule.Level, Margin: c.rule.Margin,
		A: ComparedSkill{Skill: c.skills[0].Hash()}, B: ComparedSkill{Skill: c.skills[1].Hash()},
		Split: c.split, Tasks: len(c.tasks), Passes: len(c.outcomes[0]), MaxPasses: c.most,
		Pairs: len(differences), Wins: j.Wins, Losses: j.Losses, Ties: j.Ties, Fixed: c.fixed,
		ByTask: c.byTask(), Unmeasured: c.unmeasured(),
	}
	if out.Passes > 1 {
		out.About = OverTheseTasks
	}
	for i, arm := range []*ComparedSkill{&out.A, &out.B} {
		if arm.Score, _, err = pooledScore(c.paired(i)); err != nil {
			return nil, err
		}
	}
	if j.Verdict == passes.NotEnoughData {
		out.Needs, err = c.needs(differences)
	}
	return out, err
}

func (c *comparison) needs(differences []float64) (*Needs, error) {
	times, ok, err := c.rule.Needs(differences)
	if !ok || err != nil {
		return nil, err
	}
	n := &Needs{Pairs: times * len(differences)}
	if c.fixed {
		n.Tasks = (n.Pairs*len(c.tasks) + len(c.units) - 1) / len(c.units)
	} else {
		n.Passes = (n.Pairs + len(c.units) - 1) / len(c.units)
	}
	return n, nil
}

// coverage ends a comparison that lacks too many of the tasks.
func (c *comparison) coverage(missing int, reason string) error {
	return &train.NothingMeasuredError{Place: "compare", Reason: fmt.Sprintf("%d of %s without a score in an arm: %s", missing, plural.Of(len(c.tasks), "task is", "tasks are"), reason)}
}

// project is the score that the comparison goes by. Texts do not count, only what
// they lead to.
func (c *comparison) project(hard, soft float64) float64 {
	g := c.setup.cfg.Gate
	return score.Projection{Metric: score.Metric(g.Metric), MixedWeight: g.MixedWeight}.Of(score.Pair{Hard: hard, Soft: soft}, 0)
}
