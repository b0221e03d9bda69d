package textgame

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// alfredVariable names the folder with alfred.pddl and alfred.twl2 of the package alfworld.
const alfredVariable = "SKILLOPT_ALFWORLD_LOGIC"

// alfred returns a game of the published domain and grammar.
func alfred(t *testing.T, problem, goal string) *Game {
	t.Helper()
	dir := os.Getenv(alfredVariable)
	if dir == "" {
		t.Skipf("%s is not set: the folder with alfred.pddl and alfred.twl2 of the Python package alfworld", alfredVariable)
	}
	read := func(name string) string {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	grammar := strings.ReplaceAll(read(filepath.Join(dir, "alfred.twl2")), "UNKNOWN GOAL", goal)
	data, err := json.Marshal(map[string]any{"pddl_domain": read(filepath.Join(dir, "alfred.pddl")), "pddl_problem": problem, "grammar": grammar})
	if err != nil {
		t.Fatal(err)
	}
	g, err := Parse("mug.tw-pddl", data)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// scene is what a player sees after a command.
type scene struct {
	command, seen string
	admissible    string // joined by "; "
	won           bool
}

// follow plays commands.
func follow(t *testing.T, g *Game, commands ...string) []scene {
	t.Helper()
	p, intro, err := g.Start()
	if err != nil {
		t.Fatal(err)
	}
	all := []scene{{"", intro, strings.Join(p.Admissible(), "; "), p.IsWon()}}
	for _, c := range commands {
		answer, err := p.Act(c)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, scene{c, answer, strings.Join(p.Admissible(), "; "), p.IsWon()})
	}
	return all
}

// TestAlfredMiniGame plays a small game of the published domain word for word.
func TestAlfredMiniGame(t *testing.T) {
	t.Parallel()
	problem, err := os.ReadFile("testdata/mug.pddl")
	if err != nil {
		t.Fatal(err)
	}
	g := alfred(t, string(problem), "put a hot mug in cabinet")
	want := []scene{
		{"", "-= Welcome to TextWorld, ALFRED! =-\n\nYou are in the middle of a room. Looking quickly around you, you see a cabinet 2, a cabinet 1, a microwave 1, and a sidetable 1.\n\nYour task is to: put a hot mug in cabinet.", "go to cabinet 1; go to cabinet 2; go to microwave 1; go to sidetable 1; help; inventory; look", false},
		{"go to sidetable 1", "You arrive at sidetable 1. On the sidetable 1, you see a apple 1, and a mug 2.", "examine sidetable 1; go to cabinet 1; go to cabinet 2; go to microwave 1; help; inventory; look; take apple 1 from sidetable 1; take mug 2 from sidetable 1", false},
		{"take mug 2 from sidetable 1", "You pick up the mug 2 from the sidetable 1.", "examine mug 2; examine sidetable 1; go to cabinet 1; go to cabinet 2; go to microwave 1; help; inventory; look; move mug 2 to sidetable 1", false},
		{"go to microwave 1", "You arrive at microwave 1. The microwave 1 is closed.", "examine microwave 1; examine mug 2; go to cabinet 1; go to cabinet 2; go to sidetable 1; heat mug 2 with microwave 1; help; inventory; look; open microwave 1", false},
		{"heat mug 2 with microwave 1", "You heat the mug 2 using the microwave 1.", "examine microwave 1; examine mug 2; go to cabinet 1; go to cabinet 2; go to sidetable 1; heat mug 2 with microwave 1; help; inventory; look; open microwave 1", false},
		{"go to cabinet 1", "You arrive at cabinet 1. The cabinet 1 is closed.", "examine cabinet 1; examine mug 2; go to cabinet 2; go to microwave 1; go to sidetable 1; help; inventory; look; open cabinet 1", false},
		{"open cabinet 1", "You open the cabinet 1. The cabinet 1 is open. In it, you see nothing.", "close cabinet 1; examine cabinet 1; examine mug 2; go to cabinet 2; go to microwave 1; go to sidetable 1; help; inventory; look; move mug 2 to cabinet 1", false},
		{"move mug 2 to cabinet 1", "You move the mug 2 to the cabinet 1.", "close cabinet 1; examine cabinet 1; go to cabinet 2; go to microwave 1; go to sidetable 1; help; inventory; look; take mug 2 from cabinet 1", true},
	}
	got := follow(t, g, "go to sidetable 1", "take mug 2 from sidetable 1", "go to microwave 1", "heat mug 2 with microwave 1", "go to cabinet 1", "open cabinet 1", "move mug 2 to cabinet 1")
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(scene{})); diff != "" {
		t.Error(diff)
	}
}
