package task

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/table"
)

// tableReader reads a table with a header. A gold cell may hold a JSON list of accepted
// answers, a checks cell holds JSON.
type tableReader struct {
	source
	rules Rules
	used  []string // fields that templates name
	usual *usual
	seen  func(Table) // gets the columns
	take  func(Item)
}

// read goes over the rows.
func (t tableReader) read(in *bufio.Reader) error {
	r := table.NewReader(in, strings.EqualFold(filepath.Ext(t.path), ".tsv"), MaxLine)
	names, line, err := r.Header()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return rowError(err)
	}
	cols, err := header{path: t.path, line: line, names: names, rules: t.rules, usual: t.usual}.columns(t.used)
	if err != nil {
		return err
	}
	t.seen(Table{Path: t.path, Separator: r.Separator(), Columns: cols})
	for {
		row, line, err := r.Row()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return rowError(err)
		}
		if err := nameless(cols, row, line); err != nil {
			return err
		}
		t.take(rowItem(cols, row, line))
	}
}

// rowError returns the error of a table as one of a file of tasks.
func rowError(err error) error {
	var bad *table.Error
	if errors.As(err, &bad) {
		return &syntaxError{Line: bad.Line, Msg: bad.Msg}
	}
	return err
}

// nameless refuses a cell that holds something and has no name. Spreadsheets write columns
// that are empty all the way down; those are no loss.
func nameless(cols []Column, row []string, line int) error {
	for i, cell := range row {
		if cols[i].Name == "" && strings.TrimSpace(cell) != "" {
			return &syntaxError{Line: line, Msg: fmt.Sprintf("column %d has no name in the header and holds %q here: give it one, or take the column out (with pandas: index=False)", i+1, short(cell))}
		}
	}
	return nil
}

func rowItem(cols []Column, row []string, line int) Item {
	m := make(map[string]any, len(row))
	it := Item{Value: m, Line: line}
	for i, cell := range row {
		for _, field := range cols[i].Fields {
			m[field] = cell
			switch field {
			case "gold", "answer", "answers":
				v, repeated := jsonCell(cell)
				if list, ok := v.([]any); ok {
					m[field] = list
					it.repeated = cmp.Or(it.repeated, repeated)
				}
			case "checks":
				if v, repeated := jsonCell(cell); v != nil {
					m[field] = v
					it.repeated = cmp.Or(it.repeated, repeated)
				}
			}
		}
	}
	return it
}

// jsonCell returns the JSON value in a cell, nil when there is none, and a key
// that occurs twice in one object of it.
func jsonCell(cell string) (v any, repeated string) {
	p := newReader([]byte(cell), 1)
	v, err := p.value()
	if err != nil || p.end() != nil {
		return nil, ""
	}
	if _, ok := v.(json.Number); ok {
		return cell, ""
	}
	return v, p.repeated
}
