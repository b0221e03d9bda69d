package skillopt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/wire"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/task"
)

// assess finds the answer in what a rollout left and scores it.
func (w *world) assess(ctx context.Context, key string, t task.Task, ev rollout.Evidence) (string, score.Score, error) {
	answer, err := w.setup.extract.Answer(ev.Reply)
	if err != nil {
		return "", score.Score{}, caller.Unmeasurable(err)
	}
	got, err := w.score(ctx, key, t, answer, ev)
	return answer, got, err
}

// assessAnswer scores what is an answer already.
func (w *world) assessAnswer(ctx context.Context, key string, t task.Task, ev rollout.Evidence) (string, score.Score, error) {
	got, err := w.score(ctx, key, t, ev.Reply, ev)
	return ev.Reply, got, err
}

// score scores an answer, and what was left with it. What a judge or a command
// says is recorded by itself.
func (w *world) score(ctx context.Context, key string, t task.Task, answer string, ev rollout.Evidence) (score.Score, error) {
	s := w.setup
	if s.scorer != nil {
		return s.scorer(answer, t), nil
	}
	if s.suite.Needs(t) == (check.Needs{}) {
		got, err := s.suite.Assess(ctx, check.Evidence{Answer: answer}, t, check.Means{})
		return got, caller.Unmeasurable(err)
	}
	if _, err := os.Lstat(ev.Dir); s.suite.Needs(t).Workspace && errors.Is(err, fs.ErrNotExist) {
		// An agent that deletes its workspace has failed before this. It has gone
		// since: a run directory was moved without it, or somebody tidied up.
		return score.Score{}, caller.Unmeasurable(fmt.Errorf("the workspace %s is gone, and with it what the agent did: it cannot be scored any more", ev.Dir))
	}
	before, err := manifest(ev)
	if err != nil {
		return score.Score{}, caller.Unmeasurable(err)
	}
	got, err := s.suite.Assess(ctx, check.Evidence{Answer: answer, Turns: ev.Turns, Dir: ev.Dir, Before: before}, t, check.Means{
		Command: func(ctx context.Context, id string, c check.Command) (check.CommandResult, error) {
			return w.command(ctx, key+"/"+id, t, ev, c)
		},
		Judge: func(ctx context.Context, id string, q check.Question) (string, error) {
			return w.judge(ctx, key+"/"+id, q)
		},
	})
	return got, caller.Unmeasurable(err)
}

// manifest returns what was in a workspace before the agent began to work: what
// was recorded, and what was put there for it since.
func manifest(ev rollout.Evidence) (check.Manifest, error) {
	var before check.Manifest
	if len(ev.Before) == 0 {
		return before, nil
	}
	if err := json.Unmarshal(ev.Before, &before); err != nil {
		return before, fmt.Errorf("read the recorded workspace: %w", err)
	}
	if len(ev.Written) == 0 {
		return before, nil
	}
	now, err := check.Snapshot(ev.Dir)
	if err != nil {
		return before, nil // what the agent made of its workspace is for the checks to judge
	}
	for _, name := range ev.Written {
		if f, ok := now.Files[name]; ok {
			before.Files[name] = f
		}
	}
	return before, nil
}

// judge asks the judge once, as a step of its own.
func (w *world) judge(ctx context.Context, key string, q check.Question) (string, error) {
	seed := caller.Seed(w.setup.cfg.Train.Seed, key, q.Vote)
	resp, err := w.caller.Do(ctx, caller.Call{
		Key: key, Turn: 1, Role: model.Judge, Stage: model.StageJudge, Seed: &seed, Accept: q.Usable,
		Messages: []model.Message{{Role: model.System, Content: q.System}, {Role: model.User, Content: q.User}},
		Schema:   &model.Schema{Name: q.Name, JSON: q.Schema},
		Reask:    caller.Reask{Same: 3, WithError: 1},
	})
	return resp.Text, err
}

// command runs the command of a check, as a step of its own.
func (w *world) command(ctx context.Context, key string, t task.Task, ev rollout.Evidence, c check.Command) (check.CommandResult, error) {
	var result check.CommandResult
	own, err := json.Marshal(c)
	if err != nil {
		return result, fmt.Errorf("encode command: %w", err)
	}
	raw, err := w.caller.Check(ctx, caller.CheckCall{Key: key, Shared: [][]byte{[]byte(ev.Digest)}, Own: own}, func(ctx context.Context) ([]byte, error) {
		if err := w.setup.refuse(c, ev.Dir); err != nil {
			return nil, err
		}
		select {
		case w.commands <- struct{}{}:
			defer func() { <-w.commands }()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		result, err := check.Carry(ctx, ev.Dir, c, func(ctx context.Context, c check.Command) (check.CommandResult, error) {
			return w.setup.confined(ctx, step{task: t, dir: ev.Dir, run: w.run.Dir, command: c, hide: w.hide})
		})
		if err == nil {
			err = c.Measured(result)
		}
		if err != nil {
			return nil, err
		}
		data, err := json.Marshal(result)
		return w.hide.JSON(data), err
	})
	if err != nil {
		return result, err
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		return result, fmt.Errorf("read the recorded command of %s: %w", key, err)
	}
	return result, nil
}

// hidden takes credentials out of what programs say. In a replay nothing is read
// of them.
func (s *setup) hidden() *redact.Exact {
	if s.replay != nil {
		return nil
	}
	return wire.Hidden(s.cfg, s.loaded.Lookup)
}
