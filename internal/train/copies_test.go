package train

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/similar"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// copiesOf is a set of n different questions, each so many times with a changed word or none.
func copiesOf(t *testing.T, n, times int, change bool) []task.Task {
	t.Helper()
	var list []task.Task
	for i := range n * times {
		q := i % n
		text := strings.Repeat(fmt.Sprintf("Question%d asks what the %d clerks of ward %d sign. ", q, q*q+7, 3*q), 4)
		if change {
			text = fmt.Sprintf("Form%d. ", i) + text
		}
		list = append(list, task.Task{ID: fmt.Sprint(i), Prompt: text, Gold: []string{"yes"}, Split: task.Test})
	}
	set, err := task.NewSet(list, task.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	set, err = set.Compare(func(tk task.Task) (similar.Ask, error) { return similar.Ask{Prompt: tk.Prompt}, nil })
	if err != nil {
		t.Fatal(err)
	}
	return set.Split(task.Test)
}

// Where a skill that is no better wins and loses whole tasks with their copies, certificates err no
// more often than their level says, by either test.
func TestCopiesCertifyNothing(t *testing.T) {
	t.Parallel()
	const runs = 4000
	for _, c := range []struct {
		n, times int
		change   bool
	}{{10, 4, false}, {20, 2, false}, {10, 4, true}, {20, 2, true}, {40, 1, true}} {
		tasks := copiesOf(t, c.n, c.times, c.change)
		s := &testSplit{opts: Options{Gating: Gating{Projection: score.Projection{Metric: score.Hard}, Alpha: 0.05}}, tasks: tasks}
		for _, test := range []gate.LookTest{s.lookTest(), gate.LookBound} {
			rng, wrong := rand.New(rand.NewPCG(1, uint64(c.n))), 0
			for range runs {
				seed, best := make([]trajectory.Outcome, len(tasks)), make([]trajectory.Outcome, len(tasks))
				for i := range tasks {
					if i < c.n {
						seed[i], best[i] = drawn(rng), drawn(rng)
					} else {
						seed[i], best[i] = seed[i%c.n], best[i%c.n]
					}
				}
				look, err := gate.LookOnce(s.pairs(seed, best), test, gate.LevelOf(0.05, 1))
				if err != nil {
					t.Fatal(err)
				}
				if look.Certified {
					wrong++
				}
			}
			if share := float64(wrong) / runs; share > 0.05 {
				t.Errorf("%d x %d, changed %v, %s: %.3f of the certificates are false", c.n, c.times, c.change, test, share)
			}
		}
		if s.lookTest() != gate.LookExact {
			t.Errorf("%d x %d: tested by %s", c.n, c.times, s.lookTest())
		}
	}
}

func drawn(rng *rand.Rand) trajectory.Outcome {
	return trajectory.Outcome{Status: score.OK, Hard: float64(rng.IntN(2))}
}
