// Package evaluate is the operation that scores one skill on splits, and the one that
// asks every selection task twice to measure chance.
//
// It knows sessions and scores. It knows nothing of training.
package evaluate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/forecast"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/session"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Run scores the skill of a configuration on a split: train, selection, test or all.
func Run(ctx context.Context, cfg config.Config, split string, o session.Options) (*result.Evaluation, error) {
	splits, err := session.Splits(split)
	if err != nil {
		return nil, err
	}
	s, err := session.Prepare(ctx, cfg, o, model.Target)
	if err != nil {
		return nil, err
	}
	e := &evaluation{session: s, whole: map[task.Split]int{}, splits: splits, repeats: max(1, s.Passes), outcomes: map[string][]trajectory.Outcome{}}
	about := map[string]string{"evaluate": split}
	if err := noteTuned(about, s.Tuned, splits); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	digest, err := s.TriggersDigest()
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if digest != "" {
		about[session.TriggersKey] = digest
	}
	for _, split := range splits {
		e.whole[split] = s.Set.Count(split) + s.Triggers.Count(split)
	}
	some, err := only(s, splits)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if some != "" {
		about[onlyKey] = some
	}
	err = s.Do(ctx, session.Op{
		Kind: result.Evaluate, Suffix: "-eval", About: about,
		Check: e.require,
		Ask:   e.plan,
		Begin: e.keepTuned,
		Work:  e.work,
	})
	return e.result, err
}

// evaluation is one run of it.
type evaluation struct {
	session  *session.Session
	splits   []task.Split
	repeats  int
	whole    map[task.Split]int // tasks of each split, before some were left out
	outcomes map[string][]trajectory.Outcome
	result   *result.Evaluation // nil: it has not finished
}

// plan returns what the evaluation takes. Each task counts as often as it is asked for, but once
// where the record answers what is asked again.
func (e *evaluation) plan(ctx context.Context) (result.Plan, error) {
	s := e.session
	n := s.Count(e.splits) + e.countTriggers()
	p := forecast.Rollouts(s, e.repeats*n, e.splits...)
	p.Unreviewed += session.Drafts(s.Triggers, e.splits)
	var tasks []task.Task
	for _, split := range e.splits {
		tasks = slices.Concat(tasks, s.Set.Split(split), s.Triggers.Split(split))
	}
	return p, forecast.Measure(ctx, s, &p, forecast.Measuring{Rollouts: forecast.NewExactInterval(e.repeats * n), Tasks: tasks, Skills: []skill.Skill{s.Skill}})
}

func (e *evaluation) work(ctx context.Context) (result.Status, error) {
	s := e.session
	out := &result.Evaluation{RunDir: s.Run.Dir, Simulated: s.Simulated(), Exploratory: s.CountDrafts(e.splits)+session.Drafts(s.Triggers, e.splits) > 0, Limit: s.Config.Tasks.Limit, Tuned: s.Tuned, Skill: s.Skill.Digest(), Splits: map[string]result.SplitScore{}}
	s.EmitWarnings()
	session.WarnOfPages(s)
	var err error
	if out.TestReadBefore, err = s.ReadTest(ctx, e.splits); err != nil {
		return "", err
	}
	for _, split := range e.scoredSplits() {
		session.WarnOfExamples(s, s.Skill, s.Set.Split(split))
		if out.Splits[string(split)], err = e.score(ctx, split); err != nil {
			return "", err
		}
	}
	if out.Triggers, err = e.triggers(ctx); err != nil {
		return "", err
	}
	out.Some = e.some()
	out.Usage, _ = s.Account()
	out.LeftOut = s.LeftOut()
	if err := s.Run.WriteJSON("outcomes.json", trajectory.Named(e.outcomes)); err != nil {
		return "", err
	}
	kept := *out
	kept.RunDir = "." // a run directory can be moved
	if err := s.Run.WriteJSON("evaluation.json", kept); err != nil {
		return "", err
	}
	e.result = out
	return result.Completed, nil
}

// some returns how many tasks of how many are scored, by split; nil if all are.
func (e *evaluation) some() map[string]result.Share {
	var out map[string]result.Share
	for split, all := range e.whole {
		n := e.session.Set.Count(split) + e.session.Triggers.Count(split)
		if n == all {
			continue
		}
		if out == nil {
			out = map[string]result.Share{}
		}
		out[string(split)] = result.Share{Tasks: n, Of: all}
	}
	return out
}

// score scores one split in all passes.
func (e *evaluation) score(ctx context.Context, split task.Split) (result.SplitScore, error) {
	var all [][]trajectory.Outcome // by pass
	for pass := range e.repeats {
		out, err := rollOut(ctx, e.session, e.session.Set.Split(split), string(split), pass)
		if err != nil {
			return result.SplitScore{}, err
		}
		all = append(all, out)
		e.outcomes[string(split)] = append(e.outcomes[string(split)], out...)
	}
	s, err := repeatedScore(all)
	if err == nil {
		s.TrainedOn, err = e.session.TrainedOn(ctx, e.session.Skill, e.session.Set.Split(split))
	}
	return s, err
}

// rollOut rolls out tasks once; name distinguishes them from others in the record.
func rollOut(ctx context.Context, s *session.Session, tasks []task.Task, name string, pass int) ([]trajectory.Outcome, error) {
	stage, place := "eval "+name, rollout.Place{Prefix: "eval/" + name, Sample: pass}
	decisionKey := place.Prefix + "/without"
	if pass > 0 {
		stage += fmt.Sprintf(" pass %d", pass+1)
		decisionKey = fmt.Sprintf("%s/pass%d/without", place.Prefix, pass+1)
	}
	s.Emit(event.StageStarted{Stage: stage, Total: len(tasks)})
	out, err := s.Runner.All(ctx, place, tasks, s.Skill, s.Progress(stage, len(tasks)))
	if err != nil {
		return nil, err
	}
	if err := s.Health(); err != nil {
		return nil, err
	}
	return out, giveUp(ctx, s, place, decisionKey, tasks, out)
}

// giveUp records that a score is made without what could not be measured, or fails where
// that is too much.
func giveUp(ctx context.Context, s *session.Session, place rollout.Place, decisionKey string, tasks []task.Task, out []trajectory.Outcome) error {
	var keys []string
	var reason string
	for i, o := range out {
		if !o.Status.Measured() {
			reason = o.FailReason
			keys = append(keys, place.Key(tasks[i]))
		}
	}
	if len(keys) == 0 {
		return nil
	}
	if !gate.Enough(len(out), len(keys)) {
		return &train.NothingMeasuredError{Place: place.Prefix, Reason: fmt.Sprintf("%d of %s without a score: %s", len(keys), wording.Plural(len(out), "item is", "items are"), reason)}
	}
	decision, err := json.Marshal(map[string]any{"without": keys})
	if err != nil {
		return fmt.Errorf("encode decision: %w", err)
	}
	return s.Caller.Unmeasured(ctx, decisionKey, decision, keys)
}

func splitScore(a result.Arm) result.SplitScore {
	out := result.SplitScore{Score: *a.Score(), Unmeasured: a.Unmeasured}
	for name, t := range a.ByType {
		if out.ByType == nil {
			out.ByType = map[string]result.Score{}
		}
		if s := t.Score(); s != nil {
			out.ByType[name] = *s
		}
	}
	return out
}
