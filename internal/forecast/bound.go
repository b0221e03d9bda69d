package forecast

import (
	"slices"

	"github.com/seed-f4525e22/skillopt/internal/session"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/task"
)

// Bound returns the upper bound of a training run.
func Bound(s *session.Session, o train.Options) result.Plan {
	p := result.Plan{
		Stages:    o.Plan(s.Data.Sizes()),
		Simulated: s.Simulated(),
		Limit:     s.Config.Tasks.Limit,
	}
	p.Unreviewed = s.UnreviewedInTraining()
	bound(s, &p, s.Set.Tasks())
	return p
}

// bound completes the stages of a plan over tasks: the second turns that pages give
// occasion to, the requests to judges, and the sums.
func bound(s *session.Session, p *result.Plan, tasks []task.Task) {
	most := 0
	if s.Scorer == nil && s.Env == nil {
		for _, t := range tasks {
			most = max(most, s.Suite.JudgeCalls(t))
		}
	}
	each := turns(s, tasks)
	if each > 1 {
		p.Pages = session.PagesNotice(s.Inputs)
	}
	for i, st := range slices.Clone(p.Stages) {
		p.Total += st.Calls
		if st.Stage != model.StageRollout {
			continue
		}
		p.Stages[i].Calls *= each
		p.Total += st.Calls * (each - 1)
		if s.Episodes() {
			p.Episodes += st.Calls
			if s.InWorld() && s.Config.Agent.Name == "" {
				p.EpisodeCalls = s.EpisodeCalls()
			}
		}
		if most > 0 {
			p.Total += most * st.Calls
			p.Stages = append(p.Stages, result.StageCalls{Stage: model.StageJudge, Calls: most * st.Calls})
		}
	}
}

// turns returns how often a chat target is asked at most in a rollout of one of the tasks.
func turns(s *session.Session, tasks []task.Task) int {
	pages := session.Pages(s)
	if slices.ContainsFunc(tasks, func(t task.Task) bool { return len(pages.Addresses(t)) > 0 }) {
		return 2
	}
	return 1
}

// Rollouts returns the plan of a number of rollouts over splits.
func Rollouts(s *session.Session, rollouts int, splits ...task.Split) result.Plan {
	p := result.Plan{Simulated: s.Simulated(), Unreviewed: s.CountDrafts(splits), Limit: s.Config.Tasks.Limit, Stages: []result.StageCalls{{Stage: model.StageRollout, Calls: rollouts}}}
	var tasks []task.Task
	for _, split := range splits {
		tasks = append(tasks, s.Set.Split(split)...)
	}
	bound(s, &p, tasks)
	return p
}
