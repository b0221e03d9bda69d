package task

import (
	"fmt"
	"maps"
	"slices"

	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// slips counts fields of tasks that nothing reads and whose names are nearly those of
// fields that mean something.
type slips struct {
	known map[string]string // by field: the name that was probably meant, "" = none
	seen  map[string]slip
}

type slip struct {
	n     int
	first string // where the first of them is
}

// intendedFields returns the fields that a slip of the hand may have been meant for. Shorter names
// are too near to others that are in use, such as time to type.
func intendedFields() []string {
	return []string{"prompt", "answer", "answers", "hidden", "checks", "images", "reviewed", "workspace"}
}

func (s *slips) look(t Task, used []string) {
	for name := range t.Data {
		near, known := s.known[name]
		if !known && len(s.known) < maxFields {
			near = s.near(name, used)
		}
		if near == "" || t.has(near) {
			continue
		}
		at, told := s.seen[name]
		if !told {
			at.first = t.Origin
		}
		at.n++
		s.seen[name] = at
	}
}

// maxFields bounds how many names of fields are remembered.
const maxFields = 10_000

func (s *slips) near(name string, used []string) string {
	near, ok := wording.Suggest(name, intendedFields())
	if !ok || near == name || slices.Contains(used, name) {
		near = ""
	}
	if s.known == nil {
		s.known, s.seen = map[string]string{}, map[string]slip{}
	}
	s.known[name] = near
	return near
}

// has reports whether a task has what a reserved field says.
func (t Task) has(field string) bool {
	switch field {
	case "prompt":
		return t.Prompt != ""
	case "answer", "answers":
		return len(t.Gold) > 0
	case "hidden":
		return t.Hidden != ""
	case "checks":
		return len(t.Checks) > 0
	}
	_, ok := t.Data[field]
	return ok
}

// warnings returns the warnings, one line a field.
func (s *slips) warnings() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(s.seen)) {
		at := s.seen[name]
		where := ""
		if at.first != "" {
			where = at.first + ": "
		}
		out = append(out, fmt.Sprintf("%sthe field %q of %s is read by nothing; was %q meant?", where, name, wording.Plural(at.n, "task", "tasks"), s.known[name]))
	}
	return out
}
