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

func (g golden) train(t *testing.T, form string, protocol int, opts ...skillopt.Option) (*result.Summary, error) {
	t.Helper()
	var tasks strings.Builder
	for i := range 40 {
		fmt.Fprintf(&tasks, `{"id":"t%02d","prompt":"%d","gold":`+form+"}\n", i, 100+i, 100+i)
	}
	write(t, filepath.Join(g.dir, "tasks.jsonl"), tasks.String())
	cfg := worldConfig("http://unused.invalid/v1")
	cfg.Tasks.Path = filepath.Join(g.dir, "tasks.jsonl")
	cfg.Train.Epochs = 1
	cfg.Env.Command, cfg.Env.Protocol = []string{"python3", filepath.Join(g.dir, "env.py")}, protocol
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

// A program that compares its answer with gold as it stands in the task scores right
// answers under protocol 2; under 1, where gold is a list, a run says what would help.
func TestGoldIsHandedOverAsItStands(t *testing.T) {
	t.Parallel()
	for form, tt := range map[string]struct {
		protocol int
		asked    string // gold of the first task; "" = the run is refused
	}{
		"%d":   {2, "100"},
		"[%d]": {2, "[100]"},
		" %d":  {1, ""},
	} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			g := newGolden(t)
			sum, err := g.train(t, form, tt.protocol, skillopt.WithRunDir(filepath.Join(g.dir, "run")))
			asked := g.asked(t)
			switch tt.asked {
			case "":
				if kind(err) != skillopt.BadInput || !strings.Contains(err.Error(), "with env.protocol: 2 as it stands in the task") {
					t.Errorf("%v", err)
				}
			case "100":
				if err != nil || sum.Test.Seed == nil || sum.Test.Seed.Hard == 0 || !slices.Contains(asked, "100") || slices.ContainsFunc(asked, func(a string) bool { return strings.HasPrefix(a, "[") }) {
					t.Errorf("%v, gold came as %q", err, asked)
				}
			default:
				if kind(err) != skillopt.BadInput || strings.Contains(err.Error(), "env.protocol") || !slices.Contains(asked, tt.asked) {
					t.Errorf("%v, gold came as %q", err, asked)
				}
			}
		})
	}
}

// What a program sees is part of what a run is: under protocol 2 the form of gold, under 1,
// which makes all of them alike, only the answers.
func TestTheFormOfGoldIsPartOfTheRunUnderProtocol2(t *testing.T) {
	t.Parallel()
	g := newGolden(t)
	for _, protocol := range []int{1, 2} {
		dir := filepath.Join(g.dir, fmt.Sprint("run", protocol))
		train := func(form string, protocol int, opts ...skillopt.Option) error {
			_, err := g.train(t, form, protocol, append(opts, skillopt.WithRunDir(dir), skillopt.WithAcceptedSeed())...)
			return err
		}
		if err := train("%d", protocol); err != nil {
			t.Fatal(err)
		}
		g.asked(t)
		err := train(`"%d"`, protocol)
		if same := protocol == 1; same != (err == nil) || !same && !strings.Contains(err.Error(), "tasks.path: was") {
			t.Errorf("protocol %d, the form changed: %v", protocol, err)
		}
		if err := train("%d", 3-protocol); kind(err) != skillopt.BadInput || !strings.Contains(err.Error(), "env.protocol: was") {
			t.Errorf("protocol %d, then the other: %v", protocol, err)
		}
		if asked := g.asked(t); len(asked) > 0 {
			t.Errorf("protocol %d: asked again for %q", protocol, asked)
		}
		for form, anew := range map[string]bool{"%d": false, `"%d"`: protocol == 2} {
			to := filepath.Join(g.dir, fmt.Sprint("fork", protocol, anew))
			if err := train(form, protocol, skillopt.WithFork(to)); err != nil && kind(err) != skillopt.BadInput {
				t.Fatal(err)
			}
			if asked := g.asked(t); (len(asked) > 0) != anew {
				t.Errorf("protocol %d, a fork with %s asked for %d tasks", protocol, form, len(asked))
			}
		}
	}
}
