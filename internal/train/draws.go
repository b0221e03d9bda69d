package train

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// Bounds of worked examples, in bytes. Eight of the longest fit into a section.
const (
	longestExample = 1000
	longestSection = 8 * longestExample
)

// leastPool is the least number of tasks from which examples are drawn.
const leastPool = 8

// shown is a train task that can become a worked example.
type shown struct {
	id, kind string
	failed   bool // with the skill as it was when it was asked last
	example  skill.Example
}

// draw is some worked examples, in their order.
type draw struct {
	order string // by which they were drawn
	tasks []shown
}

func (d draw) examples() []skill.Example {
	out := make([]skill.Example, len(d.tasks))
	for i, t := range d.tasks {
		out[i] = t.example
	}
	return out
}

func (d draw) ids() []string {
	out := make([]string, len(d.tasks))
	for i, t := range d.tasks {
		out[i] = t.id
	}
	return out
}

// The orders in which tasks are drawn. Each begins with one task of each kind.
const (
	orderKinds    = "kinds"    // at random, the kinds that fail most first
	orderFailures = "failures" // what failed first
	orderShort    = "short"    // short ones first
)

// newDraws returns at most n different draws from a pool, those that seem best first. rates
// are how often tasks of a kind fail.
func newDraws(pool []shown, sizes []int, n int, rates map[string]float64, seed int64) []draw {
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	orders := map[string][]shown{}
	for _, name := range []string{orderKinds, orderFailures, orderShort} {
		mixed := slices.Clone(pool)
		random.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		slices.SortStableFunc(mixed, func(a, b shown) int { return compareShown(name, a, b) })
		orders[name] = takeTurns(mixed, rates)
	}
	var out []draw
	seen := map[string]bool{}
	for _, of := range drawOrder(sizes) {
		d := draw{of.order, fitSection(orders[of.order], of.size)}
		key := strings.Join(d.ids(), "\n")
		if len(out) < n && !seen[key] {
			seen[key], out = true, append(out, d)
		}
	}
	return out
}

// compareShown orders tasks of a kind by the name of an order.
func compareShown(order string, a, b shown) int {
	switch {
	case order == orderShort:
		return cmp.Compare(len(a.example.Text()), len(b.example.Text()))
	case order == orderFailures && a.failed != b.failed && a.failed:
		return -1
	case order == orderFailures && a.failed != b.failed:
		return 1
	}
	return 0
}

// sized is an order and how many tasks are drawn in it.
type sized struct {
	order string
	size  int
}

// drawOrder lists the draws that are tried, the most promising first.
func drawOrder(sizes []int) (out []sized) {
	orders := []string{orderKinds, orderFailures, orderShort}
	for sum := range len(orders) + len(sizes) {
		for i, order := range orders {
			if j := sum - i; j >= 0 && j < len(sizes) {
				out = append(out, sized{order, sizes[j]})
			}
		}
	}
	return out
}

// takeTurns orders tasks so that kinds take turns, those that fail most first.
func takeTurns(tasks []shown, rates map[string]float64) []shown {
	kinds := map[string][]shown{}
	for _, t := range tasks {
		kinds[t.kind] = append(kinds[t.kind], t)
	}
	names := slices.SortedFunc(maps.Keys(kinds), func(a, b string) int {
		return cmp.Or(cmp.Compare(rates[b], rates[a]), cmp.Compare(a, b))
	})
	out := make([]shown, 0, len(tasks))
	for turn := 0; len(out) < len(tasks); turn++ {
		for _, name := range names {
			if turn < len(kinds[name]) {
				out = append(out, kinds[name][turn])
			}
		}
	}
	return out
}

// fitSection returns the first n tasks that a section has room for.
func fitSection(tasks []shown, n int) []shown {
	bytes := 0
	for i, t := range tasks[:min(n, len(tasks))] {
		if bytes += len(t.example.Text()) + 2; bytes > longestSection {
			return tasks[:i]
		}
	}
	return tasks[:min(n, len(tasks))]
}

// taskKinds returns the kind of each task: its type, or its answer where answers repeat. Tasks of
// which neither is known are of one kind.
func taskKinds(tasks []task.Task) map[string]string {
	answers := map[string]int{}
	for _, t := range tasks {
		answers[firstGold(t)]++
	}
	out := map[string]string{}
	for _, t := range tasks {
		switch gold := firstGold(t); {
		case t.Type != "":
			out[t.ID] = t.Type
		case 2*len(answers) <= len(tasks):
			out[t.ID] = gold
		default:
			out[t.ID] = ""
		}
	}
	return out
}

func firstGold(t task.Task) string {
	if len(t.Gold) == 0 {
		return ""
	}
	return t.Gold[0]
}

// round is a part of a comparison of draws: how many of them are left, and how many tasks
// each is asked.
type round struct{ field, tasks int }

// Bounds of a field of draws: how many rollouts distinguish draws.
const (
	rolloutsForFour  = 16
	rolloutsForEight = 48
)

// halvings plans the comparison of draws: each round halves the field. It takes at most that
// many rollouts and tasks.
func halvings(rollouts, tasks int) (out []round) {
	rounds := 1
	switch {
	case rollouts >= rolloutsForEight:
		rounds = 3
	case rollouts >= rolloutsForFour:
		rounds = 2
	}
	for i := range rounds {
		field := 1 << (rounds - i)
		n := min(rollouts/rounds/field, tasks)
		if n == 0 {
			break
		}
		tasks -= n
		out = append(out, round{field, n})
	}
	return out
}
