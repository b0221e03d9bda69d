package evaluate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/task"
)

// noteTuned notes in the identity of a run that a person has edited the skill. On the test split such a skill is not
// scored: the test would be read to tune by.
func noteTuned(about map[string]string, t *result.Tuned, splits []task.Split) error {
	if t == nil {
		return nil
	}
	if slices.Contains(splits, task.Test) {
		return fault.Input(errors.New("a skill that was edited by hand is scored on train or selection: one that is tuned by its test tasks has no test; train from it for a certificate"))
	}
	text, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("note that the skill was tuned by hand: %w", err)
	}
	about[run.TunedKey] = string(text)
	return nil
}

// keepTuned writes a skill that a person has edited into the run: there is no other record of it.
func (e *evaluation) keepTuned(context.Context) error {
	if e.session.Tuned == nil {
		return nil
	}
	return run.ExportFolder(filepath.Join(e.session.Run.Dir, run.TunedFolder), e.session.Skill)
}
