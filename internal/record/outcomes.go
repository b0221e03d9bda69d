package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Sheet is the result of one skill on some tasks, as a file of the run holds it.
type Sheet struct {
	Step  int    `json:"step"`            // 0: before the first step, or after the last
	Epoch int    `json:"epoch,omitempty"` // of guidance at the end of an epoch
	Arm   string `json:"arm"`             // current, candidate, seed, best, final, or the arm of a comparison
	Split string `json:"split"`           // train, selection, test

	file  string // of the run
	name  string // under which it is in the file; "": the file is a list
	stage string // of its calls

	again     bool   // of a step that was tried twice: the second counts
	candidate string // begins the places of the one that the step is recorded by
}

// Title names a sheet for people.
func (s Sheet) Title() string {
	switch {
	case s.Epoch > 0:
		return fmt.Sprintf("end of epoch %d, candidate on %s", s.Epoch, s.Split)
	case s.Step > 0:
		return fmt.Sprintf("step %d, %s on %s", s.Step, s.Arm, s.Split)
	case s.file == lastFile:
		return "best on selection, " + path.Base(s.name)
	}
	return s.Arm + " on " + s.Split
}

// Sheets lists what the run has written down of outcomes, in its order.
func (r *Run) Sheets() ([]Sheet, error) {
	return r.sheets(func(file string) ([]string, error) { return namesIn(r, file) })
}

// sheets lists them; names returns the names of the lists in a file.
func (r *Run) sheets(names func(file string) ([]string, error)) ([]Sheet, error) {
	var out []Sheet
	for _, s := range r.History.Steps {
		dir := fmt.Sprintf("steps/step_%04d/", s.Step)
		if s.Step == 0 {
			out = append(out, Sheet{Arm: "seed", Split: "selection", file: dir + "selection.json", stage: "seed/selection"})
			continue
		}
		out = append(out,
			Sheet{Step: s.Step, Arm: "current", Split: "train", file: dir + "rollout.json", stage: stageRollout, again: s.Retried},
			Sheet{Step: s.Step, Arm: "candidate", Split: "selection", file: dir + "selection.json", stage: stageGate, again: s.Retried, candidate: candidatePlace(s)})
	}
	for _, e := range r.History.Epochs {
		out = append(out, Sheet{Epoch: e.Epoch, Arm: "candidate", Split: "selection", file: fmt.Sprintf("epochs/epoch_%02d/selection.json", e.Epoch), stage: "end/gate/cand"})
	}
	out = slices.DeleteFunc(out, func(s Sheet) bool { return !r.has(s.file) })
	files := []string{lastFile, "test_outcomes.json", "outcomes.json"}
	if r.History.Final == nil {
		files = files[1:] // the loop has continued: it is of another end
	}
	for _, file := range files {
		all, err := names(file)
		if err != nil {
			return nil, err
		}
		for _, name := range all {
			out = append(out, r.newSheet(file, name))
		}
	}
	return out, nil
}

// newSheet returns the sheet that is under a name in a file of several.
func (r *Run) newSheet(file, name string) Sheet {
	s := Sheet{Arm: name, Split: "test", file: file, name: name, stage: "final/test/" + name}
	switch {
	case file == lastFile:
		s.Arm, s.Split, s.stage = "best", "selection", name
	case file == "outcomes.json" && slices.Contains([]string{"train", "selection", "test"}, name):
		s.Arm, s.Split, s.stage = "skill", name, "eval/"+name
	case file == "outcomes.json":
		s.Split, s.stage = r.compares(), comparePrefix+name
	}
	return s
}

func (r *Run) has(file string) bool {
	info, err := r.root.Lstat(file)
	return err == nil && info.Mode()&fs.ModeType == 0
}

// Outcomes reads a sheet: of each task the outcome, of several passes each.
func (r *Run) Outcomes(s Sheet) ([]trajectory.Outcome, error) {
	if s.name == "" {
		var list json.RawMessage
		_, err := r.decode(s.file, &list)
		if err != nil {
			return nil, err
		}
		return passes(s.file, list)
	}
	list, err := readList(r, s)
	if err != nil {
		return nil, err
	}
	return passes(s.file, list)
}

// passes reads a list of outcomes, or a list of such lists.
func passes(file string, list json.RawMessage) ([]trajectory.Outcome, error) {
	var one []trajectory.Outcome
	if len(list) == 0 {
		return nil, nil
	}
	err := run.Decode(file, list, &one)
	if err == nil {
		return one, nil
	}
	if errors.Is(err, disk.ErrTooLarge) {
		return nil, fmt.Errorf("read run: %w", err)
	}
	var several [][]trajectory.Outcome
	if err := run.Decode(file, list, &several); err != nil {
		return nil, fmt.Errorf("read run: %s is damaged: %w; the same command, on the run, writes it again", path.Base(file), err)
	}
	return slices.Concat(several...), nil
}

// ParseStep reads what users call a step: its number, or best, which is the step that the
// best skill comes from.
func (r *Run) ParseStep(name string) (int, error) {
	if name == "best" {
		if n := len(r.History.Steps); n > 0 {
			return r.History.Steps[n-1].BestStep, nil
		}
		return 0, fmt.Errorf("step best: the run has no step yet")
	}
	n, err := strconv.Atoi(name)
	if err != nil || n < 0 || n >= max(1, len(r.History.Steps)) {
		return 0, fmt.Errorf("step %q: allowed are 0 to %d, and best", name, max(0, len(r.History.Steps)-1))
	}
	return n, nil
}
