// Package textgame plays text games as they are released with ALFWorld: a file with a planning domain and a
// problem in PDDL, and a grammar that words the commands and the answers.
//
//	g, err := textgame.Parse(name, data) // a *Error says where a game is wrong
//	p, intro, err := g.Start()
//	answer, err := p.Act("go to desk 1") // textgame.Refusal: it is not possible
//	p.Admissible(), p.IsWon()
//
// A World opens the game that a task names in its field game. Compare plays the runs of a recording that
// tools/record_alfworld.py made with the Python package.
//
// Nothing of what a game is about is known here: actions, objects and sentences are the game's. What it
// does is what the Python package does, its oddities included. Games are not trusted: their size, the depth
// of their lists and rules, and the work for a move are bounded. It knows nothing about benchmarks, skills,
// models and how dialogues are recorded.
package textgame

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"weak"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/world"
)

// FieldGame is the field of a task that names its game: a file below the folder of the games.
const FieldGame = "game"

// maxGame bounds the file of a game.
const maxGame = 8 << 20

// helpCommand is a command that is not listed: it lists the others.
const helpCommand = "help"

// World implements world.World. It is safe for concurrent use. A game that several episodes play is kept once.
type World struct {
	root *os.Root

	mu    sync.Mutex
	games map[string]weak.Pointer[Game]
}

// New opens the folder of the games.
func New(dir string) (*World, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, &Error{Game: dir, Msg: "the folder of the games cannot be opened: " + disk.Reason(err)}
	}
	return &World{root: root, games: map[string]weak.Pointer[Game]{}}, nil
}

// Close implements io.Closer.
func (w *World) Close() error { return w.root.Close() }

// Pure implements world.World.
func (*World) Pure() bool { return true }

// Open implements world.World.
func (w *World) Open(ctx context.Context, s world.Setting) (world.Episode, error) {
	g, err := w.Game(ctx, s.Task)
	if err != nil {
		return nil, err
	}
	return &episode{game: g}, nil
}

// Game returns the game of a task.
func (w *World) Game(ctx context.Context, t task.Task) (*Game, error) {
	name, _ := t.Data[FieldGame].(string)
	if name == "" {
		return nil, fmt.Errorf("the task %s names no game: its field %s is the path of a file below the folder of the games", t.ID, FieldGame)
	}
	w.mu.Lock()
	g := w.games[name].Value()
	w.mu.Unlock()
	if g != nil {
		return g, nil
	}
	g, err := load(ctx, w.root, name)
	if err != nil {
		return nil, fmt.Errorf("the game of task %s: %w", t.ID, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if other := w.games[name].Value(); other != nil {
		return other, nil
	}
	w.games[name] = weak.Make(g)
	return g, nil
}

// load reads a game.
func load(ctx context.Context, root *os.Root, name string) (*Game, error) {
	data, err := disk.ReadIn(ctx, root, name, maxGame)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &Error{Game: name, Msg: "there is no such file in the folder of the games, " + root.Name()}
	case err != nil:
		return nil, err
	}
	return Parse(name, data)
}

// episode is one play of a game.
type episode struct {
	game *Game
	play *Play
}

// Close implements world.Episode: nothing is open between two actions.
func (*episode) Close() error { return nil }

// Start implements world.Episode.
func (e *episode) Start(context.Context) (world.Scene, error) {
	play, intro, err := e.game.Start()
	if err != nil {
		return world.Scene{}, err
	}
	e.play = play
	scene := world.Scene{Text: intro, Acts: true, Scores: true, Choices: e.choices()}
	if w := e.game.Walkthrough; len(w) > 0 {
		scene.Hidden = "Commands that win:\n" + strings.Join(w, "; ")
	}
	return scene, nil
}

func (e *episode) choices() []string {
	return slices.DeleteFunc(slices.Clone(e.play.Admissible()), func(c string) bool { return c == helpCommand })
}

// Act implements world.Episode. A command that is not possible changes nothing, and is answered like in the
// Python package. Commands are in lower case there.
func (e *episode) Act(_ context.Context, a world.Action) (world.Observation, error) {
	answer, err := e.play.Act(strings.ToLower(a.Text))
	if err != nil {
		return world.Observation{}, err
	}
	score := e.play.Score()
	return world.Observation{Text: answer, Choices: e.choices(), Done: e.play.IsWon(), Score: &score}, nil
}
