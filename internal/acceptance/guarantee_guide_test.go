package acceptance_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
)

// Words to analysts stand in the system messages of analysts, and in no other; what else analysts are asked is as it
// is without them.
func TestAnalystsAloneAreTold(t *testing.T) {
	t.Parallel()
	const guide = "The tasks are riddles; name {{no}} customer."
	set := []string{"reflect.rollouts=2", "train.epochs=2"}
	plain, told := look(t, scene{set: set}), look(t, scene{set: append([]string{"reflect.guide=" + guide}, set...)})
	if plain.err != nil || told.err != nil {
		t.Fatal(plain.err, told.err)
	}
	analysts := 0
	for _, r := range told.requests {
		for _, m := range r.messages {
			has := strings.Contains(m.Content, guide)
			if want := m.Role == "system" && strings.HasPrefix(r.stage, "analyst_"); has != want {
				t.Errorf("%s, %s message: the words stand in it: %v", r.stage, m.Role, has)
			} else if want {
				analysts++
			}
		}
	}
	if analysts == 0 || len(told.stages()) < 5 {
		t.Fatalf("%d messages to analysts, stages %v: that proves little", analysts, told.stages())
	}
	for stage := range plain.stages() {
		if stage == "rollout" {
			continue // the skill, of which other proposals were made, stands in it
		}
		var cut []string
		for _, text := range told.prompts(stage, "system") {
			before, _, _ := strings.Cut(text, "\n\nWho has this skill trained says")
			cut = append(cut, before)
		}
		if diff := cmp.Diff(plain.prompts(stage, "system"), cut); diff != "" {
			t.Errorf("%s (-without +with):\n%s", stage, diff)
		}
	}
}

// With other words it is another run.
func TestTheGuideIsPartOfTheIdentity(t *testing.T) {
	t.Parallel()
	keys := map[string]config.Key{}
	for _, k := range config.Default().Keys() {
		keys[k.Path] = k
	}
	if k := keys["reflect.guide"]; k.Class != config.Identity || k.Value != `""` {
		t.Errorf("%+v", k)
	}
	cfg, dir := worldConfig("http://in.process/v1"), t.TempDir()+"/run"
	trained(t, cfg, dir, inProcess(t)...)
	cfg.Reflect.Guide = "Name no customer."
	if _, err := skillopt.Train(t.Context(), cfg, append(inProcess(t), skillopt.WithRunDir(dir))...); kind(err) != skillopt.BadInput || !strings.Contains(err.Error(), "reflect.guide") {
		t.Errorf("with other words: %v", err)
	}
	cfg.Reflect.Guide = strings.Repeat("a", config.MaxGuide+1)
	if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), "reflect.guide: found 4097 bytes, allowed: at most 4096 bytes") {
		t.Errorf("too long: %v", err)
	}
}
