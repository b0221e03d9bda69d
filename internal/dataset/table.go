package dataset

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/table"
)

// table reads CSV and TSV.
func (r *reader) table(in *bufio.Reader, tabs bool) error {
	t := table.NewReader(in, tabs, r.bounds.RowBytes)
	names, line, err := t.Header()
	if errors.Is(err, io.EOF) {
		return &Error{Err: ErrBroken, Msg: "it is empty: the first row names the columns"}
	}
	if err != nil {
		return r.tableError(err, 0)
	}
	if err := checkColumns(names, line); err != nil {
		return err
	}
	for {
		cells, line, err := t.Row()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return r.tableError(err, r.rows+1)
		}
		fields := make(map[string]any, len(cells))
		for i, cell := range cells {
			if names[i] != "" || strings.TrimSpace(cell) != "" {
				fields[names[i]] = cell
			}
		}
		if err := r.take(Row{Line: line, Fields: fields}); err != nil {
			return err
		}
	}
}

// checkColumns refuses names that are there twice. A column may have no name: pandas writes its
// index into such a column.
func checkColumns(names []string, line int) error {
	seen := map[string]int{}
	for i, name := range names {
		name = strings.TrimSpace(name)
		names[i] = name
		if first, twice := seen[name]; twice && name != "" {
			return &Error{Line: line, Column: name, Err: ErrBroken, Msg: fmt.Sprintf("columns %d and %d have the same name", first+1, i+1)}
		}
		seen[name] = i
	}
	return nil
}

func (r *reader) tableError(err error, row int) error {
	var bad *table.Error
	if !errors.As(err, &bad) {
		return err
	}
	kind := ErrBroken
	if bad.TooLong {
		kind = ErrBound
	}
	return &Error{Row: row, Line: bad.Line, Msg: bad.Msg, Err: kind}
}
