package record

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
	"github.com/seed-f4525e22/skillopt/result"
)

// NightRuns returns what the names of a project's runs begin with.
func NightRuns(project string) string { return target.Digest(project)[:8] + "-" }

// Account sets what a night has spent: by run, by document and together. dir is the sleep.dir. The records of the runs say
// it, those of runs at work and of killed ones too. A run that was deleted keeps what was known of it.
func Account(ctx context.Context, dir string, n *result.Night) error {
	dir = filepath.Join(dir, sleepRuns)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("list the runs of nights: %w", err)
	}
	by := maps.Clone(n.ByRun)
	if by == nil {
		by = map[string]result.NightSpent{}
	}
	for _, e := range entries {
		name, of := strings.CutPrefix(e.Name(), NightRuns(n.Project))
		if !of || !e.IsDir() || !strings.HasPrefix(name, n.ID+"-") {
			continue
		}
		s, begun, err := spentIn(ctx, filepath.Join(dir, e.Name()))
		if err != nil {
			return fmt.Errorf("count what night %s has spent: %w", n.ID, err)
		}
		if begun {
			by[name] = s
		}
	}
	n.ByRun, n.Spent = by, sumSpent(by, slices.Sorted(maps.Keys(by)))
	for i := range n.Targets {
		t := &n.Targets[i]
		var names []string
		for _, dir := range t.Runs {
			names = append(names, strings.TrimPrefix(path.Base(dir), NightRuns(n.Project)))
		}
		t.Spent = sumSpent(by, names)
	}
	return nil
}

// spentIn counts what a run has spent, by its record. begun is false if it has made no call yet: then it has no manifest.
func spentIn(ctx context.Context, dir string) (s result.NightSpent, begun bool, err error) {
	w := Watch(dir, time.Now)
	if w.manifest, begun, err = run.ReadManifest(dir); err != nil {
		return s, false, run.Unreadable(dir, err)
	}
	if !begun {
		return s, false, nil
	}
	for w.unread = 1; w.unread > 0; {
		if err := w.entries(ctx); err != nil {
			return s, false, err
		}
	}
	u := w.sumSpending()
	return result.NightSpent{Calls: u.Calls, Input: u.Tokens.Input, Output: u.Tokens.Output, Cached: u.Tokens.Cached, CostUSD: u.USD}, true, nil
}

// sumSpent adds up what some runs have spent. Where one of them has no price, the sum has none.
func sumSpent(by map[string]result.NightSpent, names []string) (sum result.NightSpent) {
	cost := new(float64)
	known := 0
	for _, name := range names {
		s, is := by[name]
		if !is {
			continue
		}
		known++
		sum.Calls, sum.Input, sum.Output, sum.Cached = sum.Calls+s.Calls, sum.Input+s.Input, sum.Output+s.Output, sum.Cached+s.Cached
		if s.CostUSD == nil {
			cost = nil
		} else if cost != nil {
			*cost += *s.CostUSD
		}
	}
	if known > 0 {
		sum.CostUSD = cost
	}
	return sum
}
