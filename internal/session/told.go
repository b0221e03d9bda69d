package session

import (
	"github.com/seed-f4525e22/skillopt/internal/agent"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// example returns the function that makes a worked example of a task: its prompt, and its
// answer as a reply from which it is extracted. Nil: the target is no chat.
func (s *Inputs) example() func(task.Task) (skill.Example, bool) {
	if s.Episodes() {
		return nil
	}
	question, pages := s.ChatPrompt(nil), namedPages(s)
	return func(t task.Task) (skill.Example, bool) {
		images, err := t.Images()
		if err != nil || len(images) > 0 || len(pages.Addresses(t)) > 0 {
			return skill.Example{}, false
		}
		_, text, err := question.Texts(t)
		e := skill.Example{Task: text}
		if len(t.Gold) > 0 {
			e.Answer = s.Extract.Reply(t.Gold[0])
		}
		return e, err == nil
	}
}

// TargetContext returns what the target is given with a task apart from it and the skill. It leaves
// out what looks like a secret or is one of hide, as the optimizer may be somebody else's. What an
// environment or an agent of somebody else says to its model is not known: nil.
func (s *Inputs) TargetContext(hide *redact.Exact) func(task.Task, skill.Skill) optimize.Told {
	mask := masker(hide, s.Loaded.Redactor())
	masked := func(system, tools string) optimize.Told { return optimize.Told{System: mask(system), Tools: tools} }
	switch {
	case s.Config.Agent.Name != "":
		return func(_ task.Task, sk skill.Skill) optimize.Told {
			if s.Config.Agent.Mode == string(agent.File) {
				sk = skill.New(optimize.SkillMark)
			}
			return masked(wiring.AgentTold(s.Config.Agent, s.Documents, sk))
		}
	case s.Env != nil, len(s.Config.Env.Command) > 0:
		return nil
	}
	question := s.ChatPrompt(nil)
	return func(t task.Task, sk skill.Skill) optimize.Told {
		return masked(question.SystemMessage(t, sk, optimize.SkillMark), "")
	}
}
