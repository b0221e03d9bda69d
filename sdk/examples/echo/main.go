// Command echo is an echo world: the target shall say what the task asks for.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/seed-f4525e22/skillopt/sdk/skillenv"
	"github.com/seed-f4525e22/skillopt/world"
)

func main() {
	p := skillenv.Program{Name: "echo", Version: "1", World: echo{}, Tasks: []json.RawMessage{
		[]byte(`{"id":"one","prompt":"hello"}`), []byte(`{"id":"two","prompt":"Grüße"}`),
	}}
	if err := skillenv.Serve(context.Background(), os.Stdin, os.Stdout, p); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// echo is the world.
type echo struct{}

// Pure implements world.World.
func (echo) Pure() bool { return true }

// Open implements world.World.
func (echo) Open(_ context.Context, s world.Setting) (world.Episode, error) {
	return &episode{s.Task.Prompt}, nil
}

// episode is one in which a text is to be said.
type episode struct{ text string }

// Start implements world.Episode.
func (e *episode) Start(context.Context) (world.Scene, error) {
	return world.Scene{Text: "Say: " + e.text, Choices: []string{e.text, "leave"}}, nil
}

// Act implements world.Episode.
func (e *episode) Act(_ context.Context, a world.Action) (world.Observation, error) {
	score := 0.0
	switch a.Text {
	case "leave":
		return world.Observation{Failure: "left: nothing was said"}, nil
	case e.text:
		score = 1
	}
	return world.Observation{Text: "You said: " + a.Text, Done: score == 1, Score: &score}, nil
}

// Close implements world.Episode.
func (e *episode) Close() error { return nil }
