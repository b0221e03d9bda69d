package session

import (
	"fmt"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/world"
)

// The worlds of env.world.
const (
	corpusWorld      = "corpus"
	spreadsheetWorld = "spreadsheet"
)

// InWorld reports whether the configuration names a world, in which a target acts over several turns.
func (s *Inputs) InWorld() bool { return s.World != nil || s.Config.Env.World != "" }

// worksInFolders reports whether tasks are carried out in folders of their own, which checks look at.
func (s *Inputs) worksInFolders() bool {
	return s.Config.Agent.Name != "" || s.World != nil && !s.World.Pure() || s.Config.Env.World == spreadsheetWorld
}

// inWorld has the target act in the world of the session.
func (s *episodes) inWorld(w world.World) (rollout.Episode, error) {
	e := s.Config.Env
	talk := rollout.Talk{World: w, Prompt: s.ChatPrompt(s.Images), Turns: e.Turns, Tokens: e.Tokens, Timeout: e.Timeout.Std()}
	if w.Pure() {
		return &rollout.Dialogue{
			Talk: talk, Model: s.Caller, Assess: s.scorer.assess, RunSeed: s.Config.Train.Seed,
			Warn: func(err error) { s.Emit(event.Warning{Text: s.hide.Text(err.Error())}) },
		}, nil
	}
	if s.Replay != nil {
		return s.inFolders(replayAgent{}, s.Config.Limits.Concurrency)
	}
	return s.inFolders(rollout.Player{Talk: talk}, s.Config.Limits.Concurrency)
}

// world returns the world that the target acts in.
func (s *episodes) world() (world.World, error) {
	if s.World != nil {
		return s.World, nil
	}
	return nil, fmt.Errorf("env.world: there is no world %q", s.Config.Env.World)
}
