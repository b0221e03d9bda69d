package evaluate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/session"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/task"
)

// onlyKey is the entry of the identity that names the tasks that are scored, where they are
// not all of a split.
const onlyKey = "evaluate.only"

// only leaves those tasks in a session that its options name, and returns what distinguishes the
// run from others; "" for one that scores whole splits.
func only(s *session.Session, splits []task.Split) (string, error) {
	o := s.Options.Only
	if len(o.IDs) == 0 && o.Type == "" && o.Limit == 0 {
		return "", nil
	}
	if o.Limit < 0 {
		return "", fault.Input(fmt.Errorf("limit: found %d, allowed: 1 or more, or 0 for all", o.Limit))
	}
	var there []task.Task
	for _, split := range splits {
		there = slices.Concat(there, s.Set.Split(split), s.Triggers.Split(split))
	}
	if err := checkOnly(o, there); err != nil {
		return "", fault.Input(err)
	}
	keep := func(t task.Task) bool {
		return (len(o.IDs) == 0 || slices.Contains(o.IDs, t.ID)) && (o.Type == "" || t.Type == o.Type)
	}
	s.Set, s.Triggers = s.Set.Only(keep, o.Limit), s.Triggers.Only(keep, o.Limit)
	ids := slices.Sorted(slices.Values(o.IDs))
	return fmt.Sprintf("tasks %q, type %q, at most %d", ids, o.Type, o.Limit), nil
}

// checkOnly fails unless the tasks have the ids and the type that are asked for.
func checkOnly(o session.Only, there []task.Task) error {
	var ids, types []string
	for _, t := range there {
		ids = append(ids, t.ID)
		if t.Type != "" && !slices.Contains(types, t.Type) {
			types = append(types, t.Type)
		}
	}
	for _, id := range o.IDs {
		if !slices.Contains(ids, id) {
			return fmt.Errorf("task %q: the split has no such task%s; `skillopt tasks lint` counts them by split", id, near(id, ids))
		}
	}
	if o.Type != "" && !slices.Contains(types, o.Type) {
		return fmt.Errorf("type %q: the tasks of the split have none like that; allowed: %s", o.Type, strings.Join(types, ", "))
	}
	if len(o.IDs) > 0 && o.Type != "" && !slices.ContainsFunc(there, func(t task.Task) bool { return slices.Contains(o.IDs, t.ID) && t.Type == o.Type }) {
		return fmt.Errorf("no task named is of the type %q", o.Type)
	}
	return nil
}

func near(id string, ids []string) string {
	if found, ok := wording.Suggest(id, ids); ok {
		return fmt.Sprintf(" (did you mean %q?)", found)
	}
	return ""
}
