package night

import (
	"fmt"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
	"github.com/seed-f4525e22/skillopt/task"
)

// clustersOf are n clusters with every fifth as test; each has a variant of its task in other words.
func clustersOf(n int, at time.Time) []bank.Cluster {
	var out []bank.Cluster
	for i := range n {
		c := bank.Cluster{Number: int64(i + 1), Side: wish.Open, Night: "n1", Last: at}
		if i%5 == 4 {
			c.Side = wish.Test
		}
		for _, words := range []string{"answer question", "please tell me of question"} {
			c.Tasks = append(c.Tasks, bank.Task{Task: wish.Task{Task: task.Task{ID: fmt.Sprintf("%s %d", words, i), Prompt: fmt.Sprintf("%s %d", words, i)}, Trust: wish.ByCorrection}})
		}
		out = append(out, c)
	}
	return out
}

// Of 100 tasks each split has its share; 20 more move none of them, whichever a night picks, and no variant of a task stands
// on another side.
func TestTrap16SplitsOfANight(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC)
	splits := func(n int, tonight int) (map[string]task.Split, int) {
		clusters := clustersOf(n, now.Add(-48*time.Hour))
		for i := range tonight {
			clusters[n-1-i].Last = now
		}
		j := &job{picked: choice{night: "n9", since: now.Add(-time.Hour), now: now, halfLife: 30 * 24 * time.Hour, tasks: 100, recall: 60}.choose(clusters)}
		out := map[string]task.Split{}
		for _, w := range clusterTasks(j.picked.train(), trainSplit(j, j.picked.train())) {
			out[w.ID] = w.Split
		}
		for _, w := range clusterTasks(j.picked.fresh, func(int) task.Split { return task.Test }) {
			if _, both := out[w.ID]; both {
				t.Errorf("%s is test and not", w.ID)
			}
			out[w.ID] = w.Split
		}
		return out, len(j.picked.train())
	}
	before, _ := splits(100, 100)
	count := map[task.Split]int{}
	for _, s := range before {
		count[s]++
	}
	if count[task.Train] != 40 || count[task.Selection] != 40 || count[task.Test] != 20 {
		t.Errorf("%v", count)
	}
	after, picked := splits(120, 20)
	moved := 0
	for id, s := range after {
		if was, known := before[id]; known && was != s {
			moved++
		}
	}
	if moved != 0 || picked != 16+60 {
		t.Errorf("%d moved, %d picked", moved, picked)
	}
	for id := range after {
		if _, variant := after["please tell me of"+id[len("answer"):]]; variant {
			t.Errorf("a variant of %s is a task of its own", id)
		}
	}
}
