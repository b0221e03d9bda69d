package openenv

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/testing/openenvtest"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/world"
)

// TestRealServer checks the facts that the client goes by against the package openenv.
func TestRealServer(t *testing.T) {
	t.Parallel()
	address := openenvtest.Start(t, 1)
	s, err := Connect(t.Context(), Options{URL: address, Reward: [2]float64{-1, 1}})
	if err != nil {
		t.Fatal(err)
	}
	begin := func() world.Episode {
		t.Helper()
		e, err := s.Open(t.Context(), world.Setting{Task: task.Task{ID: "t", Data: map[string]any{"reset": map[string]any{"ship": 3}}}, Seed: 5})
		if err != nil {
			t.Fatal(err)
		}
		scene, err := e.Start(t.Context())
		if diff := cmp.Diff(world.Scene{Text: "The tanker number 3 waits at the south buoy.", Acts: true, Scores: true}, scene); diff != "" || err != nil {
			t.Error(err, diff)
		}
		return e
	}
	half, one, zero := 0.5, 1.0, 0.0
	for _, c := range []struct {
		commands []string
		want     []world.Observation
	}{
		{[]string{"pilot", "look", "berth south, over"}, []world.Observation{
			{Text: "The pilot is aboard.", Score: &half}, {Text: "Fog.", Choices: []string{"look", "pilot"}}, {Text: "Moored.", Done: true, Score: &one},
		}},
		{[]string{"now", "berth south, over"}, []world.Observation{
			{Text: "The action was refused: Invalid message; text: harbours do not hurry", Failed: true}, {Text: "Aground.", Done: true, Score: &zero},
		}},
	} {
		e := begin() // the one session is free each time
		for i, command := range c.commands {
			seen, err := e.Act(t.Context(), world.Action{Text: command})
			if diff := cmp.Diff(c.want[i], seen); diff != "" || err != nil {
				t.Error(command, err, diff)
			}
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	for command, want := range map[string]string{
		"raise":                     "it answered EXECUTION_ERROR: the harbour is closed",
		strings.Repeat("x", 17<<20): "it closed the session in the middle of the episode: 1009",
	} {
		e := begin()
		_, err := e.Act(t.Context(), world.Action{Text: command})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.200v, want %s", err, want)
		}
		_ = e.Close()
	}
	e := begin()
	_, err = s.connect(t.Context())
	var p *problem
	if !errors.As(err, &p) || p.Code != codeFull || !strings.Contains(err.Error(), "it allows 1 at a time") {
		t.Error(err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
