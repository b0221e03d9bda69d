package acceptance_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// A reflection is recorded: the same one again asks no one, another one is refused in its folder.
func TestReflectAsksOnce(t *testing.T) {
	t.Parallel()
	const rule = "- Write names in capital letters."
	fake := modeltest.New(func(context.Context, int, model.Request) (model.Response, error) {
		return model.Response{Text: `{"patch": {"reasoning": "why", "edits": [{"op": "append", "content": "` + rule + `"}]}}`, Finish: model.FinishStop}, nil
	})
	dir := filepath.Join(t.TempDir(), "run")
	failed := trajectory.Outcome{ID: "ada", Status: score.OK, Question: "ada", Answer: "ada", FailReason: "equals: another text"}
	reflect := func(mode string, outcomes ...trajectory.Outcome) ([]skill.Patch, error) {
		cfg := config.Default()
		cfg.Edits.Mode = mode
		r, err := skillopt.Reflect(t.Context(), cfg, outcomes, skillopt.WithSkill("# Names\n"), skillopt.WithClient(model.Optimizer, "fake", fake), skillopt.WithRunDir(dir))
		if err != nil {
			return nil, err
		}
		return r.Patches, nil
	}
	want := []skill.Patch{{Reasoning: "why", Edits: []skill.Edit{{Op: skill.Append, Content: rule, Source: skill.FromFailure, SupportCount: 1}}}}
	for range 2 {
		got, err := reflect("patch", failed)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Error(err, diff)
		}
	}
	if n := fake.Count(); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
	for mode, says := range map[string]string{"patch": "outcomes", "full_rewrite": "edits.mode"} {
		var known *skillopt.Error
		if _, err := reflect(mode, failed, failed); !errors.As(err, &known) || known.Kind != skillopt.BadInput || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: error %v", mode, err)
		}
	}
}
