package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

func TestTrain(t *testing.T) {
	t.Parallel()
	run := filepath.Join(t.TempDir(), "run")
	if err := train(t.Context(), ".", run); err != nil {
		t.Fatal(err)
	}
	best, err := os.ReadFile(filepath.Join(run, "best_skill.md"))
	if err != nil || strings.Count(string(best), "\n- ") < 3 {
		t.Errorf("best skill:\n%s%v", best, err)
	}
}

// says always answers the same.
type says string

func (s says) Generate(context.Context, model.Request) (model.Response, error) {
	if s == "" {
		return model.Response{}, errors.New("no model")
	}
	return model.Response{Text: string(s)}, nil
}

func TestRollout(t *testing.T) {
	t.Parallel()
	tk := task.Task{ID: "t", Prompt: "What is the weight of the anvil?", Gold: []string{"7.5 kg"}, Data: map[string]any{
		"cards": map[string]any{"anvil": map[string]any{"stock": 1, "kilos": "7.5", "shelf": "b2"}},
	}}
	tests := []struct {
		client model.Client
		skill  string
		status score.Status
		hard   float64
		turns  int
	}{
		{clerk{}, "", score.OK, 0, 2},
		{clerk{}, "Put kg behind weights.", score.OK, 1, 2},
		{says("lookup hammer"), "", score.AgentError, 0, 3},
		{says("hello"), "", score.AgentError, 0, 3},
	}
	for _, tt := range tests {
		got, err := stockroom{turns: 3}.Rollout(t.Context(), tk, skill.New(tt.skill), tt.client)
		if err != nil || got.Status != tt.status || got.Hard != tt.hard || len(got.Trajectory) != tt.turns {
			t.Errorf("%v, skill %q: got %+v, %v", tt.client, tt.skill, got, err)
		}
	}
	if _, err := (stockroom{turns: 3}).Rollout(t.Context(), tk, skill.Skill{}, says("")); err == nil {
		t.Error("no model: no error")
	}
	tk.Data["cards"] = "none"
	if _, err := (stockroom{turns: 3}).Rollout(t.Context(), tk, skill.Skill{}, clerk{}); err == nil {
		t.Error("broken data: no error")
	}
}
