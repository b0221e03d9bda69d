package train

import (
	"maps"
	"slices"

	"github.com/seed-f4525e22/skillopt/internal/stats"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// effortResamples is the number of resamples of an interval.
const effortResamples = 2000

// CompareEffort returns what episodes took with two skills over the same tasks: of all, and by type where there are several. It
// is nil where no outcome says how long its episode took, as where a model answers without an agent.
func CompareEffort(before, after []trajectory.Outcome, seed int64) []result.Effort {
	all, types := &efforts{}, map[string]*efforts{}
	for i := range before {
		a, b := &before[i], &after[i]
		if !a.Status.Measured() || !b.Status.Measured() || a.Seconds <= 0 || b.Seconds <= 0 {
			continue
		}
		if types[a.Type] == nil {
			types[a.Type] = &efforts{}
		}
		all.add(a, b)
		types[a.Type].add(a, b)
	}
	if all.n == 0 {
		return nil
	}
	out := []result.Effort{all.compare("", seed)}
	if len(types) > 1 {
		for _, name := range slices.Sorted(maps.Keys(types)) {
			out = append(out, types[name].compare(name, seed))
		}
	}
	return out
}

// efforts are pairs of what episodes took.
type efforts struct {
	n                      int
	turns, tokens, seconds [2][]float64
}

func (e *efforts) add(before, after *trajectory.Outcome) {
	e.n++
	for arm, o := range []*trajectory.Outcome{before, after} {
		e.turns[arm] = append(e.turns[arm], float64(len(o.Trajectory)))
		e.tokens[arm] = append(e.tokens[arm], float64(o.Usage.Input+o.Usage.Output))
		e.seconds[arm] = append(e.seconds[arm], o.Seconds)
	}
}

func (e *efforts) compare(name string, seed int64) result.Effort {
	return result.Effort{Type: name, N: e.n, Turns: newPairedMean(e.turns, seed), Tokens: newPairedMean(e.tokens, seed), Seconds: newPairedMean(e.seconds, seed)}
}

// newPairedMean returns the means of pairs and of their differences.
func newPairedMean(arms [2][]float64, seed int64) result.PairedMean {
	n := float64(len(arms[0]))
	var c result.PairedMean
	differences := make([]float64, len(arms[0]))
	for i := range differences {
		c.Before += arms[0][i]
		c.After += arms[1][i]
		differences[i] = arms[1][i] - arms[0][i]
	}
	c.Before, c.After = c.Before/n, c.After/n
	c.Difference = c.After - c.Before
	if i, err := stats.PairedBootstrapBCa(differences, effortResamples, 0.05, seed); err == nil { // else too few, or all equal
		c.Low, c.High = &i.Interval.Low, &i.Interval.High
	}
	return c
}
