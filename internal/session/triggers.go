package session

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/agent"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/schedule"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// noTriggers returns why trigger tasks cannot be measured with the configuration, and what would
// allow them; "" if they can.
func (s *loader) noTriggers() string {
	const allowed = "allowed are trigger tasks with an agent (agent.name) in the mode native (agent.mode), which finds the skill by itself, or does not"
	switch a := s.Config.Agent; {
	case s.Counting && s.Loaded.File == "": // a file of tasks alone: who measures it is not known
		return ""
	case s.OwnEnv():
		return "an environment carries out the tasks of this configuration; " + allowed
	case a.Name == "":
		return "this configuration has no agent; " + allowed
	case a.Mode != string(agent.Native):
		return fmt.Sprintf("agent.mode is %s, in which no agent decides whether to load the skill; %s", a.Mode, allowed)
	}
	return ""
}

// nameWarnings returns warnings of trigger tasks whose prompts name the skill: that it is loaded
// then says nothing of its description.
func (s *loader) nameWarnings() []string {
	name := ""
	if folders := wiring.SkillFolders(s.Skill, s.Config.Agent.SkillName); len(folders) > 0 {
		name = folders[0][strings.LastIndexByte(folders[0], '/')+1:]
	}
	var out []string
	for _, t := range s.Triggers.Tasks() {
		asked := strings.ToLower(t.Prompt)
		if strings.Contains(asked, strings.ToLower(skill.Main)) || strings.Contains(name, "-") && strings.Contains(asked, name) || strings.Contains(asked, "/"+name) || strings.Contains(asked, name+" skill") {
			out = append(out, fmt.Sprintf("%s: task %q: its prompt names the skill (%s): whether an agent loads it then says nothing of the description", t.Origin, t.ID, name))
		}
	}
	return out
}

// divideTriggers gives every trigger task a split: by the same ratio, apart from the
// other tasks, and either kind apart from the other.
func (s *loader) divideTriggers() (err error) {
	if s.Triggers.Len() == 0 || s.Triggers.Assigned() {
		return nil
	}
	parts, err := s.cutByKind()
	if err != nil {
		return err
	}
	s.Triggers, err = s.Triggers.Assign(parts)
	return err
}

func byName(parts schedule.Split) map[task.Split][]int {
	return map[task.Split][]int{task.Train: parts.Train, task.Selection: parts.Selection, task.Test: parts.Test}
}

// TriggersKey is the entry of the identity for trigger tasks, without "library.".
const TriggersKey = "evaluate.triggers"

// TrainTriggersKey is that of a run that trains the description.
const TrainTriggersKey = "train.triggers"

// TriggersDigest sums up the trigger tasks and what they bring, "" without any. It is no
// part of the identity of runs that do not measure them.
func (s *Inputs) TriggersDigest() (string, error) {
	if s.Triggers.Len() == 0 {
		return "", nil
	}
	sum, err := DigestTasks(s.Triggers.Tasks(), false)
	if err != nil || s.brought.triggers == "" {
		return sum, err
	}
	return Digest([]byte(sum + s.brought.triggers)), nil
}

// RequireScored fails where there are trigger tasks alone.
func (s *Inputs) RequireScored() error {
	if s.Set.Len() > 0 || s.Triggers.Len() == 0 {
		return nil
	}
	return fault.Input(errors.New("tasks.path: " + wording.Plural(s.Triggers.Len(), "task is", "tasks are") +
		" there, each a trigger task (the field trigger): whether an agent loads the skill is measured by `skillopt eval`, and trained with edits.description=true; nothing is compared or pruned by it; add tasks with gold or checks"))
}
