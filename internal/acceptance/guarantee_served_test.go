package acceptance_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// askingEnv asks the model of its run.
type askingEnv struct{}

func (askingEnv) Rollout(ctx context.Context, t task.Task, _ skill.Skill, client model.Client) (trajectory.Outcome, error) {
	_, err := client.Generate(ctx, model.Request{Messages: []model.Message{{Role: model.User, Content: t.Prompt}}})
	return trajectory.Outcome{Status: score.OK, Hard: 1, Soft: 1}, err
}

// Episodes say which model answered, as chats do: that another one answers from some
// place on is seen by this. It stands in the record, and a resumed run knows it too.
func TestEpisodesSayWhoAnswered(t *testing.T) {
	t.Parallel()
	client := modeltest.New(func(context.Context, int, model.Request) (model.Response, error) {
		return model.Response{Text: "yes", Finish: model.FinishStop, Model: "m-2026", Fingerprint: "fp1"}, nil
	})
	dir := filepath.Join(t.TempDir(), "run")
	for range 2 {
		if _, err := skillopt.Evaluate(t.Context(), worldConfig("http://unused.invalid/v1"), "all", skillopt.WithTasks(envTasks(9)), skillopt.WithEnv("asking", askingEnv{}),
			skillopt.WithClient(model.Target, "m", client), skillopt.WithRunDir(dir)); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(dir, "outcomes.json"))
		if err != nil {
			t.Fatal(err)
		}
		var outcomes map[string][]trajectory.Outcome
		if err := json.Unmarshal(data, &outcomes); err != nil {
			t.Fatal(err)
		}
		seen := 0
		for _, split := range outcomes {
			for _, o := range split {
				if seen++; o.Served != "m-2026 fp1" {
					t.Fatalf("%s was answered by %q", o.ID, o.Served)
				}
			}
		}
		if seen != 9 {
			t.Errorf("%d outcomes", seen)
		}
	}
}
