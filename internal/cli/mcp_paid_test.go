package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/steer"
)

// Trainings end at the ceilings of the host, each and all together, whatever calls and the folders of runs say.
func TestMCPCeilings(t *testing.T) {
	for _, tt := range []struct {
		allow         string
		least, most   int // requests
		tokens        int64
		first, second string // what the first training says, and those later
	}{
		{"calls=20", 0, 0, 0, "limits.calls: found 20, which allows no step", "limits.calls"},
		{"calls=90", 54, 90, 1e9, `"status":"completed"`, "limits.calls: found 9, which"},
		{"tokens=20000,calls=1000", 40, 1000, 20500, "", "have used up tokens=20000"}, // this server says that a call took more than it can have
		{"usd=5", 0, 0, 0, "no price for models.target", "no price for models.target"},
	} {
		t.Run(tt.allow, func(t *testing.T) {
			dir, flags, model := newPlantedProject(t)
			s := connectMCP(t, dir, "claude-code", nil, append(flags, "--allow-train", tt.allow)...)
			last := ""
			for n := range 5 {
				set := []string{"limits.calls=100000", "limits.tokens=1000000", "models.target.max_tokens=20", "models.optimizer.max_tokens=100"}
				last, _ = callMCP(t, s, "train", map[string]any{"config": "project", "again": true, "set": append(set, fmt.Sprintf("train.seed=%d", n))})
				if n == 0 && !strings.Contains(last, tt.first) {
					t.Errorf("the first training: %s", last)
				}
				runs, err := filepath.Glob(filepath.Join(dir, "runs", "project-*"))
				must(t, err)
				for _, run := range runs {
					many := 1e6
					_, _ = steer.Put(run, steer.Limit, steer.Limits{steer.Calls: &many, steer.Tokens: &many}, "a model", time.Now()) // a run that has ended takes none
					callMCP(t, s, "resume", map[string]any{"config": "project", "run": run})
				}
			}
			if !strings.Contains(last, tt.second) {
				t.Errorf("the last training: %s", last)
			}
			requests, _, used, _ := model.Count()
			if sum := used.Input + used.Output; requests < tt.least || requests > tt.most || sum > tt.tokens {
				t.Errorf("%d requests, allowed are %d to %d; %d tokens, allowed are %d", requests, tt.least, tt.most, sum, tt.tokens)
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
