package skillopt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/plural"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/stats"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/internal/userfile"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// NoiseReport is what asking every selection task twice with the same skill (an
// A/A pass) says about what a gate can see. Scores, deviations and effects are in
// points of the gate's metric, from 0 to 1.
type NoiseReport struct {
	RunDir    string `json:"run_dir"`
	Simulated bool   `json:"simulated"`

	Items  int      `json:"items"`  // asked twice and scored both times
	First  float64  `json:"first"`  // mean of the first pass
	Second float64  `json:"second"` // and of the second
	Flips  []string `json:"flips"`  // ids of the tasks whose score changed

	Within  float64 `json:"within"`  // deviation of one evaluation around its task's mean
	Between float64 `json:"between"` // deviation of the tasks' means

	// Detectable is the smallest true difference between two skills, each evaluated
	// once on these tasks, that is seen in 80 % of comparisons at the two-sided 5 %
	// level: 2.8 standard errors of the difference, and no less than one task.
	Detectable float64 `json:"minimum_detectable_effect"`

	TooSmall bool     `json:"too_small"` // to gate on: a difference of 10 points drowns in chance
	Advice   []string `json:"advice"`

	Unmeasured []string    `json:"unmeasured,omitempty"`
	Calls      CallSummary `json:"calls"`
	CostUSD    *float64    `json:"cost_usd"` // null: a model has no price
}

// The question that a selection split has to answer: is a candidate better by so
// much?
const (
	soughtEffect = 0.1
	noiseAlpha   = 0.05
	noisePower   = 0.8
)

// MeasureNoise asks every selection task twice with the skill of a configuration.
// The calls are recorded under run.dir, and asked once: the same configuration is
// answered from the record. The error is an *Error.
func MeasureNoise(ctx context.Context, cfg Config, opts ...Option) (*NoiseReport, error) {
	s, err := prepare(ctx, cfg, opts, model.Target)
	if err != nil {
		return nil, classify(err, "")
	}
	if len(s.data.Selection) == 0 {
		return nil, classify(&inputError{errors.New("there are no selection tasks: add tasks, or set split.ratio")}, "")
	}
	s.command = "noise"
	s.identify("evaluate", "noise")
	if s.runDir == "" {
		if s.runDir, err = s.noiseDir(); err != nil {
			return nil, classify(err, "")
		}
	}
	r, err := s.open(ctx)
	if err != nil {
		return nil, classify(err, "")
	}
	n, err := s.noise(ctx, r)
	return n, closed(r, err)
}

// noiseDir is one folder for each configuration.
func (s *setup) noiseDir() (string, error) {
	id, err := s.identity()
	if err != nil {
		return "", err
	}
	delete(id, "models.optimizer.world") // a file that is read for training only
	ever, err := s.withPrompts(config.AsEver(id))
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(ever)
	if err != nil {
		return "", fmt.Errorf("encode the identity of the run: %w", err)
	}
	base, err := filepath.Abs(s.cfg.Run.Dir)
	if err != nil {
		return "", fmt.Errorf("find run.dir: %w", err)
	}
	return filepath.Join(base, s.runName()+"-noise-"+digest(text)[:8]), nil
}

// knownNoise is what an earlier A/A pass of this configuration has found, nil if
// there was none.
func (s *setup) knownNoise() (*NoiseReport, error) {
	as := *s
	as.identify("evaluate", "noise")
	dir, err := as.noiseDir()
	if err != nil {
		return nil, err
	}
	data, err := userfile.Read(context.Background(), filepath.Join(dir, noiseFile), maxProjection)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var n NoiseReport
	if err == nil {
		err = json.Unmarshal(data, &n)
	}
	if err != nil {
		return nil, fmt.Errorf("read what doctor --noise has found: %w", err)
	}
	n.RunDir = dir
	return &n, nil
}

// noiseFile is what an A/A pass leaves in its run.
const noiseFile = "noise.json"

func (s *setup) noise(ctx context.Context, r *run.Run) (*NoiseReport, error) {
	if s.confirm != nil && !r.Resumed {
		if err := s.confirm(s.bounded(2*len(s.data.Selection), task.Selection)); err != nil {
			return nil, errors.Join(&inputError{err}, r.Discard())
		}
	}
	if err := s.writeConfig(r); err != nil {
		return nil, err
	}
	w, err := s.world(ctx, r)
	if err != nil {
		return nil, err
	}
	defer w.close()
	var passes [2][]trajectory.Outcome
	for i := range passes {
		if passes[i], err = w.noisePass(ctx, i); err != nil {
			return nil, s.endEvaluation(r, w.cause(ctx, err))
		}
	}
	n := &NoiseReport{RunDir: r.Dir, Simulated: s.simulated()}
	if err := n.compare(passes, s.trainOptions().Projection); err != nil {
		return nil, s.endEvaluation(r, err)
	}
	var sum Summary
	w.account(&sum)
	n.Calls, n.CostUSD = sum.Calls, sum.CostUSD
	kept := *n
	kept.RunDir = "." // a run directory can be moved
	if err := r.WriteJSON(noiseFile, kept); err != nil {
		return nil, err
	}
	return n, r.SetStatus("completed")
}

