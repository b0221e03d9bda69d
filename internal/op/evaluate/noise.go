package evaluate

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/forecast"
	"github.com/seed-f4525e22/skillopt/internal/passes"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/session"
	"github.com/seed-f4525e22/skillopt/internal/stats"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// The question that a selection split has to answer: is a candidate better by so
// much?
const (
	soughtEffect = 0.1
	noiseAlpha   = 0.05
	noisePower   = 0.8
)

// Noise asks every selection task twice with the skill of a configuration. The calls are
// recorded under run.dir, and asked once: the same configuration is answered from the
// record.
func Noise(ctx context.Context, cfg config.Config, o session.Options) (*result.Noise, error) {
	s, err := session.Prepare(ctx, cfg, o, model.Target)
	if err != nil {
		return nil, err
	}
	var n *result.Noise
	err = s.Do(ctx, session.Op{
		Kind: result.MeasureNoise, About: map[string]string{"evaluate": "noise"},
		Check: func() (err error) {
			if err := s.RequireScored(); err != nil {
				return err
			}
			if len(s.Data.Selection) == 0 {
				return fault.Input(errors.New("there are no selection tasks: add tasks, or set split.ratio"))
			}
			if s.RunDir == "" {
				s.RunDir, err = forecast.NoiseDir(s.Inputs)
			}
			return err
		},
		Ask: func(ctx context.Context) (result.Plan, error) {
			n := 2 * len(s.Data.Selection)
			p := forecast.Rollouts(s, n, task.Selection)
			return p, forecast.Measure(ctx, s, &p, forecast.Measuring{Rollouts: forecast.NewExactInterval(n), Tasks: s.Data.Selection, Skills: []skill.Skill{s.Skill}})
		},
		Work: func(ctx context.Context) (result.Status, error) {
			session.WarnOfPages(s)
			if n, err = noise(ctx, s); err != nil {
				return "", err
			}
			return result.Completed, nil
		},
	})
	return n, err
}

// noise measures in an open run.
func noise(ctx context.Context, s *session.Session) (*result.Noise, error) {
	var passes [2][]trajectory.Outcome
	var err error
	for i := range passes {
		if passes[i], err = noisePass(ctx, s, i); err != nil {
			return nil, err
		}
	}
	n := &result.Noise{RunDir: s.Run.Dir, Simulated: s.Simulated()}
	if err := compare(n, passes, s.Projection()); err != nil {
		return nil, err
	}
	used, _ := s.Account()
	n.Calls, n.CostUSD = used.Calls, used.CostUSD
	kept := *n
	kept.RunDir = "." // a run directory can be moved
	return n, s.Run.WriteJSON(forecast.NoiseFile, kept)
}

// noisePass scores the selection split once. Each pass is a sample of its own.
func noisePass(ctx context.Context, s *session.Session, sample int) ([]trajectory.Outcome, error) {
	tasks := s.Data.Selection
	stage := fmt.Sprintf("pass %d of 2", sample+1)
	s.Emit(event.StageStarted{Stage: stage, Total: len(tasks)})
	out, err := s.Runner.All(ctx, rollout.Place{Prefix: "noise", Sample: sample}, tasks, s.Skill, s.Progress(stage, len(tasks)))
	if err != nil {
		return nil, err
	}
	return out, s.Health()
}

// compare fills in what two passes say. Tasks that one of them could not measure
// are left out and named.
func compare(n *result.Noise, passes [2][]trajectory.Outcome, p score.Projection) error {
	var scores [][]float64
	n.Flips = []string{}
	reason := ""
	for i, first := range passes[0] {
		second := passes[1][i]
		if !first.Status.Measured() || !second.Status.Measured() {
			n.Unmeasured = append(n.Unmeasured, first.ID)
			reason = first.FailReason + second.FailReason
			continue
		}
		x, y := p.Of(score.Pair{Hard: first.Hard, Soft: first.Soft}, 0), p.Of(score.Pair{Hard: second.Hard, Soft: second.Soft}, 0)
		scores = append(scores, []float64{x, y})
		n.Add(first.Unanswered())
		n.Add(second.Unanswered())
		n.First, n.Second = n.First+x, n.Second+y
		if x != y {
			n.Flips = append(n.Flips, first.ID)
		}
	}
	n.Items = len(scores)
	if !gate.Enough(len(passes[0]), len(n.Unmeasured)) {
		return &train.NothingMeasuredError{Place: "noise", Reason: fmt.Sprintf("%d of %d tasks are without a score: %s", len(n.Unmeasured), len(passes[0]), reason)}
	}
	n.First, n.Second = n.First/float64(n.Items), n.Second/float64(n.Items)
	return judge(n, scores, p)
}

