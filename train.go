package skillopt

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
)

// Plan is an upper bound of what a run will ask, when every reply can be used
// and nothing has to be sent twice.
type Plan struct {
	Total     int                `json:"total"`
	Stages    []train.StageCalls `json:"stages"`
	Simulated bool               `json:"simulated"`

	// Episodes is how many of Total are episodes of an agent or an environment.
	// Each makes as many calls as it needs, which nobody knows beforehand.
	Episodes int `json:"episodes,omitempty"`

	// Forecast is what the run is expected to take; NoForecast says why there is none of a
	// run that is too large to rehearse.
	Forecast   *Forecast `json:"forecast,omitempty"`
	NoForecast string    `json:"no_forecast,omitempty"`

	// Selection is the number of tasks that the gate decides by, Noise what an A/A
	// pass over them has found (MeasureNoise); nil: there was none, or no gate.
	Selection int          `json:"selection,omitempty"`
	Noise     *NoiseReport `json:"noise,omitempty"`

	// Folds is in how many folds those tasks are, of which one decides on a step; 0: all
	// of them decide on each.
	Folds int `json:"folds,omitempty"`

	// TestReadBefore says who has read the test split so far; null where none is opened.
	TestReadBefore *TestReads `json:"test_read_before,omitempty"`

	// CertificateLevel is the level that the certificate of this reading of the test
	// split would be tested at, a share of 1; null: no test is opened, or nobody knows how
	// often it was read.
	CertificateLevel *float64 `json:"certificate_level,omitempty"`

	// Unreviewed is how many of the tasks are drafts that nobody has reviewed: the
	// run is exploratory then.
	Unreviewed int `json:"unreviewed,omitempty"`
}

// Train trains a skill, or resumes its training. The error is an *Error. The
// summary is there whenever a run was opened, also beside an error.
func Train(ctx context.Context, cfg Config, opts ...Option) (*Summary, error) {
	s, err := prepare(ctx, cfg, opts, model.Target, model.Optimizer)
	if err != nil {
		return nil, classify(err, "")
	}
	if err := s.requireSplits(); err != nil {
		return nil, classify(err, "")
	}
	r, err := s.open(ctx)
	if err != nil {
		return nil, classify(err, "")
	}
	summary, err := s.train(ctx, r)
	return summary, closed(r, err)
}

// open finds and opens the run directory.
func (s *setup) open(ctx context.Context) (*run.Run, error) {
	if err := s.requireAgent(ctx); err != nil {
		return nil, err
	}
	if err := s.requireModels(ctx); err != nil {
		return nil, err
	}
	id, err := s.identity()
	if err != nil {
		return nil, err
	}
	if s.replay != nil {
		if id, err = s.asRecordedIn(s.replay, id); err != nil {
			return nil, err
		}
		id[replayKey] = s.replayed()
		s.cfg.Run.Name = s.runName() + "-replay"
	}
	dir := s.runDir
	if dir == "" {
		base := s.cfg.Run.Dir
		if !filepath.IsAbs(base) {
			if base, err = filepath.Abs(base); err != nil {
				return nil, fmt.Errorf("find run.dir: %w", err)
			}
		}
		dir, _, err = run.Choose(base, s.runName(), func(other map[string]string) bool {
			as, err := s.asBegun(id, other)
			return err == nil && len(config.Changes(other, as)) == 0
		})
		if err != nil {
			return nil, err
		}
	}
	if m, found, err := run.ReadManifest(dir); err == nil && found && s.loaded.AsBegun(&s.cfg, m.Identity) {
		if id, err = s.asBegun(id, m.Identity); err != nil {
			return nil, err
		}
		if err := s.goOn(); err != nil {
			return nil, err
		}
	}
	if err := s.doubts(s.older || s.fork != "" || s.replay != nil || begun(dir)); err != nil {
		return nil, err
	}
	opts := run.OpenOptions{
		Dir: dir, Name: filepath.Base(dir), Version: s.programVersion(), Identity: id, Simulated: s.simulated(), Now: s.now, Compare: describeChanges,
		Operational: s.settings(), Keep: kept,
	}
	if s.options.events != nil {
		opts.Warn = func(err error) { s.options.events(event.Warning{Text: err.Error()}) }
	}
	var r *run.Run
	if s.fork != "" {
		r, err = run.Fork(ctx, opts, s.fork)
	} else {
		r, err = run.Open(ctx, opts)
	}
	if kindOf(err) == Environment {
		return nil, fmt.Errorf("%w; a run needs a folder that it can write to and room on the disk: choose another with --run or run.dir", err)
	}
	if err == nil && r.Lost != nil && s.options.events != nil {
		s.options.events(event.Warning{Text: r.Lost.String()})
	}
	return r, err
}

func describeChanges(old, now map[string]string) []string {
	var out []string
	for _, c := range config.Changes(old, now) {
		out = append(out, c.String())
	}
	return out
}

func (s *setup) programVersion() string {
	if s.version == "" {
		return "library"
	}
	return s.version
}

