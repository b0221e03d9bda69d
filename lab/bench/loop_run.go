package bench

import (
	"context"
	"errors"
	"math"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/internal/prompt"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/schedule"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// loopWay is a way to train: the defaults, or the defaults with a part changed.
type loopWay struct {
	name   string
	what   string
	change func(*train.Options) // nil: nothing
}

const (
	defaultWay   = "default"
	referenceWay = "reference loop"
)

// loopWays returns the defaults, with which the others are compared, then the loop of the
// published protocol, and the defaults with one part more or less.
func loopWays() []loopWay {
	return []loopWay{
		{defaultWay, "the defaults", nil},
		{referenceWay, "`protocol: skillopt`: minibatches of 8, 4 to 2 edits a step, 4 epochs, guidance that is forced in, no second try, no warm start, no fresh pass", reference},
		{"no warm start", "`train.warm: off`", func(o *train.Options) { o.Warm = 0 }},
		{"no second try", "`train.second_try: false`", func(o *train.Options) { o.SecondTry = false }},
		{"whole batches", "each batch is the whole train split", func(o *train.Options) { o.BatchSize = 60 }},
		{"no guidance", "`slow_update.enabled: false`, `meta_skill.enabled: false`", func(o *train.Options) { o.SlowUpdate, o.MetaSkill = false, false }},
	}
}

// reference changes the defaults to the published protocol.
func reference(o *train.Options) {
	o.Warm, o.SecondTry, o.Fresh, o.Stop = 0, false, false, train.Stop{}
	o.Epochs, o.BatchSize, o.Minibatch, o.Budget, o.MinBudget = 4, 40, 8, 4, 2
	o.SlowGated, o.Whole = false, false
}

// loopRun is what one run came to. Scores are expected ones.
type loopRun struct {
	gain   float64           // of the shipped skill over the seed skill, on the test tasks
	excess *float64          // its reported score minus the true one on the selection tasks; nil: none was reported
	told   *float64          // the reported score
	kept   result.Candidates // what the gate has judged
	calls  int
	lost   bool // the part that passed the ceiling had brought another best skill
}

// loop trains with the defaults of a run of one's own under a ceiling of all calls.
func (a *Arena) loop(ctx context.Context, w loopWay) (loopRun, error) {
	m := a.models()
	c := &ceiling{models: m, calls: a.Setup.Calls, selection: a.Data.Pass(), shipped: a.Skill.Text(), pending: a.Skill.Text()}
	d := a.deps(m)
	d.Prompts, d.Files, d.Pace = prompt.Whole(), c, c.room
	d.Told = func(t task.Task, s skill.Skill) optimize.Told {
		return optimize.Told{System: a.question.SystemMessage(t, s, optimize.SkillMark)}
	}
	o := a.loopOptions(w)
	r, err := train.Run(ctx, o, d)
	if err != nil && !errors.Is(err, errSpent) {
		return loopRun{}, err
	}
	out := loopRun{kept: m.kept, calls: min(m.used(), a.Setup.Calls), lost: r.Best.Text() != c.shipped}
	if out.gain, err = a.gain(ctx, c.shipped); err != nil {
		return out, err
	}
	if said := reported(r, o); said != nil && !out.lost {
		told := *said
		out.told = &told
		scores, err := a.expected(ctx, c.shipped, a.Data.Selection)
		if err != nil {
			return out, err
		}
		*said -= meanOf(scores, a.Data.Selection, o.Cluster)
		out.excess = said
	}
	return out, nil
}

// gain is the expected score of a skill minus that of the seed skill on the test tasks,
// which no decision has seen.
func (a *Arena) gain(ctx context.Context, text string) (float64, error) {
	after, err := a.expected(ctx, text, a.Data.Test)
	if err != nil {
		return 0, err
	}
	before, err := a.expected(ctx, a.Skill.Text(), a.Data.Test)
	if err != nil {
		return 0, err
	}
	return meanOf(after, a.Data.Test, "") - meanOf(before, a.Data.Test, ""), nil
}

// reported is the score that a run tells of what it ships.
func reported(r *train.Result, o train.Options) *float64 {
	switch {
	case o.Fresh && r.Reported != nil && r.Reported.Fresh != nil:
		return r.Reported.Fresh
	case r.Selection != nil && o.Projection.Metric == score.Soft:
		return &r.Selection.Soft
	case r.Selection != nil:
		return &r.Selection.Hard
	}
	return nil
}

// loopOptions are the defaults of a run of one's own, changed as a way has it.
func (a *Arena) loopOptions(w loopWay) train.Options {
	o := a.options()
	n := a.Data.Drawable()
	c := schedule.Ceiling{Calls: a.Setup.Calls, Selection: a.Data.Judges()}
	o.BatchSize, o.Warm = c.Batch(schedule.WideBatch(n)), c.Batch(schedule.WarmBatch(n))
	o.Epochs = schedule.Epochs(schedule.StepsPerEpoch(n, o.BatchSize, 1))
	o.Budget, o.Minibatch, o.Whole, o.Window = config.AutoBudget, 0, true, 60_000
	o.Shrinks, o.SecondTry, o.Fresh, o.Stop = true, true, true, train.Stop{Perfect: true, Patience: 5}
	o.Cluster = a.Setup.Cluster
	twice := c.Twice(train.TwiceLeast)
	o.Twice = &twice
	if a.Setup.Heavy {
		o.Projection.Metric = score.Soft
	}
	if w.change != nil {
		w.change(&o)
		o.BatchSize, o.Warm = min(o.BatchSize, n), min(o.Warm, n)
	}
	return o
}

// ceiling holds a run to its calls as the caller of a real one does: what the end of
// the run takes is left to it, a step is as large as there is room for, and one that
// passes the ceiling all the same is lost.
type ceiling struct {
	*models
	calls   int
	reserve int // for the end of the run

	begun, tasks         int // calls before the open step, and its tasks; tasks 0: no step is open
	steps, spent, rolled int // of the steps that are closed
	gated, readBefore    int // what their gates have read, and all gates before the open step
	selection            int // tasks that a gate judges by

	pending, shipped string // best skill as it was written last, and within the ceiling
	passed           bool
}

// room implements train.Deps.Pace.
func (c *ceiling) room(p train.Unit) (int, error) {
	const margin = 1.1
	used := c.used()
	if more, ok := c.within(p); ok {
		c.reserve = int(math.Ceil(margin * float64(p.Closing)))
		if used+more > c.calls-c.reserve {
			return 0, nil
		}
		return p.Tasks, nil
	}
	if c.tasks > 0 {
		c.steps, c.spent, c.rolled, c.gated, c.tasks = c.steps+1, c.spent+used-c.begun, int(c.models.rolled.Load()), c.gated+int(c.judged.Load())-c.readBefore, 0
	}
	if p.Name == train.UnitFinal {
		c.reserve = 0
		return p.Tasks, nil
	}
	if c.passed && c.pending != c.shipped {
		return 0, errSpent // what the loop holds for the best is lost: it cannot say anything of what is shipped
	}
	c.reserve = int(math.Ceil(margin * float64(p.Closing)))
	left := c.calls - c.reserve - used
	if c.passed || left <= 0 {
		return 0, train.ErrEnded
	}
	if p.Name == train.UnitConfirmation && p.Tasks > left {
		return 0, train.ErrEnded
	}
	if p.Name != train.UnitStep {
		return p.Tasks, nil
	}
	for n := p.Tasks; n >= p.Least; n-- {
		if c.need(n) <= float64(left) {
			c.begun, c.tasks, c.readBefore = used, n, int(c.judged.Load())
			return n, nil
		}
	}
	return 0, train.ErrEnded
}

// within is what more within a step takes, with judging its candidate.
func (c *ceiling) within(p train.Unit) (calls int, ok bool) {
	const asked = 8
	switch p.Name {
	case train.UnitSecondTry:
		return 1 + c.selection, true
	case train.UnitMore:
		return p.Tasks + asked + c.selection, true
	}
	return 0, false
}

// need is what a step of n tasks takes, by the mean of those before it, and no less than
// it takes to judge its candidate by all selection tasks; of the first nothing is known
// but its rollouts.
func (c *ceiling) need(n int) float64 {
	if c.steps == 0 {
		return float64(n)
	}
	mean, gate := float64(c.spent-c.rolled)/float64(c.steps), float64(c.gated)/float64(c.steps)
	return mean + max(0, float64(c.selection)-gate) + float64(n)
}

// WriteFile implements train.Files: it takes down the best skill.
func (c *ceiling) WriteFile(name string, data []byte) error {
	if name == "best_skill.md" {
		c.pending = string(data)
	}
	return nil
}

// WriteJSON implements train.Files. With the candidates a part of the run is done and
// its calls are known: what it decided counts if they are within the ceiling.
func (c *ceiling) WriteJSON(name string, v any) error {
	if err := c.models.WriteJSON(name, v); err != nil || name != "candidates.json" {
		return err
	}
	c.passed = c.passed || c.used() > c.calls-c.reserve
	if !c.passed {
		c.shipped = c.pending
	}
	return nil
}
