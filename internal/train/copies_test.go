package train

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/similar"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// set makes a set of tasks that were compared with each other.
func set(t *testing.T, list []task.Task) task.Set {
	t.Helper()
	set, err := task.NewSet(list, task.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	set, err = set.Compare(func(tk task.Task) (similar.Ask, error) { return similar.Ask{Prompt: tk.Prompt}, nil })
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// trials is how many certificates are tried: all by SKILLOPT_LONG=1, else a tenth.
func trials(n int) int {
	if os.Getenv("SKILLOPT_LONG") == "1" {
		return n
	}
	return n / 10
}

// nearCopies are n different questions, each so many times: in each copy up to three words, at
// any place but in what tells the question, are others. Each second question expects "no", where
// labels is set.
func nearCopies(n, times int, labels bool, rng *rand.Rand) (list []task.Task) {
	for q := range n {
		words := strings.Fields(strings.Repeat(fmt.Sprintf("Case%d of ward%d says how clerk%d and guard%d sign all forms. ", q, q, q, q), 4))
		gold := "yes"
		if labels && q%2 == 1 {
			gold = "no"
		}
		for k := range times {
			text := slices.Clone(words)
			for change := range k % 4 {
				text[rng.IntN(len(text))] = fmt.Sprintf("other%dx%dx%d", q, k, change)
			}
			list = append(list, task.Task{ID: fmt.Sprintf("%d-%d", q, k), Type: fmt.Sprint(q), Prompt: strings.Join(text, " "), Gold: []string{gold}, Split: task.Test})
		}
	}
	return list
}

// Where a skill that is no better wins and loses whole questions with their copies, certificates
// are false no more often than their level says, by either test: equal copies, and copies of which
// up to three words are changed, also where the questions have different answers. Under one long
// instruction such copies are not told from other questions of a template: there more are false, which
// docs/statistics.md says.
func TestCopiesCertifyNothing(t *testing.T) {
	t.Parallel()
	runs := trials(20000)
	for name, c := range map[string]struct {
		n, times int
		tasks    func(n, times int, rng *rand.Rand) []task.Task
		apart    bool // they are not found to be copies: what differs may be the question
	}{
		"equal, 10 x 4":            {10, 4, equalCopies, false},
		"equal, 20 x 2":            {20, 2, equalCopies, false},
		"near, 10 x 4":             {10, 4, func(n, times int, rng *rand.Rand) []task.Task { return nearCopies(n, times, false, rng) }, false},
		"near, 20 x 2":             {20, 2, func(n, times int, rng *rand.Rand) []task.Task { return nearCopies(n, times, false, rng) }, false},
		"near, 10 x 4, two labels": {10, 4, func(n, times int, rng *rand.Rand) []task.Task { return nearCopies(n, times, true, rng) }, false},
		"near, one instruction":    {10, 4, underOne, true},
		"no copies, 40":            {40, 1, equalCopies, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(7, uint64(c.n)))
			tasks := set(t, c.tasks(c.n, c.times, rng)).Split(task.Test)
			s := &testSplit{opts: Options{Gating: Gating{Projection: score.Projection{Metric: score.Hard}, Alpha: 0.05}}, tasks: tasks}
			if s.lookTest() != gate.LookExact {
				t.Errorf("tested by %s", s.lookTest())
			}
			for _, test := range []gate.LookTest{gate.LookExact, gate.LookBound} {
				wrong := 0
				for range runs {
					seed, best := make([]trajectory.Outcome, len(tasks)), make([]trajectory.Outcome, len(tasks))
					for i, tk := range tasks {
						if seed[i], best[i] = drawn(rng), drawn(rng); i > 0 && tk.Type == tasks[i-1].Type {
							seed[i], best[i] = seed[i-1], best[i-1]
						}
					}
					look, err := gate.LookOnce(s.pairs(seed, best), test, gate.LevelOf(0.05, 1)) // by which lookOnce certifies
					if err != nil {
						t.Fatal(err)
					}
					if look.Certified {
						wrong++
					}
				}
				share := float64(wrong) / float64(runs)
				t.Logf("%s: %d of %d certificates are false (%.2f %%)", test, wrong, runs, 100*share)
				if (share > 0.05) != c.apart {
					t.Errorf("%s: %.3f of the certificates are false, known as apart: %v", test, share, c.apart)
				}
			}
		})
	}
}

// underOne are questions with two answers under one long instruction, in which up to three words of each
// copy are others.
func underOne(n, times int, rng *rand.Rand) (list []task.Task) {
	for q := range n {
		for k := range times {
			words := strings.Fields(strings.Repeat("Read the question with care and answer in few words, please. ", 4))
			for change := range k % 4 {
				words[rng.IntN(len(words))] = fmt.Sprintf("other%dx%dx%d", q, k, change)
			}
			list = append(list, task.Task{ID: fmt.Sprintf("%d-%d", q, k), Type: fmt.Sprint(q), Prompt: strings.Join(words, " ") + fmt.Sprintf(" May clerk%d sign?", q), Gold: []string{[]string{"yes", "no"}[q%2]}, Split: task.Test})
		}
	}
	return list
}

// equalCopies are n questions so many times.
func equalCopies(n, times int, _ *rand.Rand) (list []task.Task) {
	for i := range n * times {
		q := i / times
		list = append(list, task.Task{ID: fmt.Sprint(i), Type: fmt.Sprint(q), Prompt: fmt.Sprintf("Question%d asks what the %d clerks of ward %d sign.", q, q*q+7, 3*q), Gold: []string{"yes"}, Split: task.Test})
	}
	return list
}

func drawn(rng *rand.Rand) trajectory.Outcome {
	return trajectory.Outcome{Status: score.OK, Hard: float64(rng.IntN(2))}
}