// train runs the loop in an open run directory and sums it up.
func (s *setup) train(ctx context.Context, r *run.Run) (*Summary, error) {
	began := s.now()
	settled, err := s.settleBatch(r)
	if err != nil {
		return nil, err
	}
	started, err := s.settleStart(r)
	if err != nil {
		return nil, err
	}
	o := s.trainOptions()
	plan := s.plan(o)
	summary := &Summary{RunDir: r.Dir, Simulated: s.simulated(), Exploratory: plan.Unreviewed > 0, Warnings: s.warnings}
	if s.finish && !r.Resumed {
		return nil, errors.Join(&inputError{errors.New("--finish: there is no unfinished run of this configuration; `skillopt runs list` shows runs, --run names one")}, r.Discard())
	}
	if s.confirm != nil && !r.Resumed {
		s.foretell(ctx, o, &plan)
		if err := s.confirm(plan); err != nil {
			return nil, errors.Join(&inputError{err}, r.Discard())
		}
	}
	if err := s.writeConfig(r); err != nil {
		return summary, err
	}
	if !settled {
		if err := s.recordBatch(ctx, r); err != nil {
			return summary, err
		}
	}
	if !started {
		if err := s.recordStart(ctx, r); err != nil {
			return summary, err
		}
	}
	if o.EndAfter, err = s.endAfter(ctx, r, o); err != nil {
		return nil, err
	}
	w, err := s.world(ctx, r)
	if err != nil {
		return summary, err
	}
	defer w.close()
	w.announce(o, plan)
	deps, err := w.deps()
	if err != nil {
		return summary, err
	}
	result, err := train.Run(ctx, o, deps)
	err = w.cause(ctx, err)
	summary.describe(result)
	w.account(summary)
	summary.WallS = s.now().Sub(began).Seconds()
	summary.ended(err)
	if werr := s.writeEnd(ctx, r, summary); werr != nil && err == nil {
		err = werr
		summary.ended(err)
	}
	w.events(event.RunDone{Status: summary.Status, Reason: summary.Reason, WallS: summary.WallS})
	return summary, err
}

// ended says how the run ended.
func (s *Summary) ended(err error) {
	s.Status = statusOf(err)
	if err != nil {
		s.Reason = err.Error()
	}
}

func statusOf(err error) string {
	switch {
	case err == nil:
		return "completed"
	case kindOf(err) == Stopped:
		return "stopped"
	case kindOf(err) == Waiting:
		return "waiting"
	case kindOf(err) == OverBudget:
		return "budget"
	}
	return "failed"
}

func (s *setup) writeConfig(r *run.Run) error {
	text, err := s.cfg.Redacted(s.loaded.Redactor()).YAML(false)
	if err != nil {
		return err
	}
	return r.WriteFile(run.ConfigFile, text)
}

func (s *setup) writeEnd(_ context.Context, r *run.Run, summary *Summary) error {
	// The end of a run is written also when its context is cancelled. A run
	// directory can be moved: the file names no place.
	kept := *summary
	kept.RunDir = "."
	if err := r.WriteJSON(run.SummaryFile, kept); err != nil {
		return err
	}
	if err := writeReport(r); err != nil {
		return err
	}
	return r.SetStatus(summary.Status)
}

// memorySteps is how many of the newest steps of a run analysts are told of.
const memorySteps = 8

// trainOptions maps the configuration to the loop's hyperparameters.
func (s *setup) trainOptions() train.Options {
	c := s.cfg
	batch := s.batchSize()
	cur := c.Train.Curriculum
	mode := c.Edits.Schedule
	if mode == "autonomous" {
		mode = "unlimited"
	}
	o := train.Options{
		Epochs: c.Train.Epochs, BatchSize: batch, Accumulation: c.Train.Accumulation, Shrinks: c.Train.BatchSize == config.AutoCount, Seed: c.Train.Seed,
		Curriculum: train.Curriculum{Strategy: cur.Strategy, Bins: cur.Bins, Temperature: cur.Temperature, Alpha: cur.EMAAlpha, SettledAfter: cur.SettledAfter, SettledWeight: cur.SettledWeight},
		Population: train.Population{Size: c.Train.Population.Size, Vary: c.Train.Population.Vary, Temperature: c.Models.Optimizer.Temperature},
		Shallow:    c.Reflect.Mode == "shallow", Minibatch: s.minibatch(batch), Whole: s.cfg.Reflect.View == config.ViewAgent, Window: s.analystWindow(), FailureOnly: c.Reflect.FailureOnly, SkillAware: c.Reflect.SkillAware,
		FanIn: c.Aggregate.FanIn, Mode: c.Edits.Mode, Budget: c.Edits.Budget.Or(config.AutoBudget), MinBudget: c.Edits.MinBudget, Schedule: mode,
		Gate: c.Gate.Mode, Risk: c.Gate.Risk, Confirm: c.Gate.Confirm, Fresh: c.Gate.Fresh, NullEvery: c.Gate.NullEvery, Alpha: c.Gate.Alpha, Reselect: c.Gate.Reselect, Cluster: c.Gate.Cluster,
		Steady: s.steady(), Reopen: s.reopen,
		Projection: score.Projection{Metric: score.Metric(c.Gate.Metric), MixedWeight: c.Gate.MixedWeight, DensityWeight: c.Gate.DensityWeight},
		SlowUpdate: c.SlowUpdate.Enabled, SlowSamples: c.SlowUpdate.Samples, SlowGated: c.SlowUpdate.Gated, SlowPairs: c.SlowUpdate.Pairs,
		MetaSkill: c.MetaSkill.Enabled, Test: c.Eval.Test, NoSkill: c.Eval.NoSkill,
	}
	o.SecondTry, o.Enough = c.Train.SecondTry, c.Train.Failures
	if c.Reflect.Memory == config.MemoryRun {
		o.Memory = memorySteps
	}
	if s.start != nil {
		o.Warm = train.Warm{Drafts: s.warmDrafts(), Tasks: s.start.Warm}
		o.Few, o.Twice = s.start.Few, s.start.Twice
	}
	return o
}

