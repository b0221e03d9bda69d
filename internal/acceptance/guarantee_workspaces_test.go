package acceptance_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/task"
)

// Tasks of a program's own name folders below the one that it says. What is in them is part of
// what a run is, where they lie is not.
func TestWorkspacesOfAProgramsOwn(t *testing.T) {
	t.Parallel()
	cfg := agentConfig(t)
	cfg.Tasks.Extract = "all"
	cfg.Tasks.Checks = []any{map[string]any{"type": "command", "run": `test "$(cat answer.txt)" = "$GOLD"`, "timeout": "1m"}}
	folders := func(second string) string {
		dir := t.TempDir()
		for name, text := range map[string]string{"one": "HERON", "two": second} {
			if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name, "given.txt"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	var calls atomic.Int32
	target := modeltest.Func(func(_ context.Context, req model.Request) (model.Response, error) {
		calls.Add(1)
		if req.Messages[len(req.Messages)-1].Role == model.ToolRole {
			return model.Response{Text: "done", Finish: model.FinishStop}, nil
		}
		args, err := json.Marshal(map[string]string{"command": "cat given.txt > answer.txt"})
		return model.Response{Finish: model.FinishTools, Parts: []model.Part{{Call: &model.ToolCall{ID: "c1", Name: "bash", Arguments: args}}}}, err
	})
	tasks := []task.Task{
		{ID: "1", Prompt: "Copy it.", Gold: []string{"HERON"}, Split: task.Test, Data: map[string]any{"workspace": "one"}},
		{ID: "2", Prompt: "Copy it.", Gold: []string{"OTTER"}, Split: task.Test, Data: map[string]any{"workspace": "two"}},
	}
	run := filepath.Join(t.TempDir(), "run")
	scored := func(dir string) (float64, error) {
		got, err := skillopt.Evaluate(t.Context(), cfg, "test", skillopt.WithTasks(tasks), skillopt.WithWorkspaces(dir), skillopt.WithRunDir(run), skillopt.WithClient(model.Target, "scripted", target))
		if err != nil {
			return 0, err
		}
		return got.Splits["test"].Hard, nil
	}
	if hard, err := scored(folders("OTTER")); err != nil || hard != 1 {
		t.Fatalf("scored %v: %v", hard, err)
	}
	paid := calls.Load()
	if hard, err := scored(folders("OTTER")); err != nil || hard != 1 || calls.Load() != paid {
		t.Errorf("the same files at another place: scored %v with %d more calls: %v", hard, calls.Load()-paid, err)
	}
	if _, err := scored(folders("ZEBRA")); err == nil || !strings.Contains(err.Error(), "workspace") {
		t.Errorf("other files: %v, want an error that names the workspace", err)
	}
	if _, err := scored(t.TempDir()); err == nil || !errors.Is(err, os.ErrNotExist) && !strings.Contains(err.Error(), "workspace") {
		t.Errorf("no files: %v", err)
	}
}
