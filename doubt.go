package skillopt

import (
	"errors"
	"fmt"

	"github.com/seed-f4525e22/skillopt/internal/run"
)

// doubts refuses tasks and checks that would measure nothing, with an error that names
// them. What was measured before goes on, and they are warnings.
func (s *setup) doubts(before bool) error {
	if s.suite == nil || s.scorer != nil {
		return nil
	}
	set := s.suite.SetDoubts()
	if set != nil {
		set = fmt.Errorf("tasks.checks: %w", set)
	}
	err := errors.Join(set, s.set.Doubts())
	if err == nil {
		return nil
	}
	if before {
		s.warnings = append(s.warnings, err.Error())
		return nil
	}
	return &inputError{err}
}

// begun reports whether there is a run in dir, which a damaged one is too.
func begun(dir string) bool {
	_, found, err := run.ReadManifest(dir)
	return found || err != nil
}
