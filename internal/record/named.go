package record

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/seed-f4525e22/skillopt/trajectory"
)

// listsIn decodes a file of lists by name as a whole.
func listsIn(r *Run, file string) (map[string]json.RawMessage, error) {
	var all map[string]json.RawMessage
	_, err := r.decode(file, &all)
	return all, err
}

// namesIn returns the names of the lists in a file, sorted.
func namesIn(r *Run, file string) ([]string, error) {
	s, names := &scanner{}, map[string]bool{}
	err := s.through(r, file, func() error {
		return s.lists(func(name string) error {
			names[name] = true
			_, err := s.list("") // which no task is called
			return err
		})
	})
	if !errors.Is(err, errOdd) {
		return slices.Sorted(maps.Keys(names)), err
	}
	all, err := listsIn(r, file)
	return slices.Sorted(maps.Keys(all)), err
}

// readList returns the list of a sheet that is under a name, as it is encoded; nil: there is none.
func readList(r *Run, sheet Sheet) (list json.RawMessage, err error) {
	s := &scanner{}
	err = s.through(r, sheet.file, func() error {
		return s.lists(func(name string) error {
			if name != sheet.name {
				return s.skip()
			}
			raw, err := s.value()
			list = slices.Clone(raw)
			return err
		})
	})
	if !errors.Is(err, errOdd) {
		return list, err
	}
	all, err := listsIn(r, sheet.file)
	return all[sheet.name], err
}

// ofTask finds the outcomes of one task in files, each of which it goes through once.
type ofTask struct {
	run     *Run
	task    string
	scanner scanner
	named   map[string]map[string][]trajectory.Outcome // by file and name
}

func newOfTask(r *Run, task string) *ofTask {
	return &ofTask{run: r, task: task, named: map[string]map[string][]trajectory.Outcome{}}
}

// sheets lists the sheets of the run.
func (o *ofTask) sheets() ([]Sheet, error) {
	return o.run.sheets(func(file string) ([]string, error) {
		all, err := o.lists(file)
		o.named[file] = all
		return slices.Sorted(maps.Keys(all)), err
	})
}

// lists returns the outcomes of the task in a file of lists by name, under each name.
func (o *ofTask) lists(file string) (out map[string][]trajectory.Outcome, err error) {
	s := &o.scanner
	out = map[string][]trajectory.Outcome{}
	err = s.through(o.run, file, func() error {
		return s.lists(func(name string) (err error) {
			out[name], err = s.list(o.task)
			return err
		})
	})
	if !errors.Is(err, errOdd) {
		return out, err
	}
	all, err := listsIn(o.run, file)
	if err != nil {
		return nil, err
	}
	out = map[string][]trajectory.Outcome{}
	for name, list := range all {
		if out[name], err = o.among(passes(file, list)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// of returns the outcomes of the task on a sheet that sheets has listed, one a pass.
func (o *ofTask) of(sheet Sheet) (out []trajectory.Outcome, err error) {
	if sheet.name != "" {
		return o.named[sheet.file][sheet.name], nil
	}
	s := &o.scanner
	err = s.through(o.run, sheet.file, func() error {
		if out, err = s.list(o.task); err != nil {
			return err
		}
		return s.end()
	})
	if !errors.Is(err, errOdd) {
		return out, err
	}
	return o.among(o.run.Outcomes(sheet))
}

// among leaves of outcomes those of the task.
func (o *ofTask) among(all []trajectory.Outcome, err error) ([]trajectory.Outcome, error) {
	return slices.DeleteFunc(all, func(out trajectory.Outcome) bool { return out.ID != o.task }), err
}
