package record

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Grounds are what an edit rests on: the replies of the analysts that asked for it, and the
// tasks that they read, with what was answered there.
type Grounds struct {
	Step    int        `json:"step"`
	Replies []string   `json:"replies"` // keys of their calls in the record
	Why     []string   `json:"why,omitempty"`
	Tasks   []ReadTask `json:"tasks"`
}

// Grounds reads what the edit of a source rests on; nil of a source that no trajectory of a
// step asked for.
func (r *Run) Grounds(ctx context.Context, s Source) (*Grounds, error) {
	if s.Reason == nil {
		return nil, nil
	}
	g := &Grounds{Step: s.Origin.Step, Replies: []string{}, Why: s.Reason.Why, Tasks: []ReadTask{}}
	outcomes, err := readBatch(r, s.Origin.Step)
	if err != nil {
		return nil, err
	}
	for _, id := range s.Reason.Tasks {
		read := ReadTask{ID: id}
		if i := slices.IndexFunc(outcomes, func(o trajectory.Outcome) bool { return o.ID == id }); i >= 0 {
			read.Outcome = &outcomes[i]
		}
		g.Tasks = append(g.Tasks, read)
	}
	for _, place := range s.Reason.Replies {
		key, err := replyAt(ctx, r, s.Origin.Step, place)
		if err != nil {
			return nil, err
		}
		if key != "" {
			g.Replies = append(g.Replies, key)
		}
	}
	return g, nil
}

// ReadTask is a task that an analyst read.
type ReadTask struct {
	ID      string              `json:"id"`
	Outcome *trajectory.Outcome `json:"outcome"` // of the batch; null: the run has written none down
}

// readBatch returns the outcomes of the batch of a step.
func readBatch(r *Run, step int) ([]trajectory.Outcome, error) {
	sheets, err := r.Sheets()
	if err != nil {
		return nil, err
	}
	for _, s := range sheets {
		if s.Step == step && s.Split == "train" {
			return r.Outcomes(s)
		}
	}
	return nil, nil
}

// replyAt returns the key of the last call at a place within a step, "" if there is none.
func replyAt(ctx context.Context, r *Run, step int, place string) (key string, err error) {
	within := fmt.Sprintf("/s%d/%s/", step, place)
	for rec, err := range r.view.Entries(ctx, journal.Query{Holding: within}) {
		if err != nil {
			return "", r.wrapDamage(err)
		}
		if rec.Kind == journal.Call && strings.HasPrefix(rec.Key, "e") {
			key = rec.Key
		}
	}
	return key, nil
}
