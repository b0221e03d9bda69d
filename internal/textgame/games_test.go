package textgame

import (
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/testing/textgames"
)

// TestWalkthroughsWin: games of all types in both generations are won by their walkthroughs, at the last command.
func TestWalkthroughsWin(t *testing.T) {
	t.Parallel()
	for _, made := range textgames.MakeAll(300) {
		g, err := Parse(made.Name, made.Data)
		if err != nil {
			t.Fatal(err)
		}
		p, _, err := g.Start()
		if err != nil {
			t.Fatal(err)
		}
		for i, command := range g.Walkthrough {
			answer, err := p.Act(command)
			switch {
			case err != nil:
				t.Fatal(err)
			case answer == Refusal:
				t.Fatalf("%s: %q is not possible; possible: %q", made.Name, command, p.Admissible())
			case p.Won() != (i == len(g.Walkthrough)-1):
				t.Fatalf("%s: won is %v after %q, command %d of %d", made.Name, p.Won(), command, i+1, len(g.Walkthrough))
			}
		}
	}
}
