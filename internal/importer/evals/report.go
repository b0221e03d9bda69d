package evals

import (
	"errors"
	"fmt"
	"slices"

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
)

// Row is what happened to a part of the source.
type Row struct {
	File  string `json:"file,omitempty"`
	Key   string `json:"key,omitempty"` // as the source has it, such as tests[3].assert[0]
	State State  `json:"state"`
	Note  string `json:"note,omitempty"`
	Lost  bool   `json:"lost,omitempty"` // answers are judged by less than they were
}

// Report is what happened to a source.
type Report struct {
	Format string `json:"format"`
	Tasks  int    `json:"tasks"`
	Lost   int    `json:"lost"` // rows that are
	Rows   []Row  `json:"rows"` // in the order of the source
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
		w.fail(at, "mend it", "YAML that cannot be read: %s", of.Msg)
		return
	}
	w.fail(at, "put the file there, or mend it", "%v", err)
}

// note adds a row to the report.
func (w *work) note(at place, state State, format string, args ...any) {
	key := at.key
	if at.row > 0 {
		key = fmt.Sprintf("row %d %s", at.row, at.key)
	}
	row := Row{File: at.file, Key: key, State: state, Note: fmt.Sprintf(format, args...)}
	if n := len(w.report.Rows); n > 0 && w.report.Rows[n-1] == row {
		return
	}
	w.report.Rows = append(w.report.Rows, row)
}

// lose adds a row of something by which answers were judged.
func (w *work) lose(at place, format string, args ...any) {
	w.note(at, NoCounterpart, format, args...)
	w.report.Rows[len(w.report.Rows)-1].Lost = true
	w.report.Lost++
}

func meant(word string, known []string) string {
	if near, ok := wording.Suggest(word, known); ok {
		return fmt.Sprintf(" (did you mean %q?)", near)
	}
	return ""
}
