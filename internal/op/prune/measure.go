package prune

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/prune"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// pruner returns the pruner that judges the rules, at work in a run.
func (p *pruning) pruner() *prune.Pruner {
	bench := p.bench("rules", p.judge)
	return &prune.Pruner{
		Skill: p.session.Skill, Files: p.files, Scope: p.session.Scope, Bench: bench, Settings: p.settings(), Keep: p.stays,
		Progress: func(name string) { p.session.Emit(event.StageStarted{Stage: name, Total: 2 * len(p.judge)}) },
	}
}

// bench returns a set of tasks that are carried out in a run. The answers of a skill are recorded under the
// texts that rules are left out of, so that no comparison asks again for what another knows.
func (p *pruning) bench(name string, tasks []task.Task) *prune.Bench {
	g := p.session.Config.Gate
	b := &prune.Bench{
		Name: name, Seed: p.session.Config.Train.Seed,
		Projection: score.Projection{Metric: score.Metric(g.Metric), MixedWeight: g.MixedWeight},
	}
	b.Types, b.Clusters = train.Strata(tasks, g.Group)
	for _, t := range tasks {
		b.Items = append(b.Items, t.ID)
	}
	b.Measure = func(ctx context.Context, s skill.Skill, item, sample int) (trajectory.Outcome, error) {
		out, err := p.session.Runner.One(ctx, p.rolloutPlace(s, sample), tasks[item], s)
		if err == nil {
			err = p.session.Health()
		}
		return out, err
	}
	b.Skip = func(ctx context.Context, decision string, lost []prune.Lost) error {
		keys := make([]string, len(lost))
		for i, l := range lost {
			keys[i] = p.rolloutPlace(l.Skill, l.Sample).Key(tasks[l.Item])
		}
		without, err := json.Marshal(map[string]any{"without": keys})
		if err != nil {
			return fmt.Errorf("encode decision: %w", err)
		}
		return p.session.Caller.Unmeasured(ctx, decision, without, keys)
	}
	return b
}

func (p *pruning) rolloutPlace(s skill.Skill, sample int) rollout.Place {
	return rollout.Place{Prefix: "text/" + p.session.Scope.Hash(s), Sample: sample}
}

// tooFew says what could not be measured in the words of other commands.
func tooFew(err error) error {
	var few *prune.TooFewError
	if errors.As(err, &few) {
		return &train.NothingMeasuredError{Place: few.At, Reason: few.Reason}
	}
	return err
}

func selectIDs(tasks []task.Task, which []int) []string {
	var out []string
	for _, i := range which {
		out = append(out, tasks[i].ID)
	}
	return out
}

// describe lays out what an ablation found.
func (p *pruning) describe(got prune.Pruning) result.Ablation {
	s := p.settings()
	out := result.Ablation{
		RunDir: p.session.Run.Dir, Simulated: p.session.Simulated(), Exploratory: p.session.CountDrafts(p.splits) > 0, TestRead: p.testRead(), TestReadBefore: p.before,
		Skill: p.session.Skill.Digest(), Split: p.o.Split, Tasks: len(p.judge), Metric: p.session.Config.Gate.Metric,
		Margin: s.Margin, Level: s.Level, Passes: s.Passes, Deterministic: got.Deterministic, Rules: []result.RuleWorth{},
	}
	for _, f := range got.Findings {
		out.Rules = append(out.Rules, result.RuleWorth{
			Rule: toRule(f.Rule), Verdict: string(f.Verdict), Worth: minus(f.Difference), Low: minus(f.High), High: minus(f.Low),
			Pairs: f.Pairs, Wins: f.Losses, Losses: f.Wins, Ties: f.Ties, Unmeasured: selectIDs(p.judge, f.Lost),
			Unanswered: newUnanswered(f.Effect),
		})
	}
	return out
}

// newUnanswered returns what the longer text (old) and the shorter one (new) were refused.
func newUnanswered(e prune.Effect) result.BothUnanswered {
	return result.BothUnanswered{Old: e.Refused[1], New: e.Refused[0]}
}

// minus turns a difference around; there is no negative zero.
func minus(v *float64) *float64 {
	if v == nil {
		return nil
	}
	m := 0 - *v
	return &m
}

// account fills in what an ablation used.
func (p *pruning) account(a *result.Ablation) {
	a.Usage, _ = p.session.Account()
	a.FromRecord = p.session.Run.Journal.Counts().Inherited
}

func toRule(r prune.Rule) result.Rule {
	return result.Rule{Number: r.Number, File: r.File, Line: r.Line, LastLine: r.LastLine, Text: r.Text}
}

func toRules(rules []prune.Rule) []result.Rule {
	out := make([]result.Rule, len(rules))
	for i, r := range rules {
		out[i] = toRule(r)
	}
	return out
}
