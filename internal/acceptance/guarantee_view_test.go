package acceptance_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/task"
)

// All that the target was told is in every question of an analyst, and of the author of
// guidance, and the skill is there once.
func TestTheOptimizerSeesThePromptOfTheTarget(t *testing.T) {
	t.Parallel()
	system := "tasks.system=SYSTEM-ONE {{skill}} SYSTEM-TWO"
	s := look(t, scene{set: []string{system}})
	if s.err != nil {
		t.Fatal(s.err)
	}
	for _, stage := range []string{"analyst_error", "analyst_success", "slow_update"} {
		questions := s.prompts(stage, "user")
		if len(questions) == 0 {
			t.Errorf("nobody was asked for %s", stage)
		}
		for _, q := range questions {
			if !strings.Contains(q, "SYSTEM-ONE [the skill stands here] SYSTEM-TWO") {
				t.Errorf("%s lacks the system message:\n%s", stage, q)
			}
		}
	}
	s = look(t, scene{set: []string{"tasks.prompt=PROMPT-ONE {{prompt}} PROMPT-TWO"}})
	for _, q := range s.prompts("analyst_error", "user") {
		if n := strings.Count(q, "### Trajectory "); n == 0 || strings.Count(q, "PROMPT-ONE ") != n || strings.Count(q, " PROMPT-TWO") != n {
			t.Errorf("the task of one of %d rollouts is missing:\n%s", n, q)
		}
	}
	s = look(t, scene{set: []string{system, "reflect.view=task"}})
	for _, q := range s.prompts("analyst_error", "user") {
		if strings.Contains(q, "SYSTEM-ONE") || strings.Contains(q, "```") {
			t.Errorf("with reflect.view task it is as it was at first:\n%s", q)
		}
	}
}

// What a variable holds that the target is told stays with the target.
func TestTheOptimizerSeesNoSecretsOfTheTarget(t *testing.T) {
	t.Parallel()
	const secret = "sk-proj-Zk3vQ8mN1xR7tY2uB6wE9aL4"
	s := look(t, scene{set: []string{"tasks.system=Use " + secret + " {{skill}}"}})
	if s.err != nil {
		t.Fatal(s.err)
	}
	seen := false
	for _, q := range s.prompts("analyst_error", "user") {
		seen = seen || strings.Contains(q, "[the skill stands here]")
		if strings.Contains(q, secret) {
			t.Errorf("the optimizer is told a secret:\n%s", q)
		}
	}
	if !seen {
		t.Error("it is told nothing at all")
	}
}

// analystsOf trains with an agent for a step and returns what analysts of failures were
// asked.
func analystsOf(t *testing.T, cfg config.Config) []string {
	t.Helper()
	var (
		mu    sync.Mutex
		asked []string
	)
	optimizer := modeltest.Func(func(_ context.Context, req model.Request) (model.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		if req.Tags.Stage == model.StageAnalystError {
			asked = append(asked, req.Messages[1].Text())
		}
		return model.Response{Text: `{"failure_summary": [], "success_patterns": [], "patch": {"reasoning": "", "edits": []}}`, Finish: model.FinishStop}, nil
	})
	target := modeltest.Func(func(context.Context, model.Request) (model.Response, error) {
		return model.Response{Text: "no", Finish: model.FinishStop}, nil
	})
	var tasks []task.Task
	for i, split := range []task.Split{task.Train, task.Train, task.Selection, task.Test} {
		tasks = append(tasks, task.Task{ID: fmt.Sprint(i), Prompt: fmt.Sprint("TASK-", i), Gold: []string{"yes"}, Split: split})
	}
	cfg.Tasks.Path, cfg.Tasks.Extract, cfg.Tasks.Checks, cfg.Train.Epochs = "", nil, []any{map[string]any{"type": "equals", "value": "$gold"}}, 1
	trained(t, cfg, filepath.Join(t.TempDir(), "run"), skillopt.WithTasks(tasks), skillopt.WithAcceptedSeed(),
		skillopt.WithClient(model.Target, "scripted", target), skillopt.WithClient(model.Optimizer, "scripted", optimizer))
	return asked
}

// Of an agent analysts see what it tells its model: its system message and its tools.
func TestTheOptimizerSeesWhatAgentsTellTheirModel(t *testing.T) {
	t.Parallel()
	builtin := agentConfig(t)
	body := `{"model":"m","messages":[{"role":"system","content":"AGENT-SYSTEM"},{"role":"user","content":"hi"}],` +
		`"tools":[{"type":"function","function":{"name":"AGENT-TOOL","description":"Does it.","parameters":{"type":"object"}}}]}`
	custom := agentConfig(t)
	custom.Agent.Name = "custom"
	custom.Agent.Custom = map[string]any{
		"wire": "chat", "env": map[string]any{"url": "{{base_url}}", "key": "{{key}}", "prompt": "{{prompt}}"},
		"argv": []any{"bash", "-c", fmt.Sprintf(`at=${url#http://}; exec 3<>/dev/tcp/${at%%:*}/${at##*:}
printf 'POST /v1/chat/completions HTTP/1.1\r\nHost: %%s\r\nAuthorization: Bearer %%s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%%s' "$at" "$key" '%s' >&3
cat <&3 >reply.txt; printf no`, len(body), body)},
	}
	for name, tt := range map[string]struct {
		cfg  config.Config
		want []string
	}{
		"builtin": {builtin, []string{"You are an agent that works in a folder", "bash: Runs a command", "TASK-"}},
		"custom":  {custom, []string{"AGENT-SYSTEM", "AGENT-TOOL: Does it.", "TASK-"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := analystsOf(t, tt.cfg)
			if len(asked) == 0 {
				t.Fatal("no analyst was asked")
			}
			for _, q := range asked {
				for _, want := range tt.want {
					if !strings.Contains(q, want) {
						t.Errorf("%q is not in\n%s", want, q)
					}
				}
			}
		})
	}
}
