package textgame

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed-f4525e22/skillopt/internal/testing/textgames"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/world"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newWorld returns a world of one game, in a folder.
func newWorld(t *testing.T, made textgames.Game) *World {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "trial"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "trial", "game.tw-pddl"), made.Data, 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := New(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func newSetting(game any) world.Setting {
	return world.Setting{Task: task.Task{ID: "t1", Data: map[string]any{FieldGame: game}}}
}

// TestWorld plays an episode, which is scored at each step and ends when the game is won.
func TestWorld(t *testing.T) {
	t.Parallel()
	made := textgames.Make(0, textgames.Types[0], false)
	w := newWorld(t, made)
	ctx := t.Context()
	e, err := w.Open(ctx, newSetting("trial/game.tw-pddl"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Start(ctx)
	if err != nil || !s.Acts || !s.Scores || !strings.Contains(s.Text, "What is to be done") || slices.Contains(s.Choices, "help") || !slices.Contains(s.Choices, "look") {
		t.Fatalf("%+v, %v", s, err)
	}
	for i, command := range append([]string{"Look", "help", "fly away"}, made.Walkthrough...) {
		o, err := e.Act(ctx, world.Action{Text: command})
		last := i == len(made.Walkthrough)+2
		switch {
		case err != nil:
			t.Fatal(err)
		case o.Done != last || o.Score == nil || (*o.Score == 1) != last || len(o.Choices) == 0:
			t.Errorf("%q: %+v", command, o)
		case (o.Text == Refusal) != (command == "fly away"):
			t.Errorf("%q is answered %q", command, o.Text)
		}
	}
	if err := e.Close(); err != nil || !w.Pure() {
		t.Error(err)
	}
	again, err := w.Open(ctx, newSetting("trial/game.tw-pddl"))
	if err != nil || again.(*episode).game != e.(*episode).game {
		t.Errorf("a game that is open is read again, %v", err)
	}
}

// TestWorldRefuses: a game that cannot be read is an error that names the task and the file.
func TestWorldRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, textgames.Game{Data: []byte("{}")})
	for game, want := range map[any]string{
		nil:                  "the task t1 names no game: its field game",
		"trial/game.tw-pddl": "the game of task t1: game trial/game.tw-pddl, pddl_domain, line 1: it is not one list in parentheses",
		"other.tw-pddl":      "game other.tw-pddl: there is no such file in the folder of the games",
		"../x":               "path escapes",
	} {
		if _, err := w.Open(context.Background(), newSetting(game)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", game, err, want)
		}
	}
	if _, err := New(filepath.Join(t.TempDir(), "missing")); err == nil || !strings.Contains(err.Error(), "the folder of the games cannot be opened") {
		t.Error(err)
	}
}
