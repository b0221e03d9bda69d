package schedule

import (
	"cmp"
	"slices"

	"github.com/seed-f4525e22/skillopt/internal/pyrand"
)

// FoldConfig says how tasks are dealt into folds.
type FoldConfig struct {
	Folds    int
	Types    []string // by task; each is spread over all folds; nil: there are none
	Clusters []string // by task; those of one name, other than "", stay in one fold; nil: there are none
	Seed     int64
}

// Folds returns the fold of each of n tasks, from 0 up. Folds are as equal in size as
// clusters let them be.
func Folds(n int, cfg FoldConfig) []int {
	units := map[string][]int{}
	var order [][]int
	var names []string
	for _, i := range pyrand.New(cfg.Seed).Perm(n) {
		name := ""
		if cfg.Clusters != nil {
			name = cfg.Clusters[i]
		}
		if name == "" {
			order = append(order, []int{i})
			continue
		}
		if units[name] == nil {
			names = append(names, name)
		}
		units[name] = append(units[name], i)
	}
	for _, name := range names {
		order = append(order, units[name])
	}
	// Clusters first, large before small; then by type, so that each goes round the folds.
	slices.SortStableFunc(order, func(a, b []int) int {
		if c := cmp.Compare(len(b), len(a)); c != 0 || cfg.Types == nil {
			return c
		}
		return cmp.Compare(cfg.Types[a[0]], cfg.Types[b[0]])
	})
	out, sizes := make([]int, n), make([]int, max(1, cfg.Folds))
	for _, unit := range order {
		least := slices.Index(sizes, slices.Min(sizes))
		sizes[least] += len(unit)
		for _, i := range unit {
			out[i] = least
		}
	}
	return out
}

// Numbers of tasks, those of the test among them, for which folds are the default: with
// fewer a fold judges by a task or none, and with more a fixed split loses little.
const (
	fewestFolded = 8
	mostFolded   = 59
	autoFolds    = 1
)

// DefaultFolds returns the number of folds of n tasks that no one has split, 0 for none.
func DefaultFolds(n int) int {
	if n < fewestFolded || n > mostFolded {
		return 0
	}
	return autoFolds
}
