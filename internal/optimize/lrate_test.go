package optimize

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/internal/prompt"
	"github.com/seed-f4525e22/skillopt/model"
)

func rateInput(reply string) (*script, LearningRateInput) {
	s := &script{replies: map[string]string{"lr_autonomous": reply}}
	half := 0.5
	return s, LearningRateInput{
		Ask: s.ask, Prompts: prompt.Default(), Mode: ModePatch, Skill: "# S", RolloutHard: &half,
		Patch: NewPatch(ModePatch, "r", []any{edit("- A", 2), edit("- B", 1)}),
	}
}

func TestLearningRate(t *testing.T) {
	t.Parallel()
	s, in := rateInput(`{"learning_rate": "3 edits", "reasoning": "few", "confidence": null, "risk_notes": ["n", 5]}`)
	got, err := LearningRate(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	want := LearningRateResult{
		LearningRate: 2, Raw: 3, Available: 2, Clamped: true, Reasoning: "few", RiskNotes: []string{"n", "5"}, Calls: 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	q := s.asked["lr_autonomous"]
	for _, part := range []string{"hard=0.5000 soft=unmeasured", "## Current Skill\n\n# S\n", "proposed_update_items=2\n", "\n[0] op=append", "\n[1] op=append"} {
		if !strings.Contains(q.User, part) {
			t.Errorf("%q is missing in\n%s", part, q.User)
		}
	}
	if q.Stage != model.StageLRAutonomous || q.Schema == nil || !json.Valid(q.Schema.JSON) {
		t.Errorf("stage %q, schema %v", q.Stage, q.Schema)
	}
}

func TestLearningRateLost(t *testing.T) {
	t.Parallel()
	for _, reply := range []string{"", "two", `{"learning_rate": null}`, `{"learning_rate": true}`, `{"learning_rate": 2,}`} {
		_, in := rateInput(reply)
		got, err := LearningRate(t.Context(), in)
		want := LearningRateResult{Available: 2, Fallback: true, RiskNotes: []string{}, Calls: 1, Lost: []string{"lr_autonomous"}}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v\n%s", reply, err, diff)
		}
	}
}

func TestLearningRateAsksNothingWithoutItems(t *testing.T) {
	t.Parallel()
	s, in := rateInput("")
	in.Patch = NewPatch(ModePatch, "", nil)
	got, err := LearningRate(t.Context(), in)
	if diff := cmp.Diff(LearningRateResult{RiskNotes: []string{}}, got); diff != "" || err != nil || len(s.asked) != 0 {
		t.Errorf("%v, %d asked\n%s", err, len(s.asked), diff)
	}
}

func TestLearningRateRefusesUnknownModes(t *testing.T) {
	t.Parallel()
	_, in := rateInput("")
	in.Patch, in.Mode = Patch{"edits": []any{edit("A", 1)}}, "other"
	if _, err := LearningRate(t.Context(), in); err == nil || !strings.Contains(err.Error(), `"other"`) {
		t.Errorf("got %v", err)
	}
}

func TestLearningRateIsWithinTheItems(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value, err := json.Marshal(rapid.OneOf(
			rapid.Map(rapid.Int(), func(i int) any { return i }),
			rapid.Map(rapid.Float64(), func(f float64) any { return f }),
			rapid.Map(rapid.String(), func(s string) any { return s }),
		).Draw(t, "value"))
		if err != nil {
			t.Skip("no JSON")
		}
		n := rapid.IntRange(0, 9).Draw(t, "n")
		r := ParseLearningRate(`{"learning_rate": `+string(value)+`}`, n)
		if r.LearningRate < 0 || r.LearningRate > n || r.Fallback && r.LearningRate != 0 || r.Clamped != (r.Raw > n) {
			t.Fatalf("%s of %d gives %+v", value, n, r)
		}
	})
}
