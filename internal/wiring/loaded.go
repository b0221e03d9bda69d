package wiring

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/agent"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// look remembers whether a request holds a part of the skill's body: in what a tool gave,
// or in what the agent gives its model. What the model says itself is no proof of it.
func (w *metered) look(req *model.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.loaded || w.marks.Empty() {
		return
	}
	for _, m := range req.Messages {
		if m.Role != model.Assistant && w.marks.In(m.Text()) || slices.ContainsFunc(m.Parts, func(p model.Part) bool { return p.Result != nil && w.marks.In(p.Result.Content) }) {
			w.loaded = true
			return
		}
	}
}

// UntellableAgent returns why no one can report whether the agent of a config loads a skill. It
// returns "" if that can be seen from its requests or its events.
func UntellableAgent(gateway bool, name string) string {
	if gateway || name == agent.BuiltinName || agent.TellsReads(name) {
		return ""
	}
	return "the agent " + name + " works without the gateway, and its events do not show which files it reads: with agent.gateway=true this shows"
}

// load returns whether an agent loaded the body of the skill: by its requests, where they go
// through us, else by its events.
func (r *AgentRunner) load(w *metered, rep agent.Report, job rollout.AgentJob) trajectory.Load {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := w.answered > 0
	if r.gateway == nil && r.config.Name != agent.BuiltinName {
		seen = agent.TellsReads(r.config.Name) && len(rep.Turns) > 0
		name := path.Base(agent.SkillFolders(job.Skill, r.config.SkillName)[0])
		for _, t := range rep.Turns {
			if t.Kind != trajectory.ToolCall {
				seen = seen && t.Role != model.System // a note that some are left out
				continue
			}
			w.loaded = w.loaded || w.marks.In(t.Observation) || loads(t, name)
		}
	}
	switch {
	case w.loaded:
		return trajectory.Loaded
	case !seen:
		return ""
	}
	return trajectory.NotLoaded
}

// loads reports whether a call, as events report it, loaded the skill of a name: it read
// its file, or asked for it by name. A command that prints the path is neither.
func loads(t trajectory.Turn, name string) bool {
	tool, text, _ := strings.Cut(t.Action, " ")
	tool = strings.ToLower(tool)
	var args map[string]any
	if json.Unmarshal([]byte(text), &args) != nil || strings.HasPrefix(t.Observation, "error:") {
		return false
	}
	for _, v := range args {
		value, ok := v.(string)
		switch {
		case !ok:
		case strings.Contains(tool, "skill") && value == name,
			(strings.Contains(tool, "read") || strings.Contains(tool, "view")) && isSkillFile(value, name):
			return true
		}
	}
	return false
}

// isSkillFile reports whether a path ends with the SKILL.md of a skill.
func isSkillFile(at, name string) bool {
	return strings.HasSuffix("/"+strings.ReplaceAll(at, `\`, "/"), "/"+name+"/"+skill.Main)
}
