package session

import (
	"maps"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/task"
)

// What scores depend on is the same for runs that older builds began, which know nothing
// of env.gateway, and for those of today that measure alike: where there is no program the
// key says nothing, and where there is one a run without the key told it of no model.
func TestMeasureOfRunsThatKnowNoGateway(t *testing.T) {
	t.Parallel()
	measure := func(program bool, more map[string]string) string {
		t.Helper()
		s := &Inputs{}
		s.Data.Test = []task.Task{{ID: "a", Prompt: "p", Gold: []string{"g"}}}
		identity := map[string]string{"models.target.model": "m", "train.epochs": "4"}
		if program {
			s.Config.Env.Command = []string{"./program"}
			identity["env.command"] = `["./program"]`
		}
		maps.Copy(identity, more)
		r := &run.Run{Manifest: run.Manifest{Rules: run.LedgerRule, Identity: identity}}
		got, err := s.Measure(r)
		if err != nil || got == "" {
			t.Fatalf("%q, %v", got, err)
		}
		return got
	}
	for name, tt := range map[string]struct {
		program bool
		more    map[string]string
		same    bool
	}{
		"no program, told of it":        {false, map[string]string{"env.gateway": "true"}, true},
		"no program, not told of it":    {false, map[string]string{"env.gateway": "false"}, true},
		"a program told of a model":     {true, map[string]string{"env.gateway": "true"}, false},
		"a program told of none":        {true, map[string]string{"env.gateway": "false"}, true},
		"another program":               {true, map[string]string{"env.command": `["./other"]`}, false},
		"another model":                 {false, map[string]string{"models.target.model": "n"}, false},
		"what changes nothing measured": {false, map[string]string{"train.epochs": "5", "edits.tidy": "true"}, true},
	} {
		if same := measure(tt.program, nil) == measure(tt.program, tt.more); same != tt.same {
			t.Errorf("%s: the same as that of a run without the key: %v", name, same)
		}
	}
}
