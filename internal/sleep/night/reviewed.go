package night

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
	"github.com/seed-f4525e22/skillopt/result"
)

// mark names the reviewed tasks of the night, in whatever order they are; "": it is on those of sessions.
func (n *night) mark() (string, error) {
	if n.Tasks == nil {
		return "", nil
	}
	data, err := json.Marshal(slices.SortedFunc(slices.Values(n.Tasks), func(a, b wish.Task) int { return cmp.Compare(a.Task.ID, b.Task.ID) }))
	if err != nil {
		return "", fmt.Errorf("name the tasks: %w", err)
	}
	return target.Digest(string(data)), nil
}

// same finds the newest night on the same tasks that is open, or, of reviewed ones, that has worked on them and is over. The zero value:
// there is none. It notes when nights on files began.
func (n *night) same(nights []bank.Night, mark string) (found bank.Night) {
	for _, old := range nights {
		var r struct {
			Tasks   string
			Explore bool
		}
		_ = json.Unmarshal(old.Data, &r) // what is damaged is reported where the night is shown
		if r.Tasks != "" {
			n.files = append(n.files, old.Started)
		}
		if found.ID == "" && r.Tasks == mark && (old.Ended.IsZero() || mark != "" && !n.Explore && !r.Explore && hasWorked(old.Data)) {
			found = old
		}
	}
	return found
}

// takeReviewed takes reviewed tasks into the bank: all as of the beginning of the night, so that their order does not matter and no night on
// sessions takes them for new.
func (n *night) takeReviewed(ctx context.Context) error {
	if n.Tasks == nil || n.report.Mined.Taken != (result.NightTaken{}) {
		return nil
	}
	tasks := slices.Clone(n.Tasks)
	for i := range tasks {
		t := &tasks[i]
		t.Project, t.At = n.Project, n.report.Started
		if len(t.Seen) > 0 {
			t.Project = cmp.Or(n.seen[t.Seen[0].Source+"/"+t.Seen[0].Session].Project, n.Project)
		}
		n.place(t)
	}
	err := n.fit(ctx, tasks)
	if err == nil {
		n.report.Mined.Taken, err = n.Bank.TakeReviewed(ctx, n.report.ID, tasks, n.Miner.Same, n.report.Started, time.Duration(n.Config.Sleep.HalfLife))
	}
	if err != nil || n.DryRun {
		return err
	}
	return n.keep(ctx, false)
}

// only returns a function that finds the clusters that have a reviewed task of the night; nil: it is on all.
func (n *night) only() func(bank.Cluster) bool {
	if n.Tasks == nil {
		return nil
	}
	ids := map[string]bool{}
	for i := range n.Tasks {
		ids[n.Tasks[i].Task.ID] = true
	}
	return func(c bank.Cluster) bool {
		return slices.ContainsFunc(c.Tasks, func(t bank.Task) bool { return ids[t.Task.Task.ID] })
	}
}
