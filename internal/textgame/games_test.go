package textgame

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/internal/testing/textgames"
)

func parseMade(t interface{ Fatal(...any) }, made textgames.Game) *Game {
	g, err := Parse(made.Name, made.Data)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestWalkthroughsWin: games of all types in both generations are won by their walkthroughs, at the last command.
func TestWalkthroughsWin(t *testing.T) {
	t.Parallel()
	for _, made := range textgames.MakeAll(300) {
		g := parseMade(t, made)
		scenes := follow(t, g, g.Walkthrough...)
		for i, s := range scenes {
			if s.seen == Refusal || s.won != (i == len(scenes)-1) {
				t.Fatalf("%s: command %d of %d, %q: %q, won is %v; possible before: %s", made.Name, i, len(scenes)-1, s.command, s.seen, s.won, scenes[max(0, i-1)].admissible)
			}
		}
	}
}

// TestWalkthroughOfIdentifiers: published walkthroughs name objects by their identifiers, or as the game does.
func TestWalkthroughOfIdentifiers(t *testing.T) {
	t.Parallel()
	made := textgames.Make(1, textgames.Types[0], false)
	g := parseMade(t, made)
	raw := slices.Clone(g.Walkthrough)
	for o, name := range g.names {
		for i := range raw {
			raw[i] = strings.ReplaceAll(raw[i], name, g.objects[o])
		}
	}
	if slices.Equal(raw, g.Walkthrough) {
		t.Fatal("no command names an object")
	}
	if g.nameObjects(raw); !slices.Equal(raw, g.Walkthrough) {
		t.Errorf("%q, want %q", raw, g.Walkthrough)
	}
}

// TestLaws: each command that is listed is answered and changes nothing of others that are played; what is not listed is refused and
// changes nothing; equal commands have equal answers; names are of one object each.
func TestLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		made := textgames.Make(rapid.Uint64Range(0, 1000).Draw(t, "seed"), rapid.SampledFrom(textgames.Types).Draw(t, "type"), rapid.Bool().Draw(t, "old"))
		g := parseMade(t, made)
		checkNames(t, g)
		a, b := begin(t, g), begin(t, g)
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			list := a.Admissible()
			if !slices.IsSorted(list) || len(slices.Compact(slices.Clone(list))) != len(list) {
				t.Fatalf("not sorted, or twice: %q", list)
			}
			command := rapid.SampledFrom(list).Draw(t, "command")
			want, before := act(t, b, " "+command+"\n"), slices.Clone(list)
			if refused := act(t, a, command+" now"); refused != Refusal || !slices.Equal(before, a.Admissible()) {
				t.Fatalf("a command that is not possible is answered %q, and leaves %q", refused, a.Admissible())
			}
			if got := act(t, a, command); got != want || got == Refusal || got == "" || strings.ContainsAny(got, "#{}") {
				t.Fatalf("%q is answered %q and %q", command, got, want)
			}
			if !slices.Equal(a.Admissible(), b.Admissible()) || a.IsWon() != b.IsWon() {
				t.Fatalf("after %q, %q are possible, and %q", command, a.Admissible(), b.Admissible())
			}
		}
	})
}

func begin(t *rapid.T, g *Game) *Play {
	p, _, err := g.Start()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func act(t *rapid.T, p *Play, command string) string {
	answer, err := p.Act(command)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// checkNames: no two objects of a scene have one name.
func checkNames(t *rapid.T, g *Game) {
	seen := map[string]bool{}
	for _, name := range g.names {
		if seen[name] && name != "" {
			t.Fatalf("two objects are called %q", name)
		}
		seen[name] = true
	}
}

// TestSameSeedSameGame: games are made by seed.
func TestSameSeedSameGame(t *testing.T) {
	t.Parallel()
	a, b := textgames.MakeAll(24), textgames.MakeAll(24)
	for i := range a {
		if string(a[i].Data) != string(b[i].Data) || i > 0 && string(a[i].Data) == string(a[i-1].Data) {
			t.Errorf("%s: not made by its seed", a[i].Name)
		}
	}
}

// BenchmarkStep plays in a room of 48 fixtures and 60 objects.
func BenchmarkStep(b *testing.B) {
	g := parseMade(b, textgames.MakeLarge(1, 48, 60))
	p, _, err := g.Start()
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for b.Loop() {
		if _, err := p.Act(p.Admissible()[rng.IntN(len(p.Admissible()))]); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkParse reads such a room.
func BenchmarkParse(b *testing.B) {
	made := textgames.MakeLarge(1, 48, 60)
	for b.Loop() {
		parseMade(b, made)
	}
}
