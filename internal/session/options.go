package session

import (
	"context"
	"maps"
	"time"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/page"
	"github.com/seed-f4525e22/skillopt/internal/provider/cassette"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/world"
)

// Options are what a caller of the library chooses in addition to the configuration. The zero
// value is usable.
type Options struct {
	// These fields replace what the configuration names.
	Given
	Skill   *skill.Skill
	Env     task.Env
	World   world.World
	Scorer  func(answer string, t task.Task) score.Score
	Clients map[string]model.Client // by role
	Names   map[string]string       // entries of the identity that represent values of the caller, without "library."

	// Where the run is, and how it continues.
	RunDir string
	Beginning
	Finish bool
	Reopen bool

	Replay      *cassette.Cassette
	Pages       PageGetter // fetches what tasks.pages asks for; nil: from the network
	TestLedgers []string
	Start       Start

	// Of single commands.
	Split string
	Only  Only
	Tuned *result.Tuned
	Looking
	Proofs   Proofs
	Counting bool // tasks are only counted

	// The program around.
	Events event.Sink
	Planning
	Used    func(event.Progress) // takes what the operation has used, when it ends; nil: no one counts
	Stop    <-chan struct{}
	Loaded  *config.Loaded
	Version string
	Clouds  wiring.Clouds
	Now     func() time.Time
}

// PageGetter fetches a page of the web; *page.Client is one. It may be called concurrently.
type PageGetter interface {
	Get(ctx context.Context, address string) (page.Page, error)
}

// Looking says how much a measurement reads, and when it looks at what it has read.
type Looking struct {
	Passes int     // over the tasks; 0: the default of the command
	Margin float64 // the largest difference that does not matter; 0: the default
	Level  float64 // of a comparison that looks once; 0: it looks as it goes
}

// Given are tasks of the caller's own.
type Given struct {
	Tasks   []task.Task // nil: those of tasks.path
	Answers Answers     // nil: the target is asked
	Folders string      // that the workspaces of tasks are relative to; "": TasksDir
}

// Start says what a run may begin with. The zero value: only a sound measurement, and no second
// training of a configuration that is trained to its end.
type Start struct {
	AcceptSeed bool // though the first scores look as if the measurement were broken
	Again      bool // though a training of the same configuration is complete
}

// Beginning says what of other runs a new one begins with, and whether its ceilings will be
// raised. The zero value: nothing, and they stay.
type Beginning struct {
	// KeepOpen has a run make nothing smaller for its ceilings, and leave the test unread where
	// one ends it.
	KeepOpen bool
	Fork     string // directory of the new run, which takes over what that of RunDir has paid for
	Continue Continuation
	Memory   *result.Memory // what they leave to the optimizer; nil: what the configuration names
}

// Planning is what happens to the plan of an operation before anything is spent.
type Planning struct {
	Confirm func(result.Plan) error // asked whether to continue; nil: no one is
	Plan    *result.Plan            // takes the plan of an operation, which ends there; nil: it is carried out
}

// Only says which tasks of a split Evaluate scores. The zero value is all of them.
type Only struct {
	IDs   []string
	Type  string // of the tasks
	Limit int    // how many of those that the others let through, the first ones; 0: all
}

// Proofs says where what was proven of an agent is kept. The zero value keeps nothing.
type Proofs struct {
	Dir   string // a folder for nothing else; it is made
	Fresh bool   // prove again what is kept
}

// Identify sets an entry of the identity. What others hold stays as it is.
func (o *Options) Identify(key, name string) {
	names := maps.Clone(o.Names)
	if names == nil {
		names = map[string]string{}
	}
	names[key] = name
	o.Names = names
}
