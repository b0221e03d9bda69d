package rollout

import (
	"context"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/trajectory"
	"github.com/seed-f4525e22/skillopt/world"
)

// Solo is a CodingAgent: a program that asks the target by itself.
type Solo struct {
	Program interface {
		// Play returns the end of an episode, with its score, and what was said to the target and by it.
		Play(ctx context.Context, s world.Setting, sk skill.Skill) (end world.Observation, said []model.Message, err error)
	}
	Timeout time.Duration // of one task, which is not measured beyond it
}

// Work implements CodingAgent.
func (p Solo) Work(ctx context.Context, job AgentJob) (AgentReport, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, p.Timeout, errDeadline)
	defer cancel()
	end, said, err := p.Program.Play(ctx, job.newSetting(), job.Skill)
	did := AgentReport{Answer: end.Text, Failure: end.Failure, Score: end.Score}
	for _, m := range said {
		did.Turns = append(did.Turns, trajectory.Turn{Role: m.Role, Content: wording.Middle(m.Content, maxSaid)})
	}
	return did, newWorldError(ctx, job.Task, err)
}

// newSetting returns what an episode begins with that carries out the job.
func (j AgentJob) newSetting() world.Setting {
	return world.Setting{Task: j.Task, Seed: j.Seed, Dir: j.Dir, Client: j.Client}
}