// judge derives from the scores what can be seen, and what would help.
func judge(n *result.Noise, scores [][]float64, p score.Projection) error {
	split, err := stats.VarianceSplit(scores)
	if errors.Is(err, stats.ErrTooFew) {
		n.TooSmall = true
		n.Advice = []string{fmt.Sprintf("%s cannot decide anything: add tasks", wording.Plural(n.Items, "selection task", "selection tasks"))}
		return nil
	}
	if err != nil {
		return fmt.Errorf("split the variance: %w", err)
	}
	n.Between = math.Sqrt(split.Between)
	if len(n.Flips) == 0 && !passes.Room(means(scores)) {
		n.Advice = []string{fmt.Sprintf("noise cannot be measured with this skill: all but at most one of %s have the same lowest or highest score; train measures it with the first skill that it accepts",
			wording.Plural(n.Items, "selection task", "selection tasks"))}
		return nil
	}
	within, detectable := math.Sqrt(split.Within), 1/float64(n.Items)
	n.Within, n.Detectable = &within, &detectable
	// Two skills that differ in nothing: their paired difference has twice the
	// variance of one evaluation.
	if split.Within > 0 {
		seen, err := stats.MinimumDetectable(math.Sqrt(2*split.Within), n.Items, noiseAlpha, noisePower)
		if err != nil {
			return fmt.Errorf("what can be detected: %w", err)
		}
		detectable = max(seen, detectable)
	}
	n.TooSmall = detectable > soughtEffect
	if !n.TooSmall {
		n.Advice = []string{fmt.Sprintf("differences from %.1f points are more than chance: %d selection tasks are enough for that", 100*detectable, n.Items)}
		n.Advice = append(n.Advice, unseen(n)...)
		return nil
	}
	n.Advice = []string{fmt.Sprintf("a difference below %.1f points drowns in chance: %d selection tasks are too few to gate on", 100*detectable, n.Items)}
	return advise(n, stats.Split{Within: 2 * split.Within}, p)
}

// means lists the mean score of each task.
func means(scores [][]float64) []float64 {
	out := make([]float64, len(scores))
	for i, xs := range scores {
		for _, x := range xs {
			out[i] += x / float64(len(xs))
		}
	}
	return out
}

// unseen says how much of a change two passes may have missed: the share of tasks
// whose score changes that would show no change one time in twenty.
func unseen(n *result.Noise) []string {
	if len(n.Flips) > 0 {
		return nil
	}
	most := 1 - math.Pow(noiseAlpha, 1/float64(n.Items))
	return []string{fmt.Sprintf("no score changed; with this number of tasks up to %.0f %% of the scores may change all the same (95 %% certain), and then only larger differences are more than chance", 100*most)}
}

func advise(n *result.Noise, differences stats.Split, p score.Projection) error {
	a, err := differences.Advise(soughtEffect, n.Items, noiseAlpha, noisePower)
	if err != nil {
		return fmt.Errorf("advice: %w", err)
	}
	items := max(a.Items, int(math.Ceil(1/soughtEffect)))
	n.Advice = append(n.Advice, fmt.Sprintf("more items: %d selection tasks would show 10 points", items))
	if *n.Within > 0 && a.Repeats > 1 {
		n.Advice = append(n.Advice, fmt.Sprintf("repeats: each task asked %d times would as well, but only as to these tasks", a.Repeats))
	}
	if *n.Within > 0 && p.Metric == "hard" {
		n.Advice = append(n.Advice, "a softer score: with gate.metric soft or mixed an answer that is nearly right moves less; temperature 0 lowers the noise too")
	}
	return nil
}
