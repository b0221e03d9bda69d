package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/steer"
	"github.com/seed-f4525e22/skillopt/result"
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

// A training continues in the server while calls end; one costly tool works at a time; stop, a cancelled call and the end
// of the connection stop it softly, and what was paid for is recorded.
func TestMCPTrainingContinues(t *testing.T) {
	held, proceed := make(chan bool, 1000), make(chan bool)
	dir, flags, model := newPlantedProject(t, func() { held <- true; <-proceed })
	flags = append(flags, "--allow-train", "calls=1000", "--allow-calls", "10")
	s := connectMCP(t, dir, "claude-code", nil, flags...)
	args := map[string]any{"config": "project", "wait": 0}
	atWork := func(text string) {
		t.Helper()
		if !strings.Contains(text, `"state":"at work"`) {
			t.Fatal(text)
		}
	}
	text, _ := callMCP(t, s, "train", args)
	atWork(text)
	text, _ = callMCP(t, s, "train", args)
	atWork(text)
	for _, tool := range []string{"try", "doctor"} {
		if text, failed := callMCP(t, s, tool, map[string]any{"config": "project"}); !failed || !strings.Contains(text, "train is at work") {
			t.Errorf("%s: %s", tool, text)
		}
	}
	if text, failed := callMCP(t, s, "train", map[string]any{"config": "project", "again": true}); !failed || !strings.Contains(text, "another training is at work") {
		t.Error(text)
	}
	if text, failed := callMCP(t, s, "train", map[string]any{"config": "project", "wait": 601}); !failed || !strings.Contains(text, "0 to 600") {
		t.Error(text)
	}
	<-held
	if text, failed := callMCP(t, s, "stop", nil); failed {
		t.Error(text)
	}
	close(proceed)
	text, failed := callMCP(t, s, "train", map[string]any{"config": "project", "wait": 60})
	if !failed || !strings.Contains(text, "stopped") || !strings.Contains(text, "--run") {
		t.Errorf("after stop: %s", text)
	}
	before, _, _, _ := model.Count()
	if text, failed = callMCP(t, s, "resume", map[string]any{"config": "project", "run": "runs/project-1", "wait": 60}); failed || !strings.Contains(text, `"status":"completed"`) {
		t.Errorf("resumed: %s", text)
	}
	if after, _, _, _ := model.Count(); after == before {
		t.Error("nothing was asked")
	}
}

// The end of the connection stops a training softly: what is in flight is recorded, and the server waits for it. A call
// that is cancelled does the same.
func TestMCPTrainingEndsWithItsClient(t *testing.T) {
	for _, how := range []string{"connection", "call"} {
		t.Run(how, func(t *testing.T) {
			held, proceed := make(chan bool, 1000), make(chan bool)
			dir, flags, _ := newPlantedProject(t, func() { held <- true; <-proceed })
			t.Run("session", func(t *testing.T) {
				s, hangUp := connectMCPTo(t, dir, "claude-code", nil, append(flags, "--allow-train", "calls=1000")...)
				ctx, cancel := context.WithCancel(t.Context())
				go func() {
					<-held
					if how == "call" {
						cancel()
					} else {
						hangUp()
					}
					close(proceed)
				}()
				if r, err := s.CallTool(ctx, params("train", map[string]any{"config": "project"})); err == nil {
					t.Errorf("answered: %v", r)
				}
			})
			v, err := ask.Run(filepath.Join(dir, "runs", "project-1"), "project-1")
			if err != nil || v.Manifest.Status != result.Stopped {
				t.Errorf("the run is %s: %v", v.Manifest.Status, err)
			}
		})
	}
}
