package skillopt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/env"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
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
		select {
		case w.commands <- struct{}{}:
			defer func() { <-w.commands }()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		result, err := check.Carry(ctx, ev.Dir, c, func(ctx context.Context, c check.Command) (check.CommandResult, error) {
			return w.setup.confined(ctx, t, ev.Dir, c)
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

// confined runs the command of a check within the workspace and a folder for its
// temporary files. It may read what is beside the config, where its scripts are.
func (s *setup) confined(ctx context.Context, t task.Task, dir string, c check.Command) (result check.CommandResult, err error) {
	temp, err := os.MkdirTemp("", "skillopt-check-")
	if err != nil {
		return result, fmt.Errorf("make a folder for temporary files: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	config, scripts, err := s.besideConfig()
	if err != nil {
		return result, err
	}
	about, err := json.Marshal(t)
	if err != nil {
		return result, fmt.Errorf("encode task %s: %w", t.ID, err)
	}
	environ := append(s.plainEnviron(temp), "WORKSPACE="+dir, "CONFIG_DIR="+config, "TASK="+string(about), "GOLD="+strings.Join(t.Gold, "\n"))
	var out tail
	spec := sandbox.Spec{Argv: c.Argv, Dir: dir, Env: environ, Stdout: &out, Timeout: c.Timeout}
	if s.cfg.Agent.Sandbox == "auto" {
		spec.Confine = &sandbox.Confine{Write: []string{dir, temp}, Read: append(scripts, s.readable()...), Network: c.Network}
	}
	r, err := sandbox.Run(ctx, spec)
	if err != nil {
		return result, fmt.Errorf("run the command of a check: %w", err)
	}
	result = check.CommandResult{Code: r.Code, Signal: r.Signal, Stdout: out.text(), Stderr: r.Stderr}
	switch r.Reason {
	case sandbox.Exited:
		result.End = check.EndExit
	case sandbox.Deadline:
		result.End = check.EndDeadline
	case sandbox.Flooded:
		result.End = check.EndFlood
	case sandbox.Cancelled:
		return result, fmt.Errorf("run the command of a check: %w", context.Cause(ctx))
	}
	return result, nil
}

// besideConfig returns the folder of the config, and what commands may read of it:
// they run what agents have written. Hidden files, such as .env with the keys, are
// not for them.
func (s *setup) besideConfig() (dir string, visible []string, err error) {
	if dir, err = filepath.Abs(s.loaded.Dir); err != nil {
		return "", nil, fmt.Errorf("find the config's folder: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", nil, fmt.Errorf("read the config's folder: %w", err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && e.Type()&fs.ModeSymlink == 0 {
			visible = append(visible, filepath.Join(dir, e.Name()))
		}
	}
	return dir, visible, nil
}

// hidden takes credentials out of what programs say. In a replay nothing is read
// of them.
func (s *setup) hidden() *redact.Exact {
	if s.replay != nil {
		return nil
	}
	return wire.Hidden(s.cfg, s.loaded.Lookup)
}

// plainEnviron is what every program may know of the environment, with a home of
// its own.
func (s *setup) plainEnviron(home string) []string {
	var environ []string
	for _, v := range env.Allowed(s.loaded.Lookup) {
		if !hasName(v, "HOME") && !hasName(v, "TMPDIR") {
			environ = append(environ, v)
		}
	}
	return append(environ, "HOME="+home, "TMPDIR="+home)
}

func hasName(v, name string) bool {
	return len(v) > len(name) && v[:len(name)] == name && v[len(name)] == '='
}

// tail keeps the end of what is written to it.
type tail struct{ kept []byte }

const maxTail = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - maxTail; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(p), nil
}

func (t *tail) text() string { return string(t.kept) }
