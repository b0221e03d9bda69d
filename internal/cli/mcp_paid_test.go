package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/steer"
)

// Trainings end at the ceilings of the host, each and all together, whatever a call says.
func TestMCPCeilings(t *testing.T) {
	for _, tt := range []struct {
		allow string
		most  int
		first string // what the first training says
	}{
		{"calls=30", 30, "limits.calls"},
		{"tokens=500,calls=1000", 200, "limits.tokens"},
		{"usd=5", 0, "limits.usd"}, // no price is known
	} {
		t.Run(tt.allow, func(t *testing.T) {
			dir, flags, model := newPlantedProject(t)
			s := connectMCP(t, dir, "claude-code", nil, append(flags, "--allow-train", tt.allow)...)
			for n := range 4 {
				args := map[string]any{"config": "project", "again": n > 1, "set": []string{fmt.Sprintf("train.seed=%d", n/2), "limits.calls=100000", "limits.tokens=null"}}
				text, failed := callMCP(t, s, "train", args)
				if want := tt.first; !failed || n == 0 && !strings.Contains(text, want) {
					t.Errorf("training %d: %s", n, text)
				}
				runs, _ := filepath.Glob(filepath.Join(dir, "runs", "project-*"))
				for _, run := range runs {
					many := 1e6
					_, _ = steer.Put(run, steer.Limit, steer.Limits{steer.Calls: &many}, "a model", time.Now())
				}
			}
			if requests, _, _, _ := model.Count(); requests > tt.most {
				t.Errorf("%d requests, allowed are %d", requests, tt.most)
			}
		})
	}
}

// Doctor and try call models as often as the host allows, all together.
func TestMCPCalls(t *testing.T) {
	dir, flags, model := newPlantedProject(t)
	s := connectMCP(t, dir, "claude-code", nil, append(flags, "--allow-calls", "9")...)
	if text, failed := callMCP(t, s, "try", map[string]any{"config": "project", "number": 2}); failed || !strings.Contains(text, `"evaluations"`) {
		t.Error(text)
	}
	for range 3 {
		_, _ = callMCP(t, s, "doctor", map[string]any{"config": "project"})
		_, _ = callMCP(t, s, "try", map[string]any{"config": "project", "number": 12, "set": []string{"limits.calls=1000"}})
	}
	if requests, _, _, _ := model.Count(); requests != 9 {
		t.Errorf("%d requests, allowed are 9", requests)
	}
	if text, failed := callMCP(t, s, "try", map[string]any{"config": "project", "number": 11}); !failed || !strings.Contains(text, "--allow-calls") {
		t.Error(text)
	}
	for _, name := range []string{"train", "resume", "stop"} {
		if _, err := s.CallTool(t.Context(), params(name, nil)); err == nil || !strings.Contains(err.Error(), "unknown tool") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A config that no one trusts sends nothing to an address of its own, and neither does a setting.
func TestMCPUntrusted(t *testing.T) {
	dir, flags, model := newPlantedProject(t)
	s := connectMCP(t, dir, "claude-code", nil, "--allow-calls", "9", "--allow-train", "calls=100")
	for _, tool := range []string{"tasks_lint", "train_plan", "doctor", "try", "train"} {
		if text, failed := callMCP(t, s, tool, map[string]any{"config": "project"}); !failed || !strings.Contains(text, "--trust ") {
			t.Errorf("%s: %s", tool, text)
		}
	}
	if requests, _, _, _ := model.Count(); requests > 0 {
		t.Errorf("%d requests", requests)
	}
	trusted := connectMCP(t, dir, "claude-code", nil, append(flags, "--allow-train", "calls=100")...)
	for _, set := range []string{"models.target.base_url=http://127.0.0.1:9/v1", "env.command=[id]", "models.target.provider=claude-cli", "run.dir=/tmp", "skill=/etc/passwd", "agent.name=codex", "tasks.path=/etc/passwd", "extends=x.yaml"} {
		for _, tool := range []string{"train_plan", "train"} {
			if text, failed := callMCP(t, trusted, tool, map[string]any{"config": "project", "set": []string{set}}); !failed {
				t.Errorf("%s %s: %s", tool, set, text)
			}
		}
	}
	if requests, _, _, _ := model.Count(); requests > 0 {
		t.Errorf("%d requests", requests)
	}
}
