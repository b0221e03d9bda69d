package evals

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/internal/yamlx"
	"github.com/seed-f4525e22/skillopt/task"
)

// State says what happened to a part of the source.
type State string

// The states of rows.
const (
	Taken         State = "taken"          // it is in the folder
	Changed       State = "changed"        // it is in the folder, and means something else
	Added         State = "added"          // it is in the folder alone
	NotNeeded     State = "not_needed"     // nothing is lost without it
	NoCounterpart State = "no_counterpart" // nothing here does that
	LeftOut       State = "left_out"       // it cannot be a task, or has nothing left that judges it
)

// Row says what happened to a part of the source.
type Row struct {
	File  string `json:"file,omitempty"`
	Key   string `json:"key,omitempty"` // as the source has it, such as tests[3].assert[0]
	State State  `json:"state"`
	Note  string `json:"note,omitempty"`
	Lost  bool   `json:"lost,omitempty"` // answers are judged by less than they were
}

// Report says what happened to a source.
type Report struct {
	Format string `json:"format"`
	Tasks  int    `json:"tasks"`
	Lost   int    `json:"lost"` // rows that are
	// LeftOut is how many parts of the source could be no tasks. The rows say why.
	LeftOut int   `json:"left_out"`
	Rows    []Row `json:"rows"` // in the order of the source
}

// Of returns the rows in one state.
func (r Report) Of(s State) []Row {
	return slices.DeleteFunc(slices.Clone(r.Rows), func(row Row) bool { return row.State != s })
}

// place is where something is in the source.
type place struct {
	file string
	row  int // from 1; 0 = the file as a whole
	key  string
}

func (p place) in(key string, args ...any) place {
	key = fmt.Sprintf(key, args...)
	if p.key != "" && key != "" && key[0] != '[' {
		key = "." + key
	}
	p.key += key
	return p
}

func (p place) origin() string {
	if p.row == 0 {
		return p.file
	}
	return fmt.Sprintf("%s:%d", p.file, p.row)
}

// maxProblems is how many problems are reported; more are the same one, mostly.
const maxProblems = 50

// fail notes what keeps the source from being imported, and what helps.
func (w *work) fail(at place, help, format string, args ...any) {
	if len(w.problems) == maxProblems {
		return
	}
	msg := fmt.Sprintf(format, args...)
	if at.key != "" {
		msg = at.key + ": " + msg
	}
	if help != "" {
		msg += "; " + help
	}
	w.problems = append(w.problems, task.Problem{Origin: at.origin(), Msg: msg})
}

// failFile notes that a file cannot be read, with the line where that is known.
func (w *work) failFile(at place, err error) {
	var of *yamlx.Error
	if errors.As(err, &of) {
		at.row = of.Line
		w.fail(at, "fix it", "YAML that cannot be read: %s", of.Msg)
		return
	}
	w.fail(at, "put the file there, or fix it", "%v", err)
}

// maxWhy is how much is kept of why tasks are left out, for a source of which too few are left.
const maxWhy = 20

// note adds a row to the report, once.
func (w *work) note(at place, state State, format string, args ...any) {
	w.record(Row{File: at.file, Key: at.rowKey(), State: state, Note: fmt.Sprintf(format, args...)})
}

// lose adds a row of something by which answers were judged.
func (w *work) lose(at place, format string, args ...any) {
	w.record(Row{File: at.file, Key: at.rowKey(), State: NoCounterpart, Note: fmt.Sprintf(format, args...), Lost: true})
}

func (p place) rowKey() string {
	if p.row == 0 {
		return p.key
	}
	return strings.TrimSpace(fmt.Sprintf("row %d %s", p.row, p.key))
}

func (w *work) record(row Row) {
	if w.noted[row] {
		return
	}
	w.noted[row] = true
	w.report.Rows = append(w.report.Rows, row)
	if row.Lost {
		w.report.Lost++
	}
	if (row.Lost || row.State == LeftOut) && len(w.why) < maxWhy {
		w.why = append(w.why, task.Problem{Origin: row.File, Msg: strings.TrimPrefix(row.Key+": "+row.Note, ": ")})
	}
}

// rest names the keys of a part of the source that nothing reads. Without the idle ones nothing is lost.
func (w *work) rest(at place, m map[string]any, read, idle string) {
	known := strings.Fields(read + " " + idle)
	at.row = 0 // what one row has, others have too
	for _, key := range slices.Sorted(maps.Keys(m)) {
		switch {
		case slices.Contains(strings.Fields(idle), key):
			w.note(at.in("%s", key), NotNeeded, "it says nothing of tasks")
		case !slices.Contains(known, key):
			w.note(at.in("%s", key), NoCounterpart, "nothing here reads it%s", suggestWord(key, known))
		}
	}
}

// attempt makes a task of a part of the source, and reports whether it did. A fault leaves this task out,
// and not the set.
func (w *work) attempt(f func()) bool {
	before := len(w.problems)
	f()
	faults := w.problems[before:]
	for _, p := range faults {
		w.record(Row{File: p.Origin, State: LeftOut, Note: p.Msg})
	}
	w.problems = w.problems[:before]
	if len(faults) > 0 {
		w.report.LeftOut++
	}
	return len(faults) == 0
}

// badRow leaves a row out that cannot be read, and reports whether there are others behind it.
func (w *work) badRow(file string, err error) bool {
	var of *rowError
	if !errors.As(err, &of) || errors.Is(err, errTooLarge) {
		w.failRow(file, err)
		return false
	}
	w.attempt(func() { w.failRow(file, err) })
	return true
}

func suggestWord(word string, known []string) string {
	if near, ok := wording.Suggest(word, known); ok {
		return fmt.Sprintf(" (did you mean %q?)", near)
	}
	return ""
}
