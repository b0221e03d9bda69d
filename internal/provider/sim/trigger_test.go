package sim

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/model"
)

const triggerTemplates = `triggers:
  should: ['What do {{10..99}} {{bills|fares}} come to?']
  should_not: ['Draw a {{bill|fare}} of {{10..99}}.', '{{Ann|Bo}} sings.']
`

func triggerRequest(stage, user string) model.Request {
	return model.Request{
		Messages: []model.Message{{Role: model.System, Content: "write prompts"}, {Role: model.User, Content: user}},
		Tags:     model.Tags{Stage: stage, Role: model.Optimizer},
	}
}

func TestDraftTriggers(t *testing.T) {
	t.Parallel()
	w, err := Parse("w.yaml", []byte(draftWorld+triggerTemplates))
	if err != nil {
		t.Fatal(err)
	}
	ask := func(stage, user string, reply any) {
		t.Helper()
		resp, err := New(w).Generate(t.Context(), triggerRequest(stage, user))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(resp.Text), reply); err != nil {
			t.Fatal(err)
		}
	}
	var drafted struct {
		Prompts []struct{ Trigger, Prompt string }
	}
	ask(model.StageDraft, "# What to write\n\n- 3 prompts of the kind should: about lines 1-4 of SKILL.md\n- 1 prompt of the kind should_not: about lines 1-4 of SKILL.md", &drafted)
	if len(drafted.Prompts) != 4 {
		t.Fatalf("%+v", drafted)
	}
	user := "# The skill\n\n# The requests\n"
	for i, p := range drafted.Prompts {
		if strings.Contains(p.Prompt, "{{") || (p.Trigger == "should") != strings.HasPrefix(p.Prompt, "What do ") {
			t.Errorf("%+v", p)
		}
		user += fmt.Sprintf("\n{\"n\":%d,\"prompt\":%q}", i+1, p.Prompt)
	}
	var said struct {
		Opinions []struct {
			N    int
			Load bool
		}
	}
	ask(model.StageDraftCheck, user, &said)
	if len(said.Opinions) != 4 {
		t.Fatalf("%+v", said)
	}
	for i, o := range said.Opinions {
		if o.N != i+1 || o.Load != (drafted.Prompts[i].Trigger == "should") {
			t.Errorf("%q: %+v", drafted.Prompts[i].Prompt, o)
		}
	}
}

func TestTriggerTemplatesAreChecked(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"both are needed": "triggers: {should: ['a']}\n",
		"allowed are":     "triggers: {should: ['a'], should_not: ['a {{b}}']}\n",
		"unknown field":   "triggers: {should: ['a'], maybe: ['a']}\n",
	} {
		if _, err := Parse("w.yaml", []byte(draftWorld+text)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	w, err := Parse("w.yaml", []byte(draftWorld))
	if err != nil {
		t.Fatal(err)
	}
	_, err = New(w).Generate(t.Context(), triggerRequest(model.StageDraft, "- 3 prompts of the kind should: about lines 1-4 of SKILL.md"))
	if err == nil || !strings.Contains(err.Error(), "key triggers") {
		t.Errorf("a world without templates: %v", err)
	}
}
