package session

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/schedule"
	"github.com/seed-f4525e22/skillopt/task"
)

// TrainDescription prepares trigger tasks for training, where edits.description says that
// the description may change; an operation that trains calls it before anything else.
// Next to other tasks they guard the description. Alone they are what is trained on: the
// description is then all that may change, and the splits that judge hold as many prompts
// of either kind, so that the share of right ones is the balanced rate.
func TrainDescription(in *Inputs) error {
	s := describing{in}
	if !s.Config.Edits.Description {
		return nil
	}
	if err := s.describable(); err != nil {
		return fault.Input(fmt.Errorf("edits.description: %w", err))
	}
	digest, err := s.TriggersDigest()
	if err != nil {
		return err
	}
	s.Identify(TrainTriggersKey, digest)
	if s.Set.Len() > 0 {
		s.Data.Triggers = map[task.Split][]task.Task{}
		for _, split := range []task.Split{task.Train, task.Selection, task.Test} {
			s.Data.Triggers[split] = s.Triggers.Split(split)
		}
		return nil
	}
	return s.triggersAlone()
}

// describing prepares the training of a description.
type describing struct{ *Inputs }

// describable fails if the description cannot be trained with the configuration.
func (s describing) describable() error {
	if s.Triggers.Len() == 0 {
		return errors.New("there are no trigger tasks, which show whether an agent loads the skill: add prompts with trigger: should and trigger: should_not to the tasks; `skillopt init --triggers 20` drafts them")
	}
	if _, err := s.Skill.WithDescription("Any description."); err != nil {
		return fmt.Errorf("skill: %w", err)
	}
	if why := Untellable(s.Inputs); why != "" {
		return errors.New(why)
	}
	for _, kind := range []task.Trigger{task.TriggerShould, task.TriggerShouldNot} {
		if len(ofKind(s.Triggers.Split(task.Selection), kind)) == 0 {
			return fmt.Errorf("the selection split has no trigger task of the kind %s: a description is judged by both kinds, else one that always loads the skill, or never, would be the best; add some", kind)
		}
	}
	if s.Triggers.Count(task.Train) == 0 {
		return errors.New("the train split has no trigger task for the optimizer to learn from: add some")
	}
	return nil
}

// triggersAlone makes the trigger tasks those of the run.
func (s describing) triggersAlone() error {
	switch c := s.Config; {
	case c.Reflect.SkillAware:
		return fault.Input(errors.New("reflect.skill_aware: true, allowed: false with trigger tasks alone, where the description is all that may change"))
	case c.Eval.NoSkill:
		return fault.Input(errors.New("eval.no_skill: true, allowed: false with trigger tasks alone: without a skill there is nothing to load"))
	}
	s.Config.SlowUpdate.Enabled = false // it writes into the body, and trigger tasks say nothing about the body
	s.Set, s.Scope = s.Triggers, s.Scope.WithDescriptionAlone()
	s.Contents["tasks.path"] = s.Names[TrainTriggersKey]
	s.Data.Train = s.Triggers.Split(task.Train)
	s.Data.Selection = s.balancedSplit(task.Selection)
	s.Data.Test = s.balancedSplit(task.Test)
	return nil
}

// balancedSplit returns a split with as many trigger tasks of either kind; it warns of those that
// are left out.
func (s describing) balancedSplit(split task.Split) []task.Task {
	kept, surplus := balanceTriggers(s.Triggers.Split(split))
	if len(surplus) > 0 {
		s.Warn(fmt.Sprintf("the %s split has more trigger tasks of the kind %s than of the other: %s left out, so that both count alike", split, surplus[0].Trigger, wording.Plural(len(surplus), "task is", "tasks are")))
	}
	return kept
}

// balanceTriggers returns the first of some trigger tasks, as many of either kind, and the others.
func balanceTriggers(tasks []task.Task) (kept, surplus []task.Task) {
	most := min(len(ofKind(tasks, task.TriggerShould)), len(ofKind(tasks, task.TriggerShouldNot)))
	seen := map[task.Trigger]int{}
	for _, t := range tasks {
		if seen[t.Trigger]++; seen[t.Trigger] <= most {
			kept = append(kept, t)
		} else {
			surplus = append(surplus, t)
		}
	}
	return kept, surplus
}

func ofKind(tasks []task.Task, kind task.Trigger) []task.Task {
	var out []task.Task
	for _, t := range tasks {
		if t.Trigger == kind {
			out = append(out, t)
		}
	}
	return out
}

// Untellable returns why no one can report whether the agent loads the skill, "" if someone can.
func Untellable(s *Inputs) string {
	return cmp.Or(rollout.Untellable(s.Skill), wiring.UntellableAgent(s.Config.Agent.Gateway, s.Config.Agent.Name))
}

// AgentName returns the name of the agent, and of the model in it if the config names one.
func AgentName(s *Inputs) string {
	if s.Config.Models.Target.Model == "" {
		return s.Config.Agent.Name
	}
	return s.Config.Agent.Name + " with " + s.Config.Models.Target.Model
}

// cutByKind divides trigger tasks so that each split has its share of either kind.
func (s *loader) cutByKind() (map[task.Split][]int, error) {
	var out schedule.Split
	for _, kind := range []task.Trigger{task.TriggerShould, task.TriggerShouldNot} {
		var of []int
		for i, t := range s.Triggers.Tasks() {
			if t.Trigger == kind {
				of = append(of, i)
			}
		}
		parts, err := s.cut(len(of))
		if err != nil {
			return nil, err
		}
		for from, to := range map[*[]int]*[]int{&parts.Train: &out.Train, &parts.Selection: &out.Selection, &parts.Test: &out.Test} {
			for _, k := range *from {
				*to = append(*to, of[k])
			}
		}
	}
	return byName(out), nil
}
