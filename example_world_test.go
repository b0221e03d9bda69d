package skillopt_test

import (
	"context"
	"fmt"
	"log"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/world"
)

// secretNumber is a world: a number is guessed, and each guess is answered.
type secretNumber struct{}

func (secretNumber) Pure() bool { return true }

func (secretNumber) Open(_ context.Context, s world.Setting) (world.Episode, error) {
	n, err := strconv.Atoi(s.Task.Gold[0])
	return secret(n), err
}

// secret is an episode.
type secret int

func (secret) Start(context.Context) (world.Scene, error) {
	return world.Scene{Text: "Name a number from 1 to 100 and nothing else."}, nil
}

func (n secret) Act(_ context.Context, a world.Action) (world.Observation, error) {
	guess, err := strconv.Atoi(strings.TrimSpace(a.Text))
	switch {
	case err != nil:
		return world.Observation{Text: "that is no number"}, nil
	case guess > int(n):
		return world.Observation{Text: "too high"}, nil
	case guess < int(n):
		return world.Observation{Text: "too low"}, nil
	}
	return world.Observation{Done: true}, nil
}

func (secret) Close() error { return nil }

// counted is a model that counts its calls, and ends the run before a call.
type counted struct {
	player
	calls, end *atomic.Int64
	cancel     context.CancelFunc
}

func (c counted) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	if c.calls.Load() == c.end.Load() {
		c.cancel()
		return model.Response{}, context.Canceled
	}
	c.calls.Add(1)
	return c.player.Generate(ctx, req)
}

// A world of your own. In a pure one each reply of the model is recorded: a run that ends in the middle of a dialogue
// pays for none of them again: six guesses find 63, and seven 22.
func ExampleWithWorld() {
	tasks := []task.Task{{ID: "one", Prompt: "Guess.", Gold: []string{"63"}, Split: task.Test}, {ID: "two", Prompt: "Guess.", Gold: []string{"22"}, Split: task.Test}}
	dir, remove := newFolder()
	defer remove()

	cfg := config.Default()
	cfg.Env.Turns = 7
	cfg.Tasks.Checks = []any{map[string]any{"type": "equals", "value": "$gold"}}
	var calls, end atomic.Int64
	end.Store(5) // the first run is ended before its sixth call
	for {
		ctx, cancel := context.WithCancel(context.Background())
		result, err := skillopt.Evaluate(ctx, cfg, "test",
			skillopt.WithTasks(tasks),
			skillopt.WithWorld("secret-number-v1", secretNumber{}),
			skillopt.WithClient(model.Target, "player-v1", counted{calls: &calls, end: &end, cancel: cancel}),
			skillopt.WithSkill("# Guessing\n\n- Always halve the range that is left.\n"),
			skillopt.WithRunDir(filepath.Join(dir, "run")))
		cancel()
		if err != nil {
			fmt.Println("ended after", calls.Load(), "calls")
			end.Store(-1)
			continue
		}
		if len(result.Splits) != 1 {
			log.Fatal("no score")
		}
		fmt.Println(result.Splits["test"].Hard, "after", calls.Load(), "calls")
		return
	}
	// Output:
	// ended after 5 calls
	// 1 after 13 calls
}
