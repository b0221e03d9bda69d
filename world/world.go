// Package world says what a target acts in over several turns: a folder of documents that it searches,
// a program that it writes and runs, a game. The dialogue with the model is not a world's business: it
// gets what the model did, and answers.
//
// It knows nothing about models' vendors, skills, scores or records.
package world

import (
	"context"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/task"
)

// World makes episodes. It may be called concurrently.
type World interface {
	// Open begins an episode. Its error, and those of the episode, mean that nothing was measured: what
	// the target did wrong is an Observation.
	Open(ctx context.Context, s Setting) (Episode, error)
	// Pure reports whether equal tasks, seeds and actions always give equal observations, and nothing is
	// left that checks look at. Then each reply of the model is recorded by itself, and a run that was
	// ended in the middle of an episode pays for none of them again. Otherwise an episode is recorded as a
	// whole.
	Pure() bool
}

// A ChangedError says that a world is not the one that the run began with. It ends the run.
type ChangedError struct{ Err error }

func (e *ChangedError) Error() string { return e.Err.Error() }

// Unwrap returns what has changed.
func (e *ChangedError) Unwrap() error { return e.Err }

// ErrorKind says that the user has to decide: restore the world, or begin another run.
func (*ChangedError) ErrorKind() string { return "bad_input" }

// Setting is what an episode begins with.
type Setting struct {
	Task task.Task
	Seed int64
	// Dir is the episode's own folder, with the files of the task; checks look at what is in it at the end.
	// It is "" for a pure world.
	Dir string
	// Client asks the target on behalf of the episode, or the judge (Request.Tags.Role). It is nil for a pure world.
	Client model.Client
}

// Episode is a world at work on one task. Its methods are called one after the other.
type Episode interface {
	// Start returns what the target sees first.
	Start(ctx context.Context) (Scene, error)
	// Act returns what the world answers to an action.
	Act(ctx context.Context, a Action) (Observation, error)
	Close() error
}

// Scene is what the target sees before its first reply, and how it acts.
type Scene struct {
	Text  string       // follows the prompt of the task; "" nothing
	Tools []model.Tool // that it may call
	// Acts says that the target acts by commands, a line of text a reply. The dialogue takes the command
	// out of the reply: Action.Text is the command alone, and Action.Call is nil.
	Acts    bool
	Choices []string // with Acts: the commands that are possible now; nil: unknown
	Hidden  string   // how it can be done, for analysts; the target does not see it; "" unknown
	// Scores says that the world scores its episodes: see Observation.Score. An episode that ends without a
	// score is not measured then.
	Scores bool
}

// Action is a reply of the target, or one of the calls in it.
type Action struct {
	Turn int             // number of the reply, from 1
	Last bool            // no reply follows
	Text string          // of the reply
	Call *model.ToolCall // nil: the reply has no calls
}

// Observation is what a world answers.
type Observation struct {
	Text    string   // for the model
	Choices []string // with Scene.Acts: the commands that are possible now; nil: unknown
	Failed  bool     // the action could not be used, and Text says why
	Done    bool     // the episode has ended: the text of the reply is scored, unless the world scores
	// Failure says why the target has failed within the limits of the task, "class: detail"; the episode
	// has ended then, with a score of 0.
	Failure string
	// Score is that of the episode if it ended now, 0 to 1, with Scene.Scores; nil: unknown.
	Score *float64
}