// noisePass scores the selection split once. Each pass is a sample of its own.
func (w *world) noisePass(ctx context.Context, sample int) ([]trajectory.Outcome, error) {
	tasks := w.setup.data.Selection
	stage := fmt.Sprintf("pass %d of 2", sample+1)
	w.events(event.StageStarted{Stage: stage, Total: len(tasks)})
	out, err := w.runner.All(ctx, rollout.Place{Prefix: "noise", Sample: sample}, tasks, w.setup.skill, w.progress(stage, len(tasks)))
	if err != nil {
		return nil, err
	}
	return out, w.health()
}

// compare fills in what two passes say. Tasks that one of them could not measure
// are left out and named.
func (n *NoiseReport) compare(passes [2][]trajectory.Outcome, p score.Projection) error {
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
	return n.judge(scores, p)
}

// judge derives from the scores what can be seen, and what would help.
func (n *NoiseReport) judge(scores [][]float64, p score.Projection) error {
	split, err := stats.VarianceSplit(scores)
	if errors.Is(err, stats.ErrTooFew) {
		n.TooSmall, n.Detectable = true, 1
		n.Advice = []string{fmt.Sprintf("%s cannot decide anything: add tasks", plural.Of(n.Items, "selection task", "selection tasks"))}
		return nil
	}
	if err != nil {
		return fmt.Errorf("split the variance: %w", err)
	}
	n.Within, n.Between = math.Sqrt(split.Within), math.Sqrt(split.Between)
	// Two skills that differ in nothing: their paired difference has twice the
	// variance of one evaluation.
	n.Detectable = 1 / float64(n.Items)
	if split.Within > 0 {
		seen, err := stats.MinimumDetectable(math.Sqrt(2*split.Within), n.Items, noiseAlpha, noisePower)
		if err != nil {
			return fmt.Errorf("what can be detected: %w", err)
		}
		n.Detectable = max(seen, n.Detectable)
	}
	n.TooSmall = n.Detectable > soughtEffect
	if !n.TooSmall {
		n.Advice = []string{fmt.Sprintf("differences from %.1f points on can be told from chance: %d selection tasks are enough for that", 100*n.Detectable, n.Items)}
		n.Advice = append(n.Advice, n.unseen()...)
		return nil
	}
	n.Advice = []string{fmt.Sprintf("a difference below %.1f points drowns in chance: %d selection tasks are too few to gate on", 100*n.Detectable, n.Items)}
	return n.advise(stats.Split{Within: 2 * split.Within}, p)
}

// unseen says how much of a change two passes may have missed: the share of tasks
// whose score changes that would show no change one time in twenty.
func (n *NoiseReport) unseen() []string {
	if len(n.Flips) > 0 {
		return nil
	}
	most := 1 - math.Pow(noiseAlpha, 1/float64(n.Items))
	return []string{fmt.Sprintf("no score changed; with so many tasks up to %.0f %% of the scores may change all the same (95 %% certain), and then only larger differences can be told from chance", 100*most)}
}

func (n *NoiseReport) advise(differences stats.Split, p score.Projection) error {
	a, err := differences.Advise(soughtEffect, n.Items, noiseAlpha, noisePower)
	if err != nil {
		return fmt.Errorf("advice: %w", err)
	}
	items := max(a.Items, int(math.Ceil(1/soughtEffect)))
	n.Advice = append(n.Advice, fmt.Sprintf("more items: %d selection tasks would show 10 points", items))
	if n.Within > 0 && a.Repeats > 1 {
		n.Advice = append(n.Advice, fmt.Sprintf("repeats: each task asked %d times would as well (gate.mode race asks survivors again), but only as to these tasks", a.Repeats))
	}
	if n.Within > 0 && p.Metric == "hard" {
		n.Advice = append(n.Advice, "a softer score: with gate.metric soft or mixed an answer that is nearly right moves less; temperature 0 lowers the noise too")
	}
	return nil
}
