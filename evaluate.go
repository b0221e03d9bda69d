package skillopt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/plural"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Evaluation is the score of one skill.
type Evaluation struct {
	RunDir    string `json:"run_dir"`
	Simulated bool   `json:"simulated"`
	// Exploratory says that tasks of the splits are drafts that nobody has reviewed.
	Exploratory bool `json:"exploratory,omitempty"`

	Skill   string                `json:"skill_hash"`
	Splits  map[string]SplitScore `json:"splits"`
	Calls   CallSummary           `json:"calls"`
	Tokens  TokenSummary          `json:"tokens"`
	CostUSD *float64              `json:"cost_usd"`
	Unknown *UnknownUsage         `json:"usage_unknown,omitempty"` // what of tokens and cost is an estimate
	WallS   float64               `json:"wall_s"`
	// LeftOut is what of agents' requests did not reach the model, each thing once.
	LeftOut []trajectory.LeftOut `json:"left_out,omitempty"`
	// TestReadBefore says who had read the test set before; null: it was not read, or an
	// older program began the run.
	TestReadBefore *TestReads `json:"test_read_before,omitempty"`
}

// SplitScore is the score on one split.
type SplitScore struct {
	Score
	ByType     map[string]Score `json:"by_type,omitempty"`
	Unmeasured []string         `json:"unmeasured,omitempty"` // in one of the passes

	// Repeats is there after several passes (WithPasses): the score is then the
	// mean over all of them.
	Repeats *Repeats `json:"repeats,omitempty"`
}

// Evaluate scores the skill of a configuration on a split: train, selection,
// test or all, once or with fresh samples several times (WithPasses). It is
// recorded as training is. The error is an *Error.
func Evaluate(ctx context.Context, cfg Config, split string, opts ...Option) (*Evaluation, error) {
	s, err := prepare(ctx, cfg, opts, model.Target)
	if err != nil {
		return nil, classify(err, "")
	}
	splits, err := splitsOf(split)
	if err != nil {
		return nil, classify(err, "")
	}
	if err := s.set.Require(splits...); err != nil {
		return nil, classify(err, "")
	}
	s.command = "eval"
	s.identify("evaluate", split)
	s.cfg.Run.Name = s.runName() + "-eval"
	r, err := s.open(ctx)
	if err != nil {
		return nil, classify(err, "")
	}
	e, err := s.evaluate(ctx, r, splits)
	return e, closed(r, err)
}

func splitsOf(name string) ([]task.Split, error) {
	if name == "all" {
		return []task.Split{task.Train, task.Selection, task.Test}, nil
	}
	s, err := task.ParseSplit(name)
	if err != nil {
		return nil, &inputError{fmt.Errorf("--split: %w, or all", err)}
	}
	return []task.Split{s}, nil
}

func (s *setup) evaluate(ctx context.Context, r *run.Run, splits []task.Split) (*Evaluation, error) {
	began := s.now()
	repeats := max(1, s.passes)
	if err := s.askFor(r, repeats*s.count(splits), splits); err != nil {
		return nil, err
	}
	if err := s.writeConfig(r); err != nil {
		return nil, err
	}
	w, err := s.world(ctx, r)
	if err != nil {
		return nil, err
	}
	defer w.close()
	e := &Evaluation{RunDir: r.Dir, Simulated: s.simulated(), Exploratory: s.unreviewed(splits) > 0, Skill: s.skill.Hash(), Splits: map[string]SplitScore{}}
	if e.TestReadBefore, err = w.readsTest(ctx, splits); err != nil {
		return nil, s.endEvaluation(r, w.cause(ctx, err))
	}
	outcomes := map[string][]trajectory.Outcome{}
	for _, split := range splits {
		var all [][]trajectory.Outcome // by pass
		for pass := range repeats {
			out, err := w.scoreSplit(ctx, split, pass)
			if err != nil {
				return nil, s.endEvaluation(r, w.cause(ctx, err))
			}
			all = append(all, out)
			outcomes[string(split)] = append(outcomes[string(split)], out...)
		}
		if e.Splits[string(split)], err = repeatedScore(all); err != nil {
			return nil, err
		}
	}
	var sum Summary
	w.account(&sum)
	e.Calls, e.Tokens, e.CostUSD, e.Unknown, e.WallS = sum.Calls, sum.Tokens, sum.CostUSD, sum.Unknown, s.now().Sub(began).Seconds()
	e.LeftOut = sum.LeftOut
	if err := r.WriteJSON("outcomes.json", trajectory.Named(outcomes)); err != nil {
		return nil, err
	}
	kept := *e
	kept.RunDir = "." // a run directory can be moved
	if err := r.WriteJSON("evaluation.json", kept); err != nil {
		return nil, err
	}
	return e, r.SetStatus("completed")
}

// endEvaluation notes in the manifest how a run ended that has no result.
func (s *setup) endEvaluation(r *run.Run, err error) error {
	if serr := r.SetStatus(statusOf(err)); serr != nil {
		return fmt.Errorf("%w; and %w", err, serr)
	}
	return err
}

// askFor asks before a number of rollouts over splits is paid for.
func (s *setup) askFor(r *run.Run, rollouts int, splits []task.Split) error {
	if s.confirm == nil || r.Resumed {
		return nil
	}
	if err := s.confirm(s.bounded(rollouts, splits...)); err != nil {
		return errors.Join(&inputError{err}, r.Discard())
	}
	return nil
}

// count is the number of tasks in splits.
func (s *setup) count(splits []task.Split) int {
	n := 0
	for _, split := range splits {
		n += len(s.set.Split(split))
	}
	return n
}

func (w *world) scoreSplit(ctx context.Context, split task.Split, pass int) ([]trajectory.Outcome, error) {
	tasks := w.setup.set.Split(split)
	stage, place := "eval "+string(split), rollout.Place{Prefix: "eval/" + string(split), Sample: pass}
	decisionKey := place.Prefix + "/without"
	if pass > 0 {
		stage += fmt.Sprintf(" pass %d", pass+1)
		decisionKey = fmt.Sprintf("%s/pass%d/without", place.Prefix, pass+1)
	}
	w.events(event.StageStarted{Stage: stage, Total: len(tasks)})
	out, err := w.runner.All(ctx, place, tasks, w.setup.skill, w.progress(stage, len(tasks)))
	if err != nil {
		return nil, err
	}
	if err := w.health(); err != nil {
		return nil, err
	}
	var keys []string
	var reason string
	for i, o := range out {
		if !o.Status.Measured() {
			reason = o.FailReason
			keys = append(keys, place.Key(tasks[i]))
		}
	}
	if len(keys) == 0 {
		return out, nil
	}
	if !gate.Enough(len(out), len(keys)) {
		return nil, &train.NothingMeasuredError{Place: place.Prefix, Reason: fmt.Sprintf("%d of %s without a score: %s", len(keys), plural.Of(len(out), "item is", "items are"), reason)}
	}
	decision, err := json.Marshal(map[string]any{"without": keys})
	if err != nil {
		return nil, fmt.Errorf("encode decision: %w", err)
	}
	return out, w.caller.Unmeasured(ctx, decisionKey, decision, keys)
}

func splitScore(a train.Arm) SplitScore {
	out := SplitScore{Score: *scoreOf(&a), Unmeasured: a.Unmeasured}
	for name, t := range a.ByType {
		if out.ByType == nil {
			out.ByType = map[string]Score{}
		}
		if s := scoreOf(&t); s != nil {
			out.ByType[name] = *s
		}
	}
	return out
}
