package task

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// tableReader reads a table with a header. A gold cell may hold a JSON list of accepted
// answers, a checks cell holds JSON.
type tableReader struct {
	source
	rules Rules
	used  []string    // fields that templates name
	seen  func(Table) // gets the columns
	take  func(Item)
}

// read goes over the rows.
func (t tableReader) read(in *bufio.Reader) error {
	first, _ := in.Peek(in.Size())
	rows := &rowReader{r: in, left: MaxLine}
	if endsLinesInCR(first) {
		first = bytes.ReplaceAll(first, []byte("\r"), []byte("\n"))
		rows.r = crReader{in}
	}
	r := csv.NewReader(rows)
	r.Comma = delimiter(first, strings.EqualFold(filepath.Ext(t.path), ".tsv"))
	names, err := r.Read()
	if err == nil && isSeparatorRow(names) { // what Excel writes above a header
		r.FieldsPerRecord = 0
		rows.left = MaxLine
		names, err = r.Read()
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return t.rowError(rows, err)
	}
	line, _ := r.FieldPos(0)
	cols, err := header{line: line, names: names, rules: t.rules}.columns(t.used)
	if err != nil {
		return err
	}
	t.seen(Table{Path: t.path, Separator: string(r.Comma), Columns: cols})
	for {
		rows.left = MaxLine
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		line := rows.line
		if len(row) > 0 {
			line, _ = r.FieldPos(0)
		}
		if (err == nil || errors.Is(err, csv.ErrFieldCount)) && holdsNothing(row) {
			continue // what spreadsheets write below a table
		}
		if errors.Is(err, csv.ErrFieldCount) {
			return &syntaxError{Line: line, Msg: fmt.Sprintf("the row has %d cells, the header has %d; put cells with a %q in double quotes", len(row), len(cols), r.Comma)}
		}
		if err != nil {
			return t.rowError(rows, err)
		}
		if err := nameless(cols, row, line); err != nil {
			return err
		}
		rows.line = line + 1
		t.take(rowItem(cols, row, line))
	}
}

// rowError names the line of what is wrong with a row.
func (t tableReader) rowError(rows *rowReader, err error) error {
	var pe *csv.ParseError
	switch {
	case errors.Is(err, errLongRow):
		return &syntaxError{Line: max(rows.line, 1), Msg: fmt.Sprintf("the row has more than %d bytes: is a quotation mark not closed?", MaxLine)}
	case errors.As(err, &pe) && pe.Line > pe.StartLine && pe.StartLine > 0:
		return &syntaxError{Line: pe.StartLine, Msg: fmt.Sprintf("the row that begins here: %v (line %d, column %d); is a quotation mark not closed?", pe.Err, pe.Line, pe.Column)}
	case errors.Is(err, csv.ErrBareQuote) && errors.As(err, &pe):
		return &syntaxError{Line: pe.Line, Msg: fmt.Sprintf("column %d: a quotation mark in a cell without any around it: put the cell in double quotes, and each such mark in it twice", pe.Column)}
	case errors.As(err, &pe):
		return &syntaxError{Line: pe.Line, Msg: fmt.Sprintf("%v (column %d)", pe.Err, pe.Column)}
	}
	return err
}

// isSeparatorRow reports whether a row is the line that tells Excel how cells are
// separated: "sep=;".
func isSeparatorRow(row []string) bool {
	return len(row) == 2 && strings.EqualFold(row[0], "sep=") && row[1] == ""
}

// holdsNothing reports whether all cells of a row are empty.
func holdsNothing(row []string) bool {
	return !slices.ContainsFunc(row, func(cell string) bool { return strings.TrimSpace(cell) != "" })
}

// endsLinesInCR reports whether the lines of a table end as on old Macs, and as Excel for
// Mac still writes them.
func endsLinesInCR(first []byte) bool {
	at := bytes.IndexByte(first, '\r')
	return at >= 0 && at+1 < len(first) && bytes.IndexByte(first, '\n') < 0
}

// crReader reads a carriage return as the end of a line.
type crReader struct{ r io.Reader }

func (c crReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	for i, b := range p[:n] {
		if b == '\r' {
			p[i] = '\n'
		}
	}
	return n, err
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

var errLongRow = errors.New("a row is too long")

// rowReader fails where one row takes too much: a quotation mark that is not closed
// would make a row of all that follows.
type rowReader struct {
	r    io.Reader
	left int
	line int // at or before which the row begins
}

func (r *rowReader) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, errLongRow
	}
	n, err := r.r.Read(p)
	r.left -= n
	return n, err
}

// delimiter is what separates the cells of a header, outside of quotation marks: of the
// comma, the tab and the semicolon the one that it has most of, and the comma where that
// is undecided. With tabs a tab comes first, however many there are.
func delimiter(data []byte, tabs bool) rune {
	var seen [utf8.RuneSelf]int
	quoted := false
	for _, c := range bytes.TrimLeft(data, "\r\n") {
		if c == '"' {
			quoted = !quoted
		} else if !quoted {
			if c == '\n' {
				break
			}
			if c < utf8.RuneSelf {
				seen[c]++
			}
		}
	}
	if tabs && seen['\t'] > 0 {
		return '\t'
	}
	most := ','
	for _, c := range "\t;" {
		if seen[c] > seen[most] {
			most = c
		}
	}
	if tabs && seen[most] == 0 {
		return '\t'
	}
	return most
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
// that stands twice in one object of it.
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
