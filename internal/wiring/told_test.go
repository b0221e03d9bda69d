package wiring

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// What an agent tells its model is that of its work, not of its requests for titles. It
// is whole: secrets are taken out, and it is cut, where rollouts are recorded.
func TestWhatAnAgentTellsIsRemembered(t *testing.T) {
	t.Parallel()
	w := &metered{Client: modeltest.Always("done")}
	ask := func(system string, tools ...model.Tool) {
		t.Helper()
		req := model.Request{Messages: []model.Message{{Role: model.System, Content: system}, {Role: model.User, Content: "do"}}, Tools: tools}
		if _, err := w.Generate(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	ask("Find a title.")
	ask("You work."+strings.Repeat(" ", 20_000)+"End.", model.Tool{Name: "read", Description: "Reads\n a file."}, model.Tool{Name: "long", Description: strings.Repeat("x", 1000)})
	ask("You still work.", model.Tool{Name: "read"})
	if got := w.told.System; !strings.HasPrefix(got, "You work.") || !strings.HasSuffix(got, "End.") || len(got) != 20_013 {
		t.Errorf("system message of %d bytes: %.40q", len(got), got)
	}
	if got := w.told.Tools; got != "read: Reads a file.\nlong: "+strings.Repeat("x", 1000) {
		t.Errorf("tools %q", got)
	}
}

func TestTheBuiltinAgentTells(t *testing.T) {
	t.Parallel()
	system, tools := AgentTold(config.Agent{Name: "builtin", Mode: "native"}, nil, skill.New("---\nname: demo\ndescription: How to.\n---\nRULES\n"))
	for _, want := range []string{"works in a folder", "demo: How to."} {
		if !strings.Contains(system, want) {
			t.Errorf("%q is not in %q", want, system)
		}
	}
	if strings.Contains(system, "RULES") || !strings.Contains(tools, "bash: ") || !strings.Contains(tools, "\nedit: ") {
		t.Errorf("system %q, tools %q", system, tools)
	}
	system, tools = AgentTold(config.Agent{Name: "codex"}, nil, skill.Skill{})
	if diff := cmp.Diff(trajectory.Told{}, trajectory.Told{System: system, Tools: tools}); diff != "" {
		t.Error(diff)
	}
}
