package task

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/similar"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// ParseSplit reads the name of a split: train, selection or test, or one of the
// other names that are in use for them (val, valid, dev, ...).
func ParseSplit(name string) (Split, error) {
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "train", "training":
		return Train, nil
	case "selection", "val", "valid", "validation", "dev", "valid_seen":
		return Selection, nil
	case "test", "valid_unseen":
		return Test, nil
	}
	return "", fmt.Errorf("unknown split %q: train, selection (or val, valid, validation, dev) and test are allowed", name)
}

// Set is a data set: tasks, and which of them belong to which split. It is
// immutable and safe for concurrent use.
type Set struct {
	tasks    []Task
	splits   map[Split][]int // indices into tasks; nil before Assign
	warnings []string
	doubts   error
	tables   []Table

	// Those that measure whether the skill is loaded.
	triggers      []Task
	triggerSplits map[Split][]int
}

// Tasks returns all tasks but the trigger tasks in the order in which they were read.
// The slice must not be changed.
func (s Set) Tasks() []Task { return s.tasks }

// Len returns the number of tasks, without the trigger tasks.
func (s Set) Len() int { return len(s.tasks) }

// Unreviewed returns how many tasks are drafts that no one has accepted.
func (s Set) Unreviewed() int {
	n := 0
	for _, t := range s.tasks {
		if t.Unreviewed {
			n++
		}
	}
	return n
}

// Warnings returns what is worth telling the user though it is no error.
func (s Set) Warnings() []string { return s.warnings }

// Doubts returns an *Error with what a Doubter found, nil if that was nothing. A caller that begins
// to measure refuses such a set; for what was measured before it is worth a warning.
func (s Set) Doubts() error { return s.doubts }

// Assigned reports whether the tasks are divided into splits: by their own
// split fields, by their directories, or by Assign.
func (s Set) Assigned() bool { return s.splits != nil }

// Split returns the tasks of a split: in the order of reading, or in the order
// that Assign was given. It is empty before the tasks are divided.
func (s Set) Split(name Split) []Task {
	idx := s.splits[name]
	tasks := make([]Task, len(idx))
	for i, j := range idx {
		tasks[i] = s.tasks[j]
	}
	return tasks
}

// Count returns the number of tasks of a split.
func (s Set) Count(name Split) int { return len(s.splits[name]) }

// Assign divides the tasks by index; the order of the indices becomes the order
// of Split. Every task must be named exactly once: an error is a fault of the
// caller, not of the tasks.
func (s Set) Assign(parts map[Split][]int) (Set, error) {
	tasks := slices.Clone(s.tasks)
	seen := make([]bool, len(tasks))
	splits := make(map[Split][]int, len(parts))
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		for _, i := range parts[name] {
			if i < 0 || i >= len(tasks) {
				return Set{}, fmt.Errorf("assign splits: %s names task %d of %d", name, i, len(tasks))
			}
			if seen[i] {
				return Set{}, fmt.Errorf("assign splits: task %q is named twice", tasks[i].ID)
			}
			seen[i] = true
			tasks[i].Split = name
		}
		splits[name] = slices.Clone(parts[name])
	}
	if i := slices.Index(seen, false); i >= 0 {
		return Set{}, fmt.Errorf("assign splits: task %q is in no split", tasks[i].ID)
	}
	return Set{tasks: tasks, splits: splits, warnings: s.warnings, doubts: s.doubts, tables: s.tables, triggers: s.triggers, triggerSplits: s.triggerSplits}, nil
}

// Compare returns the set with the tasks as they are compared with each other. shown returns
// what the target gets of a task.
func (s Set) Compare(shown func(Task) (similar.Ask, error)) (Set, error) {
	var g similar.Groups
	for _, t := range s.tasks {
		ask, err := shown(t)
		if err != nil {
			return Set{}, err
		}
		ask.Wants, ask.Split = fmt.Sprintf("%q", t.Gold), string(t.Split)
		if len(t.Gold) == 0 {
			ask.Wants = string(t.Checks)
		}
		g.Add(ask)
	}
	s.tasks = slices.Clone(s.tasks)
	for i, k := range g.Find() {
		s.tasks[i].Kin = k
	}
	return s, nil
}

// Only returns the set with those of its tasks alone, trigger tasks included, that keep lets
// through, of each split and kind the first most; 0: all of them. The order stays.
func (s Set) Only(keep func(Task) bool, most int) Set {
	out := s
	out.tasks, out.splits = only(s.tasks, s.splits, keep, most)
	out.triggers, out.triggerSplits = only(s.triggers, s.triggerSplits, keep, most)
	return out
}

func only(all []Task, splits map[Split][]int, keep func(Task) bool, most int) (tasks []Task, kept map[Split][]int) {
	kept = map[Split][]int{}
	for _, name := range slices.Sorted(maps.Keys(splits)) {
		for _, i := range splits[name] {
			if keep(all[i]) && (most == 0 || len(kept[name]) < most) {
				kept[name] = append(kept[name], len(tasks))
				tasks = append(tasks, all[i])
			}
		}
	}
	return tasks, kept
}

// Require fails with an *Error that names each of the splits that is empty.
func (s Set) Require(names ...Split) error {
	var ps problems
	for _, name := range names {
		if len(s.splits[name]) == 0 {
			ps.add("", "", "the %s split is empty: %s in train, %d in selection, %d in test; each split in use needs at least one",
				name, wording.Plural(len(s.splits[Train]), "task is", "tasks are"), len(s.splits[Selection]), len(s.splits[Test]))
		}
	}
	return ps.err()
}

// divide fills in the splits of tasks that name their own. Either all tasks do
// or none, and so it is with the trigger tasks.
func (s *Set) divide(ps *problems) {
	s.splits, s.triggerSplits = groupBySplit(s.tasks, ps), groupBySplit(s.triggers, ps)
}

// groupBySplit returns the splits that tasks name, each with the places of its tasks; nil: they name none.
func groupBySplit(tasks []Task, ps *problems) map[Split][]int {
	splits := map[Split][]int{}
	first, without := 0, 0
	for i, t := range tasks {
		if t.Split == "" {
			if without++; without == 1 {
				first = i
			}
			continue
		}
		splits[t.Split] = append(splits[t.Split], i)
	}
	if len(splits) == 0 {
		return nil
	}
	if without > 0 {
		ps.about(tasks[first], "no split, though %d of %d tasks name theirs: give every task a split, or none", len(tasks)-without, len(tasks))
		return nil
	}
	return splits
}
