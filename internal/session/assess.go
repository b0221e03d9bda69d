package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/commands"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/task"
)

// scorer scores what rollouts leave, by the checks of the configuration. What a judge or
// a command says is recorded.
type scorer struct {
	*Session
	slots chan struct{} // bounds the commands of checks that run at once
}

// assess finds the answer in what a rollout left and scores it.
func (s *scorer) assess(ctx context.Context, key string, t task.Task, ev rollout.Evidence) (a rollout.Assessment, err error) {
	if a.Answer, a.Extracted, err = s.Extract.Extract(ev.Reply); err != nil {
		return a, caller.Unmeasurable(err)
	}
	a.Score, err = s.score(ctx, key, t, a, ev)
	return a, err
}

// assessAnswer scores what is an answer already.
func (s *scorer) assessAnswer(ctx context.Context, key string, t task.Task, ev rollout.Evidence) (a rollout.Assessment, err error) {
	a.Answer = ev.Reply
	a.Score, err = s.score(ctx, key, t, a, ev)
	return a, err
}

// score scores an answer, and what was left with it. What a judge or a command
// says is recorded by itself.
func (s *scorer) score(ctx context.Context, key string, t task.Task, a rollout.Assessment, ev rollout.Evidence) (score.Score, error) {
	if s.Scorer != nil {
		got := s.Scorer(a.Answer, t)
		got.Cause = "" // those are of a fixed list
		return got, nil
	}
	evidence := check.Evidence{Answer: a.Answer, NotFound: a.Extracted == check.NothingFound}
	if s.Suite.Needs(t) == (check.Needs{}) {
		got, err := s.Suite.Assess(ctx, evidence, t, check.Means{})
		return got, caller.Unmeasurable(err)
	}
	if _, err := os.Lstat(ev.Dir); s.Suite.Needs(t).Workspace && errors.Is(err, fs.ErrNotExist) {
		// An agent that deletes its workspace has failed before this. It has gone
		// since: a run directory was moved without it, or somebody tidied up.
		return score.Score{}, caller.Unmeasurable(fmt.Errorf("the workspace %s is gone, and with it what the agent did: it cannot be scored any more", ev.Dir))
	}
	before, err := manifest(ev)
	if err != nil {
		return score.Score{}, caller.Unmeasurable(err)
	}
	evidence.Turns, evidence.Dir, evidence.Before = ev.Turns, ev.Dir, before
	got, err := s.Suite.Assess(ctx, evidence, t, check.Means{
		Command: func(ctx context.Context, id string, c check.Command) (check.CommandResult, error) {
			return s.command(ctx, key+"/"+id, t, ev, c)
		},
		Judge: func(ctx context.Context, id string, q check.JudgeRequest) (string, error) {
			return s.judge(ctx, key+"/"+id, q)
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
func (s *scorer) judge(ctx context.Context, key string, q check.JudgeRequest) (string, error) {
	seed := caller.Seed(s.Config.Train.Seed, key, q.Vote)
	resp, err := s.Caller.Do(ctx, caller.Call{
		Key: key, Turn: 1, Role: model.Judge, Stage: model.StageJudge, Seed: &seed, Accept: q.Usable,
		Messages: []model.Message{{Role: model.System, Content: q.System}, {Role: model.User, Content: q.User}},
		Schema:   &model.Schema{Name: q.Name, JSON: q.Schema},
		Reask:    caller.Reask{Same: 3, WithError: 1},
	})
	return resp.Text, err
}

// command runs the command of a check, as a step of its own.
func (s *scorer) command(ctx context.Context, key string, t task.Task, ev rollout.Evidence, c check.Command) (check.CommandResult, error) {
	var result check.CommandResult
	own, err := json.Marshal(c)
	if err != nil {
		return result, fmt.Errorf("encode command: %w", err)
	}
	programs := s.Commands()
	raw, err := s.Caller.Check(ctx, caller.CheckCall{Key: key, Shared: [][]byte{[]byte(ev.Digest)}, Own: own}, func(ctx context.Context) ([]byte, error) {
		if err := programs.Refuse(c, ev.Dir); err != nil {
			return nil, err
		}
		select {
		case s.slots <- struct{}{}:
			defer func() { <-s.slots }()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		result, err := check.Carry(ctx, ev.Dir, c, func(ctx context.Context, c check.Command) (check.CommandResult, error) {
			return programs.Run(ctx, commands.Step{Task: t, Dir: ev.Dir, RunDir: s.Run.Dir, Command: c, Hide: s.hide})
		})
		if err == nil {
			err = c.Measured(result)
		}
		if err != nil {
			return nil, err
		}
		data, err := json.Marshal(result)
		return s.hide.JSON(data), err
	})
	if err != nil {
		return result, err
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		return result, fmt.Errorf("read the recorded command of %s: %w", key, err)
	}
	return result, nil
}
