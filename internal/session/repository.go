package session

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/repository"
	"github.com/seed-f4525e22/skillopt/task"
)

// loadRepository opens the folder of the repository whose tasks are carried out.
func (s *loader) loadRepository(ctx context.Context) (err error) {
	dir := s.Config.Agent.Repository
	if dir == "" {
		return nil
	}
	s.repository, err = repository.Open(ctx, dir, func(name string) string { v, _ := s.Loaded.Lookup(name); return v })
	if err != nil {
		return s.fileError("agent.repository", dir, "a folder that init --repo wrote", err)
	}
	s.Contents["agent.repository"] = s.repository.Digest()
	return nil
}

// checkRepository fails for tasks that say not what they are made of, and for tests without a repository.
func (s *loader) checkRepository(context.Context) error {
	if s.Counting && s.Tasks == nil {
		return nil
	}
	var errs []error
	for _, t := range s.Set.Tasks() {
		if s.repository != nil {
			_, err := repository.Read(t)
			errs = append(errs, err)
		} else if s.Suite != nil && s.Scorer == nil && runsTests(s.Suite.Commands(t)) {
			return fault.Input(errors.New("tasks.checks: the check tests needs agent.repository, the folder that init --repo wrote"))
		}
	}
	return fault.Input(errors.Join(errs...))
}

func runsTests(list []check.Command) bool {
	for _, c := range list {
		if c.Tests {
			return true
		}
	}
	return false
}

// layRepository fills the workspace of a task. A trigger task needs none of the repository.
func (s *Session) layRepository(ctx context.Context, root *os.Root, home string, t task.Task) error {
	if _, there := t.Data[repository.Field]; !there && t.Trigger != "" {
		return nil
	}
	if err := s.repository.Lay(ctx, root, home, t); err != nil {
		return fmt.Errorf("lay the tree of the task: %w", err)
	}
	return nil
}
