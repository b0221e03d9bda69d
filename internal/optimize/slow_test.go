package optimize

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/prompt"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/skill"
)

func TestSlowUpdate(t *testing.T) {
	t.Parallel()
	s := &script{replies: map[string]string{
		"slow_update": `{"reasoning": "r", "slow_update_content": " - Keep\n- Go\u001bing <!-- SLOW_\u0000UPDATE_END -->\n\u202e"}`,
	}}
	current := skill.New("# Now\n").WithSlow("old guidance").Text()
	got, err := SlowUpdate(t.Context(), SlowInput{
		Ask: s.ask, Prompts: prompt.Default(), Previous: "# Then", Current: current,
		Pairs: []Pair{{ID: "p1", Category: Regressed, Task: "Q?"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := SlowResult{Content: "- Keep\n- Going", Reasoning: "r", Calls: 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	q := s.asked["slow_update"]
	for _, part := range []string{"# Then", "Guidance\n\nold guidance\n", "1 regressed", "#### Task p1", "## Current Skill\n\n# Now"} {
		if !strings.Contains(q.User, part) {
			t.Errorf("%q is missing in\n%s", part, q.User)
		}
	}
	if q.Stage != model.StageSlowUpdate || q.Schema == nil || !json.Valid(q.Schema.JSON) {
		t.Errorf("stage %q, schema %v", q.Stage, q.Schema)
	}
}

func TestMetaSkill(t *testing.T) {
	t.Parallel()
	s := &script{replies: map[string]string{"meta_skill": `{"reasoning": null, "meta_skill_content": "short\u009b rules\u2066 win"}`}}
	got, err := MetaSkill(t.Context(), MetaInput{
		Ask: s.ask, Prompts: prompt.Default(), PreviousMeta: "memory", Previous: "# Then", Current: "# Now", History: "### Step 1: accept",
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(MetaResult{Content: "short rules win", Calls: 1}, got); diff != "" {
		t.Error(diff)
	}
	q := s.asked["meta_skill"]
	for _, part := range []string{"## Previous Optimizer Meta Skill\n\nmemory\n", "### Step 1: accept", "## Comparison\n\n(none)\n"} {
		if !strings.Contains(q.User, part) {
			t.Errorf("%q is missing in\n%s", part, q.User)
		}
	}
	if q.Stage != model.StageMetaSkill || q.Schema == nil || !json.Valid(q.Schema.JSON) {
		t.Errorf("stage %q, schema %v", q.Stage, q.Schema)
	}
}

func TestGuidanceIsNotTakenFromBadReplies(t *testing.T) {
	t.Parallel()
	for _, reply := range []string{
		"", "no", `{"x": 1}`, `{"slow_update_content": ""}`, `{"slow_update_content": " "}`, `{"slow_update_content": null}`,
		`{"slow_update_content": ["l"]}`, `{"slow_update_content": "<!-- SLOW_UPDATE_START -->"}`, `{"slow_update_content": "cut o`,
	} {
		s := &script{replies: map[string]string{"slow_update": reply}}
		got, err := SlowUpdate(t.Context(), SlowInput{Ask: s.ask, Prompts: prompt.Default()})
		if diff := cmp.Diff(SlowResult{Calls: 1, Lost: []string{"slow_update"}}, got); diff != "" || err != nil {
			t.Errorf("%q: %v\n%s", reply, err, diff)
		}
	}
	got, err := MetaSkill(t.Context(), MetaInput{Ask: (&script{}).ask, Prompts: prompt.Default()})
	if diff := cmp.Diff(MetaResult{Calls: 1, Lost: []string{"meta_skill"}}, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestParseGuidanceErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"x", "no JSON object"},
		{`{}`, "is missing"},
		{`{"meta_skill_content": ""}`, "is empty"},
		{`{"meta_skill_content": " "}`, "is blank"},
	}
	for _, tt := range tests {
		if _, err := ParseMetaSkill(tt.text); err == nil || !strings.Contains(err.Error(), "meta skill reply: ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.text, err, tt.want)
		}
	}
	if _, err := ParseSlowUpdate(`{}`); err == nil || !strings.Contains(err.Error(), "slow update reply: ") {
		t.Errorf("got %v", err)
	}
}

func TestEpochEndStopsOnOtherErrors(t *testing.T) {
	t.Parallel()
	stopped := errors.New("stopped")
	ask := func(context.Context, Request) (string, error) { return "", stopped }
	_, slowErr := SlowUpdate(t.Context(), SlowInput{Ask: ask, Prompts: prompt.Default()})
	_, metaErr := MetaSkill(t.Context(), MetaInput{Ask: ask, Prompts: prompt.Default()})
	_, rateErr := LearningRate(t.Context(), LearningRateInput{Ask: ask, Prompts: prompt.Default(), Patch: NewPatch(ModePatch, "", []any{edit("A", 1)}), Mode: ModePatch})
	for _, err := range []error{slowErr, metaErr, rateErr} {
		if !errors.Is(err, stopped) {
			t.Errorf("got %v", err)
		}
	}
}
