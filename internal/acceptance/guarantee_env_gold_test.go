package acceptance_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
)

// comparing is an environment in Python that gives back its answer and scores it by
// answer == gold, which is right for every other task.
const comparing = `import json, sys
for line in sys.stdin:
    task = json.loads(line)
    n = int(task["prompt"])
    answer = n if n % 2 else "no idea"
    with open(__file__ + ".asked", "a") as f:
        f.write(json.dumps(task["gold"]) + "\n")
    print(json.dumps({"answer": answer, "hard": 1 if answer == task["gold"] else 0}), flush=True)
`

// golden is a project whose tasks have numbers as gold, as form writes them, and an
// environment that compares.
type golden struct{ dir string }

func newGolden(t *testing.T) golden {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip(err)
	}
	g := golden{t.TempDir()}
	write(t, filepath.Join(g.dir, "env.py"), comparing)
	return g
}

func (g golden) train(t *testing.T, form string, opts ...skillopt.Option) (*result.Summary, error) {
	t.Helper()
	var tasks strings.Builder
	for i := range 40 {
		fmt.Fprintf(&tasks, `{"id":"t%02d","prompt":"%d","gold":`+form+"}\n", i, 100+i, 100+i)
	}
	write(t, filepath.Join(g.dir, "tasks.jsonl"), tasks.String())
	cfg := worldConfig("http://unused.invalid/v1")
	cfg.Tasks.Path = filepath.Join(g.dir, "tasks.jsonl")
	cfg.Train.Epochs = 1
	cfg.Env.Command = []string{"python3", filepath.Join(g.dir, "env.py")}
	return skillopt.Train(t.Context(), cfg, append(opts, skillopt.WithClient(model.Optimizer, "world", sim.New(simulated(t))))...)
}

// asked are the lines that the environment wrote, and forgets them.
func (g golden) asked(t *testing.T) []string {
	t.Helper()
	path := filepath.Join(g.dir, "env.py.asked")
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

// A program that compares its answer with gold as it stands in the task scores right answers. One
// that takes gold for a text where it is a list fails, and the run says so.
func TestGoldIsHandedOverAsItStands(t *testing.T) {
	t.Parallel()
	for form, first := range map[string]string{"%d": "100", "[%d]": "[100]"} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			g := newGolden(t)
			sum, err := g.train(t, form, skillopt.WithRunDir(filepath.Join(g.dir, "run")))
			asked := g.asked(t)
			if !slices.Contains(asked, first) {
				t.Errorf("gold came as %q", asked)
			}
			if right := form == "%d"; right && (err != nil || sum.Test.Seed == nil || sum.Test.Seed.Hard == 0) || !right && kind(err) != skillopt.BadInput {
				t.Errorf("%v", err)
			}
		})
	}
}

// What a program sees is part of what a run is: the form of gold, too.
func TestTheFormOfGoldIsPartOfTheRun(t *testing.T) {
	t.Parallel()
	g := newGolden(t)
	dir := filepath.Join(g.dir, "run")
	train := func(form string, opts ...skillopt.Option) error {
		_, err := g.train(t, form, append(opts, skillopt.WithRunDir(dir), skillopt.WithAcceptedSeed())...)
		return err
	}
	if err := train("%d"); err != nil {
		t.Fatal(err)
	}
	g.asked(t)
	if err := train(`"%d"`); kind(err) != skillopt.BadInput || !strings.Contains(err.Error(), "tasks.path: was") {
		t.Errorf("the form changed: %v", err)
	}
	if asked := g.asked(t); len(asked) > 0 {
		t.Errorf("asked again for %q", asked)
	}
	for form, again := range map[string]bool{"%d": false, `"%d"`: true} {
		to := filepath.Join(g.dir, fmt.Sprint("fork", again))
		if err := train(form, skillopt.WithFork(to)); err != nil && kind(err) != skillopt.BadInput {
			t.Fatal(err)
		}
		if asked := g.asked(t); (len(asked) > 0) != again {
			t.Errorf("a fork with %s asked for %d tasks", form, len(asked))
		}
	}
}
