package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Answers are answers that are there already, by the ids of their tasks: they are scored, and
// no target is asked.
type Answers map[string]string

var _ rollout.Program = Answers(nil)

// Answer implements rollout.Program. The answer is left to the checks.
func (a Answers) Answer(_ context.Context, t task.Task, _ skill.Skill, _ model.Client) (trajectory.Outcome, bool, error) {
	text, ok := a[t.ID]
	if !ok {
		return trajectory.Outcome{}, false, fmt.Errorf("task %s has no answer", t.ID)
	}
	return trajectory.Outcome{Status: score.OK, Answer: text}, false, nil
}

// requireAnswers fails where answers cannot replace a target.
func requireAnswers(s *Inputs) error {
	if s.Answers == nil {
		return nil
	}
	if s.Env != nil || s.Config.Agent.Name != "" || len(s.Config.Env.Command) > 0 {
		return fault.Input(errors.New("answers are given, and an environment or an agent as well: one of them carries out the tasks"))
	}
	for _, t := range s.Set.Tasks() {
		if _, ok := s.Answers[t.ID]; !ok {
			return fault.Input(fmt.Errorf("task %s has no answer among those that are given", t.ID))
		}
	}
	return nil
}
