package commands

import (
	"context"
	"errors"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/internal/repository"
)

// grade runs the tests of the task of a step on what the agent left. They pass with code 0.
func (s *Commands) grade(ctx context.Context, st Step) (check.CommandResult, error) {
	if s.Repository == nil {
		return check.CommandResult{}, errors.New("run the tests of a task: it is of no repository")
	}
	own, err := repository.Read(st.Task)
	if err != nil {
		return check.CommandResult{}, err
	}
	g, err := s.Repository.Grade(ctx, own, st.Dir)
	if err != nil {
		return check.CommandResult{}, err
	}
	result := check.CommandResult{End: check.EndExit, Stdout: st.Hide.Text(g.Text())}
	if !g.Passed {
		result.Code = 1
	}
	return result, nil
}
