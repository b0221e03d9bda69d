package acceptance_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/seed-f4525e22/skillopt"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
)

// What judges are asked is part of what a run is said to cost at most, and of
// what it is expected to cost, for answers and for what agents leave.
func TestPlansCountJudges(t *testing.T) {
	t.Parallel()
	for _, example := range []string{"quickstart", "agent"} {
		t.Run(example, func(t *testing.T) {
			t.Parallel()
			cfg, err := config.LoadFile(filepath.Join("..", "..", "examples", example))
			if err != nil {
				t.Fatal(err)
			}
			cfg.Run.Dir, cfg.Record.Reuse = t.TempDir(), "never" // equal answers are judged once, else
			cfg.Models.Judge = cfg.Models.Optimizer
			rubric := map[string]any{"type": "llm-rubric", "criteria": "It is short.", "votes": 3}
			cfg.Tasks.Checks = []any{rubric}
			if example == "agent" {
				graded := map[string]any{"type": "command", "run": "true", "reward": "r"}
				cfg.Tasks.Checks = []any{graded, map[string]any{"type": "diff", "max_files": 9}, rubric}
			}
			p, err := skillopt.Plan(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			countsJudges(t, p)
			if p.Forecast == nil {
				t.Fatal("no forecast")
			}
			rolled, asked := 0.0, 0.0
			for _, st := range p.Forecast.Stages {
				switch st.Stage {
				case model.StageRollout:
					rolled += st.Calls.Expected
				case model.StageJudge:
					asked += st.Calls.Expected
				}
			}
			if rolled == 0 || asked != 3*rolled {
				t.Errorf("%v rollouts are expected, and %v calls of judges", rolled, asked)
			}
			enough := errors.New("enough")
			_, err = skillopt.Evaluate(t.Context(), cfg, "test", skillopt.WithConfirm(func(p result.Plan) error {
				countsJudges(t, p)
				return enough
			}))
			if !errors.Is(err, enough) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func countsJudges(t *testing.T, p result.Plan) {
	t.Helper()
	calls := map[string]int{}
	sum := 0
	for _, st := range p.Stages {
		calls[st.Stage], sum = st.Calls, sum+st.Calls
	}
	if calls[model.StageRollout] == 0 || calls[model.StageJudge] != 3*calls[model.StageRollout] || p.Total != sum {
		t.Errorf("got %+v in all %d, want 3 votes for each rollout", p.Stages, p.Total)
	}
}