// minibatch is how many trajectories an analyst reads, 0: as many as fit. Candidates
// that are to differ by their minibatches need one each.
func (s *setup) minibatch(batch int) int {
	size := s.cfg.Reflect.MinibatchSize
	if p := s.cfg.Train.Population; size == config.AutoCount && p.Size > 1 && p.Vary == "minibatches" {
		return max(1, batch/(2*p.Size))
	}
	return size.Or(0)
}

// analystWindow is how many tokens of rollouts one prompt of the optimizer holds.
func (s *setup) analystWindow() int {
	const most = 60_000 // a longer list tires, whatever a model could take
	if window := s.cfg.Reflect.Window; window != config.AutoCount {
		return int(window)
	}
	if context := s.cfg.Models.Optimizer.Context; context > 0 {
		return min(most, context/2)
	}
	return most
}

// steady reports whether the target may be expected to answer alike every time:
// one call at temperature 0, or a simulation.
func (s *setup) steady() bool {
	zero := s.cfg.Models.Target.Temperature != nil && *s.cfg.Models.Target.Temperature == 0
	return !s.episodes() && (zero || s.models[model.Target].Simulated)
}

// cause prefers the reason for which the run was stopped to what followed from
// it.
func (w *world) cause(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if w.timedOut.Load() && errors.Is(err, caller.ErrStopping) {
		limit := w.setup.cfg.Limits.Time.Std()
		return &timeError{used: w.elapsed(), limit: limit}
	}
	// Which call met the end first is chance and says nothing.
	var (
		budget  *caller.BudgetError
		stopped *caller.StoppedError
		waiting *caller.WaitingError
	)
	switch {
	case errors.As(err, &budget):
		return budget
	case errors.As(err, &stopped):
		return w.helped(stopped)
	case errors.As(err, &waiting):
		return w.waiting(waiting)
	case errors.Is(err, caller.ErrStopping), errors.Is(err, context.Canceled), ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		return &stopError{err}
	}
	return w.helped(err)
}

// helped adds to the error of an environment that measures nothing what shows why.
func (w *world) helped(err error) error {
	var (
		stopped *caller.StoppedError
		nothing *train.NothingMeasuredError
	)
	own := w.setup.env == nil && len(w.setup.cfg.Env.Command) > 0
	if !own || !errors.As(err, &nothing) && !(errors.As(err, &stopped) && stopped.Model == "") {
		return err
	}
	return fmt.Errorf("%w\nmend what it says; `skillopt doctor` puts three tasks to env.command and shows them", err)
}

// stopError says that the user, or the program around, ended the run.
type stopError struct{ err error }

func (e *stopError) Error() string { return "the run was stopped before its end" }

func (e *stopError) Unwrap() error { return e.err }

// timeError says that limits.time is reached.
type timeError struct{ used, limit time.Duration }

func (e *timeError) Error() string {
	return fmt.Sprintf("limits.time is reached: %s of %s used in this session; run the same command again to go on with a session of the same length, or raise it",
		e.used.Round(time.Millisecond), e.limit)
}

// announce sends the first events of the run.
func (w *world) announce(o train.Options, plan Plan) {
	s := w.setup
	w.events(event.RunStarted{
		RunDir: w.run.Dir, RunID: w.run.Manifest.RunID, Resumed: w.run.Resumed, Recorded: w.recorded,
		Train: len(s.data.Train), Selection: len(s.data.Selection), Test: len(s.data.Test), Folds: s.data.NumFolds(), Steps: o.Steps(s.data.Drawable()), MaxCalls: plan.Total,
	})
	for _, change := range w.run.Changed {
		w.events(event.Warning{Text: "since the last session, " + change})
	}
	for _, text := range s.warnings {
		w.events(event.Warning{Text: text})
	}
}
