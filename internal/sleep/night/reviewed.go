package night

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
	"github.com/seed-f4525e22/skillopt/result"
)

// mark names the tasks that a person has reviewed, in whatever order; "": the night is on those of sessions.
func (n *night) mark() (string, error) {
	if n.Tasks == nil {
		return "", nil
	}
	lines := make([]string, len(n.Tasks))
	for i, t := range n.Tasks {
		data, err := json.Marshal(t)
		if err != nil {
			return "", fmt.Errorf("name the tasks: %w", err)
		}
		lines[i] = string(data)
	}
	slices.Sort(lines)
	return target.Digest(strings.Join(lines, "\n")), nil
}

// markOf is the mark of a night that is written down.
func markOf(data json.RawMessage) string {
	var r struct{ Tasks string }
	_ = json.Unmarshal(data, &r) // what is damaged is reported where the night is shown
	return r.Tasks
}

// over returns the night that has worked on the same reviewed tasks and is over; nil: there is none, or more than a proposal
// that counts is asked for.
func (n *night) over(ctx context.Context, nights []bank.Night, mark string) (*Report, error) {
	if mark == "" || n.Explore {
		return nil, nil
	}
	for _, old := range nights {
		if old.Ended.IsZero() || markOf(old.Data) != mark || !worked(old.Data) {
			continue
		}
		r, err := ReadNight(ctx, n.Dir, old)
		if err == nil {
			r.Again = true
		}
		return r, err
	}
	return nil, nil
}

// leave ends the night that is open if it is on other tasks: a file's, or those of sessions. What it has mined stays.
func (n *night) leave(ctx context.Context, nights []bank.Night, mark string) ([]bank.Night, error) {
	if openNight(nights) == "" || markOf(nights[0].Data) == mark {
		return nights, nil
	}
	nights = slices.Clone(nights)
	nights[0].Ended = n.Now().UTC()
	if n.DryRun {
		return nights, nil
	}
	old := newNight(n.Options)
	var err error
	if old.report, err = ReadNight(ctx, n.Dir, nights[0]); err != nil {
		return nil, err
	}
	old.report.Targets = append(old.report.Targets, Target{Outcome: Stopped, Reason: "it ended where it was: a night on other tasks was asked for", Rules: []Rule{}, Remove: []string{}, Held: []HeldRule{}, Runs: []string{}})
	return nights, old.keep(ctx, true)
}

// takeReviewed takes the tasks that a person has reviewed into the bank: all as of this night, so that their order in a file does not matter.
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
	if err != nil {
		return err
	}
	n.report.Mined.Taken, err = n.Bank.TakeReviewed(ctx, n.report.ID, tasks, n.Miner.Same, n.report.Started, time.Duration(n.Config.Sleep.HalfLife))
	if err != nil || n.DryRun {
		return err
	}
	return n.keep(ctx, false)
}

// only returns what tells the clusters that have a reviewed task; nil: the night is on all.
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
