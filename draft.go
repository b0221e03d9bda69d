package skillopt

import (
	"maps"
	"strconv"

	"github.com/seed-f4525e22/skillopt/task"
)

// unreviewedKey stands among the settings of a session in the manifest of a run.
const unreviewedKey = "tasks.unreviewed"

// settings is what may change between the sessions of a run: the operational
// keys, and how many tasks are unreviewed drafts.
func (s *setup) settings() map[string]string {
	out := maps.Clone(s.cfg.Settings(s.loaded.Redactor()))
	if n := s.set.Unreviewed(); n > 0 {
		out[unreviewedKey] = strconv.Itoa(n)
	}
	return out
}

// unreviewed counts the drafts in splits.
func (s *setup) unreviewed(splits []task.Split) int {
	n := 0
	for _, split := range splits {
		for _, t := range s.set.Split(split) {
			if t.Unreviewed {
				n++
			}
		}
	}
	return n
}
