package survey

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/repository"
	"github.com/seed-f4525e22/skillopt/internal/runner"
	"github.com/seed-f4525e22/skillopt/internal/session"
	"github.com/seed-f4525e22/skillopt/result"
)

// Verify proves tasks of a configuration again, those with the ids, or all: doing nothing fails and the real fix passes, three times of
// three. note is called with each; nil: no one reads it.
func Verify(ctx context.Context, cfg config.Config, ids []string, note func(result.ProvenTask), o session.Options) (*result.Proven, error) {
	if cfg.Agent.Repository == "" {
		return nil, fault.Input(fmt.Errorf("agent.repository is not set: there are no tasks of a repository"))
	}
	if err := runner.Fit(); err != nil {
		return nil, fault.Input(err)
	}
	in, err := session.Load(ctx, cfg, o)
	if err != nil {
		return nil, err
	}
	r, err := repository.Open(ctx, cfg.Agent.Repository, func(name string) string { v, _ := in.Loaded.Lookup(name); return v })
	if err != nil {
		return nil, fault.Input(err)
	}
	var tasks []named
	seen := map[string]bool{} // with folds the tasks of train are those of selection
	for _, t := range slices.Concat(in.Data.Train, in.Data.Selection, in.Data.Test) {
		if seen[t.ID] || len(ids) > 0 && !slices.Contains(ids, t.ID) {
			continue
		}
		seen[t.ID] = true
		of, err := repository.Read(t)
		if err != nil {
			return nil, fault.Input(fmt.Errorf("task %s: %w", t.ID, err))
		}
		tasks = append(tasks, named{t.ID, t.Type, of})
	}
	if len(tasks) == 0 {
		return nil, fault.Input(fmt.Errorf("no task has one of the ids %q", ids))
	}
	return proveAll(ctx, r, tasks, note)
}
