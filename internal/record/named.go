package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/seed-f4525e22/skillopt/trajectory"
)

// outcomesIn reads a file of outcomes: a list, or an object of lists by name. It may be 100 MB
// long, and what is asked of it is one task, or a few fields of each outcome: only those are
// decoded. It is null if there is no file.
func (r *Run) outcomesIn(name string) (gjson.Result, error) {
	data, err := readAtMost(r.root, name, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return gjson.Result{}, nil
	}
	if err != nil {
		return gjson.Result{}, fmt.Errorf("read run: %w", err)
	}
	if !json.Valid(data) {
		return gjson.Result{}, decodeFile(name, data, new(json.RawMessage))
	}
	return gjson.ParseBytes(data), nil
}

// eachOutcome calls f with each outcome of a list, or of a list of such lists. null is none.
func eachOutcome(list gjson.Result, f func(gjson.Result)) {
	for _, v := range list.Array() {
		switch {
		case v.IsObject():
			f(v)
		case v.IsArray():
			eachOutcome(v, f)
		}
	}
}

// listsIn are the lists of a file by name.
func listsIn(r *Run, file string) (map[string]gjson.Result, error) {
	all, err := r.outcomesIn(file)
	if err != nil || all.Type == gjson.Null {
		return nil, err
	}
	if !all.IsObject() {
		return nil, decodeFile(file, []byte(all.Raw), &map[string]json.RawMessage{})
	}
	return all.Map(), nil
}

// namesIn are those of the lists in a file, sorted.
func namesIn(r *Run, file string) ([]string, error) {
	all, err := listsIn(r, file)
	return slices.Sorted(maps.Keys(all)), err
}

// ofTask finds the outcomes of one task in files, each of which it reads once.
type ofTask struct {
	run   *Run
	task  string
	named map[string]map[string][]trajectory.Outcome // by file and name
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

// lists are the outcomes of the task in a file of lists by name, under each name.
func (o *ofTask) lists(file string) (map[string][]trajectory.Outcome, error) {
	all, err := listsIn(o.run, file)
	if err != nil {
		return nil, err
	}
	out := map[string][]trajectory.Outcome{}
	for name, list := range all {
		if out[name], err = o.among(file, list); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// of are the outcomes of the task on a sheet that sheets has listed, one a pass.
func (o *ofTask) of(sheet Sheet) ([]trajectory.Outcome, error) {
	if sheet.name != "" {
		return o.named[sheet.file][sheet.name], nil
	}
	list, err := o.run.outcomesIn(sheet.file)
	if err != nil {
		return nil, err
	}
	return o.among(sheet.file, list)
}

// among decodes of a list the outcomes of the task.
func (o *ofTask) among(file string, list gjson.Result) (out []trajectory.Outcome, err error) {
	eachOutcome(list, func(v gjson.Result) {
		if err != nil || v.Get("id").String() != o.task {
			return
		}
		var one trajectory.Outcome
		if err = decodeFile(file, []byte(v.Raw), &one); err == nil {
			out = append(out, one)
		}
	})
	return out, err
}
