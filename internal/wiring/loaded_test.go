package wiring

import (
	"testing"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/agent"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Without the gateway it is the events that tell.
func TestLoadedByEvents(t *testing.T) {
	t.Parallel()
	const line = "Add up the lines before you read the total."
	s := skill.New("---\nname: desk\ndescription: d\n---\n\n" + line + "\n")
	call := func(action, gave string) []trajectory.Turn {
		return []trajectory.Turn{{Kind: trajectory.ToolCall, Action: action, Observation: gave}}
	}
	said := trajectory.Turn{Role: model.Assistant, Content: "done"}
	for name, tc := range map[string]struct {
		agent string
		turns []trajectory.Turn
		want  trajectory.Load
	}{
		"its text":                   {"codex", call(`shell {"command":"cat .agents/skills/desk/SKILL.md"}`, "1  "+line), trajectory.Loaded},
		"its path is read":           {"gemini", call(`read_file {"path":"/w/.agents/skills/desk/SKILL.md"}`, ""), trajectory.Loaded},
		"a path of Windows":          {"gemini", call(`read_file {"path":"C:\\w\\skills\\desk\\SKILL.md"}`, ""), trajectory.Loaded},
		"asked for by name":          {"claude", call(`Skill {"skill":"desk"}`, "Launching skill: desk"), trajectory.Loaded},
		"another skill":              {"claude", call(`Skill {"skill":"other"}`, ""), trajectory.NotLoaded},
		"a skill of a like name":     {"gemini", call(`read_file {"path":"skills/my-desk/SKILL.md"}`, ""), trajectory.NotLoaded},
		"the path is printed":        {"codex", call(`shell {"command":"echo .agents/skills/desk/SKILL.md"}`, ".agents/skills/desk/SKILL.md"), trajectory.NotLoaded},
		"reading it failed":          {"gemini", call(`read_file {"path":"skills/desk/SKILL.md"}`, "error: not found"), trajectory.NotLoaded},
		"nothing but words":          {"codex", []trajectory.Turn{said}, trajectory.NotLoaded},
		"no event":                   {"codex", nil, ""},
		"events are missing":         {"codex", []trajectory.Turn{said, {Role: model.System, Content: "[9 turns left out here]"}, said}, ""},
		"nothing is known of events": {"custom", []trajectory.Turn{said}, ""},
	} {
		r := &AgentRunner{config: config.Agent{Name: tc.agent}}
		marks := rollout.FindMarks(s)
		got := r.load(&metered{marks: marks}, agent.Report{Turns: tc.turns}, rollout.AgentJob{Skill: s, Marks: marks})
		if got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// Of a model that was never answered it is not known what the agent would have done.
func TestNothingIsLoadedWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	r := &AgentRunner{config: config.Agent{Name: agent.BuiltinName}}
	if load := r.load(&metered{}, agent.Report{}, rollout.AgentJob{}); load != "" {
		t.Errorf("%v, want not known", load)
	}
	if load := r.load(&metered{answered: 1}, agent.Report{}, rollout.AgentJob{}); load != trajectory.NotLoaded {
		t.Error("an answer, and no request with the body: it was not loaded")
	}
	for name, unknown := range map[string]bool{"custom": true, "cursor": true, "codex": false, "builtin": false} {
		if why := UntellableAgent(false, name); (why != "") != unknown {
			t.Errorf("%s: %q", name, why)
		}
	}
}
