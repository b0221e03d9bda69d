package acceptance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/world"
)

// cellar is a game: its commands have to be given in order, and each is a part of the score.
type cellar struct{}

func cellarPlan() []string { return []string{"take lamp", "light lamp", "open trapdoor"} }

func (cellar) Pure() bool { return true }

func (cellar) Open(context.Context, world.Setting) (world.Episode, error) { return &inCellar{}, nil }

type inCellar struct{ done int }

func (*inCellar) Start(context.Context) (world.Scene, error) {
	return world.Scene{Text: "It is dark here.", Acts: true, Scores: true, Choices: []string{cellarPlan()[0], "wait"}}, nil
}

func (c *inCellar) Act(_ context.Context, a world.Action) (world.Observation, error) {
	if a.Text == cellarPlan()[c.done] {
		c.done++
	}
	score := float64(c.done) / float64(len(cellarPlan()))
	return world.Observation{Text: fmt.Sprintf("You %s. (%d done)", a.Text, c.done), Score: &score, Done: c.done == len(cellarPlan())}, nil
}

func (*inCellar) Close() error { return nil }

// gamer is a model inside an agent: it calls the tool act with the commands of the game, whatever the agent calls that tool, until
// the episode has ended.
type gamer struct{ commands []string }

func (g gamer) Generate(_ context.Context, r model.Request) (model.Response, error) {
	name, given, last := "", 0, ""
	for _, t := range r.Tools {
		if t.Name == "act" || strings.HasSuffix(t.Name, "world__act") || strings.HasSuffix(t.Name, "world_act") || strings.HasSuffix(t.Name, "world-act") {
			name = t.Name
		}
	}
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if p.Call != nil && p.Call.Name == name {
				given++
			}
			if p.Result != nil {
				last = p.Result.Content
			}
		}
	}
	var said model.Response
	said.Usage.Input, said.Usage.Output = 10, 5
	if name == "" || given == len(g.commands) || strings.Contains(last, "has ended") {
		said.Text = "It is finished."
		return said, nil
	}
	arguments, err := json.Marshal(map[string]string{"command": g.commands[given]})
	said.Parts = []model.Part{{Call: &model.ToolCall{ID: fmt.Sprintf("call_%d", given+1), Name: name, Arguments: arguments}}}
	return said, err
}

// A real coding agent plays a world through the tool act, confined, and the score of the episode is the last that the world gave.
func TestRealAgentsPlayWorlds(t *testing.T) {
	t.Parallel()
	dir := realAgents(t)
	for _, name := range []string{"claude", "codex", "copilot", "gemini", "opencode", "qwen"} {
		t.Run(name, func(t *testing.T) {
			program, _ := realProgram(t, dir, name)
			t.Parallel()
			for _, tt := range []struct {
				commands []string
				want     float64
			}{
				{cellarPlan(), 1},
				{[]string{"wait", "take lamp"}, 1. / 3},
			} {
				cellarTask := task.Task{ID: "t1", Prompt: "Get into the cellar.", Split: task.Test}
				got := play(t, name, program, gamer{tt.commands}, cellarTask, func(*config.Config) {}, skillopt.WithWorld("cellar", cellar{}))
				if got.Hard != tt.want || got.N != 1 {
					t.Errorf("%q: hard %v of %d, want %v", tt.commands, got.Hard, got.N, tt.want)
				}
			}
		})
	}
}

// play has an agent with a model play one task.
func play(t *testing.T, name, program string, player model.Client, of task.Task, change func(*config.Config), more ...skillopt.Option) result.SplitScore {
	t.Helper()
	needsSandbox(t)
	cfg := config.Default()
	cfg.Env.Turns = 5
	change(&cfg)
	server := startAnswering(t, player)
	loaded := throughGateway(t, &cfg, server, name, program, "world", "chat")
	e, err := skillopt.Evaluate(t.Context(), cfg, "test", append(more, loaded, skillopt.WithRunDir(filepath.Join(t.TempDir(), "run")), skillopt.WithTasks([]task.Task{of}))...)
	if err != nil {
		t.Fatal(err)
	}
	return e.Splits["test"]
}

// Claude Code plays a text game: with the commands that win it, and with some of them.
func TestRealClaudePlaysATextGame(t *testing.T) {
	t.Parallel()
	program, _ := realProgram(t, realAgents(t), "claude")
	game := task.Task{ID: "t1", Prompt: "Play the game.", Split: task.Test, Data: map[string]any{"game": "json_2.1.1/valid_seen/pick_and_place_simple-13/trial_0013/game.tw-pddl"}}
	wins := []string{"go to shelf 1", "take cup 1 from shelf 1", "go to cupboard 1", "open cupboard 1", "move cup 1 to cupboard 1"}
	for n, want := range map[int]float64{len(wins): 1, 3: 0} {
		got := play(t, "claude", program, gamer{wins[:n]}, game, func(c *config.Config) {
			c.Env.World, c.Env.Docs = "textgame", filepath.Join("..", "..", "benchmarks", "alfworld", "fixture")
		})
		if got.Hard != want || got.N != 1 {
			t.Errorf("%d commands: hard %v of %d, want %v", n, got.Hard, got.N, want)
		}
	}
}

// Claude Code plays in a program of a user.
func TestRealClaudePlaysInAProgram(t *testing.T) {
	t.Parallel()
	program, _ := realProgram(t, realAgents(t), "claude")
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip(err)
	}
	echo, err := filepath.Abs(filepath.Join("..", "..", "sdk", "examples", "echo.py"))
	if err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]float64{"hello": 1, "good day": 0} {
		got := play(t, "claude", program, gamer{[]string{command}}, task.Task{ID: "t1", Prompt: "hello", Split: task.Test}, func(c *config.Config) {
			c.Env.Command, c.Env.Protocol = []string{python, echo}, config.ProtocolEpisode
		})
		if got.Hard != want || got.N != 1 {
			t.Errorf("%q: hard %v of %d, want %v", command, got.Hard, got.N, want)
		}
	}
}

// An agent that cannot be given tools plays no world, and that is said before anything is begun.
func TestAgentsWithoutToolsPlayNoWorlds(t *testing.T) {
	t.Parallel()
	cfg := agentConfig(t)
	cfg.Tasks.Path, cfg.Tasks.Checks = "", nil
	_, err := skillopt.Evaluate(t.Context(), cfg, "test", append(inProcess(t), skillopt.WithRunDir(filepath.Join(t.TempDir(), "run")),
		skillopt.WithTasks([]task.Task{{ID: "t1", Prompt: "Get into the cellar.", Split: task.Test}}), skillopt.WithWorld("cellar", cellar{}))...)
	if err == nil || !strings.Contains(err.Error(), "agent.name builtin plays no worlds") || !strings.Contains(err.Error(), "claude, codex") {
		t.Errorf("error %v", err)
	}
}
