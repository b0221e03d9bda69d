package draft

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed-f4525e22/skillopt/internal/draft"
	"github.com/seed-f4525e22/skillopt/internal/session"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/task"
)

// triggerWork drafts trigger tasks.
type triggerWork struct {
	req  Request
	from draft.Material
}

func (triggerWork) name() string               { return "draft.triggers" }
func (triggerWork) texts() (string, error)     { return draft.TriggerDigest() }
func (w triggerWork) material() draft.Material { return w.from }

func (w triggerWork) plan(s *session.Session) result.Plan {
	write, check := draft.PlanTriggers(w.from, w.req.Tasks, w.req.Seed)
	return newPlan(s, write, check)
}

func (w triggerWork) run(ctx context.Context, s *session.Session) (*result.Draft, error) {
	o := options(s, w.req, w.from)
	var err error
	if o.Known, err = w.recordPrompts(ctx, s); err != nil {
		return nil, err
	}
	drafted, err := draft.Triggers(ctx, o)
	if err != nil {
		return nil, err
	}
	d := begun(s, w.req, w.from)
	d.Kept, d.Fell = len(drafted.Tasks), countReasons(drafted.Fell)
	d.Triggers = &result.DraftedTriggers{Should: drafted.Count(task.TriggerShould), ShouldNot: drafted.Count(task.TriggerShouldNot)}
	for _, t := range drafted.Tasks {
		if len(t.Doubts) > 0 {
			d.Doubtful++
		}
	}
	if d.Tasks, err = draft.EncodeTriggers(drafted.Tasks); err != nil {
		return nil, err
	}
	return d, finish(s, d, drafted.Fell)
}

// recordPrompts returns the prompts that there were when the draft was begun, and records them: the
// file that they are in may change until the draft is resumed, and then another question would be
// asked than the one that is paid for.
func (w triggerWork) recordPrompts(ctx context.Context, s *session.Session) ([]string, error) {
	text, err := s.Caller.Decision(ctx, "known", func() ([]byte, error) { return json.Marshal(w.req.Known) })
	if err != nil {
		return nil, fmt.Errorf("record the prompts that there are: %w", err)
	}
	var known []string
	if err := json.Unmarshal(text, &known); err != nil {
		return nil, fmt.Errorf("read the prompts that there were: %w", err)
	}
	return known, nil
}
